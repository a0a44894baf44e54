"""What lies here is classic code that tests load as a user would; pytest must not collect it."""

collect_ignore_glob = ["*"]

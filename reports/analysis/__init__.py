"""Output of `analyse` and `try`: on the terminal, as Markdown and as a page."""

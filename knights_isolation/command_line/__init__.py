"""The command line, one module per subject: each command reads options, calls one function and prints."""

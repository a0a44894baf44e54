"""The analysis board: a local web page and its server."""

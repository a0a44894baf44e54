"""Boards: the plain board, and how it is drawn and written."""

"""The functions of the toolkit: each is a command."""

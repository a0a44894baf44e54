"""Compile a plain Python function, or report why it does not compile."""

FUNCTIONS_REMEMBERED = 1024
"""How many results a cache keeps that holds users' functions, or what was made of them.

Far more than a tournament asks for again and again, and an end to what a notebook or a board holds that runs for days.
What has been dropped is recreated at little cost: its code still lies on disk and in the process (`library.load`).
"""

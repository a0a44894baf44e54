"""Attacks on runs, files and grammars, in numbers: `python -m benchmarks.attacks [FAMILY…]`.

Each family is a module with a function `attack(folder, share)` that yields an `Attack` for everything it tried in a
folder of its own. `share` is the part of the family to try: 1 is all, and a hundredth is enough for a quick check.
"""

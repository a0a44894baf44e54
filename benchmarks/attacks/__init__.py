"""Attacks on runs, files and grammars, in numbers: `python -m benchmarks.attacks [FAMILY…]`.

Each family is a module with a function `attack(folder, share)` that yields an `Attack` for whatever it has tried in a
folder of its own. `share` is how much of the family is tried: 1 is all, and a hundredth is enough for a quick look.
"""

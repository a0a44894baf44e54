"""Search as templates: modules that `compiling.specialise` copies, one copy for every heuristic, board size and option.

A copy is specialised by what it finds in place of `placeholders`: the heuristic, the board's size and the options are
constants of the compiled code, so that LLVM inlines the evaluation into the search.
"""

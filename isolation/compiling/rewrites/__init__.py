"""What is rewritten before numba sees a heuristic, one subject a module.

| module | in the heuristic | in the generated module |
| --- | --- | --- |
| aliases | `moves = game.get_legal_moves`, then `moves(player)` | `game.get_legal_moves(player)` |
| tidying | docstrings, annotations, `print`, logging, imports inside the function | nothing |
| tidying | `lambda cell, middle=middle: ...` | a variable that holds the default |
| folding | `if path is None` where nobody gives a path, `if DEBUG` | the branch that is taken |
| pruning | what follows a `return`, `DEBUG = False`; only where the heuristic does not compile with it | nothing |
| unrolling | `sum(w * f(game, player) for f, w in PARTS)` | a term for each function |
| playing | `game.__get_moves__(cell)`, `g = game.copy(); g.apply_move(m)` | `game.reach`, `g = g.forecast_move(m)` |
| playing | `g._active_player = opponent`, `game._board_state` | `g` with another side to move, a list made of it |
| literals | `move in [(0, 0), ...]`, a table of numbers written out in the function | a tuple, a constant |
| containers | `deque`, `counts[k] = counts.get(k, 0) + 1` | a list, a key made sure of first |
| ordering | `kind in KINDS`, `sorted(KINDS)`, where KINDS is a set of texts | their sorted elements |
| filling | `found = []`, filled by a helper or assigned anew | an empty list of cells, or of numbers |
| widening | `[0] * 7` that fractions are put into; only where the heuristic is wrong without | `[0.0] * 7` |
| presence | `if cell is None: return blank` in a helper; only where it does not compile otherwise | an exception |
| numeric | `**`, `np.linalg.norm`, `np.array`, SciPy distances | functions of `support` |
| iterating | comprehensions, `sum`, `any`, `max(key=...)`, `sorted`, `reduce`, `map`, `filter`, `set(...)` | loops |
| walrus | `if over := game.utility(player)` | `over = game.utility(player)`, then `if over` |
| calling | helpers, lambdas, inner functions, defaults, keywords, constants, dictionaries | functions and constants |
| weighing | `total += weight * row` for every move; in the whole module, when it is written | a table, without a loop |

`sources` finds the syntax tree of a function, `scopes` says what its names mean, `constants` writes values out,
`support` is what generated modules import.
"""

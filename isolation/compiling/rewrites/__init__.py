"""What is rewritten before numba sees a heuristic, one subject a module.

| module | in the heuristic | in the generated module |
| --- | --- | --- |
| memos | `if key not in TABLE: TABLE[key] = value(key)` | the value, computed each time |
| tables | `table_for(game.height, game.width)`, which remembers its values | a constant |
| idioms | `moves = game.get_legal_moves`, then `moves(player)` | `game.get_legal_moves(player)` |
| objects | `tally = Tally(0)`, `tally.add(cell)`, of a class whose objects change | variables, inner functions |
| sequences | `yield cell` in a helper | a list that is appended to |
| objects | `nonlocal count` | a list with one element |
| idioms | `near = partial(distance, here)` | `near = lambda cell: distance(here, cell)` |
| simplification | docstrings, annotations, `print`, logging, imports inside the function | nothing |
| simplification | `lambda cell, middle=middle: ...` | a variable that holds the default |
| simplification | `if path is None` where nobody gives a path, `if DEBUG` | the branch that is taken |
| simplification | `hasattr(game, "reach")`, `getattr(game, "reach", None)` | `True`, `game.reach` |
| simplification | what follows a `return`, `DEBUG = False`; only where it does not compile otherwise | nothing |
| idioms | `moves.__len__()`, `(own, both)[own > 3]` | `len(moves)`, `both if own > 3 else own` |
| sequences | `cells = iter(moves)`, `next(cells)` | a list, `cells.pop(0)` |
| simplification | `int("7")`, a table made of a text; only where it does not compile otherwise | the value |
| containers | `counts[row] += 1` of a `Counter` or `defaultdict` | a key made sure of first |
| containers | `dict(own=1)`, `OrderedDict([("own", 1)])` | `{"own": 1}` |
| objects | `Point(row, column).row`, of a named tuple, a dataclass or another class | `(row, column)[0]` |
| containers | `lines["row"]`, all keys written out; only where it does not compile otherwise | a variable |
| sequences | `str(count)`, `f"{own}-{opp}"`, `bin(mask).count("1")` | texts joined by `+`, a count of bits |
| sequences | `manhattan(*cell)`, `rows, columns = zip(*cells)`, `[*own, *opponent]` | each part |
| loops.unrolling | `sum(w * f(game, player) for f, w in PARTS)` | a term for each function |
| loops.unrolling | `[v for over, v in ((game.is_loser, -9), …) if over(player)]` | `[-9][:1 if … else 0] + …` |
| choices | `STAGES[phase](game, player)`, `weights = EARLY if early else LATE` | a number for each |
| classic_api | `game.__get_moves__(cell)`, `g = game.copy()`, `g.apply_move(m)` | `reach`, `g = g.forecast_move(m)` |
| classic_api | `g._active_player = opponent`, `game._board_state` | `g` with another side to move, a list made of it |
| classic_api | `state._replace(ply_count=3)`, `state.board >> cell & 1` | runtime functions |
| tables | `move in [(0, 0), ...]`, a table of numbers written out in the function | a tuple, a constant |
| tables | `enumerate(LINES, start=1)`, where the rows of LINES have several lengths | a list of lists |
| containers | `deque`, `counts[k] = counts.get(k, 0) + 1` | a list, a key made sure of first |
| containers | `own.keys() & other.keys()` | sets of the keys |
| representations | `kind in KINDS`, `sorted(KINDS)`, where KINDS is a set of texts | their sorted elements |
| representations | `seen = set()`, `seen.add(cell)`, `seen |= frontier` of cells of the board | bit masks |
| element_types | `found = []`, filled by a helper or reassigned | an empty list of cells, or of numbers |
| element_types | `[0] * 7` that fractions are put into; only where the heuristic is wrong without | `[0.0] * 7` |
| representations | `groups[row] = []` in a dictionary; only where it does not compile otherwise | a typed list |
| representations | `groups[row] = set()` in a dictionary; only where it does not compile otherwise | a list |
| nones | `if cell is None: return blank` in a helper; only where it does not compile otherwise | an exception |
| nones | `queue = [(cell, None)]`; only where it does not compile otherwise | a None that may be a cell |
| nones | `best = None`; only where it does not compile otherwise | a flag that says whether there is a value |
| element_types | `cells = moves`, then `cells = found`; only where it does not compile otherwise | a list each time |
| guesses | `found = []`, `[None] * 7`, filled otherwise; only where it does not compile otherwise | such elements |
| arithmetic | `**`, `np.linalg.norm`, `np.array`, SciPy distances | runtime functions |
| loops.comprehensions | comprehensions, `sum`, `any`, `max(key=...)`, `sorted`, `map`, `filter`, `set(...)` | loops |
| idioms | `if over := game.utility(player)` | `over = game.utility(player)`, then `if over` |
| name_resolution | helpers, lambdas, defaults, keywords, constants, dictionaries | functions and constants |
| loops.cell_sums | `total += weight * row` for every move; done last, in the whole module | a table |
| arithmetic | `while queue:`, recursion; after all others, in the whole module | the same, with a count of rounds |
| tables | `TABLE[row][column]` of a constant tuple of tuples; after all others, in the whole module | an array |

Functions of the standard library that compiled code lacks are compiled from the plain Python functions of
`isolation.compiling.source.stand_ins`. In `isolation.compiling.source`, `function_source` finds the syntax tree of a
function and the classes whose objects never change, `scopes` resolves names; `constants` writes values out. Generated
modules import `isolation.native.runtime.runtime_library`.
"""

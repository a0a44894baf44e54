"""Users' files load with the imports they expect, side by side, here and in workers."""

import dataclasses
import importlib
import inspect
import subprocess
import sys
from functools import partial
from pathlib import Path
from textwrap import dedent

import joblib
import pytest

from knights_isolation import isolation
from knights_isolation.experiments.plan import parse_agent
from knights_isolation.isolation import Board, sample_players
from knights_isolation.isolation.loading import load_user_code
from knights_isolation.isolation.loading.load_user_code import (
    LoadError,
    content_hash,
    data_hash,
    load,
    load_heuristic,
    load_module,
    load_player,
    origin_of,
)
from knights_isolation.isolation.processes.child import from_bytes, to_bytes
from knights_isolation.isolation.search.agents import code_hash


def write(folder, **files):
    """Write each keyword as a Python file; a double underscore in its name is a folder. Returns the first file."""
    paths = [folder / f"{name.replace('__', '/', 1)}.py" for name in files]
    for path, source in zip(paths, files.values(), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(source))
    return paths[0]


def test_what_is_opened_to_read_and_write_is_read(tmp_path: Path) -> None:
    (tmp_path / "weights.json").write_text("[1.5]")
    (tmp_path / "mine.py").write_text("with open(__file__[:-7] + 'weights.json', 'r+') as file:\n    W = file.read()\n")

    def seen() -> tuple[str, str]:
        return load(tmp_path / "mine.py", "W").value, data_hash(tmp_path / "mine.py")

    first = seen()
    (tmp_path / "weights.json").write_text("[2.5]")
    assert [one == other for one, other in zip(first, seen(), strict=True)] == [False] * 2


def test_data_that_a_file_reads_when_it_is_imported_is_part_of_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "weights.json").write_text("[1.5]")
    (tmp_path / "helper.py").write_text("def read(path):\n    return open(path).read()\n")
    (tmp_path / "mine.py").write_text(
        "import json\nfrom helper import read\nW = json.loads(read('weights.json'))\n"
        "def score(game, player):\n    return eval('W[0]')\n"  # does not compile
        "def fast(game, player):\n    return W[0]\n"
    )

    def seen() -> tuple[float, str, str, str]:
        score, fast = (load(tmp_path / "mine.py", name).value for name in ("score", "fast"))
        return score(None, None), code_hash(score), code_hash(fast), data_hash(tmp_path / "mine.py")

    first = seen()
    assert seen() == first
    (tmp_path / "weights.json").write_text("[2.5]")
    second = seen()
    assert [one == other for one, other in zip(first, second, strict=True)] == [False] * 4
    pickled = to_bytes(load(tmp_path / "mine.py", "score").value)
    assert from_bytes(pickled)(None, None) == 2.5
    (tmp_path / "weights.json").write_text("[1.5]")
    assert seen() == first
    with pytest.raises(ValueError, match=r"a file that \S+mine.py reads has changed since it was loaded"):
        from_bytes(pickled)
    (tmp_path / "player.py").write_text(
        "W = open('weights.json').read()\nclass P:\n    def get_move(self, game, time_left):\n        return (0, 0)\n"
    )

    def player() -> str:
        return str(parse_agent(f"{tmp_path}/player.py:P").settings()["data"])

    before = player()
    assert player() == before
    (tmp_path / "weights.json").write_text("[3.5]")
    assert player() != before
    (tmp_path / "plain.py").write_text("def score(game, player):\n    return 1.0\n")
    load(tmp_path / "plain.py", "score")
    assert data_hash(tmp_path / "plain.py") == ""


def test_a_file_that_changes_the_folder_while_it_loads_does_not_change_ours(tmp_path, monkeypatch):
    write(tmp_path, wanders="""
        import os
        os.chdir("/")
        def score(game, player):
            return 1.0
    """)  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert load_heuristic("wanders.py", "score").value(None, None) == 1.0
    assert Path.cwd() == tmp_path


# Imports


def test_two_files_of_one_name_with_siblings_of_one_name_load_side_by_side(tmp_path):
    agents = [
        write(
            tmp_path / folder,
            game_agent="import helpers\nfrom helpers import WHO\ndef who(): return WHO, helpers.WHO",
            helpers=f"WHO = {folder!r}",
        )
        for folder in ("one", "two")
    ]
    first, second = (load(agent, "who").value for agent in agents)
    assert first() == ("one", "one")
    assert second() == ("two", "two")
    assert first() == ("one", "one")


def test_nothing_is_installed_under_a_plain_name_and_the_path_stays_as_it_is(tmp_path):
    agent = write(tmp_path, game_agent="import helpers_of_mine, sample_players", helpers_of_mine="")
    before = list(sys.path)
    load_module(agent)
    assert sys.path == before
    assert not {"game_agent", "helpers_of_mine", "sample_players"} & sys.modules.keys()
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("helpers_of_mine")


def test_imports_inside_functions_find_the_siblings_when_they_run(tmp_path):
    agents = [
        write(
            tmp_path / folder,
            game_agent="""
                def get():
                    import late
                    from late import WHO
                    return late.WHO, WHO
                class Player:
                    def get(self):
                        return (lambda: __import__("late").WHO)()
            """,
            late=f"WHO = {folder!r}",
        )
        for folder in ("one", "two")
    ]
    getters = [load(agent, "get").value for agent in agents]
    players = [load(agent, "Player").value() for agent in agents]
    assert [get() for get in getters] == [("one", "one"), ("two", "two")]
    assert [player.get() for player in players] == ["one", "two"]


def test_the_board_is_ours_even_beside_a_copy_of_the_classic_engine(tmp_path):
    agent = write(
        tmp_path,
        game_agent="""
            import isolation
            from isolation import Board
            from isolation.isolation import Board as Inner
            from isolation.rules.board import MoveList
        """,
        isolation____init__="raise ImportError('the old engine')",
        isolation__isolation="raise ImportError('the old engine')",
    )
    module = load_module(agent)
    assert module.isolation is isolation
    assert module.Board is module.Inner is Board


def test_sample_players_are_ours_only_if_none_stands_beside_the_file(tmp_path):
    source = """
        import sample_players
        from sample_players import improved_score
        def late():
            from sample_players import improved_score
            return improved_score
    """
    alone = load_module(write(tmp_path / "alone", game_agent=source))
    beside = load_module(write(tmp_path / "beside", game_agent=source, sample_players="improved_score = 'theirs'"))
    assert alone.sample_players is sample_players
    assert alone.improved_score is alone.late() is sample_players.improved_score
    assert beside.sample_players is not sample_players
    assert beside.improved_score == beside.late() == beside.sample_players.improved_score == "theirs"


def test_siblings_may_have_the_names_of_installed_and_standard_modules(tmp_path):
    agent = write(
        tmp_path,
        game_agent="""
            import heuristics, random, numpy.linalg
            from search import WHO as search_name
            names = heuristics.WHO, random.WHO, search_name
            import math, json
        """,
        heuristics="WHO = 'their heuristics'",
        random="WHO = 'their random'",
        search="WHO = 'their search'",
    )
    module = load_module(agent)
    assert module.names == ("their heuristics", "their random", "their search")
    assert module.json is importlib.import_module("json")
    assert module.numpy is importlib.import_module("numpy")
    assert hasattr(importlib.import_module("random"), "Random")


def test_siblings_find_siblings_and_may_import_the_file_in_a_circle(tmp_path):
    agent = write(
        tmp_path,
        game_agent="import one\nWHO = 'agent'\ndef ask(): return one.ask()",
        one="import two\ndef ask(): return two.ask()",
        two="def ask():\n    import game_agent\n    return game_agent.WHO",
    )
    module = load_module(agent)
    assert module.ask() == "agent"
    module.WHO = "changed"
    assert module.ask() == "changed"


def test_packages_beside_the_file_work_with_absolute_and_relative_imports(tmp_path):
    agent = write(
        tmp_path,
        game_agent="""
            import tools.deep.values
            import tools.deep.values as short
            from tools import chosen
            from tools.deep import values
            from . import beside
            from .beside import WHO
            import loose.part
            everything = tools.deep.values.NUMBER, short.NUMBER, chosen.NUMBER, values.NUMBER, WHO, loose.part.NUMBER
        """,
        beside="WHO = 'beside'",
        tools____init__="",
        tools__chosen="from .deep.values import NUMBER\nfrom . import deep",
        loose__part="NUMBER = 8",
    )
    write(tmp_path / "tools" / "deep", __init__="", values="from ..twin import NUMBER")
    write(tmp_path / "tools", twin="import beside\nNUMBER = 7")
    assert load_module(agent).everything == (7, 7, 7, 7, "beside", 8)


def test_a_module_can_be_reloaded_as_old_unit_tests_do(tmp_path):
    test_file = write(
        tmp_path,
        agent_test="""
            from importlib import reload
            import game_agent
            def again():
                game_agent.seen.append(1)
                reload(game_agent)
                return game_agent.seen
        """,
        game_agent="seen = []",
    )
    assert load(test_file, "again").value() == []


def test_the_file_knows_where_it_is_and_its_code_can_be_read_and_pickled(tmp_path):
    agent = write(
        tmp_path,
        game_agent="""
            from __future__ import annotations
            from dataclasses import dataclass
            from pathlib import Path
            from typing import ClassVar
            DATA = Path(__file__).with_name("weights.txt").read_text()
            @dataclass
            class Settings:
                depth: int = 3
                names: ClassVar[list[str]] = []
            def score(game, player):
                return 0.0
        """,
    )
    (tmp_path / "weights.txt").write_text("1 2 3")
    module = load_module(agent)
    assert module.DATA == "1 2 3"
    assert dataclasses.asdict(module.Settings()) == {"depth": 3}
    assert inspect.getsource(module.score) == "def score(game, player):\n    return 0.0\n"
    assert sys.modules[module.score.__module__] is module


@pytest.mark.parametrize("name", ["my-agent.py", "agent.v2.py", "2nd agent.py", "agent"])
def test_any_file_name_will_do(tmp_path, name):
    path = tmp_path / name
    path.write_text("import other\nWHO = other.WHO")
    write(tmp_path, other="WHO = 'found'")
    assert load(path, "WHO").value == "found"


def ask_in_a_worker(path, name):
    value = load(path, name).value
    return value(), load(path, name).content_hash


def test_workers_load_the_same_code_from_path_and_name(tmp_path):
    agents = [
        write(
            tmp_path / folder, game_agent="def who():\n    import late\n    return late.WHO", late=f"WHO = {folder!r}"
        )
        for folder in ("one", "two")
    ]
    here = [ask_in_a_worker(agent, "who") for agent in agents]
    there = joblib.Parallel(n_jobs=2)(joblib.delayed(ask_in_a_worker)(agent, "who") for agent in agents)
    assert here == there
    assert [who for who, _ in here] == ["one", "two"]


# Content


def test_a_file_loads_once_until_it_or_a_sibling_changes(tmp_path):
    agent = write(tmp_path, game_agent="import helper\nWHO = helper.WHO", helper="WHO = 1", unrelated="")
    module = load_module(agent)
    write(tmp_path, unrelated="changed = True")
    assert load_module(agent) is module
    write(tmp_path, helper="WHO = 2")
    assert load_module(agent).WHO == 2
    write(tmp_path, game_agent="WHO = 3")
    assert load_module(agent).WHO == 3
    assert module.WHO == 1


def test_the_content_hash_covers_everything_import_statements_reach(tmp_path):
    files = {
        "game_agent": "import one\ndef late():\n    from tools import two\n    import random, numpy, isolation",
        "one": "if False:\n    from three import x",
        "three": "",
        "tools____init__": "",
        "tools__two": "from . import four",
        "tools__four": "",
    }
    agent = write(tmp_path, **files)
    hashes = {content_hash(agent)}
    for changed in files:
        write(tmp_path, **{changed: files[changed] + "\n# edited"})
        hashes.add(content_hash(agent))
    assert len(hashes) == len(files) + 1
    write(tmp_path, unrelated="x = 1", tools__unrelated="x = 1")
    assert content_hash(agent) in hashes


def test_the_content_hash_does_not_depend_on_where_the_code_lies(tmp_path):
    agents = [write(tmp_path / at, game_agent="import helper", helper="x = 1") for at in ("here", "there")]
    assert content_hash(agents[0]) == content_hash(agents[1]) == load(agents[0], "helper").content_hash
    swapped = write(tmp_path / "swapped", game_agent="x = 1", helper="import helper")
    assert content_hash(swapped) != content_hash(agents[0])


# Errors


def message(load_it, *arguments):
    with pytest.raises(LoadError) as caught:
        load_it(*arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_missing_file_is_named(tmp_path):
    assert message(load, tmp_path / "nowhere.py", "x") == f"no such file: {tmp_path}/nowhere.py"
    assert message(load_module, tmp_path) == f"{tmp_path} is a directory: name a file in it, such as {tmp_path}/FILE.py"
    write(tmp_path, mine="")
    assert message(load_module, tmp_path) == f"{tmp_path} is a directory: name a file in it, such as {tmp_path}/mine.py"
    assert message(load_module, tmp_path / "mine") == f"no such file: {tmp_path}/mine; did you mean {tmp_path}/mine.py?"
    assert isinstance(LoadError(), ValueError)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = 1\ny = x / 0", "line 2: ZeroDivisionError: division by zero"),
        ("def f(:\n    pass", "line 1: SyntaxError: "),
        (
            "\ndef f(game, player):\n<<<<<<< HEAD\n    return 1\n=======\n    return 2\n>>>>>>> other\n",
            "line 3: SyntaxError: unresolved merge conflict: keep one side, and delete",
        ),
        ("x = 1 <<<<<<< 2\n", "line 1: SyntaxError: invalid syntax"),
        ("\nimport not_installed_anywhere", "line 2: ModuleNotFoundError: No module named 'not_installed_anywhere'"),
        (
            "from isolation import Bored",
            "line 1: ImportError: cannot import name 'Bored' from",
        ),
        ("import broken", "broken.py, line 3: NameError: name 'missing' is not defined"),
        ("import unreadable", "unreadable.py, line 1: SyntaxError: "),
        ("raise SystemExit(3)", "line 1: it raises SystemExit: 3"),
        ("raise KeyboardInterrupt", "line 1: KeyboardInterrupt"),
        ("raise ValueError('\\ud800' * 2000)", r"line 1: ValueError: \ud800\ud800"),
        ("raise ValueError('two\\nlines')", "line 1: ValueError: two lines"),
        ("assert False", "line 1: AssertionError"),
        ("from isolation import Board\nBoard(1, 2, 0, 0)", "line 2: ValueError: a board must have at least 1 row"),
        ("class E(BaseException):\n    def __bool__(self): 1 / 0\nraise E('x')", "line 3: it raises E: x"),
        ("class E(Exception):\n    __class__ = property(lambda self: 1 / 0)\nraise E('x')", "E: x"),
        ("class E(SyntaxError):\n    msg = property(lambda self: 1 / 0)\nraise E('x')", "E: x"),
        ("raise SyntaxError('x', (5, 1, 1, 't'))", "SyntaxError: x"),
        ("raise SyntaxError('x', ('a\\n\\x1b.py', 1, 1, 't'))", "a \\x1b.py, line 1: SyntaxError: x"),
    ],
)
def test_a_file_that_fails_to_import_is_reported_with_the_line(tmp_path, source, expected):
    agent = write(tmp_path, game_agent=source, broken="x = 1\n\nmissing", unreadable="1 +")
    assert f"game_agent.py failed to import: {expected}" in message(load_module, agent)
    files = [str(getattr(module, "__file__", None)) for module in list(sys.modules.values())]
    assert not [file for file in files if str(tmp_path) in file]


def test_a_file_whose_import_never_ends_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr("knights_isolation.isolation.loading.load_user_code.LONGEST_IMPORT", 0.05)
    agent = write(tmp_path, game_agent="x = 1\nwhile True: pass")
    assert "failed to import: line 2: UserCodeTimeout: takes longer than 0.05 s" in message(load_module, agent)


def test_a_file_that_takes_itself_out_of_the_modules_loads(tmp_path):
    agent = write(tmp_path, game_agent="import sys\ndel sys.modules[__name__]\nx = 1")
    assert load_module(agent).x == 1


def test_before_that_the_checkers_say_what_they_wait_for(tmp_path):
    agent = write(tmp_path, game_agent="while True: pass")
    script = """if True:
        import sys
        from isolation.loading import load_user_code
        from isolation.usercode import process_lifetime
        load_user_code.SLOW_IMPORT, load_user_code.LONGEST_IMPORT = 0.05, 0.1
        process_lifetime.continue_in_child("it")
        try:
            load_user_code.load_module(sys.argv[1])
        except load_user_code.LoadError:
            print("given up")
    """
    asked = [sys.executable, "-c", script, str(agent)]
    done = subprocess.run(asked, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert done.stdout == "given up\n"
    assert done.stderr == f"Note: {agent} is still being imported; timeout in 0.05 s\n"


def test_a_file_that_was_mended_loads(tmp_path):
    agent = write(tmp_path, game_agent="import helper", helper="1 / 0")
    assert "helper.py, line 1" in message(load_module, agent)
    write(tmp_path, helper="fine = True")
    assert load_module(agent).helper.fine


def test_a_missing_name_is_answered_with_the_nearest(tmp_path):
    agent = write(tmp_path, game_agent="class CustomPlayer: pass\ndef custom_score(game, player): return 0.0")
    assert message(load, agent, "CustomPlayr") == f"{agent} has no 'CustomPlayr'; did you mean CustomPlayer?"
    assert message(load, agent, "zzz") == f"{agent} has no 'zzz'"


@pytest.mark.parametrize(
    "definition",
    [
        "def f(game, player): pass",
        "def f(game, player, weight=1): pass",
        "f = lambda *both: 0",
        "class F:\n    def __call__(self, game, player): pass\nf = F()",
        "from functools import lru_cache\n@lru_cache\ndef f(game, player): pass",
        "from functools import partial\ndef g(weight, game, player): pass\nf = partial(g, 2)",
        "def wrap(g): return lambda *args, **kwargs: g(*args, **kwargs)\n@wrap\ndef f(game, player): pass",
        "from sample_players import improved_score as f",
        "import heuristics\nf = heuristics.get('territory')",
        "from theirs import f",
    ],
)
def test_anything_callable_with_game_and_player_is_a_heuristic(tmp_path, definition):
    write(tmp_path, theirs="def f(game, player): pass")
    assert callable(load_heuristic(write(tmp_path, mine=definition), "f").value)


@pytest.mark.parametrize(
    ("definition", "printed"),
    [
        ("def f(game): pass", "f(game)"),
        ("def f(game, player, weight): pass", "f(game, player, weight)"),
        ("def f(*, game, player): pass", "f(*, game, player)"),
        ("f = 3", "an int"),
        ("class f:\n    def __init__(self, game, player): pass", "the class f(game, player)"),
        ("from math import hypot as f", "hypot of math"),
        ("from itertools import product as f", "product of itertools"),
        ("from scipy.spatial.distance import cityblock as f", "cityblock of scipy.spatial.distance"),
    ],
)
def test_a_heuristic_with_another_signature_is_refused(tmp_path, definition, printed):
    path = write(tmp_path, mine=definition)
    assert message(load_heuristic, path, "f") == f"{path}:f must be a function of (game, player), not {printed}"


@pytest.mark.parametrize(
    "source",
    [
        "class P:\n    def get_move(self, game, time_left): pass",
        "class P:\n    def get_move(self, game, legal_moves, time_left): pass",
        "class P:\n    def __init__(self, depth=3): pass\n    def get_move(self, game, *rest): pass",
        "import sample_players\nP = sample_players.GreedyPlayer",
        "import sample_players\ndef P(): return sample_players.AlphaBetaPlayer(5)",
    ],
)
def test_players_of_either_edition_are_accepted(tmp_path, source):
    assert hasattr(load_player(write(tmp_path, game_agent=source), "P").value(), "get_move")


@pytest.mark.parametrize(
    ("source", "part"),
    [
        ("class P: pass", "needs a method get_move(self, game, time_left)"),
        ("class P:\n    def get_move(self, game): pass", "not get_move(self, game)"),
        (
            "class P:\n    def __init__(self, depth): pass\n    def get_move(self, game, t): pass",
            "without required arguments, not the class P(depth)",
        ),
        ("P = 'player'", "without required arguments, not a str"),
        ("def P(game, player): pass", "not P(game, player); a heuristic is written ID:game_agent.py:P"),
    ],
)
def test_what_is_not_a_player_is_refused(tmp_path, source, part):
    assert part in message(load_player, write(tmp_path, game_agent=source), "P")


# What Python warns of


def test_what_python_warns_of_in_a_file_is_told_to_who_asks_and_to_nobody_else(tmp_path, recwarn):
    agent = write(
        tmp_path,
        game_agent="import helper\ndef score(game, player):\n    if game.width is 7 and game.height is 7: return 1.0",
        helper="x = 1\nassert (x, 'always true')",
    )
    load_module(agent)
    assert not recwarn.list
    own, helpers = load_user_code.load_warnings(agent)
    assert own.startswith('line 3: "is" with ')
    assert helpers == "helper.py, line 2: assertion is always true, perhaps remove parentheses?"
    assert load_user_code.load_warnings(write(tmp_path, fine="x = 1")) == []


EXTENDED = """
import random

class Board:
    BLANK = 0

    def get_legal_moves(self, player=None):
        raise RuntimeError("theirs is not played on")

    def rooms(self, player):
        return self.count_near(self.get_player_location(player)) + self._board_state.count(Board.BLANK) / 100

    def count_near(self, cell):
        return len(self._Board__get_moves(cell))

    @property
    def corners(self):
        return [cell for cell in self.get_blank_spaces() if cell in ((0, 0), (6, 6))]
"""
ASKING = "def score(game, player):\n    return game.rooms(player) + len(game.corners)\n"


def test_a_board_has_what_the_one_beside_a_file_has_more(tmp_path: Path) -> None:
    board = Board.from_moves([24, 14])
    values = []
    for who, size in (("ann", 100), ("bob", 1000)):
        (tmp_path / who / "isolation").mkdir(parents=True)
        (tmp_path / who / "isolation" / "__init__.py").write_text("from .isolation import Board\n")
        (tmp_path / who / "isolation" / "isolation.py").write_text(EXTENDED.replace("/ 100", f"/ {size}"))
        (tmp_path / who / "mine.py").write_text(ASKING)
        values.append(load_heuristic(tmp_path / who / "mine.py", "score").value(board, 1))
    # Eight moves, two corners, and as zeros in the state 47 open cells and the index of who is to move.
    assert values == [8 + 48 / 100 + 2, 8 + 48 / 1000 + 2]
    with pytest.raises(AttributeError, match="'Board' object has no attribute 'rooms'"):
        board.rooms(1)


def test_an_edited_extension_of_a_board_is_other_code_only_where_it_is_used(tmp_path: Path) -> None:
    (tmp_path / "isolation.py").write_text(EXTENDED)
    (tmp_path / "mine.py").write_text(ASKING)
    (tmp_path / "other.py").write_text("def score(game, player):\n    return 1.0\n")
    before = content_hash(tmp_path / "mine.py"), content_hash(tmp_path / "other.py")
    (tmp_path / "isolation.py").write_text(EXTENDED.replace("6, 6", "3, 3"))
    assert content_hash(tmp_path / "mine.py") != before[0]
    assert content_hash(tmp_path / "other.py") == before[1]


def test_a_board_beside_a_file_that_cannot_be_loaded_is_named_with_the_method(tmp_path: Path) -> None:
    (tmp_path / "isolation.py").write_text("import no_such_module\n" + EXTENDED)
    (tmp_path / "mine.py").write_text(ASKING)
    score = load_heuristic(tmp_path / "mine.py", "score").value
    with pytest.raises(AttributeError, match=r"the board method rooms is defined in .*isolation\.py, which ModuleNotF"):
        score(Board.from_moves([24, 14]), 1)


def test_what_a_file_imports_from_python_is_not_taken_for_its_own(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("from functools import partial\n\ndef score(game, player):\n    return 1.0\n")
    assert load(path, "partial").value is partial
    assert origin_of(partial) is None
    assert origin_of(load(path, "score").value).path == path.resolve()

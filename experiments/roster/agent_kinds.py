"""Table of agent kinds: spec syntax, allowed limits, construction."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from knights_isolation import heuristics
from knights_isolation.isolation.loading.load_user_code import content_hash, expand_path, is_name, load_heuristic
from knights_isolation.isolation.rules.limits import Limit
from knights_isolation.isolation.rules.parameters import bind_parameters, parameters_of
from knights_isolation.isolation.usercode.inputs import digest_of_inputs

from .spec import Spec, raise_spec_error

if TYPE_CHECKING:
    from knights_isolation.isolation.players.agents import Agent
    from knights_isolation.isolation.processes.subprocess_player import FileAgent
    from knights_isolation.isolation.search import Method

ENGINE = "engine"
"""The kind of players that are external programs, and the prefix of their specs."""
APART = "apart"
"""The kind of players from files that are only loaded in sandboxed processes, and the prefix of their specs."""
_POLICY = "policy"
"""The kind of policies of learning agents, and the prefix of their specs."""
DEFAULT_LIMIT = Limit(nodes=10_000)
"""About the number of nodes that the classic engines searched in their 150 ms per move."""
CLASSIC_LIMIT = Limit(ms=150)
"""Limit of players with their own clock if the default limit is not a time and their file states none."""

METHODS: dict[str, Method] = {"MM": "minimax", "AB": "alphabeta", "ID": "alphabeta", "BF": "bestfirst", "MCTS": "mcts"}
SWITCHES = {"order": "order_moves", "quiescence": "quiescence", "agree": "stop_on_agreement", "ties": "random_ties"}
"""Options without a value, by their names in specs and in `SearchOptions`."""
_FIXED = {"MM": Limit(depth=3), "AB": Limit(depth=5)}
_BEST = "territory"
"""Fallback heuristic of the perfect player for positions it cannot solve."""
_BOARD_CAPS = {"depth": 12, "nodes": 20_000_000, "ms": 10_000, "cpu_ms": 10_000}
"""Largest limits at which a search takes an acceptable time."""
_BOARD_MINIMAX_DEPTH = 7
_BOARD_TREE_CAPS = {"nodes": 2_000_000, "ms": 5_000, "cpu_ms": 5_000}
"""Largest limits whose tree takes some hundred megabytes: two million simulations took 5 s and 208 MB."""


def _refuse_on_board(spec: Spec) -> str:
    who = "agents from files" if spec.is_file else f"{spec.kind} players"
    return f"name {who} with --agent when starting the board"


@dataclass(frozen=True)
class AgentKind:
    """A kind of agent.

    Attributes:
        name: its name in completed specs.
        forms: syntax of its players, for messages.
        words: prefixes of that syntax.
        read: returns the spec of a player in text[start:end], or None if it is not of this kind; raises SpecError.
        refuse_limit: returns why a spec's player cannot be limited by a unit; empty if it can.
        usual_limit: returns the limit of a spec without one, given the default limit for all agents, if there is one.
        make: makes the agent of a completed spec; raises ValueError.
        refuse_on_board: returns why the analysis board may not start an agent that its page requests by a completed
            spec; empty if it may. Only what a row allows explicitly is permitted.
        name_target: loads a spec's file and returns the spec with what only the file determines; raises ValueError.
        is_program: whether its players are external programs, which have names and options of their own.
        is_restricted: whether its players are files that are only loaded in sandboxed processes.
    """

    name: str
    forms: tuple[str, ...]
    words: tuple[str, ...]
    read: Callable[[str, int, int], Spec | None]
    refuse_limit: Callable[[Spec, str], str]
    usual_limit: Callable[[Spec, Limit | None], Limit | None]
    make: Callable[[Spec], Agent]
    refuse_on_board: Callable[[Spec], str] = _refuse_on_board
    name_target: Callable[[Spec], Spec] = lambda spec: spec
    is_program: bool = False
    is_restricted: bool = False


def runs_code(spec: Spec) -> bool:
    """Return whether an agent is of a kind that no page may start: it imports a module or a player, or is a program."""
    return KINDS[spec.kind].refuse_on_board is _refuse_on_board


def board_refusal(spec: Spec) -> str:
    """Return why the analysis board may not start an agent of a completed spec; empty if it may."""
    return KINDS[spec.kind].refuse_on_board(spec)


# Players whose spec is a single word


def _reader(word: str) -> Callable[[str, int, int], Spec | None]:
    def read(text: str, start: int, end: int) -> Spec | None:
        return Spec(text, word, start=start, end=end) if text[start:end].strip().lower() == word else None

    return read


def _word(
    word: str,
    make: Callable[[Spec], Agent],
    refuse_limit: Callable[[Spec, str], str] = lambda spec, unit: f"{spec.kind} has no limit",
    usual_limit: Callable[[Spec, Limit | None], Limit | None] = lambda spec, default: None,
) -> AgentKind:
    row = (word, (word,), (word,), _reader(word), refuse_limit, usual_limit, make, _beyond_caps)
    return AgentKind(*row)


def _refusing(why: str, *units: str) -> Callable[[Spec, str], str]:
    return lambda spec, unit: why if unit in units else ""


def _make_simple(spec: Spec) -> Agent:
    from knights_isolation.isolation.players.agents import GreedyAgent, RandomAgent

    return (RandomAgent if spec.kind == "random" else GreedyAgent)(spec.name)


def _usual_perfect_limit(spec: Spec, default: Limit | None) -> Limit:
    from knights_isolation.isolation.players.perfect_agent import DEFAULT_LIMIT as ENOUGH_TO_SOLVE

    return ENOUGH_TO_SOLVE


def _make_perfect(spec: Spec) -> Agent:
    from knights_isolation.isolation.players.perfect_agent import PerfectAgent

    assert spec.limit is not None
    return PerfectAgent(spec.name, heuristics.get(_BEST), _BEST, spec.limit)


# Heuristics under a search method


def _read_search(text: str, start: int, end: int) -> Spec | None:
    head, colon, remainder = text[start:end].partition(":")
    method = head.strip().upper()
    if method not in METHODS:
        return None
    at = start + len(head) + len(colon)
    if not colon and method != "MCTS":
        raise_spec_error(f"{method} needs a heuristic, like {method}:improved", text, start, end)
    if colon and not remainder.strip():
        raise_spec_error(f"a heuristic must follow {method}:", text, at - 1, at)
    return Spec(text, "search", method=method, target=_read_heuristic(text, at, end), start=at, end=end)


def _read_heuristic(text: str, start: int, end: int) -> str:
    word = text[start:end].strip()
    if not word or word == "*":
        return word
    if ".py" in word:
        return _read_file(text, start, end, "my_score")
    try:
        return heuristics.canonical_name(word)
    except ValueError as error:
        raise_spec_error(str(error), text, start, end)


def _read_file(text: str, start: int, end: int, example: str) -> str:
    """Return the file and the name in it; for a file alone the name is empty until `spec_parser.named` finds it."""
    word = text[start:end].strip()
    if word.endswith(".py"):
        return f"{word}:"
    path, _, name = word.rpartition(".py:")
    if not path or not is_name(name):
        raise_spec_error(
            f"a file is followed by the name inside it, like {word.partition('.py')[0]}.py:{example}", text, start, end
        )
    return word


def _refuse_search_limit(spec: Spec, unit: str) -> str:
    if unit == "depth" and _grows_a_tree(spec):
        return f"{spec.method} has no depth limit; use nodes, ms or cpu_ms"
    return ""


def _grows_a_tree(spec: Spec) -> bool:
    from knights_isolation.isolation.search import TREES

    return bool(spec.method) and METHODS[spec.method] in TREES


def _usual_search_limit(spec: Spec, default: Limit | None) -> Limit:
    default = default or DEFAULT_LIMIT
    if default.unit == "depth" and _grows_a_tree(spec):
        return DEFAULT_LIMIT
    return _FIXED.get(spec.method, default)


def _name_heuristic(spec: Spec) -> Spec:
    if spec.member or not spec.is_file:
        return spec
    from .default_names import only_heuristic

    return replace(spec, target=f"{spec.path}:{only_heuristic(spec.path)}")


def _make_search(spec: Spec) -> Agent:
    from knights_isolation.isolation.players.agents import SearchAgent
    from knights_isolation.isolation.search import SearchOptions

    assert spec.limit is not None
    if spec.is_file:
        heuristic = load_heuristic(spec.path, spec.member).value
        heuristic_name = f"{Path(spec.path).name}:{spec.member}"
    else:
        heuristic, heuristic_name = heuristics.get(spec.target) if spec.target else None, spec.target
    parameters_of(heuristic)  # raises an error for invalid ranges
    heuristic = bind_parameters(heuristic, dict(spec.parameters)) if heuristic else None
    options = SearchOptions(**{SWITCHES[switch]: True for switch in spec.switches})
    return SearchAgent(
        spec.name, METHODS[spec.method], heuristic, heuristic_name, spec.limit, options, is_user_code=spec.is_file
    )


def _beyond_caps(spec: Spec) -> str:
    limit, grows = spec.limit, _grows_a_tree(spec)
    caps = _BOARD_TREE_CAPS if grows else _BOARD_CAPS
    if limit and limit.value > caps[limit.unit]:
        return f"at most {limit.unit}={caps[limit.unit]:,}" + (", as its tree grows" if grows else "")
    return ""


def _refuse_search_on_board(spec: Spec) -> str:
    if spec.is_file:
        return _refuse_on_board(spec)
    if spec.target == "*":
        return "name one heuristic, not all"
    if refusal := _beyond_caps(spec):
        return refusal
    if spec.method == "MM" and spec.limit and (spec.limit.depth or 0) > _BOARD_MINIMAX_DEPTH:
        return f"minimax is limited to depth={_BOARD_MINIMAX_DEPTH} here; AB and ID go deeper"
    return ""


# Player objects in user files


def _read_classic(text: str, start: int, end: int) -> Spec | None:
    if ".py" not in text[start:end]:
        return None
    return Spec(text, "classic", target=_read_file(text, start, end, "CustomPlayer"), start=start, end=end)


def _usual_classic_limit(spec: Spec, default: Limit | None) -> Limit:
    return (spec.usual_limit or CLASSIC_LIMIT) if default is None or default.is_reproducible else default


def _name_player(spec: Spec) -> Spec:
    """Return the spec with the name of its player and, if it gives no limit, that of the player's edition."""
    if spec.member and spec.limit is not None:
        return spec
    from .default_names import player_facts

    facts = player_facts(spec.path, spec.member)
    usual = Limit(ms=facts.usual_limit) if spec.limit is None else None
    return replace(spec, target=f"{spec.path}:{facts.name}", usual_limit=usual)


def _make_classic(spec: Spec) -> Agent:
    from .default_names import player_facts

    facts = player_facts(spec.path, spec.member)
    return replace(_file_agent(spec, edition=facts.edition, is_restricted=False), data=digest_of_inputs(facts.inputs))


def _file_agent(spec: Spec, *, edition: str, is_restricted: bool) -> FileAgent:
    from knights_isolation.isolation.processes.subprocess_player import FileAgent

    assert spec.limit is not None
    return FileAgent(spec.name, spec.path, spec.member, content_hash(spec.path), spec.limit, edition, is_restricted)


# Player objects in a sandboxed process: the file is not loaded here, not even to plan a run


def _read_apart(text: str, start: int, end: int) -> Spec | None:
    head, colon, remainder = text[start:end].partition(":")
    if head.strip().lower() != APART or ".py" not in remainder:
        return None
    at = start + len(head) + len(colon)
    target = _read_file(text, at, end, "CustomPlayer")
    if target.endswith(".py:"):
        raise_spec_error(f"the file is not imported: name the class, like {APART}:{target}CustomPlayer", text, at, end)
    return Spec(text, APART, prefix=APART, target=target, start=at, end=end)


def _make_apart(spec: Spec) -> Agent:
    from .default_names import players_in

    players = players_in(Path(spec.path))
    if spec.member not in players:
        raise ValueError(f"{spec.path} has no class {spec.member} with a get_move or a get_action")
    return _file_agent(spec, edition=players[spec.member], is_restricted=True)


# Policies of learning agents: functions in importable modules


def _read_policy(text: str, start: int, end: int) -> Spec | None:
    head, colon, remainder = text[start:end].partition(":")
    if head.strip().lower() != _POLICY:
        return None
    at = start + len(head) + len(colon)
    module, _, function = remainder.strip().partition(":")
    if not all(map(is_name, module.split("."))) or not is_name(function):
        raise_spec_error("a policy is a module and a function in it, like policy:train:greedy_policy", text, at, end)
    return Spec(text, _POLICY, prefix=_POLICY, target=f"{module}:{function}", start=at, end=end)


def _make_policy(spec: Spec) -> Agent:
    from knights_isolation.isolation.players.agents import PolicyAgent

    module, _, function = spec.target.partition(":")
    folder = str(Path.cwd())
    source = _find_module(module, folder)
    return PolicyAgent(spec.name, module, function, folder, content_hash(str(source)))


def _find_module(name: str, folder: str) -> Path:
    for base in (folder, *sys.path):
        for path in (Path(base, *name.split(".")).with_suffix(".py"), Path(base, *name.split("."), "__init__.py")):
            if path.is_file():
                return path
    raise ValueError(f"no module {name} in {folder} or where Python looks for modules")


# Engines: external programs


def _read_engine(text: str, start: int, end: int) -> Spec | None:
    head, colon, remainder = text[start:end].partition(":")
    if head.strip().lower() != ENGINE:
        return None
    if not remainder.strip():
        raise_spec_error(
            "an engine is a name, such as engine:fairy, or a program, such as engine:./my_player", text, start, end
        )
    return Spec(text, ENGINE, prefix=ENGINE, target=remainder.strip(), start=start + len(head) + len(colon), end=end)


def _usual_engine_limit(spec: Spec, default: Limit | None) -> Limit:
    default = default or DEFAULT_LIMIT
    return Limit(ms=default.cpu_ms) if default.cpu_ms is not None else default


def _make_engine(spec: Spec) -> Agent:
    from knights_isolation.isolation.engines.engine_agent import EngineAgent
    from knights_isolation.isolation.engines.protocol import Program

    program = spec.program or Program((str(expand_path(spec.target)),))
    options = {name.lower(): (name, value) for name, value in (*program.options, *spec.options)}
    program = replace(program, options=tuple(options.values()))
    try:
        program.find()
    except ValueError as error:
        is_name = spec.program is None and "/" not in spec.target and not Path(spec.target).is_file()
        known = "; named engines are defined under [[engines]] in a tournament file" if is_name else ""
        raise ValueError(f"{error}{known}") from None
    assert spec.limit is not None
    return EngineAgent(spec.name, program, spec.limit)


_NO_DEPTH = _refusing("perfect searches to the end of the game; use a limit of nodes, ms or cpu_ms", "depth")
_NO_CPU_TIME = _refusing("an engine needs a limit of depth, nodes or ms", "cpu_ms")
_TIME_ALONE = _refusing("a player from a file needs a time limit: ms or cpu_ms", "depth", "nodes")
_CLASSIC = (_TIME_ALONE, _usual_classic_limit)
_SEARCH = (_refuse_search_limit, _usual_search_limit, _make_search, _refuse_search_on_board, _name_heuristic)
_ROWS = (
    _word("random", _make_simple),
    _word("greedy", _make_simple),
    _word("perfect", _make_perfect, _NO_DEPTH, _usual_perfect_limit),
    AgentKind(
        "search", ("MM:…", "AB:…", "ID:…", "BF:…", "MCTS", "MCTS:…"), tuple(METHODS), _read_search, *_SEARCH,
    ),
    AgentKind(
        ENGINE, ("engine:…",), (ENGINE,), _read_engine, _NO_CPU_TIME, _usual_engine_limit, _make_engine,
        is_program=True,
    ),
    AgentKind(
        _POLICY, (f"{_POLICY}:MODULE:FUNCTION",), (_POLICY,), _read_policy,
        lambda spec, unit: "a policy has no limit", lambda spec, default: None, _make_policy,
    ),
    AgentKind(
        APART, (f"{APART}:FILE.py:CLASS",), (APART,), _read_apart, *_CLASSIC, _make_apart, is_restricted=True
    ),
    AgentKind("classic", ("FILE.py:CLASS",), (), _read_classic, *_CLASSIC, _make_classic, name_target=_name_player),
)  # fmt: skip
KINDS = {kind.name: kind for kind in _ROWS}
"""All kinds by name; the first kind that can read a player is its kind."""

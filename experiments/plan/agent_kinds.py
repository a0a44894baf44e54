"""Specs, and the table of agent kinds: syntax, allowed limits, construction."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from knights_isolation import heuristics
from knights_isolation.isolation.loading.load_user_code import content_hash, expand_path, is_name, load_heuristic
from knights_isolation.isolation.rules.game import Limit
from knights_isolation.isolation.rules.parameters import bind_parameters, parameters_of
from knights_isolation.isolation.usercode.inputs import digest_of_inputs

if TYPE_CHECKING:
    from knights_isolation.isolation.engines.protocol import Program
    from knights_isolation.isolation.processes.subprocess_player import FileAgent
    from knights_isolation.isolation.search import Method
    from knights_isolation.isolation.search.agents import Agent

UNITS = ("depth", "nodes", "ms", "cpu_ms")
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


class SpecError(ValueError):
    """A spec that cannot be parsed: the message, then the spec with the wrong part underlined."""

    def __init__(self, message: str, text: str, start: int, end: int) -> None:
        self.message = message
        super().__init__(f"{message}\n  {text}\n  {' ' * start}{'^' * max(1, end - start)}")


@dataclass(frozen=True)
class Spec:
    """A parsed spec. Unspecified fields are empty or None until `complete` sets them.

    Attributes:
        kind: name of a row of `KINDS`.
        method: its search method, if any.
        target: a registry name, `*`, `FILE.py:FUNCTION`, `FILE.py:CLASS` of a player, `MODULE:FUNCTION` of a policy, or
            an engine's name or path; the name after `:` is empty for a file alone.
        parameters: those of the heuristic that differ from its defaults, by name and value.
        options: those of an engine.
        program: the engine's program if its name is known.
        usual_limit: default limit of a file's player, once the file has been inspected.
        pattern: the part of the file's path that matched a pattern, if a pattern found it.
        start, end: position of the target in `text`, for messages.
    """

    text: str
    kind: str
    name: str = ""
    method: str = ""
    target: str = ""
    limit: Limit | None = None
    switches: tuple[str, ...] = ()
    parameters: tuple[tuple[str, float], ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    program: Program | None = None
    usual_limit: Limit | None = None
    pattern: str = ""
    start: int = 0
    end: int = 0

    @property
    def is_file(self) -> bool:
        """Return whether the target is a user's file."""
        return ".py:" in self.target

    @property
    def path(self) -> str:
        """Path of the user's file; empty if the target is none."""
        return self.target.rpartition(":")[0] if self.is_file else ""

    @property
    def member(self) -> str:
        """Name of the function or class in its file."""
        return self.target.rpartition(":")[2]

    def __str__(self) -> str:
        """Format the spec; `parse_spec` reads it back."""
        word = self.method or "".join(KINDS[self.kind].words)
        limit = f"{self.limit.unit}={number_of(self.limit)}" if self.limit else ""
        given = (f"option.{name}={value}" for name, value in self.options)
        parameters = (f"option.{name}={number_text(value)}" for name, value in self.parameters)
        options = ",".join(filter(None, (limit, *self.switches, *given, *parameters)))
        player = ":".join(filter(None, (word, self.target)))
        return f"{self.name + '=' if self.name else ''}{player}{'@' + options if options else ''}"


def parse_limit(text: str) -> Limit:
    """Parse `depth=N`, `nodes=N`, `ms=X` or `cpu_ms=X`.

    >>> parse_limit("nodes=5000")
    Limit(nodes=5000)

    Raises:
        ValueError: the text is none of these, or the number is not positive.
    """
    unit, equals, value = text.partition("=")
    if unit not in UNITS or not equals:
        raise ValueError(f"a limit must be written depth=N, nodes=N, ms=N or cpu_ms=N, not {text!r}")
    whole = unit in ("depth", "nodes")
    try:
        number = parse_number(value)
        number = int(value) if whole else number
    except ValueError:
        raise ValueError(f"{unit} must be a positive {'whole number' if whole else 'number'}, not {value!r}") from None
    return Limit(**{unit: number})  # type: ignore[arg-type]


def parse_number(text: str) -> float:
    """Parse a plain number, or raise ValueError; Python's underscores are not allowed.

    >>> parse_number("0.5")
    0.5
    """
    if "_" in text:
        raise ValueError(f"{text!r} is not a number")
    return float(text)


def number_of(limit: Limit) -> float:
    """Return the number of a limit, exactly and as short as possible."""
    number: float = getattr(limit, limit.unit)  # not its value: a float holds no more than 53 bits
    return int(number) if float(number).is_integer() else number


def number_text(value: float) -> str:
    """Format a number exactly and as short as possible.

    >>> number_text(2.0), number_text(0.1)
    ('2', '0.1')
    """
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))


def raise_spec_error(message: str, text: str, start: int, end: int) -> NoReturn:
    """Raise a SpecError that underlines text[start:end] without surrounding spaces."""
    part = text[start:end]
    start += len(part) - len(part.lstrip()) if part.strip() else 0
    raise SpecError(message, text, start, start + len(part.strip()))


@dataclass(frozen=True)
class AgentKind:
    """A kind of agent.

    Attributes:
        name: its name in completed specs.
        syntax: the forms of its players, for messages.
        words: what its players begin with, before a colon if more follows; none for those that begin with a file.
        read: returns the target of a player, or None if it is not of this kind; raises ValueError. It gets what follows
            the word and a colon, None without a colon; or the whole of a player that begins with a file. The spec has
            the player's text and position, and its method.
        make: makes the agent of a completed spec; raises ValueError.
        refused: units of limits that its players cannot have, and why.
        usual_limit: returns the limit of a spec without one, given the default limit for all agents, if there is one.
        refuse_on_board: returns why the analysis board may not start an agent that its page requests by a completed
            spec; empty if it may. None forbids it, and all else that a page may start: players that import a module or
            a player, or are programs.
        name_target: loads a spec's file and returns the spec with what only the file determines; raises ValueError.
        is_program: whether its players are external programs, which have names and options of their own.
        is_restricted: whether its players are files that are only loaded in sandboxed processes.
    """

    name: str
    syntax: str
    words: tuple[str, ...]
    read: Callable[[str | None, Spec], str | None]
    make: Callable[[Spec], Agent]
    refused: tuple[tuple[str, ...], str] = (UNITS, "")
    usual_limit: Callable[[Spec, Limit | None], Limit | None] = lambda spec, default: None
    refuse_on_board: Callable[[Spec], str] | None = None
    name_target: Callable[[Spec], Spec] = lambda spec: spec
    is_program: bool = False
    is_restricted: bool = False


def read_player(text: str, start: int, end: int) -> Spec | None:
    """Return the spec of the player in text[start:end]; None if it is of no kind. Raises SpecError."""
    head, colon, tail = text[start:end].partition(":")
    first = head.strip()
    method = first.upper() if first.upper() in METHODS else ""
    for kind in KINDS.values():
        if kind.words and first.lower() not in map(str.lower, kind.words):
            continue
        word, at = (
            (tail.strip() if colon else None, end - len(tail)) if kind.words else (text[start:end].strip(), start)
        )
        spec = Spec(text, kind.name, method=method, start=start, end=end)
        with underlining(text, at if word else start, end):
            target = kind.read(word, spec)
        if target is not None:
            return replace(spec, target=target, start=at)
    return None


@contextmanager
def underlining(text: str, start: int, end: int) -> Iterator[None]:
    """Have errors point at the part of a spec that they are about, unless they do already."""
    try:
        yield
    except SpecError:
        raise
    except ValueError as error:
        raise_spec_error(str(error), text, start, end)


def runs_code(spec: Spec) -> bool:
    """Return whether an agent is of a kind that no page may start: it imports a module or a player, or is a program."""
    return KINDS[spec.kind].refuse_on_board is None


def limit_refusal(spec: Spec, unit: str) -> str:
    """Return why a spec's player cannot be limited by a unit; empty if it can."""
    if unit == "depth" and _grows_a_tree(spec):
        return f"{spec.method} has no depth limit; use nodes, ms or cpu_ms"
    units, why = KINDS[spec.kind].refused
    return (why or f"{spec.kind} has no limit") if unit in units else ""


def board_refusal(spec: Spec) -> str:
    """Return why the analysis board may not start an agent of a completed spec; empty if it may."""
    refuse = KINDS[spec.kind].refuse_on_board
    if refuse and not spec.is_file:
        return refuse(spec)
    return (
        f"name {'agents from files' if spec.is_file else f'{spec.kind} players'} with --agent when starting the board"
    )


# Players whose spec is a single word


def _read_nothing(word: str | None, spec: Spec) -> str | None:
    return "" if word is None else None


def _make_simple(spec: Spec) -> Agent:
    from knights_isolation.isolation.search.agents import GreedyAgent, RandomAgent

    return (RandomAgent if spec.kind == "random" else GreedyAgent)(spec.name)


def _usual_perfect_limit(spec: Spec, default: Limit | None) -> Limit:
    from knights_isolation.isolation.search.perfect_agent import DEFAULT_LIMIT as ENOUGH_TO_SOLVE

    return ENOUGH_TO_SOLVE


def _make_perfect(spec: Spec) -> Agent:
    from knights_isolation.isolation.search.perfect_agent import PerfectAgent

    assert spec.limit is not None
    return PerfectAgent(spec.name, heuristics.get(_BEST), _BEST, spec.limit)


# Heuristics under a search method


def _read_search(word: str | None, spec: Spec) -> str:
    if word is None and spec.method != "MCTS":
        raise ValueError(f"{spec.method} needs a heuristic, like {spec.method}:improved")
    if word == "":
        colon = spec.text.index(":", spec.start)
        raise_spec_error(f"a heuristic must follow {spec.method}:", spec.text, colon, colon + 1)
    if word is None or word == "*":
        return word or ""
    return _read_file(word, "my_score") if ".py" in word else heuristics.canonical_name(word)


def _read_file(word: str, example: str) -> str:
    """Return the file and the name in it; for a file alone the name is empty until `spec_parser.named` finds it."""
    if word.endswith(".py"):
        return f"{word}:"
    path, _, name = word.rpartition(".py:")
    if not path or not is_name(name):
        raise ValueError(f"a file is followed by the name inside it, like {word.partition('.py')[0]}.py:{example}")
    return word


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
    from .user_files import only_heuristic

    return replace(spec, target=f"{spec.path}:{only_heuristic(spec.path)}")


def _make_search(spec: Spec) -> Agent:
    from knights_isolation.isolation.search import SearchOptions
    from knights_isolation.isolation.search.agents import SearchAgent

    assert spec.limit is not None
    heuristic, name = heuristics.get(spec.target) if spec.target and not spec.is_file else None, spec.target
    if spec.is_file:
        heuristic, name = load_heuristic(spec.path, spec.member).value, f"{Path(spec.path).name}:{spec.member}"
    parameters_of(heuristic)  # raises an error for invalid ranges
    heuristic = bind_parameters(heuristic, dict(spec.parameters)) if heuristic else None
    options = SearchOptions(**{SWITCHES[switch]: True for switch in spec.switches})
    return SearchAgent(spec.name, METHODS[spec.method], heuristic, name, spec.limit, options, is_user_code=spec.is_file)


def _beyond_caps(spec: Spec) -> str:
    limit, grows = spec.limit, _grows_a_tree(spec)
    caps = _BOARD_TREE_CAPS if grows else _BOARD_CAPS
    if limit and limit.value > caps[limit.unit]:
        return f"at most {limit.unit}={caps[limit.unit]:,}" + (", as its tree grows" if grows else "")
    return ""


def _refuse_search_on_board(spec: Spec) -> str:
    if spec.target == "*":
        return "name one heuristic, not all"
    if refusal := _beyond_caps(spec):
        return refusal
    if spec.method == "MM" and spec.limit and (spec.limit.depth or 0) > _BOARD_MINIMAX_DEPTH:
        return f"minimax is limited to depth={_BOARD_MINIMAX_DEPTH} here; AB and ID go deeper"
    return ""


# Player objects in user files


def _read_classic(word: str | None, spec: Spec) -> str | None:
    return _read_file(word, "CustomPlayer") if word and ".py" in word else None


def _usual_classic_limit(spec: Spec, default: Limit | None) -> Limit:
    return (spec.usual_limit or CLASSIC_LIMIT) if default is None or default.is_reproducible else default


def _name_player(spec: Spec) -> Spec:
    """Return the spec with the name of its player and, if it gives no limit, that of the player's edition."""
    if spec.member and spec.limit is not None:
        return spec
    from .user_files import player_facts

    facts = player_facts(spec.path, spec.member)
    usual = Limit(ms=facts.usual_limit) if spec.limit is None else None
    return replace(spec, target=f"{spec.path}:{facts.name}", usual_limit=usual)


def _make_classic(spec: Spec) -> Agent:
    from .user_files import player_facts

    facts = player_facts(spec.path, spec.member)
    return replace(_file_agent(spec, facts.edition), data=digest_of_inputs(facts.inputs))


def _file_agent(spec: Spec, edition: str) -> FileAgent:
    from knights_isolation.isolation.processes.subprocess_player import FileAgent

    assert spec.limit is not None
    is_restricted = KINDS[spec.kind].is_restricted
    return FileAgent(spec.name, spec.path, spec.member, content_hash(spec.path), spec.limit, edition, is_restricted)


# Player objects in a sandboxed process: the file is not loaded here, not even to plan a run


def _read_apart(word: str | None, spec: Spec) -> str | None:
    target = _read_classic(word, spec)
    if target and target.endswith(".py:"):
        raise ValueError(f"the file is not imported: name the class, like apart:{target}CustomPlayer")
    return target


def _make_apart(spec: Spec) -> Agent:
    from .user_files import players_in

    players = players_in(Path(spec.path))
    if spec.member not in players:
        raise ValueError(f"{spec.path} has no class {spec.member} with a get_move or a get_action")
    return _file_agent(spec, players[spec.member])


# Policies of learning agents: functions in importable modules


def _read_policy(word: str | None, spec: Spec) -> str:
    module, _, function = (word or "").partition(":")
    if not all(map(is_name, module.split("."))) or not is_name(function):
        raise ValueError("a policy is a module and a function in it, like policy:train:greedy_policy")
    return f"{module}:{function}"


def _make_policy(spec: Spec) -> Agent:
    from knights_isolation.isolation.search.agents import PolicyAgent

    module, _, function = spec.target.partition(":")
    folder = str(Path.cwd())
    places = [Path(base, *module.split(".")) for base in (folder, *sys.path)]
    files = (file for place in places for file in (place.with_suffix(".py"), place / "__init__.py"))
    source = next(filter(Path.is_file, files), None)
    if source is None:
        raise ValueError(f"no module {module} in {folder} or where Python looks for modules")
    return PolicyAgent(spec.name, module, function, folder, content_hash(str(source)))


# Engines: external programs


def _read_engine(word: str | None, spec: Spec) -> str:
    if not word:
        raise ValueError("an engine is a name, such as engine:fairy, or a program, such as engine:./my_player")
    return word


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
        is_word = spec.program is None and "/" not in spec.target and not Path(spec.target).is_file()
        known = "; named engines are defined under [[engines]] in a tournament file" if is_word else ""
        raise ValueError(f"{error}{known}") from None
    assert spec.limit is not None
    return EngineAgent(spec.name, program, spec.limit)


_NO_DEPTH = (("depth",), "perfect searches to the end of the game; use a limit of nodes, ms or cpu_ms")
_NO_CPU_TIME = (("cpu_ms",), "an engine needs a limit of depth, nodes or ms")
_TIME_ONLY = (("depth", "nodes"), "a player from a file needs a time limit: ms or cpu_ms")
KINDS = {
    kind.name: kind
    for kind in (
        AgentKind("random", "random", ("random",), _read_nothing, _make_simple, refuse_on_board=_beyond_caps),
        AgentKind("greedy", "greedy", ("greedy",), _read_nothing, _make_simple, refuse_on_board=_beyond_caps),
        AgentKind(
            "perfect", "perfect", ("perfect",), _read_nothing, _make_perfect, _NO_DEPTH, _usual_perfect_limit,
            _beyond_caps,
        ),
        AgentKind(
            "search", "MM:…, AB:…, ID:…, BF:…, MCTS, MCTS:…", tuple(METHODS), _read_search, _make_search, ((), ""),
            _usual_search_limit, _refuse_search_on_board, _name_heuristic,
        ),
        AgentKind(
            "engine", "engine:…", ("engine",), _read_engine, _make_engine, _NO_CPU_TIME, _usual_engine_limit,
            is_program=True,
        ),
        AgentKind(
            "policy", "policy:MODULE:FUNCTION", ("policy",), _read_policy, _make_policy,
            (UNITS, "a policy has no limit"),
        ),
        AgentKind(
            "apart", "apart:FILE.py:CLASS", ("apart",), _read_apart, _make_apart, _TIME_ONLY, _usual_classic_limit,
            is_restricted=True,
        ),
        AgentKind(
            "classic", "FILE.py:CLASS", (), _read_classic, _make_classic, _TIME_ONLY, _usual_classic_limit,
            name_target=_name_player,
        ),
    )
}  # fmt: skip
"""All kinds by name; the first kind that can read a player is its kind."""

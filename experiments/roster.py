"""Agent specs: `ID:improved@nodes=2000`, `my_agent.py:CustomPlayer` -> a player. The only place where names meet code.

    spec      = [ NAME "=" ] player [ "@" option { "," option } ]
    player    = "random" | "greedy" | "perfect" | "MCTS" | method ":" heuristic | FILE ".py:" CLASS
    method    = "MM" | "AB" | "ID" | "MCTS"
    heuristic = a name of the registry | "*" | FILE ".py:" FUNCTION
    option    = "depth=" N | "nodes=" N | "ms=" X | "cpu_ms=" X | "order" | "quiescence" | "agree" | "ties"

`docs/tournaments.md` says what each means. Parsing and completing touch no file; `make_agent` loads what a spec names.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NoReturn

import heuristics
from isolation.limits import Limit

if TYPE_CHECKING:
    from isolation.agents import Agent
    from isolation.search import Method

Kind = Literal["random", "greedy", "perfect", "search", "classic"]

DEFAULT_LIMIT = Limit(nodes=10_000)
"""About what the classic engines searched in their 150 ms a move."""
CLASSIC_LIMIT = Limit(ms=150)
"""What players with a clock of their own get where the default limit is not a time."""

_WORDS: dict[str, Kind] = {"random": "random", "greedy": "greedy", "perfect": "perfect"}
_METHODS: dict[str, Method] = {"MM": "minimax", "AB": "alphabeta", "ID": "alphabeta", "MCTS": "mcts"}
_FIXED = {"MM": Limit(depth=3), "AB": Limit(depth=5)}
_BEST = "territory"
"""What the perfect player goes by where it cannot solve."""
_SWITCHES = {
    "order": "order_moves",
    "quiescence": "quiescence",
    "agree": "stop_on_agreement",
    "ties": "random_ties",
}
_NAME = re.compile(r"\s*([^=@:,/\s*][^=@:,/*]*)=")


class SpecError(ValueError):
    """A spec that cannot be read: the message, then the spec with the wrong part underlined."""

    def __init__(self, message: str, text: str, start: int, end: int) -> None:
        super().__init__(f"{message}\n  {text}\n  {' ' * start}{'^' * max(1, end - start)}")


@dataclass(frozen=True)
class Spec:
    """A parsed spec. What it does not say is empty or None until `complete` fills it in.

    `target` is a registry name, `*`, `FILE.py:FUNCTION`, or for a classic player `FILE.py:CLASS`; `start` and `end`
    are where it stands in `text`, for messages.
    """

    text: str
    kind: Kind
    name: str = ""
    method: str = ""
    target: str = ""
    limit: Limit | None = None
    switches: tuple[str, ...] = ()
    start: int = 0
    end: int = 0

    @property
    def is_file(self) -> bool:
        """Whether the target is a user's file."""
        return ".py:" in self.target

    def __str__(self) -> str:
        """The spec in the grammar; `parse_spec` reads it back."""
        word = self.kind if self.kind in _WORDS else ""
        player = word or ":".join(part for part in (self.method, self.target) if part)
        limit = f"{self.limit.unit}={_number(self.limit)}" if self.limit else ""
        options = ",".join(part for part in (limit, *self.switches) if part)
        return f"{self.name + '=' if self.name else ''}{player}{'@' + options if options else ''}"


def parse_agent(text: str, default_limit: Limit | None = None) -> Agent:
    """The agent a spec names.

    >>> parse_agent("ID:improved@nodes=2000").name
    'ID_Improved_2000nodes'

    Raises:
        SpecError: the spec is malformed or names nothing that exists; the message points at the wrong part.
    """
    return make_agent(complete(parse_spec(text), default_limit))


def parse_limit(text: str) -> Limit:
    """Read `depth=N`, `nodes=N`, `ms=X` or `cpu_ms=X`.

    >>> parse_limit("nodes=5000")
    Limit(nodes=5000)

    Raises:
        ValueError: the text is none of these, or the number is not positive.
    """
    unit, equals, value = text.partition("=")
    if unit not in ("depth", "nodes", "ms", "cpu_ms") or not equals:
        raise ValueError(f"a limit is written depth=N, nodes=N, ms=N or cpu_ms=N, not {text!r}")
    whole = unit in ("depth", "nodes")
    try:
        return Limit(**{unit: int(value) if whole else float(value)})  # type: ignore[arg-type]
    except ValueError:
        raise ValueError(f"{unit} must be a positive {'whole number' if whole else 'number'}, not {value!r}") from None


def parse_spec(text: str) -> Spec:
    """Read a spec; file names are not looked at.

    Raises:
        SpecError: the text does not follow the grammar, or an option does not go with the player.
    """
    if name := _NAME.match(text):
        given, start = name[1].strip(), name.end()
    else:
        given, start = "", 0
    at = _find_options(text, start)
    spec = replace(_parse_player(text, start, at), name=given)
    return _parse_options(spec, at + 1) if at < len(text) else spec


def expand(spec: Spec) -> list[Spec]:
    """One spec for every heuristic of the registry where the heuristic is `*`; otherwise the spec itself."""
    if spec.target != "*":
        return [spec]
    if spec.name:
        raise SpecError("a name cannot go with *, which stands for many agents", spec.text, 0, len(spec.name))
    return [replace(spec, target=name) for name in heuristics.names()]


def complete(spec: Spec, default_limit: Limit | None = None) -> Spec:
    """The spec with everything said: its name, its limit, the absolute path of its file.

    MM and AB search 3 and 5 plies unless told otherwise, and perfect has nodes enough for most games of 7x7;
    `default_limit` (10,000 nodes) is for all others. The default name shows method, heuristic and whatever differs from
    the default.
    """
    usual = _usual_limit(spec, default_limit)
    limit = spec.limit or usual
    return replace(
        spec,
        name=spec.name or _default_name(spec, limit, usual),
        limit=limit,
        target=_absolute(spec.target) if spec.is_file else spec.target,
    )


def make_agent(spec: Spec) -> Agent:
    """The agent a completed spec stands for.

    Raises:
        SpecError: its file cannot be loaded or lacks the name, or the name is not a heuristic or a player.
    """
    from isolation import agents

    if spec.kind == "random":
        return agents.RandomAgent(spec.name)
    if spec.kind == "greedy":
        return agents.GreedyAgent(spec.name)
    if spec.kind == "perfect":
        return _make_perfect(spec)
    try:
        return _make_classic(spec) if spec.kind == "classic" else _make_search(spec)
    except ValueError as error:
        _fail(str(error), spec.text, spec.start, spec.end)


def settings_text(spec: Spec, agent: Agent) -> str:
    """All that influences an agent's play, its name aside, as it stands in the log: JSON, with a hash of any file."""
    from isolation.loading import content_hash

    file = {"content_hash": content_hash(spec.target.rpartition(":")[0])} if spec.is_file else {}
    return json.dumps({**agent.settings(), **file}, sort_keys=True)


def _make_perfect(spec: Spec) -> Agent:
    from isolation.perfect import PerfectAgent

    assert spec.limit is not None
    return PerfectAgent(spec.name, heuristics.get(_BEST), _BEST, spec.limit)


def _make_classic(spec: Spec) -> Agent:
    from isolation.agents import ClassicAgent
    from isolation.loading import load_player

    path, _, name = spec.target.rpartition(":")
    assert spec.limit is not None
    return ClassicAgent(
        spec.name, load_player(path, name).value, (("player", f"{Path(path).name}:{name}"),), spec.limit
    )


def _make_search(spec: Spec) -> Agent:
    from isolation.agents import SearchAgent
    from isolation.loading import load_heuristic
    from isolation.search import SearchOptions

    path, _, name = spec.target.rpartition(":")
    assert spec.limit is not None
    if spec.is_file:
        heuristic, heuristic_name = load_heuristic(path, name).value, f"{Path(path).name}:{name}"
    else:
        heuristic, heuristic_name = heuristics.get(spec.target) if spec.target else None, spec.target
    options = SearchOptions(**{_SWITCHES[switch]: True for switch in spec.switches})
    return SearchAgent(
        spec.name, _METHODS[spec.method], heuristic, heuristic_name, spec.limit, options, is_user_code=spec.is_file
    )


def _find_options(text: str, start: int) -> int:
    """Where the `@` of the options stands; an `@` inside the path of a file is part of the path."""
    after_file = text.rfind(".py:", start)
    at = text.find("@", max(start, after_file))
    return at if at >= 0 else len(text)


def _parse_player(text: str, start: int, end: int) -> Spec:
    word = text[start:end].strip()
    if word.lower() in _WORDS:
        return Spec(text, _WORDS[word.lower()], start=start, end=end)
    head, colon, rest = text[start:end].partition(":")
    method = head.strip().upper()
    if method in _METHODS:
        at = start + len(head) + len(colon)
        if not colon and method != "MCTS":
            _fail(f"{method} needs a heuristic, like {method}:improved", text, start, end)
        if colon and not rest.strip():
            _fail(f"a heuristic must follow {method}:", text, at - 1, at)
        return Spec(text, "search", method=method, target=_heuristic(text, at, end), start=at, end=end)
    if ".py" in word:
        return Spec(text, "classic", target=_file(text, start, end, "CustomPlayer"), start=start, end=end)
    if not word:
        _fail("a player is missing", text, start, end)
    _fail(_unknown_player(word), text, start, end)


def _heuristic(text: str, start: int, end: int) -> str:
    word = text[start:end].strip()
    if not word or word == "*":
        return word
    if ".py" in word:
        return _file(text, start, end, "my_score")
    try:
        return heuristics.canonical_name(word)
    except ValueError as error:
        _fail(str(error), text, start, end)


def _file(text: str, start: int, end: int, example: str) -> str:
    word = text[start:end].strip()
    path, _, name = word.rpartition(".py:")
    if not path or not name.isidentifier():
        _fail(
            f"a file is followed by the name inside it, like {word.partition('.py')[0]}.py:{example}", text, start, end
        )
    return word


def _unknown_player(word: str) -> str:
    """The message for a word that is no player; people often write the name of an agent or of a heuristic."""
    if re.fullmatch(r"(MM|AB|ID|MCTS)_\w+", word, re.IGNORECASE):
        method, _, heuristic = word.partition("_")
        return f"no player is called {word!r}; did you mean {method.upper()}:{heuristic.lower()}?"
    if word in heuristics.names():
        return f"{word!r} is a heuristic, not a player; did you mean ID:{word}?"
    near = get_close_matches(word.partition(":")[0].lower(), [*_WORDS, *(method.lower() for method in _METHODS)], n=1)
    hint = f"did you mean {near[0] if near[0] in _WORDS else near[0].upper()}? " if near else ""
    words = ", ".join(_WORDS)
    return f"no player is called {word!r}; {hint}players are {words}, MM:…, AB:…, ID:…, MCTS or FILE.py:CLASS"


def _parse_options(spec: Spec, start: int) -> Spec:
    first = start
    for part in spec.text[start:].split(","):
        add = _with_switch if part.strip() in _SWITCHES else _with_limit
        spec = add(spec, part.strip(), first, first + len(part))
        first += len(part) + 1
    deepens = spec.method == "ID" if spec.limit is None else spec.limit.unit != "depth"
    if "agree" in spec.switches and not deepens:
        _fail("agree needs iterations to compare: give a limit of nodes or time", spec.text, start, len(spec.text))
    return spec


def _with_switch(spec: Spec, word: str, first: int, last: int) -> Spec:
    methods = ("AB", "ID") if word == "order" else ("MM", "AB", "ID")
    if spec.method not in methods:
        _fail(f"{word} is an option of {' and '.join(methods)} only", spec.text, first, last)
    return replace(spec, switches=tuple(switch for switch in _SWITCHES if switch in (*spec.switches, word)))


def _with_limit(spec: Spec, word: str, first: int, last: int) -> Spec:
    unit = word.partition("=")[0]
    if unit not in ("depth", "nodes", "ms", "cpu_ms"):
        near = get_close_matches(unit.lower(), ["depth", "nodes", "ms", "cpu_ms", *_SWITCHES], n=1, cutoff=0.8)
        known = (
            f"did you mean {near[0]}?" if near else f"options are depth=, nodes=, ms=, cpu_ms=, {', '.join(_SWITCHES)}"
        )
        _fail(f"no option is called {unit!r}; {known}", spec.text, first, last)
    if spec.limit:
        _fail(f"a second limit, after {spec.limit}", spec.text, first, last)
    if spec.kind in ("random", "greedy"):
        _fail(f"{spec.kind} has no limit", spec.text, first, last)
    if spec.kind == "classic" and unit in ("depth", "nodes"):
        _fail("a player from a file is limited by time: ms or cpu_ms", spec.text, first, last)
    if spec.kind == "perfect" and unit == "depth":
        _fail("perfect searches to the end of the game; limit it by nodes, ms or cpu_ms", spec.text, first, last)
    if spec.method == "MCTS" and unit == "depth":
        _fail("MCTS has no depth; limit it by nodes (simulations), ms or cpu_ms", spec.text, first, last)
    try:
        return replace(spec, limit=parse_limit(word))
    except ValueError as error:
        _fail(str(error), spec.text, first, last)


def _usual_limit(spec: Spec, default: Limit | None) -> Limit | None:
    """The limit of a spec that gives none."""
    if spec.kind in ("random", "greedy"):
        return None
    if spec.kind == "perfect":
        from isolation.perfect import DEFAULT_LIMIT as ENOUGH_TO_SOLVE

        return ENOUGH_TO_SOLVE
    default = default or DEFAULT_LIMIT
    if spec.kind == "classic":
        return CLASSIC_LIMIT if default.is_reproducible else default
    if spec.method == "MCTS" and default.unit == "depth":
        return DEFAULT_LIMIT
    return _FIXED.get(spec.method, default)


def _default_name(spec: Spec, limit: Limit | None, usual: Limit | None) -> str:
    if spec.kind in _WORDS:
        return "_".join([spec.kind.capitalize(), *([_limit_name(limit)] if limit and limit != usual else [])])
    target = _file_name(spec.target) if spec.is_file else spec.target.title()
    differing = [_limit_name(limit)] if limit and limit != usual else []
    return "_".join([part for part in (spec.method, target) if part] + differing + list(spec.switches))


def _limit_name(limit: Limit) -> str:
    return f"depth{limit.depth}" if limit.depth else f"{_number(limit)}{limit.unit}"


def _number(limit: Limit) -> float:
    """The number of a limit, as short as it goes and in full."""
    return int(limit.value) if limit.value.is_integer() else limit.value


def _file_name(target: str) -> str:
    """FILE.py:NAME with at most one directory, in dots: alice/game_agent.py:Player -> alice.game_agent.Player."""
    path, _, name = target.rpartition(".py:")
    parts = [part for part in Path(path).parts if part not in ("/", ".", "..")][-2:]
    return re.sub(r"[^\w.+-]", "_", ".".join([*parts, name]))


def _absolute(target: str) -> str:
    path, _, name = target.rpartition(":")
    return f"{Path(path).expanduser().absolute()}:{name}"


def _fail(message: str, text: str, start: int, end: int) -> NoReturn:
    """Raise a SpecError that underlines text[start:end] without the blanks around it."""
    part = text[start:end]
    start += len(part) - len(part.lstrip()) if part.strip() else 0
    raise SpecError(message, text, start, start + len(part.strip()))

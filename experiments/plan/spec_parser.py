"""Parse and complete specs, and expand file patterns.

Functions raise SpecError if a spec does not follow the grammar or an option does not fit its player; if no file matches
or can be used; or if a file cannot be loaded, lacks the name, or leaves the choice open. Its message points there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from glob import glob, has_magic
from hashlib import sha256
from itertools import takewhile
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from knights_isolation import heuristics
from knights_isolation.isolation.loading.load_user_code import content_hash, expand_path
from knights_isolation.isolation.rules.game import Limit
from knights_isolation.isolation.rules.parameters import KINDS_OF_VALUES

from ..agent_like import AgentLike
from .agent_kinds import (
    KINDS,
    SWITCHES,
    UNITS,
    Spec,
    SpecError,
    limit_refusal,
    number_of,
    number_text,
    parse_limit,
    parse_number,
    raise_spec_error,
    read_player,
    underlining,
)
from .function_files import is_function_file, spec_of

if TYPE_CHECKING:
    from knights_isolation.isolation.engines.protocol import Program
    from knights_isolation.isolation.search.agents import Agent


_FILE_END = re.compile(r"\.py(?=\s*[:@]|\s*$)")
_MOST_IN_A_NAME = 4
_NAME = re.compile(r"\s*([^=@:,/\s*][^=@:,/*]*)=")


def parse_agent(agent: AgentLike, default_limit: Limit | None = None) -> Agent:
    """Return the agent that a spec names, or that searches with a function; see `spec_of`.

    >>> parse_agent("ID:improved@nodes=2000").name
    'ID_Improved_2000nodes'

    Raises:
        SpecError: the spec is malformed or names nothing that exists; the message points at the wrong part.
        ValueError: the function cannot be written to a file.
    """
    text = agent if isinstance(agent, str) else spec_of(agent)
    return make_agent(complete(named(parse_spec(text)), default_limit))


def parse_spec(text: str) -> Spec:
    """Parse a spec; file names are not checked."""
    name = _NAME.match(text)
    start = name.end() if name else 0
    files = [match.start() for match in _FILE_END.finditer(text, start)]
    at = text.find("@", files[-1] if files else start)  # an @ inside the path of a file is part of the path
    end = at if at >= 0 else len(text)
    spec = read_player(text, start, end)
    if spec is None:
        word = text[start:end].strip()
        raise_spec_error(_unknown_player(word) if word else "a player is missing", text, start, end)
    spec = replace(spec, name=name[1].strip() if name else "")
    return _parse_options(spec, end + 1) if end < len(text) else spec


def expand(spec: Spec) -> list[Spec]:
    """Return the specs that a spec stands for.

    These are one for every heuristic of the registry if the heuristic is `*`, one for every matching file, sorted by
    path, if the file is a pattern and not the name of a file, and otherwise the spec itself. In a pattern, `**` stands
    for any number of folders; hidden files and folders do not match.
    """
    by_pattern = spec.is_file and has_magic(spec.path) and not expand_path(spec.path).is_file()
    if spec.target != "*" and not by_pattern:
        return [spec]
    if spec.name:
        raise SpecError("a name cannot be combined with *, which matches many agents", spec.text, 0, len(spec.name))
    if not by_pattern:
        return [replace(spec, target=name) for name in heuristics.names()]
    pattern = str(expand_path(spec.path))
    paths = sorted(path for path in glob(pattern, recursive=True) if Path(path).is_file())
    if not paths:
        raise_spec_error("no file matches", spec.text, spec.start, spec.end)
    return [replace(spec, target=f"{path}:{spec.member}", pattern=pattern) for path in paths]


def make_agents(
    text: str, default_limit: Limit | None = None, programs: Mapping[str, Program] | None = None
) -> tuple[list[tuple[Spec, Agent]], list[str]]:
    """Return all agents that a spec stands for, each with its completed spec, and why files that match are left out."""
    made, left_out = [], []
    for spec in expand(with_program(parse_spec(text), programs or {})):
        try:
            whole = complete(named(spec), default_limit)
            made.append((whole, make_agent(whole)))
        except SpecError as error:
            if not spec.pattern:
                raise
            left_out.append(error.message)
    if not made:
        many = f"of {len(left_out)} files that match none can be used"
        which = many if len(left_out) > 1 else "the one file that matches cannot be used"
        raise SpecError(f"{which}: {left_out[0]}", text, 0, len(text))
    return made, left_out


def named(spec: Spec) -> Spec:
    """Complete a spec from its file, which is loaded here; the file of a player is loaded in a separate process.

    Adds the name of the function or class for a file alone, and the limit of a player's edition if the spec has none;
    see `user_files`.
    """
    with underlining(spec.text, spec.start, spec.end):
        return KINDS[spec.kind].name_target(spec)


def with_program(spec: Spec, programs: Mapping[str, Program]) -> Spec:
    """Return the spec with its engine's program if it is one of `programs`."""
    return replace(spec, program=programs.get(spec.target)) if KINDS[spec.kind].is_program else spec


def complete(spec: Spec, default_limit: Limit | None = None) -> Spec:
    """Return the spec with everything explicit: its name, its limit, the absolute path of its file.

    MM and AB search 3 and 5 plies by default, and perfect has enough nodes for most games of 7x7; `default_limit`
    (10,000 nodes) is for all others. The default name contains method, heuristic and everything that differs from the
    default.
    """
    usual = KINDS[spec.kind].usual_limit(spec, default_limit)
    limit = spec.limit or usual
    name = spec.name or _default_name(spec, limit, usual)
    return replace(spec, name=name, limit=limit, target=_completed_target(spec))


def make_agent(spec: Spec) -> Agent:
    """Return the agent of a completed spec."""
    with underlining(spec.text, spec.start, spec.end):
        return KINDS[spec.kind].make(spec)


def settings_text(spec: Spec, agent: Agent) -> str:
    """Return, as JSON, everything that influences an agent's play except its name, with a hash of any file."""
    file = {"content_hash": content_hash(spec.path)} if spec.is_file else {}
    return json.dumps({**agent.settings(), **file}, sort_keys=True)


def named_settings(spec: str) -> tuple[str, str]:
    """Return the name and the settings of the agent that a spec names."""
    parsed = complete(named(parse_spec(spec)))
    return parsed.name, settings_text(parsed, make_agent(parsed))


def _unknown_player(word: str) -> str:
    """Return the message for an unknown player; it is often the name of an agent or of a heuristic."""
    if re.fullmatch(r"(MM|AB|ID|BF|MCTS)_\w+", word, re.IGNORECASE):
        method, _, heuristic = word.partition("_")
        near = get_close_matches(heuristic.lower(), heuristics.names(), n=1) or [heuristic.lower()]
        return f"no player {word!r}; did you mean {method.upper()}:{near[0]}?"
    if word in heuristics.names():
        return f"{word!r} is a heuristic, not a player; did you mean ID:{word}?"
    words = {known.lower(): known for kind in KINDS.values() for known in kind.words}
    near = get_close_matches(word.partition(":")[0].lower(), words, n=1)
    hint = f"did you mean {words[near[0]]}? " if near else ""
    *forms, last = (kind.syntax for kind in KINDS.values())
    return f"no player {word!r}; {hint}players are {', '.join(forms)} or {last}"


def _parse_options(spec: Spec, start: int) -> Spec:
    first = start
    for part in spec.text[start:].split(","):
        word = part.strip()
        add = _with_switch if word in SWITCHES else _with_option if word.startswith("option.") else _with_limit
        with underlining(spec.text, first, first + len(part)):
            spec = add(spec, word)
        first += len(part) + 1
    deepens = spec.method == "ID" if spec.limit is None else spec.limit.unit != "depth"
    if "agree" in spec.switches and not deepens:
        raise_spec_error("agree compares iterations: use a limit of nodes or time", spec.text, start, len(spec.text))
    return spec


def _with_switch(spec: Spec, word: str) -> Spec:
    methods = ("AB", "ID") if word == "order" else ("MM", "AB", "ID")
    if spec.method not in methods:
        raise ValueError(f"{word} applies only to {' and '.join(methods)}")
    return replace(spec, switches=tuple(switch for switch in SWITCHES if switch in (*spec.switches, word)))


def _with_option(spec: Spec, word: str) -> Spec:
    """Add `option.NAME=VALUE`: an option of an engine, or else a parameter of a heuristic, which is a number."""
    is_engine = KINDS[spec.kind].is_program
    if not is_engine and not (spec.method and spec.target):
        raise ValueError("this player has no heuristic or engine whose parameters option. could set")
    name, equals, value = map(str.strip, word.removeprefix("option.").partition("="))
    if not name or not equals:
        engine_form = "an engine option must be written option.NAME=VALUE, or option.NAME= for a button"
        raise ValueError(engine_form if is_engine else "a parameter must be written option.NAME=NUMBER")
    if name in dict(spec.parameters) or name.lower() in (known.lower() for known, _ in spec.options):
        raise ValueError(f"{name} is set twice")
    if not is_engine:
        return replace(spec, parameters=tuple(sorted((*spec.parameters, (name, _parameter(name, value))))))
    if re.search(r"[\r\n]", word):
        raise ValueError("an engine's option must be a single line")
    return replace(spec, options=(*spec.options, (name, value)))


def _parameter(name: str, text: str) -> float:
    try:
        value = parse_number(text)
    except ValueError:
        raise ValueError(f"{name} must be a number, not {text!r}: {KINDS_OF_VALUES}") from None
    if not isfinite(value):
        raise ValueError(f"{name} must be a finite number, not {text}")
    return value


def _with_limit(spec: Spec, word: str) -> Spec:
    unit = word.partition("=")[0]
    if unit not in UNITS:
        near = get_close_matches(unit.lower(), [*UNITS, *SWITCHES], n=1, cutoff=0.8)
        options = f"options are depth=, nodes=, ms=, cpu_ms=, {', '.join(SWITCHES)}, option.NAME="
        raise ValueError(f"no option {unit!r}; {f'did you mean {near[0]}?' if near else options}")
    if spec.limit:
        raise ValueError(f"second limit after {spec.limit}")
    if refusal := limit_refusal(spec, unit):
        raise ValueError(refusal)
    return replace(spec, limit=parse_limit(word))


def _default_name(spec: Spec, limit: Limit | None, usual: Limit | None) -> str:
    if KINDS[spec.kind].is_program:
        target = _plain(spec.target if spec.program else Path(spec.target).name)
    elif spec.is_file:
        target = _file_name(spec)
    else:
        target = spec.target.replace(":", ".") if ":" in spec.target else spec.target.title()
    player = [part for part in (spec.method, target) if part] or [spec.kind.capitalize()]
    differing = []
    if limit and limit != usual:
        differing = [f"depth{limit.depth}" if limit.depth else f"{number_of(limit)}{limit.unit}"]
    options = (_plain(name + value) for name, value in spec.options)
    parameters = [f"{name}{number_text(value)}" for name, value in spec.parameters]
    if len(parameters) > _MOST_IN_A_NAME:
        parameters = [sha256(",".join(parameters).encode()).hexdigest()[:8]]
    return "_".join([*player, *differing, *spec.switches, *options, *parameters])


def _file_name(spec: Spec) -> str:
    """Abbreviate FILE.py:NAME to dots and one directory: alice/game_agent.py:Player -> alice.game_agent.Player."""
    # A function that was written to a file is named by its file alone. For a file found by a pattern, the name includes
    # all directories that the pattern leaves open, which identify it.
    path = Path(spec.path).with_suffix("")
    if is_function_file(spec.path):
        return path.name
    given = [*takewhile(lambda part: not has_magic(part), Path(spec.pattern).parts)] if spec.pattern else path.parts
    parts_shown = max(2, len(path.parts) - len(given))
    parts = [part for part in path.parts if part not in ("/", ".", "..")][-parts_shown:]
    return _plain(".".join([*parts, spec.member]))


def _plain(text: str) -> str:
    return re.sub(r"[^\w.+-]", "_", text)


def _completed_target(spec: Spec) -> str:
    if KINDS[spec.kind].is_program:
        is_path = spec.program is None and "/" in spec.target
        return str(expand_path(spec.target).absolute()) if is_path else spec.target
    return f"{expand_path(spec.path).absolute()}:{spec.member}" if spec.is_file else spec.target

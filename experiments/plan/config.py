"""Tournament configuration: a validated model, read from and written as TOML.

`Config()` is the classic evaluation. Every value is validated on construction. Agent specs are interpreted by
`spec_parser`, and the effect of the whole configuration on a board by `tournament_plan`.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, cast, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from knights_isolation.isolation.engines.protocol import Language, Program
from knights_isolation.isolation.loading.load_user_code import expand_path
from knights_isolation.isolation.rules.game import MOST_COMPILED_CELLS, Size, parse_size
from knights_isolation.isolation.suggestions import did_you_mean, file_meant

from .agent_kinds import parse_limit
from .function_files import spec_of
from .openings import Subset

Format = Literal["gauntlet", "round-robin", "head-to-head", "best-of"]

CLASSIC_OPPONENTS = ("random", "MM:null", "MM:open", "MM:improved", "AB:null", "AB:open", "AB:improved")
JOBS_A_CORE = 8
"""Processes per core, at most: more only use memory."""

_DEFAULTS: dict[str, dict[str, Any]] = {
    "gauntlet": {"baseline": "ID:improved", "opponents": CLASSIC_OPPONENTS, "control": True, "pairs": 180},
    "head-to-head": {"baseline": "ID:improved"},
    "round-robin": {},
    "best-of": {"opponents": CLASSIC_OPPONENTS, "pairs": 1000},
}


@dataclass(frozen=True)
class OpeningSpec:
    """Openings to draw from: `random` plies, every pair of `placements`, or a `file`; and the subset to keep."""

    kind: Literal["random", "placements", "file"]
    plies: int = 2
    path: str = ""
    subset: Subset = "any"


def _valid(is_valid: Callable[[Any], bool], message: str) -> AfterValidator:
    """Return a validator of values that are not None."""

    def validate(value: Any) -> Any:
        if value is not None and not is_valid(value):
            raise ValueError(message)
        return value

    return AfterValidator(validate)


def _check_options(value: dict[str, Any]) -> dict[str, Any]:
    if any(re.search(r"[\r\n]", f"{name}{text}") for name, text in value.items()):
        raise ValueError("the name and the value of an option must be single lines")
    names = [name.lower() for name in value]
    if twice := next((name for name in value if names.count(name.lower()) > 1), None):
        raise ValueError(f"duplicate option {twice}; options are case-insensitive")
    return value


_A_NAME = "a name must be one word without @ / , and ="
_A_COMMAND = 'a command must be a program and its arguments, as in ["./engine", "--quiet"]'
_Listed = BeforeValidator(lambda value: tuple(value) if isinstance(value, list) else value)
"""For tuples, which TOML has as lists."""
_Texts = Annotated[tuple[str, ...], _Listed]


class Engine(BaseModel):
    """An engine of the file, with the name that specs use for it."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    name: Annotated[str, _valid(lambda name: re.fullmatch(r"[^\s@/,=]+", name), _A_NAME)]
    command: Annotated[_Texts, _valid(lambda command: command and command[0], _A_COMMAND)]
    protocol: Language = ""
    options: Annotated[dict[str, str | int | float | bool], AfterValidator(_check_options)] = Field(
        default_factory=dict
    )
    directory: str = ""

    @property
    def program(self) -> Program:
        """The engine's program."""
        texts = [
            (name, str(value).lower() if isinstance(value, bool) else str(value))
            for name, value in self.options.items()
        ]
        directory = str(expand_path(self.directory)) if self.directory else ""
        return Program(self.command, self.protocol, tuple(texts), directory)


LARGEST_DIFFERENCE = 1_000
"""Largest difference, in Elo or percentage points, that a sequential test accepts."""


def playable_size(board: str) -> Size:
    """Return a board size; raise ValueError if it is none, or too large for runs."""
    size = parse_size(board)
    if size.cells > MOST_COMPILED_CELLS:  # interpreted searches would play for ever
        raise ValueError(f"too large: runs are played on boards of up to {MOST_COMPILED_CELLS} cells")
    return size


def parse_openings(text: str) -> OpeningSpec:
    """Parse `random:PLIES`, `placements` or `file:PATH`, with `,same`, `,other`, `,fit` or `,screen` appended.

    See `openings.Subset` for what these keep.

    >>> parse_openings("random:4")
    OpeningSpec(kind='random', plies=4, path='', subset='any')
    >>> parse_openings("placements,same").subset
    'same'

    Raises ValueError if the text is none of these.
    """
    source, _, subset = text.partition(",")
    if subset not in ("", *get_args(Subset)):
        raise ValueError(f"after the comma must be same, other, fit or screen, not {subset!r}")
    chosen: Subset = subset or "any"  # type: ignore[assignment]
    if source == "placements":
        return OpeningSpec("placements", subset=chosen)
    if source.startswith("file:") and source != "file:":
        return OpeningSpec("file", path=source.removeprefix("file:"), subset=chosen)
    if match := re.fullmatch(r"random(?::(\d+))?", source, re.ASCII):
        if len(match[1] or "") > 4:
            raise ValueError(f"{source} has more plies than any board")
        return OpeningSpec("random", plies=int(match[1] or 2), subset=chosen)
    raise ValueError("openings must be random:PLIES, placements or file:PATH")


def check_jobs(jobs: int) -> int:
    """Return the number of processes; ValueError if it is more than a small multiple of this machine's cores."""
    from joblib import cpu_count  # its import takes as long as that of this whole package, and it is rarely needed

    most = JOBS_A_CORE * cpu_count()
    if jobs > most:
        why = "more than one per core is not faster; 0: one per core"
        raise ValueError(f"too many: at most {most} processes on {cpu_count()} cores; {why}")
    return jobs


def _check_pairs(value: object) -> object:
    if value != "all" and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
        raise ValueError('pairs must be a whole number of at least 1, or "all"')
    return value


def _check_elo_model(value: object) -> object:
    if value not in (None, "logistic", "normalized"):
        raise ValueError('elo_model must be "logistic" (the default) or "normalized"')
    return None if value == "logistic" else value


def _check_engines(value: tuple[Engine, ...] | None) -> tuple[Engine, ...] | None:
    names = [engine.name for engine in value or ()]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"two engines are called {twice}")
    return value or None


class Config(BaseModel):
    """A tournament. The keys are those of the TOML file; `docs/reference/tournaments.md` explains them one by one."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    board: Annotated[str, AfterValidator(lambda text: str(playable_size(text)))] = "7x7"
    format: Format = "gauntlet"
    contenders: Annotated[_Texts, _valid(bool, "at least one contender is needed")] = ("ID:*",)
    baseline: str | None = None
    opponents: _Texts = ()
    control: bool = False
    openings: Annotated[str, AfterValidator(lambda text: parse_openings(text) and text)] = "random:2"
    pairs: Annotated[int | Literal["all"], BeforeValidator(_check_pairs)] = 180
    limit: Annotated[str, AfterValidator(lambda text: str(parse_limit(text)))] = "nodes=10000"
    equal_cost: bool = False
    sprt: Annotated[
        tuple[float, ...] | None,
        _Listed,
        _valid(
            lambda test: len(test) in (2, 3) and test[0] < test[1],
            "two increasing differences required, such as [0, 20], and maybe an error rate",
        ),
        _valid(lambda test: all(0 < error < 0.5 for error in test[2:]), "the error rate must be between 0 and 0.5"),
        _valid(
            lambda test: max(map(abs, test[:2])) <= LARGEST_DIFFERENCE,
            f"differences must be between -{LARGEST_DIFFERENCE:,} and {LARGEST_DIFFERENCE:,}",
        ),
    ] = None
    elo_model: Annotated[Literal["normalized"] | None, BeforeValidator(_check_elo_model)] = None
    seed: int = Field(default=1, ge=0, lt=2**63)
    hard_cap: float | None = Field(default=None, ge=0)
    jobs: Annotated[int, Field(ge=0), AfterValidator(check_jobs)] = 0
    cluster: str | None = Field(default=None, min_length=1)
    out: str | None = None
    engines: Annotated[tuple[Engine, ...] | None, _Listed, AfterValidator(_check_engines)] = None
    more_pairs: int | None = Field(default=None, ge=1)
    more_for: Annotated[tuple[str, ...] | None, _Listed] = None

    @model_validator(mode="before")
    @classmethod
    def _fill(cls, data: dict[str, Any]) -> dict[str, Any]:
        """Add the defaults that depend on other keys, so that a loaded configuration is explicit."""
        format_ = data.get("format", "gauntlet")
        is_known = isinstance(format_, str) and format_ in _DEFAULTS
        allowed = _DEFAULTS[format_] if is_known else {}
        for key in ("baseline", "opponents", "control"):
            if is_known and key not in allowed and data.get(key):
                formats = " or ".join(f'"{name}"' for name, defaults in _DEFAULTS.items() if key in defaults)
                raise ValueError(f"{key} does not apply to a {format_}; remove it, or use format = {formats}")
        openings = data.get("openings", "random:2")
        is_open_ended = format_ == "head-to-head" and data.get("sprt")
        is_drawn = str(openings).startswith("random") and not is_open_ended
        pairs = allowed.get("pairs", 100) if is_drawn else "all"
        filled = {**allowed, "pairs": pairs, **data}
        for key in ("contenders", "opponents", "baseline"):
            value = filled.get(key)
            if callable(value):
                filled[key] = spec_of(value)
            elif isinstance(value, list | tuple):
                filled[key] = tuple(spec_of(agent) if callable(agent) else agent for agent in value)
        return filled

    @model_validator(mode="after")
    def _agree(self) -> Config:
        if self.format in ("gauntlet", "best-of") and not self.opponents:
            raise ValueError(f"opponents is empty: a {self.format} needs at least one")
        is_open_ended = self.sprt and self.format == "head-to-head"
        if self.pairs == "all" and self.opening_spec.kind == "random" and not is_open_ended:
            raise ValueError("pairs = 'all' needs openings that can be listed: openings = \"placements\" or a file")
        if self.sprt and "baseline" not in _DEFAULTS[self.format]:
            raise ValueError(f"sprt needs a baseline to test against: a {self.format} has none")
        if self.elo_model and not (self.sprt and self.format == "head-to-head"):
            raise ValueError("elo_model needs the sprt of a head-to-head; that of a gauntlet uses percentage points")
        if bool(self.more_pairs) != bool(self.more_for):
            raise ValueError("more_pairs and more_for belong together: openings, and the contenders that play so many")
        if self.more_pairs and (self.format not in ("gauntlet", "head-to-head") or self.sprt or self.pairs == "all"):
            raise ValueError("more_pairs needs a gauntlet or a head-to-head with a number of pairs, without sprt")
        if self.cluster and self.jobs:
            machines = "set the jobs of each cluster machine with isolation cluster join --jobs"
            raise ValueError(f"jobs and cluster exclude each other: {machines}")
        return self

    @property
    def size(self) -> Size:
        """The size of the board."""
        return playable_size(self.board)

    @property
    def programs(self) -> dict[str, Program]:
        """Engines of the file by name."""
        return {engine.name: engine.program for engine in self.engines or ()}

    @property
    def opening_spec(self) -> OpeningSpec:
        """The parsed `openings`."""
        return parse_openings(self.openings)


def load_config(path: str | Path | None = None, overrides: Mapping[str, object] | None = None) -> Config:
    """Load the configuration of a TOML file (default: the classic evaluation), with some keys replaced.

    In `overrides`, functions of (game, player) may stand for specs: see `spec_of`.

    Raises:
        ValueError: the file cannot be read, or a key or value is wrong: one line with the file, the key, the value and
            the expected form.
    """
    data = _read_toml(Path(path)) if path else {}
    given = {key: value for key, value in (overrides or {}).items() if value is not None}
    try:
        return Config.model_validate({**data, **given})
    except ValidationError as error:
        where = f"{path}: " if path else ""
        raise ValueError(where + _explain(error)) from None


def to_toml(config: Config) -> str:
    """Return the configuration as TOML, with every key; `load_config` reads it back as an equal one."""
    values = config.model_dump(exclude_none=True)
    engines = values.pop("engines", ())
    lines = [f"{key} = {_toml_value(value)}\n" for key, value in values.items()]
    for engine in engines:
        options = ", ".join(f"{_toml_value(name)} = {_toml_value(value)}" for name, value in engine["options"].items())
        lines += ["\n[[engines]]\n", *(f"{key} = {_toml_value(engine[key])}\n" for key in engine if key != "options")]
        lines += [f"options = {{{options}}}\n"]
    return "".join(lines)


def example_toml() -> str:
    """Return a commented TOML file that contains the defaults."""
    return Path(__file__).with_name("templates").joinpath("tournament.toml").read_text(encoding="utf-8")


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}{file_meant(path)}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ValueError(f"{path}: not TOML: {error}") from None
    except RecursionError:
        raise ValueError(f"{path}: nested too deeply") from None


def _explain(error: ValidationError) -> str:
    """Return all errors in one line."""
    # Missing keys are omitted if there is an unknown key, which may be a misspelling of one.
    first_of_key: dict[str, dict[str, Any]] = {}
    for details in cast("list[dict[str, Any]]", error.errors(include_url=False, include_context=True)):
        first_of_key.setdefault(_key_of(details), details)
    errors = list(first_of_key.values())
    if any(details["type"] == "extra_forbidden" for details in errors):
        errors = [details for details in errors if details["type"] != "missing"]
    return "; ".join(map(_explain_one, errors))


def _key_of(details: Mapping[str, Any]) -> str:
    """Return the key that an error is about, such as engines[0].name; for a value with several types, the key alone."""
    parts = details["loc"]
    if parts[:1] != ("engines",):
        parts = tuple(part for number, part in enumerate(parts[:2]) if number == 0 or isinstance(part, int))
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts).removeprefix(".")


def _explain_one(details: Mapping[str, Any]) -> str:
    key, message = _key_of(details), str(details["msg"]).removeprefix("Value error, ").replace("tuple", "list")
    if not key:
        return message
    if details["type"] == "extra_forbidden":
        known = Engine.model_fields if details["loc"][0] == "engines" else Config.model_fields
        hint = did_you_mean(str(details["loc"][-1]), known, 2).strip() or f"keys are {', '.join(known)}"
        return f"unknown key {key}; {hint}"
    if details["type"] == "missing":
        return f"{key} is missing"
    value = json.dumps(details["input"], default=str, ensure_ascii=False)
    return f"{key} = {value}: {message[:1].lower()}{message[1:]}"


def _toml_value(value: object) -> str:
    """Format a value as TOML: as JSON, except for the delete character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")

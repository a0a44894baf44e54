"""What is in the files of a run and in the other Parquet files: every field and column with its meaning and unit.

Nothing else reads the settings that agents write about themselves, which are JSON: `kind`, and where they apply
`method`, `heuristic` (a name), `code` (its hash), `parameters` (values by name), `limit` (one unit and its value),
`options` (a list), `player` and `content_hash`.

The tables of `docs/reference/log.md` and of `experiments/suite/data/README.md` say the same. No column was added since
version 0.1.0; files of earlier commits differ in types alone, and `lift` makes them equal to those of today. `run.json`
has the number of its version under `version`; files from before versions were numbered are version 0, and `lifted`
turns their contents into today's, so that nothing else needs to know the older ones.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa

from knights_isolation.isolation.rules.game import Cost, Size, parse_size
from knights_isolation.isolation.rules.seeds import SeedsBy

Schema: TypeAlias = pa.Schema


@dataclass(frozen=True)
class Column:
    """A column of a file.

    Attributes:
        name: its name in the file.
        type: its Arrow type; lists of the log and of labels have one entry a ply.
        meaning: what a value says.
        unit: unit of the values; empty for ids, codes, texts and truth values.
        since: version of the toolkit that wrote it first.
    """

    name: str
    type: pa.DataType
    meaning: str
    unit: str = ""
    since: str = "0.1.0"


_NAMES = pa.dictionary(pa.int16(), pa.string())
_CODES = pa.dictionary(pa.int8(), pa.string())
_BYTES, _SHORTS, _LONGS = pa.list_(pa.int8()), pa.list_(pa.int16()), pa.list_(pa.int64())

LOG = (
    Column("game_id", pa.int64(), "the game's place in the schedule; unique in the run"),
    Column("pair_id", pa.int64(), "shared by the two games of a pair; `game_id // 2`"),
    Column("rows", pa.int16(), "height of the board", "cells"),
    Column("columns", pa.int16(), "width of the board", "cells"),
    Column("agent_1", _NAMES, "name of the agent that places first"),
    Column("agent_2", _NAMES, "name of the other agent"),
    Column(
        "settings_1",
        _NAMES,
        "all that influences agent 1's play, as JSON: heuristic by name and hash of its code, method, limit, options, "
        "hash of any file",
    ),
    Column("settings_2", _NAMES, "the same of agent 2"),
    Column("opening", _SHORTS, "the cells the game started with"),
    Column("opening_id", pa.int64(), "names the position after the opening, the same in every run"),
    Column("orbit", pa.int64(), "names it up to rotation and reflection: openings of one orbit are one cluster"),
    Column(
        "colours",
        _CODES,
        "whether the two placements are on cells of the `same` or of `other` colours; `none` without two",
    ),
    Column(
        "population",
        pa.int64(),
        "how many of this kind the board has, where known and both agents are deterministic; otherwise 0",
        "openings",
    ),
    Column("winner", pa.int8(), "1 or 2"),
    Column(
        "reason",
        _CODES,
        "what the loser did: `no_moves`, `resigned` (it named no move where every move loses), `timeout`, "
        "`illegal_move`, `error`, `hang`, and of an engine `crash`, `nonsense`",
    ),
    Column("detail", pa.string(), "more about an unusual end, mostly empty"),
    Column("plies", pa.int16(), "played, the opening's included", "plies"),
    Column("moves", _SHORTS, "the cells, `row * columns + column`, from the first placement on"),
    Column(
        "score",
        pa.list_(pa.float64()),
        "the mover's view of the move it chose; ±inf is proven, NaN on opening plies and for players without scores",
    ),
    Column("depth", _SHORTS, "of the last finished iteration; of a tree (BF, MCTS) of its longest line", "plies"),
    Column("nodes", _LONGS, "positions searched (simulations for MCTS)", "nodes"),
    Column(
        "time_us",
        _LONGS,
        "wall time of the search. Deterministic searches are cached in each worker; a cached move repeats the "
        "time of the original search, so the sum can exceed the run's time",
        "µs",
    ),
    Column("exact", pa.list_(pa.bool_()), "whether the score is the result under perfect play"),
    Column("seed", pa.uint64(), "the game's seed"),
    Column("started_at", pa.timestamp("us", tz="UTC"), "when the game's batch began", "µs, UTC"),
)
"""The log, `RUN/games/`: a row a game."""

LABELS = (
    Column("game_id", pa.int64(), "as in the log"),
    Column("value", _SHORTS, "of the position before the ply: 1 if the mover wins with perfect play, 0 if not"),
    Column("winning", _SHORTS, "how many of the mover's moves keep the win, 0 in lost positions", "moves"),
    Column("legal", _SHORTS, "how many moves it had", "moves"),
    Column("kept", _SHORTS, "1 if the move played kept the win, 0 if it lost it, −1 if there was none to keep"),
)
"""Exact values of logged moves, `RUN/labels.parquet`: a row a game. −1 is unknown."""

SUITE = (
    Column(
        "moves",
        _SHORTS,
        "the cells played so far, from the empty board, row * columns + column; players 1 and 2 alternate",
    ),
    Column("legal", _SHORTS, "the cells the side to move may go to, ascending"),
    Column("keeps", _BYTES, "for each of them, 1 if the mover wins after it with perfect play, 0 if not"),
    Column(
        "errs",
        _SHORTS,
        "for each of them, which members of the reference field err in their answer: bit i for the i-th; 0 for all in "
        "won positions",
    ),
    Column("kept_by", pa.int16(), "which members of the field, asked in this position, keep the win; 0 in lost ones"),
    Column("orbit", pa.uint64(), "of the opening, the first two plies, up to symmetry, as in logs"),
    Column("opening_winner", pa.int8(), "who wins the opening with perfect play: 1 or 2; 0 if unknown"),
    Column("split", pa.string(), "`fit` or `screen`, by the orbit alone, so that no two suites of a board mix them"),
    Column(
        "source",
        pa.string(),
        "whose games the position comes from; in shipped suites classic, mcts, mixture, perfect or shipped",
    ),
)
"""A suite: a row a position. The file's metadata name the board, and the recipe with the specs of the field."""

SOLVED = (
    Column("opening", pa.list_(pa.int16(), 2), "the two cells"),
    Column("winner", pa.int8(), "who wins with perfect play: 1 or 2; 0 if the limit left it unknown"),
    Column("nodes", pa.int64(), "positions searched", "nodes"),
)
"""Solutions of a board: a row a placement pair. The file's metadata name the board."""

DATASET = (
    Column(
        "moves", _SHORTS, "the cells played so far, both placements first; the side to move follows from their number"
    ),
    Column("legal", _SHORTS, "the cells the side to move may go to, ascending"),
    Column("values", _BYTES, "for each of them, 1 if it wins with perfect play, -1 if it loses"),
    Column("value", pa.int8(), "the label: 1 if the side to move wins with perfect play, -1 if it loses"),
    Column("ply", pa.int16(), "the number of moves played so far"),
    Column("orbit", pa.uint64(), "of the opening, the first two moves, up to symmetry"),
)
"""A dataset: a row a position. Columns of heuristics follow, see `feature_column`."""

AGENTS = (
    Column("run", pa.string(), "path of the run"),
    Column("agent", pa.string(), "its name"),
    Column("role", pa.string(), "baseline, contender, control or opponent; several are separated by commas"),
    Column("spec", pa.string(), "as given"),
    Column("settings", pa.string(), "as in the log"),
    Column("deterministic", pa.bool_(), "whether it plays the same every time"),
)
"""The view `agents` of SQL: a row an agent of a run."""


def feature_column(name: str) -> Column:
    """Return the column of a dataset for a heuristic."""
    return Column(name, pa.float64(), f"value of the heuristic `{name}` for the side to move")


def schema_of(columns: Iterable[Column]) -> Schema:
    """Return the Arrow schema of a file with these columns."""
    return pa.schema([(column.name, column.type) for column in columns])


def lift(table: pa.Table, schema: Schema) -> pa.Table:
    """Return a table with the types of today, or raise ArrowInvalid if values do not fit; it keeps its metadata."""
    fields = pa.schema([schema.field(name) for name in table.column_names], table.schema.metadata)
    return table if table.schema.equals(fields) else table.cast(fields)


RUN_VERSION = 1
"""Version of `run.json` that is written."""

IMPORTED = "imported"
"""Kind of players of whom only the names are known, since their games were played elsewhere."""


@dataclass(frozen=True)
class AgentEntry:
    """An agent in `run.json`, as it described itself when the run was planned."""

    spec: str
    """Its spec in full, from which it is made again; of an imported player its name."""
    roles: list[str]
    """What it is in the run: baseline, contender, control or opponent; several if it is entered twice."""
    settings: str
    """All that influences its play, as a JSON object in a text, equal to `settings_1` and `settings_2` in the log."""
    deterministic: bool
    """Whether it plays an opening the same way every time. Not in all files of version 0."""
    unknown: bool
    """Whether its way of playing is unknown: an engine, or a player of games that were played elsewhere. Since 1."""
    restricted: bool
    """Whether it plays from a file in a sandboxed process, as league submissions do. Since 1."""
    imported: bool
    """Whether its games were played elsewhere, so that only its name is known. Since 1."""

    @cached_property
    def parsed_settings(self) -> Mapping[str, Any]:
        """Its settings by name."""
        return read_settings(self.settings)

    @property
    def method(self) -> str:
        """Search method: minimax, alphabeta, bestfirst or mcts; empty if it does not search."""
        return str(self.parsed_settings.get("method", ""))

    @property
    def heuristic(self) -> str:
        """Name of its heuristic; empty if it has none."""
        return str(self.parsed_settings.get("heuristic", ""))

    @property
    def function(self) -> tuple[str, str]:
        """Hash of its heuristic's code, empty if that is unknown, and the parameters."""
        settings = self.parsed_settings
        return str(settings.get("code", "")), json.dumps(settings.get("parameters", {}), sort_keys=True)

    @property
    def limit(self) -> tuple[str, float] | None:
        """Unit and value of its limit; None for players without one."""
        return next(((unit, float(value)) for unit, value in (self.parsed_settings.get("limit") or {}).items()), None)

    @property
    def limit_text(self) -> str:
        """Limit in the syntax of specs, `nodes=1000`; empty for players without one."""
        return "" if self.limit is None else f"{self.limit[0]}={self.limit[1]:g}"

    @property
    def apart_from_limit(self) -> str:
        """Settings without the limit: equal for agents that differ only in their limit."""
        settings = {key: value for key, value in self.parsed_settings.items() if key != "limit"}
        return json.dumps(settings, sort_keys=True)


@dataclass(frozen=True)
class RunInfo:
    """Contents of `run.json`, and the directory it is in. Fields with a default are not in all files of version 0."""

    path: Path
    """The run's directory; not written."""
    created_at: str
    """When the run was planned: ISO 8601, UTC, to the second."""
    requested: dict[str, Any]
    """The configuration as given, without the keys that may change when resuming."""
    agents: dict[str, AgentEntry]
    """The agents by name, in the order of the schedule."""
    games: int
    """Number of games to play."""
    openings: int
    """Number of different openings that are played."""
    population: int
    """Number of openings of this kind that exist on the board; 0 if unknown."""
    is_census: bool
    """Whether deterministic agents play all of them from both sides."""
    notes: list[str]
    """Messages for the user from planning."""
    fingerprint: str
    """SHA-256 of the schedule; see `Schedule.fingerprint`."""
    versions: dict[str, str]
    """Versions of this package, Python and libraries, and the machine, that the run was planned with."""
    seeds_by: SeedsBy = "agents"
    """Inputs of a game's seed besides the opening; see `rules.seeds.game_seeds`."""
    pools_control: bool = False
    """Whether the control's games count as the baseline's too, and its number of openings is optimal."""
    meets_baseline: bool = False
    """Whether each contender of a gauntlet also plays the baseline itself."""
    processor_costs: dict[str, Cost] = field(default_factory=dict)
    """Costs of a search node by agent, in nanoseconds and relative to the baseline's if there is one."""
    unranked: list[str] = field(default_factory=list)
    """Players of a league that never made a legal move: their games count for nobody."""
    looks: list[int] = field(default_factory=list)
    """Numbers of openings of each match after which the runs were finished that this one extends."""
    configuration: str = ""
    """Digest of `config.toml`; empty if unknown."""

    @property
    def size(self) -> Size:
        """The size of the board."""
        return parse_size(self.requested["board"])

    @property
    def baseline(self) -> str | None:
        """Name of the baseline; None without one."""
        return baseline_of({name: entry.roles for name, entry in self.agents.items()})


def baseline_of(roles: Mapping[str, Iterable[str]]) -> str | None:
    """Return the only agent that is the baseline, given the roles of each; None if there is none, or several.

    Every place that needs the baseline asks this function: a control plays like the baseline, and is not it.
    """
    baselines = [name for name, of_agent in roles.items() if "baseline" in of_agent]
    return baselines[0] if len(baselines) == 1 else None


def read_settings(text: str) -> dict[str, Any]:
    """Read an agent's settings; an empty text has none. Raises ValueError if they have another format."""
    settings = json.loads(text or "{}")
    if not isinstance(settings, dict):
        raise ValueError(f"an agent's settings are an object of JSON, not {text}")
    return settings


def lifted(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the contents of a `run.json` of any version as those of today's; ValueError if that is a later one."""
    version = facts.get("version", 0)
    if type(version) is not int or version < 0:
        raise ValueError(f"version must be a whole number, not {version!r}")
    if version > RUN_VERSION:
        raise ValueError(f"it has version {version}, and this installation reads versions up to {RUN_VERSION}: update")
    contents = {key: value for key, value in facts.items() if key != "version"}
    agents = facts.get("agents")
    if version < 1 and isinstance(agents, dict):  # else the validation says what is wrong
        contents["agents"] = {name: _lifted_agent(entry) for name, entry in agents.items()}
    return contents


def _lifted_agent(entry: Any) -> Any:
    """Return an agent's entry of version 0 with what it did not record; a damaged one as it is, for the validation."""
    if not isinstance(entry, dict) or not isinstance(entry.get("settings"), str):
        return entry
    return {**facts_in_settings(entry["settings"]), **entry}


_REPEATING = ("greedy", "perfect", "search")
"""Kinds of agents of version 0 that repeat a game under a limit that is no time."""
_KNOWN = (*_REPEATING, "random", "policy", "classic", "apart")
"""Kinds of agents of version 0 besides external programs."""


def facts_in_settings(text: str) -> dict[str, bool]:
    """Return what an agent's settings say of the fields of `AgentEntry` that version 0 did not record."""
    settings = read_settings(text)
    kind = settings.get("kind")
    has_playouts = settings.get("method") == "mcts" and "heuristic" not in settings
    is_drawn = has_playouts or "random_ties" in settings.get("options", ())
    return {
        "deterministic": kind in _REPEATING and not is_drawn and {*settings.get("limit", {})} <= {"depth", "nodes"},
        "unknown": "kind" in settings and kind not in _KNOWN,
        "restricted": kind == "apart",
        "imported": kind == IMPORTED,
    }


def read_facts(settings: str) -> AgentEntry:
    """Return what an agent's settings alone say; see `read_settings`."""
    return AgentEntry("", [], settings, **facts_in_settings(settings))


def differing_settings(settings: str, others: str) -> tuple[str, str]:
    """Return the settings in which two agents differ, for each of them in words: `limit nodes=5000`."""
    mine, theirs = read_settings(settings), read_settings(others)
    return _only_in(mine, theirs), _only_in(theirs, mine)


def _only_in(mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {format_setting(item)}" for key, item in mine.items() if theirs.get(key) != item) or "–"


def format_setting(value: Any) -> str:
    """Format a value as in configuration files."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return ", ".join(f"{key}={format_setting(item)}" for key, item in value.items()) or "none"
    return ", ".join(map(format_setting, value)) or "none" if isinstance(value, list | tuple) else str(value)

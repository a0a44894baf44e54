"""Published wins and losses, one row for an agent and an opponent, from CSV or the output of the classic scripts.

The classic scripts have two formats. The first edition prints a block per agent:

    *************************
     Evaluating: ID_Improved
    *************************
      Match 1: ID_Improved vs   Random    Result: 20 to 0
    Results:
    ----------
    ID_Improved         71.71%

The second edition prints one table, a column per agent:

     Match #   Opponent    AB_Improved   AB_Custom
                            Won | Lost   Won | Lost
        1       Random       6  |   4     8  |   2
    --------------------------------------------------
               Win Rate:      60.0%        68.6%

Surrounding text (headings, prose, comment signs, warnings) is skipped.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from knights_isolation.isolation.files.received import read_shipped

FILE = Path(__file__).parent / "data" / "published_results.csv"
REQUIRED = ("agent", "opponent", "wins", "losses")


@dataclass(frozen=True)
class PublishedRow:
    """Wins and losses of `agent` against `opponent` in one `table` of one `source`."""

    source: str
    table: str
    agent: str
    opponent: str
    wins: int
    losses: int


@dataclass(frozen=True)
class PublishedTables:
    """Rows in the order of the text, and its problems: see `parse_classic_text`."""

    rows: tuple[PublishedRow, ...]
    problems: tuple[str, ...] = ()


def bundled_csv() -> str:
    """Return the text of the published evaluations that ship with the project."""
    return read_shipped(FILE).decode().replace("\r\n", "\n")


def parse_published(text: str, source: str = "notes") -> PublishedTables:
    """Parse CSV or the output of the classic scripts; `source` is the source's name if `text` does not contain one."""
    text = text.lstrip("\ufeff")
    first = next((line for line in text.splitlines() if line.strip()), "")
    columns = {name.strip().strip('"') for name in first.split(",")}
    return parse_csv(text, source) if {"wins", "losses"} <= columns else parse_classic_text(text, source)


def parse_csv(text: str, source: str = "") -> PublishedTables:
    """Parse CSV with the columns agent, opponent, wins, losses and, optionally, source and table.

    `source` is used if there is no such column. Raises ValueError, naming the line, for a missing column or value,
    invalid counts, and an opponent listed twice for the same agent of the same table.
    """
    reader = csv.DictReader(io.StringIO(text))
    missing = [name for name in REQUIRED if name not in (reader.fieldnames or ())]
    if missing:
        raise ValueError(f"line 1: a table needs the columns {', '.join(REQUIRED)}; {', '.join(missing)} missing")
    rows: dict[tuple[str, ...], PublishedRow] = {}
    for record in reader:
        cells = {name: (record.get(name) or "").strip() for name in ("source", "table", *REQUIRED)}
        if not cells["agent"] or not cells["opponent"]:
            raise ValueError(f"line {reader.line_num}: agent and opponent must not be empty")
        for name in ("wins", "losses"):
            if not (cells[name].isascii() and cells[name].isdigit()):
                raise ValueError(
                    f"line {reader.line_num}: {name} must be a whole number of at least 0, not {cells[name]!r}"
                )
        key = (cells["source"] or source, cells["table"], cells["agent"], cells["opponent"])
        if key in rows:
            raise ValueError(f"line {reader.line_num}: {key[2]} against {key[3]} is listed twice in one table")
        rows[key] = PublishedRow(*key, int(cells["wins"]), int(cells["losses"]))
    return PublishedTables(tuple(rows.values()))


_HEADING = re.compile(r"\s*#+\s+(\S.*?)\s*#*\s*$")
_EVALUATING = re.compile(r"\bEvaluating\s*:\s*(\S.*?)[\s*]*$")
_MATCH = re.compile(r"\bMatch\s+\d+\s*:\s*(\S.*?)\s+vs\.?\s+(\S.*?)\s*$")
_RESULT = re.compile(r"\bResult\s*:\s*(\d+)(?:\.0+)?\s+to\s+(\d+)(?:\.0+)?(?!\S)")
_SHARE = re.compile(r"[\s#>*|-]*(?:Results?\s*:)?\s*(\S.*?)\s*:?\s+(\d+(?:\.\d+)?)\s*%[\s*|]*$")
_COLUMNS = re.compile(r"\bMatch\s*#\s+Opponent\s+(\S.*?)\s*$")
_ROW = re.compile(r"[\s#>*/]*\d+\s+(\S.*?)\s+(\d+\s*\|\s*\d+(?:\s+\d+\s*\|\s*\d+)*)[\s|]*$")
_BROKEN_ROW = re.compile(r"[\s#>*/]*\d+\s+[^\W\d].*\|")
_CELL = re.compile(r"(\d+)\s*\|\s*(\d+)")
_WIN_RATE = re.compile(r"\bWin Rate\s*:\s*((?:\d+(?:\.\d+)?\s*%\s*)+)")
_DEPTH = re.compile(r"^(MM|AB)/\d+_")


@dataclass
class _Block:
    """Accumulated results of one agent; `printed` is its name in the match lines."""

    agent: str
    heading: str
    printed: str | None = None
    results: dict[str, tuple[int, int]] = field(default_factory=dict)
    is_checked: bool = False


def parse_classic_text(text: str, source: str = "notes") -> PublishedTables:
    """Parse all results in `text`, in either format and for any number of runs.

    A table ("run 1", "run 2: <heading above it>", …) has each agent once: when an agent recurs, a new run starts.
    Opponents with a depth in their names ("MM/3_Null") are named without it. Percentages that do not match the counts,
    and matches without a result, are reported in `problems`. Raises ValueError, naming the line, if there is no result
    at all, or if a row of the second format has a different number of columns than its header.
    """
    blocks: list[_Block] = []
    problems: list[str] = []
    columns: list[_Block] = []
    heading, names = "", ""
    pending: tuple[str, str] | None = None
    unplayed: list[int] = []
    for number, line in enumerate(text.splitlines(), 1):
        if match := _EVALUATING.search(line):
            blocks.append(_Block(match[1], heading))
        elif match := _MATCH.search(line):
            pending = (match[1], re.split(r"\s{2,}|\t|\s*\bResult\b", match[2])[0])
            unplayed.append(number)
        elif match := _COLUMNS.search(line):
            names, columns = match[1], []
        elif match := _WIN_RATE.search(line):
            rates = re.findall(r"(\d+(?:\.\d+)?)\s*%", match[1])
            if columns and len(rates) != len(columns):
                problems.append(f"line {number}: {len(rates)} win rates for {len(columns)} agents")
            else:
                problems += [said for pair in zip(columns, rates, strict=False) for said in _check(*pair, number)]
            names, columns = "", []
        elif names and (match := _ROW.match(line)):
            cells = [(int(wins), int(losses)) for wins, losses in _CELL.findall(match[2])]
            if not columns:
                columns = _start_columns(names, heading, len(cells), number)
                blocks += columns
            _enter_row(columns, _DEPTH.sub(r"\1_", match[1]), cells, number)
        elif names and _BROKEN_ROW.match(line):
            raise ValueError(f"line {number}: a row of a table needs wins and losses for every agent: {line.strip()!r}")
        elif match := _SHARE.match(line):
            named = next((block for block in reversed(blocks) if match[1] in (block.agent, block.printed)), None)
            if named and not named.is_checked:  # later shares are summaries of other results
                problems += _check(named, match[2], number)
        elif match := _HEADING.match(line):
            heading = match[1]
        # the result usually ends the line of its match, but a warning printed in between splits it
        if pending and (result := _RESULT.search(line)):
            _enter(blocks, heading, *pending, (int(result[1]), int(result[2])))
            pending = None
            unplayed.pop()
    problems += [f"line {number}: a match without a result, skipped" for number in unplayed]
    rows = tuple(_rows((block for block in blocks if block.results), source))
    if not rows:
        raise ValueError(
            'no results found; expected lines like "Match 1: ID_Improved vs Random  Result: 20 to 0", a table headed '
            '"Match #  Opponent  …", or CSV with the columns agent, opponent, wins, losses'
        )
    return PublishedTables(rows, tuple(problems))


def _enter(blocks: list[_Block], heading: str, agent: str, opponent: str, result: tuple[int, int]) -> None:
    opponent = _DEPTH.sub(r"\1_", opponent)
    if not blocks or blocks[-1].printed not in (None, agent) or opponent in blocks[-1].results:
        blocks.append(_Block(agent, heading))
    blocks[-1].printed = agent
    blocks[-1].results[opponent] = result


def _start_columns(names: str, heading: str, cells: int, line: int) -> list[_Block]:
    # names may contain single spaces, and long names are separated by only one: the first row decides
    for separator in (r"\s{2,}|\t", r"\s+"):
        agents = re.split(separator, names)
        if len(agents) == cells:
            return [_Block(agent, heading) for agent in agents]
    raise ValueError(f"line {line}: {cells} columns of wins and losses do not fit the agents {names!r}")


def _enter_row(columns: list[_Block], opponent: str, cells: list[tuple[int, int]], line: int) -> None:
    if len(cells) != len(columns):
        raise ValueError(f"line {line}: expected {len(columns)} columns of wins and losses, not {len(cells)}")
    if opponent in columns[0].results:
        raise ValueError(f"line {line}: {opponent} is listed twice in one table")
    for block, cell in zip(columns, cells, strict=True):
        block.results[opponent] = cell


def _check(block: _Block, rate: str, line: int) -> Iterator[str]:
    """Yield a problem if a percentage is not that of the counts, to its last digit."""
    wins, losses = map(sum, zip(*block.results.values(), strict=True)) if block.results else (0, 0)
    if not (games := wins + losses):
        return
    block.is_checked = True
    decimals = len(rate.partition(".")[2])
    share = 100 * wins / games
    if abs(float(rate) - share) > 0.5 * 10**-decimals + 1e-6:
        counts = f"its counts, {wins} of {games}, give {share:.{decimals}f} %"
        yield f"line {line}: {block.agent} has {rate} % in the text, but {counts}"


def _rows(blocks: Iterable[_Block], source: str) -> Iterator[PublishedRow]:
    run, agents, table = 0, set[str](), ""
    for block in blocks:
        if not run or block.agent in agents:
            run, agents = run + 1, set()
            table = f"run {run}: {block.heading}" if block.heading else f"run {run}"
        agents.add(block.agent)
        for opponent, result in block.results.items():
            yield PublishedRow(source, table, block.agent, opponent, *result)

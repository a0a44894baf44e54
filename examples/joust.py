"""Measure our best agents against Fairy-Stockfish, and write docs/explanation/joust.md.

npm install fairy-stockfish-nnue.wasm       once, in any folder outside this project, which only runs the program
python examples/joust.py FOLDER             all games; if interrupted, call it again to resume
python examples/joust.py FOLDER --quick     few games in another directory, as a test
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
from findings import DOCS, HERE, played
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from knights_isolation.experiments import RunResults, label_run, opening_winners, read_games, split_by_theory
from knights_isolation.experiments.exact.labels import labelled_games
from knights_isolation.experiments.exact.theory import TheorySplit
from knights_isolation.experiments.record.columns import lists
from knights_isolation.experiments.statistics.game_pairs import standings
from knights_isolation.isolation.engines.protocol import Program, variants_text
from knights_isolation.isolation.rules.game import ON_THE_BOARD, parse_size
from knights_isolation.reports.text.cell_values import estimate_of

PACKAGE = Path("node_modules", "fairy-stockfish-nnue.wasm", "uci.js")
FAIRY = "Fairy-Stockfish"
AGENTS = {"best-first": "BF:learned", "alpha-beta": "ID:learned", "perfect": "perfect"}
"""Our agents by their names on the page: the best heuristic with two searches, and one that solves endgames."""
SOLVED = "7x7"
ALL_KNOWING = "perfect@nodes=10000000"
"""Agent for the solved board: its limit suffices to solve nearly every position."""
MORE = 10
"""Factor by which our node limit exceeds the opponent's on other boards, to show the potential for improvement."""
MOST_FORFEITS = 0.05
"""Share of forfeits above which a row does not reflect playing strength."""
PLIES = slice(2, 14)
"""Plies at which depths are compared: after the placements, and before most games are decided."""
SPANS = ((3, 10), (11, 12), (13, 14), (15, 16), (17, 18), (19, 24))
"""First and last plies of the spans in which the opponent's mistakes are counted."""


@dataclass(frozen=True)
class Scale:
    """Extent of the games: boards, limits of both sides, and pairs per match; duels of two searches, by their nodes."""

    boards: tuple[str, ...] = ("7x7", "8x8", "9x11")
    limits: tuple[str, ...] = ("nodes=1000", "nodes=10000", "ms=50")
    pairs: int = 60
    duels: tuple[tuple[int, int], ...] = ((1_000, 1_000), (10_000, 10_000), (1_000, 10_000))
    duel_pairs: int = 150


@dataclass(frozen=True)
class Row:
    """Row of an agent on a board under a limit, and the share of its games that ended by a forfeit of either side."""

    cells: tuple[str, ...]
    forfeits: float


QUICK = Scale(("7x7",), ("nodes=200",), 2, ((50, 50),), 2)


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--quick", is_flag=True, help="Few games, only to see that it works; nothing in docs/ changes.")
@click.option("--home", type=click.Path(path_type=Path), help="Where the runs lie; runs/joust by default.")
@click.option("--jobs", type=click.IntRange(min=0), default=0, help="Worker processes; 0: one per core.")
def main(folder: Path, quick: bool, home: Path | None, jobs: int) -> None:
    """Play, and write docs/explanation/joust.md; FOLDER is where npm has installed fairy-stockfish-nnue.wasm."""
    scale = QUICK if quick else Scale()
    home = (home or Path("runs/joust-quick" if quick else "runs/joust")).absolute()
    program = (folder / PACKAGE).absolute()
    if not program.is_file():
        raise click.UsageError(f"{program} is not there: npm install fairy-stockfish-nnue.wasm in {folder}")
    rows: list[Row] = []
    mistakes: list[tuple[str, ...]] = []
    for limit in scale.limits:
        for board in scale.boards:
            agents, fairy = _agents(board, limit), _fairy(home, program, board)
            duel = _match(home, fairy, board, limit, agents, scale.pairs, jobs)
            splits = {split.agent: split for split in split_by_theory(duel.games, _winners(duel), list(agents))}
            rows += [_row(duel, splits[name], board, limit) for name in agents]
            mistakes += _mistakes(duel, limit, jobs) if board == SOLVED else []
    duels = [_duel(home, board, *nodes, scale.duel_pairs, jobs) for board in scale.boards for nodes in scale.duels]
    docs = home if quick else DOCS
    (docs / "joust.md").write_text(page_text(rows, mistakes, duels, scale), encoding="utf-8")
    click.echo(f"Wrote {docs / 'joust.md'}")


def page_text(
    rows: Sequence[Row], mistakes: Sequence[tuple[str, ...]], duels: Sequence[tuple[str, ...]], scale: Scale
) -> str:
    """Return the page as Markdown; it lists omitted rows, which have too many forfeits, and matches not played.

    `mistakes` are rows of how often the opponent could throw a win away, and did; `duels` are rows of best-first search
    against alpha-beta.
    """
    templates = Environment(
        loader=FileSystemLoader(HERE), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True,
    )  # fmt: skip
    return templates.get_template("joust.md.jinja").render(
        rows=[row.cells for row in rows if row.forfeits <= MOST_FORFEITS],
        left_out=[
            f"{', '.join(row.cells[:3])} ({100 * row.forfeits:.0f} %)" for row in rows if row.forfeits > MOST_FORFEITS
        ],
        unplayed=[match for match in _matches(scale) if match not in {row.cells[:2] for row in rows}],
        mistakes=mistakes,
        duels=duels,
        pairs=scale.pairs,
        duel_pairs=scale.duel_pairs,
        most=f"{100 * MOST_FORFEITS:.0f} %",
    )


def _matches(scale: Scale) -> list[tuple[str, str]]:
    """Return boards and limits, as in the rows."""
    return [(board, limit.replace("=", " ")) for limit in scale.limits for board in scale.boards]


def _agents(board: str, limit: str) -> dict[str, str]:
    """Return our agents under a limit, by name, and one with a larger limit, to show what could be reached."""
    unit, _, value = limit.partition("=")
    options = {"all-knowing": ALL_KNOWING} if board == SOLVED else {}
    if board != SOLVED and unit == "nodes":
        options = {"tenfold": f"{AGENTS['best-first']}@nodes={MORE * int(value)}"}
    return {name: f"{spec}@{limit}" for name, spec in AGENTS.items()} | options


def _fairy(home: Path, program: Path, board: str) -> Program:
    """Return the program of Fairy-Stockfish for a board.

    It has a file system of its own, into which it copies one file, intended for a network: here the file of variants.
    """
    home.mkdir(parents=True, exist_ok=True)
    variants = home / f"variants-{board}.ini"
    variants.write_text(variants_text(parse_size(board)), encoding="utf-8")
    command = ("env", f"UCI_NNUE_FILE={variants}", "node", "--no-experimental-fetch", str(program))
    return Program(command, "uci", (("VariantPath", f"/{variants.name}"),))


def _match(
    home: Path, fairy: Program, board: str, limit: str, agents: Mapping[str, str], pairs: int, jobs: int
) -> RunResults:
    """Play our agents against Fairy-Stockfish, head to head."""
    engine = {
        "name": "fairy",
        "command": list(fairy.command),
        "protocol": fairy.protocol,
        "options": dict(fairy.options),
    }
    keys: dict[str, Any] = {
        "board": board,
        "format": "head-to-head",
        "baseline": f"{FAIRY}=engine:fairy@{limit}",
        "contenders": [f"{name}={spec}" for name, spec in agents.items()],
        "engines": [engine],
        "pairs": pairs,
        "jobs": jobs,
    }
    return played(home / f"{board}-{limit.replace('=', '-')}", keys)


def _duel(home: Path, board: str, ours: int, theirs: int, pairs: int, jobs: int) -> tuple[str, ...]:
    """Play best-first search against alpha-beta, with the same heuristic and the given numbers of nodes."""
    keys: dict[str, Any] = {
        "board": board,
        "format": "head-to-head",
        "openings": "random:4",
        "baseline": f"{AGENTS['alpha-beta']}@nodes={theirs}",
        "contenders": [f"{AGENTS['best-first']}@nodes={ours}"],
        "pairs": pairs,
        "jobs": jobs,
    }
    results = played(home / f"duel-{board}-{ours}-{theirs}", keys)
    rate = next(standing.rate for standing in standings(results.pairs) if standing.agent.startswith("BF"))
    return (board, f"{ours:,}", f"{theirs:,}", estimate_of(rate).text)


def _row(result: RunResults, split: TheorySplit, board: str, limit: str) -> Row:
    """Return the row of one agent: all games, those from theoretically won and lost openings, and depths of both."""
    rate = next(standing.rate for standing in standings(result.pairs) if standing.agent == split.agent)
    shares = (estimate_of(share).text for share in (rate, split.converted, split.saved))
    games = read_games(result.sources[0].info.path, ["agent_1", "agent_2", "depth", "reason"])
    games = games[(games["agent_1"] == split.agent) | (games["agent_2"] == split.agent)]
    depths = (f"{_depth(games, name):.0f}" for name in (split.agent, FAIRY))
    cells = (board, limit.replace("=", " "), f"`{split.agent}`", f"{len(games):,}", *shares, *depths)
    return Row(cells, float((~games["reason"].isin(ON_THE_BOARD)).mean()))


def _mistakes(result: RunResults, limit: str, jobs: int) -> list[tuple[str, ...]]:
    """Count how often Fairy-Stockfish could throw a win away, and did: plies, number of such positions, and shares.

    The shares are the mean share of losing moves over these positions, and the share of positions in which it played
    one.
    """
    run = result.sources[0].info.path
    label_run(run, first_ply=PLIES.start, jobs=jobs)
    games, labels = labelled_games(run, ["agent_1", "agent_2"])
    value, winning, legal, kept = (lists(labels, name)[0] for name in ("value", "winning", "legal", "kept"))
    plies = games["plies"].to_numpy()
    ply = np.concatenate([np.arange(1, count + 1) for count in plies])
    first_moves, second_moves = (
        np.repeat(np.array(games[side].to_pylist()) == FAIRY, plies) for side in ("agent_1", "agent_2")
    )
    is_theirs = (value == 1) & (winning >= 0) & np.where(ply % 2 == 1, first_moves, second_moves)
    rows = []
    for first, last in SPANS:
        met = is_theirs & (first <= ply) & (ply <= last)
        if met.any():
            shares = (1 - winning[met] / legal[met]).mean(), (kept[met] == 0).mean()
            texts = (f"{100 * share:.1f} %" for share in shares)
            rows.append((limit.replace("=", " "), f"{first} to {last}", f"{met.sum():,}", *texts))
    return rows


def _depth(games: pd.DataFrame, agent: str) -> float:
    """Return the median depth that an agent reaches in `PLIES`."""
    first = (games["agent_1"] == agent).to_numpy()
    plies = [depth[PLIES][0 if leads else 1 :: 2] for depth, leads in zip(games["depth"], first, strict=True)]
    return float(np.median(np.concatenate(plies)))


def _winners(result: RunResults) -> Mapping[int, int]:
    """Return the winner of each opening: from a table if it has the board, otherwise by the colour rule."""
    run = result.sources[0].info.path
    frame = read_games(run, ["opening_id", "colours"]).drop_duplicates()
    by_rule = dict(zip(frame["opening_id"].tolist(), frame["colours"].map({"same": 1, "other": 2}), strict=True))
    return by_rule | opening_winners(run)


if __name__ == "__main__":
    main()

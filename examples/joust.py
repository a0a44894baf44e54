"""Measure our best agents against Fairy-Stockfish, and write docs/joust.md: all results there come from here.

npm install fairy-stockfish-nnue.wasm       once, in any folder outside this project: its program is run, never shipped
python examples/joust.py FOLDER             all of it; interrupted, it goes on where it stopped
python examples/joust.py FOLDER --quick     the same with few games, in another place, to see that it works
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

from experiments.inference.standings import standings
from experiments.log import read_games
from experiments.theory import TheorySplit, by_theory, opening_winners
from experiments.verdicts.findings import Findings
from isolation.engines.protocol import variants_text
from isolation.geometry import parse_size
from isolation.outcome import Reason
from reports.cells import estimate_of

PACKAGE = Path("node_modules", "fairy-stockfish-nnue.wasm", "uci.js")
FAIRY = "Fairy-Stockfish"
AGENTS = {"perfect": "perfect", "territory": "ID:territory"}
"""Ours by the name that the page has for them: what solves the end of a game, and the heuristic that wins most."""
MOST_FORFEITS = 0.05
"""A row of more says nothing of how anybody plays."""
PLIES = slice(2, 14)
"""Where depths are looked at: behind the placements, and before most games are decided."""


@dataclass(frozen=True)
class Scale:
    """How much is measured: boards, limits of both sides, and pairs a match."""

    boards: tuple[str, ...] = ("7x7", "8x8", "9x11")
    limits: tuple[str, ...] = ("nodes=1000", "nodes=10000", "ms=50")
    pairs: int = 24


@dataclass(frozen=True)
class Row:
    """What the page says of an agent on a board under a limit, and the share of its games that somebody forfeited."""

    cells: tuple[str, ...]
    forfeits: float


QUICK = Scale(("7x7",), ("nodes=200",), 2)


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--quick", is_flag=True, help="Few games, only to see that it works; nothing in docs/ changes.")
@click.option("--home", type=click.Path(path_type=Path), help="Where the runs lie; runs/joust by default.")
@click.option("--jobs", type=click.IntRange(min=0), default=0, help="Processes; 0 is one a core.")
def main(folder: Path, quick: bool, home: Path | None, jobs: int) -> None:
    """Play, and write docs/joust.md; FOLDER is where npm has installed fairy-stockfish-nnue.wasm."""
    scale = QUICK if quick else Scale()
    home = (home or Path("runs/joust-quick" if quick else "runs/joust")).absolute()
    program = (folder / PACKAGE).absolute()
    if not program.is_file():
        raise click.UsageError(f"{program} is not there: npm install fairy-stockfish-nnue.wasm in {folder}")
    rows = []
    for limit in scale.limits:
        for board in scale.boards:
            found = _match(home, program, board, limit, scale.pairs, jobs)
            rows += [
                _row(found, split, board, limit) for split in by_theory(found.games, _winners(found), list(AGENTS))
            ]
    docs = home if quick else DOCS
    (docs / "joust.md").write_text(page_text(rows, scale), encoding="utf-8")
    click.echo(f"Wrote {docs / 'joust.md'}")


def page_text(rows: Sequence[Row], scale: Scale) -> str:
    """The page as Markdown; rows with too many forfeits are named and left out."""
    templates = Environment(
        loader=FileSystemLoader(HERE), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True,
    )  # fmt: skip
    return templates.get_template("joust.md.jinja").render(
        rows=[row.cells for row in rows if row.forfeits <= MOST_FORFEITS],
        left_out=[f"{', '.join(row.cells[:3])} ({row.forfeits:.0%})" for row in rows if row.forfeits > MOST_FORFEITS],
        pairs=scale.pairs,
        most=f"{MOST_FORFEITS:.0%}",
    )


def _match(home: Path, program: Path, board: str, limit: str, pairs: int, jobs: int) -> Findings:
    """Our agents against Fairy-Stockfish, head to head.

    The program has a file system of its own, into which it copies one file, meant for a network: the file of variants.
    """
    home.mkdir(parents=True, exist_ok=True)
    variants = home / f"variants-{board}.ini"
    variants.write_text(variants_text(parse_size(board)), encoding="utf-8")
    fairy = {
        "name": "fairy",
        "command": ["env", f"UCI_NNUE_FILE={variants}", "node", "--no-experimental-fetch", str(program)],
        "protocol": "uci",
        "options": {"VariantPath": f"/{variants.name}"},
    }
    keys: dict[str, Any] = {
        "board": board,
        "format": "head-to-head",
        "baseline": f"{FAIRY}=engine:fairy@{limit}",
        "contenders": [f"{name}={spec}@{limit}" for name, spec in AGENTS.items()],
        "engines": [fairy],
        "pairs": pairs,
        "jobs": jobs,
    }
    return played(home / f"{board}-{limit.replace('=', '-')}", keys)


def _row(found: Findings, split: TheorySplit, board: str, limit: str) -> Row:
    """One of our agents: all games, those from openings that are won for it, those from lost ones, depths of both."""
    rate = next(one.rate for one in standings(found.pairs) if one.agent == split.agent)
    shares = (estimate_of(share).shown for share in (rate, split.converted, split.saved))
    games = read_games(found.sources[0].info.path, ["agent_1", "agent_2", "depth", "reason"])
    games = games[(games["agent_1"] == split.agent) | (games["agent_2"] == split.agent)]
    depths = (f"{_depth(games, name):.0f}" for name in (split.agent, FAIRY))
    cells = (board, limit.replace("=", " "), f"`{split.agent}`", f"{len(games):,}", *shares, *depths)
    return Row(cells, float((games["reason"] != Reason.NO_MOVES.word).mean()))


def _depth(games: pd.DataFrame, agent: str) -> float:
    """The median depth that an agent reaches in `PLIES`."""
    first = (games["agent_1"] == agent).to_numpy()
    plies = [depth[PLIES][0 if leads else 1 :: 2] for depth, leads in zip(games["depth"], first, strict=True)]
    return float(np.median(np.concatenate(plies)))


def _winners(found: Findings) -> Mapping[int, int]:
    """Who wins each opening: known where a table has the board, beyond by the colour rule."""
    run = found.sources[0].info.path
    frame = read_games(run, ["opening_id", "colours"]).drop_duplicates()
    by_rule = dict(zip(frame["opening_id"].tolist(), frame["colours"].map({"same": 1, "other": 2}), strict=True))
    return by_rule | opening_winners(run)


if __name__ == "__main__":
    main()

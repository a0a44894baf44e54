"""Measure our best agents against Fairy-Stockfish, and write docs/joust.md: all results there come from here.

npm install fairy-stockfish-nnue.wasm       once, in any folder outside this project: its program is run, never shipped
python examples/joust.py FOLDER             all of it; interrupted, it goes on where it stopped
python examples/joust.py FOLDER --quick     the same with few games, in another place, to see that it works
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pandas as pd
from findings import DOCS, HERE, played
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from experiments.inference.standings import standings
from experiments.log import read_games
from experiments.theory import by_theory, opening_winners
from experiments.verdicts.findings import Findings
from isolation.engines.protocol import variants_text
from isolation.geometry import parse_size
from isolation.outcome import Reason
from reports.cells import estimate_of

PACKAGE = Path("node_modules", "fairy-stockfish-nnue.wasm", "uci.js")
FAIRY = "Fairy-Stockfish"
AGENTS = {"perfect": "perfect", "territory": "ID:territory"}
"""Ours by the name that the page has for them: what solves the end of a game, and the heuristic that wins most."""


@dataclass(frozen=True)
class Scale:
    """How much is measured: boards, limits of both sides, and pairs a match."""

    boards: tuple[str, ...] = ("7x7", "8x8", "9x11")
    limits: tuple[str, ...] = ("nodes=1000", "nodes=10000", "ms=50")
    pairs: int = 24


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
    rows = [
        row
        for limit in scale.limits
        for board in scale.boards
        for row in _rows(_match(home, program, board, limit, scale.pairs, jobs), board, limit)
    ]
    docs = home if quick else DOCS
    (docs / "joust.md").write_text(page_text(rows, scale), encoding="utf-8")
    click.echo(f"Wrote {docs / 'joust.md'}")


def page_text(rows: list[list[str]], scale: Scale) -> str:
    """The page as Markdown."""
    templates = Environment(
        loader=FileSystemLoader(HERE), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True,
    )  # fmt: skip
    return templates.get_template("joust.md.jinja").render(rows=rows, pairs=scale.pairs)


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


def _rows(found: Findings, board: str, limit: str) -> list[list[str]]:
    """For each of our agents: all games, those from openings that are won for it, those from lost ones, forfeits."""
    rates = {one.agent: one.rate for one in standings(found.pairs)}
    splits = by_theory(found.games, _winners(found), list(AGENTS))
    return [
        [
            board,
            limit.replace("=", " "),
            f"`{split.agent}`",
            f"{split.won + split.lost:,}",
            estimate_of(rates[split.agent]).shown,
            estimate_of(split.converted).shown,
            estimate_of(split.saved).shown,
            str(_forfeits(found.games, split.agent)),
        ]
        for split in sorted(splits, key=lambda one: list(AGENTS).index(one.agent))
    ]


def _winners(found: Findings) -> Mapping[int, int]:
    """Who wins each opening: known on boards up to 7x7, beyond them by the colour rule."""
    run = found.sources[0].info.path
    frame = read_games(run, ["opening_id", "colours"]).drop_duplicates()
    by_rule = dict(zip(frame["opening_id"].tolist(), frame["colours"].map({"same": 1, "other": 2}), strict=True))
    return by_rule | opening_winners(run)


def _forfeits(games: pd.DataFrame, agent: str) -> int:
    """Games with an agent that ended otherwise than by a player without a move."""
    mine = (games["agent_1"] == agent) | (games["agent_2"] == agent)
    return int((mine & (games["reason"] != Reason.NO_MOVES.word)).sum())


if __name__ == "__main__":
    main()

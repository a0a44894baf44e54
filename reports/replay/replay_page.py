"""A game as one self-contained HTML page."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup, escape

from knights_isolation.isolation.rules.notation import format_moves

from ..pages.templates import page_with_script
from .replay import Replay, as_json, describe_end

_STATIC = Path(__file__).parents[1] / "board" / "static"
_MODULES = ("game.js", "board.js", "chart.js", "replay.js")


def replay_page(replay: Replay) -> str:
    """Return the page: board, buttons, slider, move list, and the players' scores and depths if known."""
    return page_with_script(
        "replay.html",
        bundle(),
        title=f"{replay.agents[0]} – {replay.agents[1]}, {replay.title}",
        game_title=replay.title,
        size=replay.size,
        agents=replay.agents,
        plies=len(replay.moves),
        end=describe_end(replay),
        mistakes=replay.mistakes,
        facts=_facts(replay),
        game=Markup(embedded(as_json(replay))),
    )


def replay_frame(replay: Replay) -> str:
    """Return the page in a frame, for the cell of a notebook; its script sees nothing of the notebook."""
    page = escape(replay_page(replay))
    return f'<iframe srcdoc="{page}" sandbox="allow-scripts" style="width:100%;height:44em;border:0"></iframe>'


def bundle(modules: Sequence[str] = _MODULES) -> str:
    """Bundle the modules of a page into one script: pages opened from the disk cannot import others."""
    texts = [(_STATIC / name).read_text(encoding="utf-8") for name in modules]
    return "\n".join(re.sub(r"^(?:import .*\n|export )", "", text, flags=re.MULTILINE) for text in texts)


def embedded(value: object) -> str:
    """Encode a value as JSON that cannot end its script element."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")


def _facts(replay: Replay) -> list[tuple[str, str]]:
    facts = [
        ("Player 1", replay.agents[0]),
        ("Player 2", replay.agents[1]),
        ("Result", describe_end(replay)),
        ("Plies", str(len(replay.moves))),
        ("Moves", format_moves(replay.moves, replay.columns).replace(",", ", ")),
    ]
    return facts if not replay.opening else [*facts, ("Opening", f"{replay.opening} plies")]

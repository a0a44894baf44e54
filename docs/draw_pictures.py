"""Draw the pictures and boards of the documents anew: `python docs/draw_pictures.py`, with Chromium installed.

The forest is that of the tutorial's game_agent.py, whose gauntlet at equal nodes is played for it: 28,000 games, some
minutes. docs/explanation/example-report.html is written by examples/findings.py.
"""

import os
import re
import shutil
import sys
import threading
from dataclasses import replace
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from knights_isolation.experiments.analysis.analyse_file import TrialConditions, play_gauntlet
from knights_isolation.experiments.analysis.quick_trial import read_file
from knights_isolation.experiments.plan import parse_agent
from knights_isolation.experiments.play.runner import play_tournament
from knights_isolation.experiments.statistics.contender_verdicts import judge
from knights_isolation.isolation import Board, play, solve
from knights_isolation.isolation.rules.game import Size
from knights_isolation.reports.board.resources import Resources
from knights_isolation.reports.charts.interval_charts import forest
from knights_isolation.reports.lab.server import LabServer, listen
from knights_isolation.reports.pages.board_images import write_gif
from knights_isolation.reports.plots.draw_chart import draw_chart, save
from knights_isolation.reports.replay import captions_of, replay_of_moves, replay_of_row, replay_page

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
WORK = ROOT / "build" / "pictures"
"""Where the gauntlet is played; a second call resumes it."""
MOVES = "d3,c1,e5,a2,f3,c3,d2,e4,f1,f2,d0,d1,b1,b0,a3,c2,b5,d4,d6,e2,c4,f4,b6"
"""A game whose player 2 throws a win away at ply 22."""


def draw_forest() -> None:
    """Play the tutorial's functions at equal nodes and draw their forest."""
    tutorial = (ROOT / "docs" / "tutorials" / "analysis.md").read_text(encoding="utf-8")
    code = re.search(r"```python\n(# game_agent\.py\n.*?)```", tutorial, re.DOTALL)
    assert code is not None
    Path("game_agent.py").write_text(code[1], encoding="utf-8")
    contents = read_file("game_agent.py")
    findings = play_gauntlet(contents, list(contents.functions), "nodes", TrialConditions(), 0, play_tournament)
    save(draw_chart(forest(findings, judge(findings))), IMAGES / "forest.svg")


def draw_board() -> None:
    """Photograph the lab's board with a reviewed game at its mistake."""
    with listen(0) as listener, sync_playwright() as driver:
        port = listener.getsockname()[1]
        server = LabServer(Resources(home=Path("runs")), port)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 1070}, device_scale_factor=1.5)
        page.goto(server.address("/board"))
        page.wait_for_url("**/board")
        page.goto(f"http://127.0.0.1:{port}/board#board=7x7&moves={MOVES}")
        page.get_by_role("button", name="Review this game").click()
        page.locator("#mistakes button").filter(has_text="22. ").click()
        page.locator(".graph .line").last.wait_for()
        picture = Image.open(BytesIO(page.screenshot())).convert("RGB").quantize(128, dither=Image.Dither.NONE)
        picture.save(IMAGES / "board.png", optimize=True)
        browser.close()
        server.should_exit = True
        thread.join()


def draw_game() -> None:
    """Animate a game between two searches."""
    agents = (parse_agent(f"ID:{name}@nodes=3000") for name in ("territory", "improved"))
    replay = replay_of_row("A game", vars(play(*agents, opening=[24, 14])))
    write_gif(IMAGES / "game.gif", replay.moves, replay.size, captions_of(replay), replay.agents)


def draw_boards() -> None:
    """Write pages of three games: on the default board with its mistakes, on the course's, and one of perfect play."""
    agents = [parse_agent(f"ID:{name}@nodes=3000") for name in ("territory", "improved")]
    usual = replay_of_row("Territory against Improved", vars(play(*agents, opening=[24, 14])))
    winners = [solve(usual.board(ply)).winner for ply in range(len(usual.moves) + 1)]
    lost = [ply for ply in range(3, len(winners)) if winners[ply - 1] == 2 - ply % 2 != winners[ply]]
    course = play(*agents, opening=[49, 15], size="9x11")
    perfect = replay_of_moves([12, 3, *solve(Board.from_moves([12, 3], size="5x5")).line], Size(5, 5))
    replays = {
        "7x7": replace(usual, mistakes=tuple(lost)),
        "9x11": replay_of_row("Territory against Improved on the board of the course's third edition", vars(course)),
        "5x5": replace(perfect, title="Perfect play", agents=("Solver", "Solver"), opening=2),
    }
    for size, replay in replays.items():
        (ROOT / "docs" / "how-to" / "boards" / f"{size}.html").write_text(replay_page(replay), encoding="utf-8")


if __name__ == "__main__":
    (WORK / "runs").mkdir(parents=True, exist_ok=True)
    os.chdir(WORK)
    parts = {"board": draw_board, "boards": draw_boards, "game": draw_game, "forest": draw_forest}
    for name in sys.argv[1:] or parts:
        parts[name]()

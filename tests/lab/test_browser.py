"""The analysis board and the replay page in a real browser."""

import math
import os
import random
import re
import shutil
from collections import namedtuple
from dataclasses import replace
from pathlib import Path

import pytest
from axe import COLOURS, axe_script, violations
from board_server import SECRETS, serving
from invented_runs import gauntlet, random_wins
from played_games import NAMES, random_record, write_run
from scripted_pool import Script, ScriptedPool

from knights_isolation.experiments.game_files import append_game, exported
from knights_isolation.experiments.league.entries import Check, Entry, LeagueEntries
from knights_isolation.experiments.league.league_run import PlayerForfeits, read_results
from knights_isolation.experiments.league.submissions import Skipped, Submission
from knights_isolation.experiments.plan import parse_agent
from knights_isolation.experiments.plan.config import Config
from knights_isolation.experiments.play.runner import play_tournament
from knights_isolation.experiments.positions import move_values
from knights_isolation.experiments.statistics.run_results import load_findings
from knights_isolation.isolation import Board, solve
from knights_isolation.isolation.checks.answers import CheckResult
from knights_isolation.isolation.rules.geometry import cell_name
from knights_isolation.reports.board.board_api import cookie_of
from knights_isolation.reports.board.resources import Position, Resources, board_of
from knights_isolation.reports.lab.lab_answers import PuzzleAnswer, PuzzleQuestion, judge_move, puzzle
from knights_isolation.reports.league import write_pages
from knights_isolation.reports.pages.report_page import write_report
from knights_isolation.reports.replay import replay_of_run, replay_page
from tests.answers.test_watch import watching
from tests.lab.test_board_server import distance

playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed: pip install -e .[dev]")
expect = playwright.expect
expect.set_options(timeout=20_000)  # a machine busy with something else must not fail a test

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed: apt-get install chromium"),
]

Solution = namedtuple("Solution", "winner moves undecided line")
CONTRAST = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = (colour, under) => {
    canvas.fillStyle = `rgb(${under.join()})`; canvas.fillRect(0, 0, 1, 1);
    canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (c) => c.map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, place) => sum + v * [0.2126, 0.7152, 0.0722][place], 0);
  const behind = (element) => {
    const chain = [];
    for (let one = element; one; one = one.parentElement) chain.unshift(getComputedStyle(one).backgroundColor);
    return chain.reduce((under, colour) => rgb(colour, under), [255, 255, 255]);
  };
  const poor = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || !element.checkVisibility() || element.closest("svg, script")) continue;
    const back = behind(element);
    const [a, b] = [light(back), light(rgb(getComputedStyle(element).color, back))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) poor.push(element.outerHTML.slice(0, 80));
  }
  return poor;
}"""
"""Elements whose text has a contrast below 4.5 to what is behind it."""
PHONE = {"width": 390, "height": 844}
APPEARANCES = [(PHONE, "light"), ({"width": 1280, "height": 900}, "dark")]
"""Each size and each colour scheme: neither has to do with the other."""
EVIL = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "played"
    write_run(path, games=4)
    append_game(path, random_record(9, (EVIL, "Random")), (None, None))
    return path


@pytest.fixture(scope="module")
def silent(tmp_path_factory):
    """A run whose players tell neither scores nor depths."""
    path = tmp_path_factory.mktemp("runs") / "silent"
    record = random_record(0)
    plies = len(record.moves)
    append_game(path, replace(record, score=(math.nan,) * plies, depth=(0,) * plies), (None, None))
    return path


@pytest.fixture(scope="module")
def address(run, silent):
    resources = Resources((run, silent), {"distance": distance}, {"first": parse_agent("random")})
    with serving(resources) as port:
        yield f"http://127.0.0.1:{port}/board"


@pytest.fixture(scope="module")
def browser():
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    flags += ["--in-process-gpu", "--renderer-process-limit=1"]  # pages in one process take a third less time
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, headless=True, args=flags)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser):
    """Opens a page; at the end of the test no page may have complained."""
    complaints, contexts = [], []

    def open_page(url, **settings):
        context = browser.new_context(**settings)
        context.set_default_timeout(20_000)
        contexts.append(context)
        let_in(context, url)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.goto(url)
        return page

    open_page.complaints = complaints
    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture
def board(visit, address):
    """The analysis board, ready to be played on."""
    page = visit(address)
    expect(page.locator("#board button")).to_have_count(49)
    return page


def let_in(context, url):
    """Give a browser the cookies of all servers that run."""
    if url.startswith("http:"):
        where = {"domain": "127.0.0.1", "path": "/"}
        context.add_cookies([{"name": cookie_of(port), "value": word, **where} for port, word in SECRETS.items()])


def cell(page, name):
    return page.locator(f"#board button[aria-label^='{name},']")


def play(page, *names):
    for name in names:
        cell(page, name).click()
        expect(page.locator("#moves [aria-current]")).to_contain_text(name)


def new_game(page, **choices):
    """Starts a game by the dialog; `choices` by the end of the fields' names."""
    page.get_by_role("button", name="New game").click()
    for name, value in choices.items():
        page.locator(f"#new-{name}").select_option(value)
    page.get_by_role("button", name="Start").click()


def legal_names(page):
    labels = page.locator("#board button[aria-label*='legal move']").evaluate_all(
        "buttons => buttons.map((button) => button.ariaLabel)"
    )
    return {label.split(",")[0] for label in labels}


def names_of(cells, columns=7):
    return {cell_name(cell, columns) for cell in cells}


def move_list(page):
    return page.locator("#moves .move").all_text_contents()


# Playing


def test_clicks_play_a_game(board):
    play(board, "d3", "a2", "c1", "b0")
    expect(board.locator("#standing")).to_have_text("Ply 4: b0. Player 1 to move.")
    position = Board.from_moves([24, 14, 9, 1])
    assert legal_names(board) == names_of(position.legal_cells())
    expect(cell(board, "c1")).to_have_accessible_name("c1, knight of player 1")
    expect(cell(board, "d3")).to_have_accessible_name("d3, visited at ply 1")


@pytest.mark.exhaustive
def test_an_illegal_click_is_explained_and_changes_nothing(board):
    play(board, "d3", "a2")
    cell(board, "g6").click(force=True)  # to a screen reader the cell says that it is disabled
    expect(board.locator("#problem")).to_have_text("g6 is not a legal move for player 1.")
    assert len(move_list(board)) == 2


def test_a_game_is_played_to_its_end(visit, address):
    page = visit(f"{address}#board=2x3&moves=a0")
    play(page, "c1")
    expect(page.locator("#standing")).to_have_text("Ply 2: c1. Player 2 has won: Player 1 has no move.")
    expect(page.locator("#move-now")).to_be_disabled()


@pytest.mark.exhaustive
def test_taking_back_branching_and_flipping_through_variations(board):
    play(board, "d3", "a2", "c1")
    board.locator("#back").click()
    play(board, "e1")
    assert move_list(board) == ["1. d3", "2. a2", "3. c1", "3. e1"]
    board.locator("#flip").click()
    expect(board.locator("#moves [aria-current]")).to_have_text("3. c1")
    board.keyboard.press("v")
    expect(board.locator("#moves [aria-current]")).to_have_text("3. e1")
    board.locator("#moves .move", has_text="1. d3").click()
    board.locator("#last").click()
    expect(board.locator("#moves [aria-current]")).to_have_text("3. e1")


def test_the_keyboard_alone_is_enough(board):
    cell(board, "a0").focus()
    for key in ("Shift+ArrowRight", "Shift+ArrowRight", "Shift+ArrowDown", "Enter"):
        board.keyboard.press(key)
    expect(board.locator("#standing")).to_have_text("Ply 1: c1. Player 2 to move.")
    for key in ("Shift+ArrowUp", "Space"):
        board.keyboard.press(key)
    expect(board.locator("#standing")).to_have_text("Ply 2: c0. Player 1 to move.")
    expect(board.locator("#moves button[tabindex='0']")).to_have_text("2. c0")
    board.locator("#moves [aria-current]").focus()
    board.keyboard.press("ArrowLeft")
    expect(board.locator("#moves button[tabindex='0']")).to_have_text("1. c1")
    expect(board.locator("#moves button[tabindex='0']")).to_be_focused()
    board.locator("#new").focus()
    for key, ply in (
        ("ArrowLeft", "Player 1"),
        ("End", "Ply 2"),
        ("ArrowLeft", "Ply 1"),
        ("ArrowRight", "Ply 2"),
        ("Home", "Player 1"),
        ("End", "Ply 2"),
    ):
        board.keyboard.press(key)
        expect(board.locator("#standing")).to_contain_text(ply)


def test_the_knight_of_an_agent_that_thinks_is_moved_by_nobody_else(board):
    held = []
    board.route("**/api/move", lambda route: held.append(route))
    board.locator("#agent-kind").select_option("random")
    board.locator("#plays-2").check()
    play(board, "d3")
    expect(board.locator("#agent-state")).to_contain_text("Thinking")
    cell(board, "a2").click()
    expect(board.locator("#problem")).to_contain_text("The agent is thinking about its move.")
    knight, target = (board.locator(place).bounding_box() for place in ("[data-seat='2'] .knight", "[data-cell='14']"))
    board.mouse.move(knight["x"] + 5, knight["y"] + 5)
    board.mouse.down()
    board.mouse.move(target["x"] + 5, target["y"] + 5, steps=3)
    board.mouse.up()
    assert move_list(board) == ["1. d3"]
    held.pop().fulfill(json={"agent": "Random", "move": 14, "preparing": 0})
    expect(board.locator("#standing")).to_have_text("Ply 2: a2. You to move.")
    play(board, "c1")
    expect(board.locator("#agent-state")).to_contain_text("Thinking")
    board.locator("#plays-2").uncheck()  # who takes over may move at once
    play(board, "b0")
    assert move_list(board) == ["1. d3", "2. a2", "3. c1", "4. b0"]


@pytest.mark.exhaustive
def test_everything_that_can_be_used_has_a_name(board):
    nameless = board.locator("button:visible, select:visible, input:visible").evaluate_all(
        """elements => elements.filter((element) => !(element.ariaLabel || element.textContent.trim()
           || element.labels?.[0]?.textContent.trim())).map((element) => element.outerHTML)"""
    )
    assert nameless == []


def test_the_rules_of_the_page_are_those_of_the_engine(board):
    draw = random.Random(1)
    games = []
    for size in ("7x7", "3x5", "9x11", "1x4"):
        position = Board.from_moves([], size)
        legal = [list(position.legal_cells())]
        while position.legal_cells():
            position.play_cell(draw.choice(position.legal_cells()))
            legal.append(list(position.legal_cells()))
        games.append({"size": size, "moves": list(position.history), "legal": legal})
    answer = board.evaluate(
        """async (games) => {
             const { legalCells, play, startPosition } = await import("/static/game.js");
             return games.map(({ size, moves }) => {
               const positions = [startPosition({ size })];
               for (const cell of moves) positions.push(play(positions.at(-1), cell));
               return positions.map((position) => legalCells(position).sort((a, b) => a - b));
             });
           }""",
        games,
    )
    assert answer == [game["legal"] for game in games]


# Links


@pytest.mark.exhaustive
def test_the_address_is_a_link_to_the_position(board, visit):
    play(board, "d3", "a2", "c1")
    again = visit(board.url)
    expect(again.locator("#standing")).to_have_text("Ply 3: c1. Player 2 to move.")
    assert move_list(again) == ["1. d3", "2. a2", "3. c1"]
    assert legal_names(again) == names_of(Board.from_moves([24, 14, 9]).legal_cells())


@pytest.mark.exhaustive
def test_a_link_that_leads_nowhere_is_explained(visit, address):
    page = visit(address)
    for fragment in (
        "moves=(d3)",
        "moves=d3,(",
        "moves=d3,a2)",
        "moves=d3&ply=1.1",
        "moves=d3&ply=9",
        "board=0x0",
        "moves=d3,d3",
        "moves=z9",
        "knights=d3",
        "turn=3",
        "board=99x99",
        "board=<b>",
    ):
        page.goto("about:blank")
        page.goto(f"{address}#{fragment}")
        expect(page.locator("#problem"), fragment).to_contain_text("The link does not contain a valid position.")
        expect(page.locator("#board button"), fragment).to_have_count(49)


# Setting up


@pytest.mark.exhaustive
def test_any_position_can_be_set_up(board, visit):
    board.get_by_text("Set up a position").click()
    board.locator("#size").fill("5x6")
    board.locator("#clear").click()
    board.locator("#setup").click()
    for tool, names in (("visited or open", ["a0", "f4", "c2", "c2"]), ("knight 1", ["b2"]), ("knight 2", ["d3"])):
        board.get_by_label(tool).check()
        for name in names:
            cell(board, name).click()
    board.locator("#turn").select_option("2")
    board.locator("#setup").click()
    expect(board.locator("#standing")).to_have_text("Player 2 to move.")
    expected = board_of(Position(size="5x6", visited=[0, 29], knights=(13, 21), turn=2))
    assert legal_names(board) == names_of(expected.legal_cells(), 6)
    assert "knights=b2,d3" in board.url
    again = visit(board.url)
    expect(again.locator("#standing")).to_have_text("Player 2 to move.")
    assert legal_names(again) == legal_names(board)


@pytest.mark.exhaustive
def test_a_size_that_is_none_is_explained(board):
    board.get_by_text("Set up a position").click()
    board.locator("#size").fill("seven")
    board.locator("#clear").click()
    expect(board.locator("#problem")).to_contain_text("expected ROWSxCOLUMNS, such as 7x7")


# Values and agents


@pytest.mark.exhaustive
def test_the_overlay_shows_what_each_move_is_worth(board):
    play(board, "d3", "a2")
    board.locator("#main").get_by_text("Heuristics", exact=True).click()
    for name in ("improved", "territory"):
        board.get_by_label(name, exact=True).uncheck()
    board.get_by_label("distance", exact=True).check()
    board.get_by_label("Show on the board").check()
    expected = move_values(Board.from_moves([24, 14]), distance)
    best = max(expected, key=expected.get)
    for target, value in expected.items():
        name, praise = cell_name(target, 7), ", the best" if target == best else ""
        expect(cell(board, name)).to_have_accessible_name(f"{name}, legal move, value {value:g}{praise}")
    expect(board.locator("#values tbody tr").first).to_have_text(f"{cell_name(best, 7)}{expected[best]:g}")
    expect(board.locator("#chart .dot.heuristic-0")).to_have_count(1)
    board.locator("#values tbody button").first.click()
    expect(board.locator("#standing")).to_contain_text(f"Ply 3: {cell_name(best, 7)}.")


@pytest.mark.exhaustive
def test_colours_follow_the_rank_of_a_value_and_proven_results_stand_out(board):
    answer = board.evaluate(
        """async () => {
          const { bestCells, showBoard, strength } = await import("/static/board.js");
          const { startPosition } = await import("/static/game.js");
          const values = { 9: 1000, 11: 3, 19: 2, 29: "loss", 33: 2 };
          const place = document.createElement("div");
          showBoard(place, startPosition({ size: "7x7", knights: [24, 14] }), { values: { ...values, 37: "win" } });
          const cells = [...place.querySelectorAll("[data-cell]")];
          return {
            strengths: Object.values(values).map((value) => strength(value, Object.values(values))),
            best: bestCells(values), alike: bestCells({ 1: 2, 5: 2 }), proven: bestCells({ ...values, 37: "win" }),
            texts: [29, 37].map((cell) => cells[cell].textContent),
            classes: [29, 37].map((cell) => cells[cell].className.includes("proven-")),
            none: [strength(null, [null, 1]), strength(1, [1, 1])],
          };
        }"""
    )
    assert answer == {
        "strengths": [0.85, 0, -0.85, -1, -0.85],
        "best": [9],
        "alike": [],
        "proven": [37],
        "texts": ["✗ loss", "✓ win"],
        "classes": [True, True],
        "none": [0, 0],
    }


def test_the_exact_result_marks_the_moves_that_keep_the_win(visit, address):
    page = visit(address)
    play(page, "d3", "a2")
    page.get_by_label("Exact result").check()
    expect(page.locator("#exact")).to_contain_text("Player 1 wins under perfect play, with c1 ")
    expect(cell(page, "c1")).to_have_accessible_name("c1, legal move, keeps the win")
    page.get_by_label("Exact result").uncheck()
    expect(page.locator("#board .keeps")).to_have_count(0)


def test_an_agent_answers_for_its_side(board):
    board.locator("#agent-kind").select_option("random")
    board.locator("#plays-2").check()
    cell(board, "d3").click()
    expect(board.locator("#standing")).to_contain_text("Ply 2")
    expect(board.locator("#note")).to_contain_text("Random played")
    board.locator("#plays-1").check()
    expect(board.locator("#standing")).to_contain_text("has no move", timeout=90_000)
    assert len(move_list(board)) > 4


@pytest.mark.exhaustive
def test_a_new_game_is_chosen_in_one_place_and_back_takes_a_whole_turn_back(visit, address):
    page = visit(address, viewport=PHONE)
    page.locator("#agent-kind").select_option("random")
    page.evaluate("scrollTo(0, 0)")
    new_game(page, opponent="chosen", side="2", size="5x5")
    expect(page.locator("#standing")).to_contain_text("Ply 1: ")
    assert page.locator("#board button").count() == 25
    expect(page.locator("#board")).to_be_in_viewport(ratio=1)
    expect(page.locator("#standing")).to_be_in_viewport(ratio=1)
    page.locator("#board .cell:not(.visited):not([class*=of-])").first.click()
    expect(page.locator("#standing")).to_contain_text("Ply 3: ")
    page.locator("#back").click()
    expect(page.locator("#standing")).to_contain_text("Ply 1: ")
    page.locator("#back").click()  # the agent's own first placement stays
    expect(page.locator("#standing")).to_contain_text("Ply 1: ")


@pytest.mark.exhaustive
def test_a_game_against_an_agent_names_both_and_its_heading_tells_how_it_ended(visit, address):
    page = visit(f"{address}#board=2x3&moves=a0")
    page.locator("#agent-kind").select_option("perfect")
    page.locator("#plays-1").check()
    expect(page.locator("#seats .seat")).to_have_text(["Perfect", "Youto move"])
    expect(page.get_by_role("heading", level=1)).to_have_text("Your move against Perfect")
    play(page, "c1")
    expect(page.locator("#standing")).to_have_text("Ply 2: c1. You have won: Perfect has no move.")
    expect(page.get_by_role("heading", level=1)).to_have_text("You beat Perfect in 2 moves")
    page.get_by_role("button", name="Review this game").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("You beat Perfect in 2 moves, without a mistake")
    expect(page.locator("#review-state")).to_have_text("Flawless: no mistakes in 2 moves. You kept 1 of 1 wins.")


@pytest.mark.exhaustive
def test_a_person_who_plays_with_a_clock_loses_when_it_runs_out(visit, address):
    page = visit(address)
    page.clock.install()
    page.locator("#agent-kind").select_option("first")
    page.get_by_role("button", name="New game").click()
    expect(page.locator("#new-time")).to_be_disabled()
    page.locator("#new-opponent").select_option("chosen")
    page.locator("#new-time").select_option("3")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("timer")).to_have_text("3:00")
    page.clock.run_for(30_000)
    expect(page.get_by_role("timer")).to_have_text("2:30")
    page.clock.run_for(150_000)
    expect(page.get_by_role("heading", level=1)).to_have_text("You have lost on time")
    expect(page.get_by_role("timer")).to_have_count(0)
    expect(page.locator("#plays-2")).not_to_be_checked()


@pytest.mark.exhaustive
def test_in_landscape_everything_to_play_with_is_on_the_first_screen(visit, address):
    page = visit(f"{address}#moves=d3,a2", viewport={"width": 844, "height": 390})
    expect(page.locator("#standing")).to_contain_text("Ply 2")
    for part in ("#board", "#seats", "#standing", "#back", "#new"):
        expect(page.locator(part)).to_be_in_viewport(ratio=1)


@pytest.mark.exhaustive
def test_an_empty_board_has_no_dots_and_trails_have_the_colours_of_their_owners(visit, address):
    dot = """cell => {
      const { content, display } = getComputedStyle(cell, "::after");
      return content !== "none" && display !== "none";
    }"""
    page = visit(address)
    expect(page.locator("#board button")).to_have_count(49)
    assert not any(page.locator("#board button").nth(index).evaluate(dot) for index in range(49))
    play(page, "d3", "a2", "c1", "b0")
    colour = "cell => getComputedStyle(cell).backgroundColor"
    trails = {name: cell(page, name).evaluate(colour) for name in ("d3", "a2", "g6")}
    assert len(set(trails.values())) == 3
    assert all(cell(page, name).evaluate(dot) for name in legal_names(page))


@pytest.mark.exhaustive
def test_the_perfect_player_answers_with_what_it_has_proven(board):
    board.locator("#agent-kind").select_option("perfect")
    expect(board.locator("#agent-limit")).to_be_hidden()
    play(board, "d3")
    board.locator("#move-now").click()
    expect(board.locator("#standing")).to_contain_text("Ply 2")
    expect(board.locator("#note")).to_contain_text("a proven win")


@pytest.mark.exhaustive
def test_exact_results_are_kept_from_who_plays_against_an_agent_until_asked_for(visit, address):
    page = visit(f"{address}#board=5x5&moves=c2,d0,a1")
    expect(page.locator("#explorer .result-wins, #explorer .result-loses").first).to_be_visible()
    page.locator("#agent-kind").select_option("perfect")
    page.locator("#plays-2").check()
    expect(page.locator("#explorer-state")).to_contain_text("Perfect play is hidden while you play")
    expect(page.locator("#explorer .result-wins, #explorer .result-loses")).to_have_count(0)
    expect(page.locator("#standing")).to_contain_text("Ply 4: ")
    assert "proven" not in page.locator("#note").text_content()
    page.locator("#show-exact").check()
    expect(page.locator("#exact")).to_contain_text("wins under perfect play")
    page.locator("#show-exact").uncheck()
    page.locator("#plays-2").uncheck()
    expect(page.locator("#explorer .result-wins, #explorer .result-loses").first).to_be_visible()


@pytest.mark.exhaustive
def test_the_line_an_agent_expects_can_be_gone_to(board):
    play(board, "d3", "a2")
    for id, value in (("agent-kind", "AB"), ("agent-heuristic", "improved"), ("agent-unit", "depth")):
        board.locator(f"#{id}").select_option(value)
    board.locator("#agent-limit").fill("3")
    board.locator("#move-now").click()
    expected = board.locator("#note-line button")
    expect(expected).to_have_count(3)
    last = expected.nth(2).text_content()
    expected.nth(2).click()
    expect(board.locator("#standing")).to_contain_text(f"Ply 5: {last}.")


@pytest.mark.exhaustive
def test_an_agent_offered_at_the_start_moves_when_asked(board):
    board.locator("#agent-kind").select_option("first")
    board.locator("#move-now").click()
    expect(board.locator("#standing")).to_contain_text("Ply 1")


def test_what_the_server_refuses_is_shown(board, visit):
    board.locator("#agent-unit").select_option("depth")
    board.locator("#agent-limit").fill("99")
    board.locator("#move-now").click()
    expect(board.locator("#problem")).to_contain_text("at most depth=12")
    # The browser itself notes every answer of status 400.
    assert len(visit.complaints) == 1
    assert "400 (Bad Request)" in visit.complaints.pop()


# Games of a run


def load(page, number):
    page.get_by_text("Games of a run").click()
    page.locator("#games").get_by_role("button", name=str(number), exact=True).click()


def test_a_logged_game_is_loaded_stepped_through_and_branched_from(board, run):
    replay = replay_of_run(run, 0)
    names = [cell_name(move, 5) for move in replay.moves]
    load(board, 0)
    expect(board.locator("#title")).to_contain_text("played, game 0: ID_Improved – Random.")
    assert move_list(board) == [f"{ply}. {name}" for ply, name in enumerate(names, start=1)]
    for ply in (1, 2, 3):
        board.locator("#forward").click()
        expect(board.locator("#standing")).to_contain_text(f"Ply {ply}: {names[ply - 1]}.")
    expect(board.locator("#note")).to_contain_text("ply 3: ID_Improved played")
    assert legal_names(board) == names_of(replay.board(3).legal_cells(), 5)
    expect(board.locator("#chart .bar")).to_have_count(len(names))
    other = next(iter(sorted(names_of(replay.board(3).legal_cells(), 5) - {names[3]})), None)
    assert other is not None
    play(board, other)
    assert len(move_list(board)) == len(names) + 1


@pytest.mark.exhaustive
def test_players_that_tell_no_scores_have_no_chart(visit, address, silent, tmp_path):
    (tmp_path / "replay.html").write_text(replay_page(replay_of_run(silent, 0)), encoding="utf-8")
    for url in (f"{address}#run=silent&game=0&ply=3", (tmp_path / "replay.html").as_uri()):
        page = visit(url)
        expect(page.locator("#moves button")).to_have_count(len(random_record(0).moves))
        expect(page.locator("#chart-part")).to_be_hidden()


@pytest.mark.exhaustive
def test_a_link_past_the_end_of_a_game_leads_to_its_last_ply_and_says_so(visit, address):
    last = len(random_record(0).moves)
    page = visit(f"{address}#run=played&game=0&ply={last + 10}")
    expect(page.locator("#standing")).to_contain_text(f"Ply {last}: ")
    expect(page.locator("#title")).to_contain_text("played, game 0: ID_Improved – Random.")
    expect(page.locator("#problem")).to_have_text(
        f"The link refers to ply {last + 10}, but the game ends at ply {last}."
    )


@pytest.mark.exhaustive
def test_games_of_an_agent_are_listed(board):
    board.get_by_text("Games of a run").click()
    expect(board.locator("#games tbody tr")).to_have_count(5)
    board.locator("#of-agent").select_option(NAMES[2])
    expect(board.locator("#games-state")).to_have_text("2 of 2 games.")
    expect(board.locator("#games-advice")).to_contain_text("To see mistakes in won games, run isolation perfect label ")


def test_names_in_a_log_are_shown_and_never_run(board):
    load(board, 4)
    expect(board.locator("#title")).to_contain_text(EVIL)
    expect(board.locator("#games")).to_contain_text(EVIL)
    assert board.locator("img").count() == 0


# Who may ask


def test_a_page_of_another_origin_reads_nothing(browser, address):
    page = browser.new_page()
    page.goto("data:text/html,<h1>elsewhere</h1>")
    for options in ({}, {"mode": "no-cors"}):
        answer = page.evaluate(
            "([url, options]) => fetch(url, options).then((r) => r.text(), (error) => `refused: ${error}`)",
            [address.replace("/board", "/api/start"), options],
        )
        assert "heuristics" not in answer
    page.close()


@pytest.mark.exhaustive
def test_the_best_move_and_the_line_to_the_end_can_be_seen_and_played(visit, address):
    board = Board.from_moves([0, 7, 11, 14], "5x5")
    line = solve(board).line
    page = visit(f"{address}#board=5x5&moves=a0,c1,b2,e2")
    page.get_by_label("Exact result").check()
    expect(page.locator("#win-bar")).to_have_text(f"Player {solve(board).winner} wins under perfect play")
    expect(page.locator("#board .arrow")).to_have_count(1)
    buttons = page.locator("#exact-line button")
    expect(buttons).to_have_text([cell_name(item, 5) for item in line])
    buttons.nth(1).click()
    expect(page.locator("#standing")).to_contain_text(f"Ply 6: {cell_name(line[1], 5)}.")


# Reviewing


def blunder():
    """A game on 5x5 with a move that throws a win away: the moves, and those that would have kept it."""
    draw = random.Random(3)
    while True:
        board = Board.from_moves([], "5x5")
        result = None
        while cells := board.legal_cells():
            if board.move_count >= 6 and not result:
                solution = solve(board)
                lost = [cell for cell in cells if cell not in solution.moves]
                if solution.winner == board.active_index + 1 and lost:
                    result = board.move_count + 1, solution.moves, lost
                    board.play_cell(lost[0])
                    continue
            board.play_cell(draw.choice(cells))
        if result and len(result[2]) > 1:
            return board.history, result


def test_a_game_is_reviewed_and_a_mistake_tried_again(visit, address):
    moves, (ply, kept, lost) = blunder()
    names = [cell_name(move, 5) for move in moves]
    page = visit(f"{address}#board=5x5&moves={','.join(names)}")
    page.get_by_role("button", name="Review this game").click()
    mistake = page.locator("#mistakes button").filter(has_text=f"{ply}. {names[ply - 1]} lost a winning position; ")
    assert 0 < len(kept) < 5
    expect(mistake).to_contain_text(" or ".join(cell_name(item, 5) for item in kept))
    expect(page.get_by_role("heading", level=1)).to_contain_text("The win changed hands ")
    expect(page.locator("#review-state")).to_contain_text(f"in {len(moves)} moves.")
    expect(page.locator("#review-state")).to_contain_text(" wins.")
    expect(page.locator("#strip button")).to_have_count(len(moves))
    expect(page.locator("#legend span")).to_have_text(["improved", "territory"])
    expect(page.locator("#chart .line")).to_have_count(2)
    expect(page.locator(f"#strip button[aria-label^='Before ply {ply}:']")).to_have_accessible_name(
        re.compile("throws the win away")
    )
    mistake.click()
    expect(page.locator("#standing")).to_contain_text(f"Ply {ply}: {names[ply - 1]}.")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("#review-state")).to_contain_text("has a winning position: which move keeps the win?")
    cell(page, cell_name(lost[1], 5)).click()
    expect(page.locator("#review-state")).to_have_text(f"{cell_name(lost[1], 5)} also loses; try another move.")
    cell(page, cell_name(lost[0], 5)).click()
    expect(page.locator("#review-state")).to_have_text(
        f"{cell_name(lost[0], 5)} is the mistake itself; try another move."
    )
    cell(page, cell_name(kept[0], 5)).click()
    expect(page.locator("#review-state")).to_have_text(f"{cell_name(kept[0], 5)} keeps the win.")
    expect(page.locator("#standing")).to_contain_text(f"Ply {ply}: {cell_name(kept[0], 5)}.")


@pytest.mark.exhaustive
def test_a_game_that_a_new_one_took_the_place_of_is_brought_back(board):
    play(board, "d3", "a2")
    new_game(board)
    expect(board.locator("#moves .move")).to_have_count(0)
    board.get_by_role("button", name="Previous game").click()
    expect(board.locator("#standing")).to_have_text("Ply 2: a2. Player 1 to move.")


@pytest.mark.exhaustive
def test_editing_can_be_cancelled(board):
    play(board, "d3", "a2")
    board.get_by_text("Set up a position").click()
    board.get_by_role("button", name="Edit the board").click()
    cell(board, "g6").click()
    board.get_by_role("button", name="Cancel").click()
    expect(board.locator("#standing")).to_have_text("Ply 2: a2. Player 1 to move.")
    expect(cell(board, "g6")).to_have_accessible_name("g6, open")


# Studying a game: explorer, variations, links, dragging, import and export


@pytest.mark.exhaustive
def test_the_explorer_shows_what_the_run_played_and_plays_it_when_clicked(visit, address, run):
    game = random_record(0)
    names = [cell_name(move, 5) for move in game.moves]
    page = visit(f"{address}#board=5x5&moves={','.join(names[:3])}")
    row = page.locator("#explorer tbody tr").first
    expect(row).to_contain_text(f"{names[3]}1 (100 %)")
    expect(row).to_contain_text("100 % (1)" if game.winner == 2 else "0 % (0)")
    kept = solve(Board.from_moves(game.moves[:3], "5x5")).moves
    expect(row.locator("td").last).to_have_text("✓ win" if game.moves[3] in kept else "✗ loss")
    expect(page.locator("#explorer-state")).to_contain_text("1 game of the run continued from here")
    row.get_by_role("button").first.click()
    expect(page.locator("#standing")).to_contain_text(f"Ply 4: {names[3]}.")
    new_game(page)
    expect(page.locator("#explorer-state")).to_contain_text(
        "These moves were drawn at random for openings, not chosen by an agent."
    )


@pytest.mark.exhaustive
def test_the_explorer_says_what_it_reads_while_it_reads(visit, address):
    page, held = visit(address), []
    expect(page.locator("#explorer-state")).to_contain_text("of the run continued from here")
    page.route("**/api/explore", lambda route: held.append(route))
    page.locator("#explorer-run").select_option("silent")
    expect(page.locator("#explorer-state")).to_have_text("Reading the games of silent …")
    expect(page.locator("#explorer")).to_be_hidden()
    while not held:
        page.wait_for_timeout(10)
    held[0].continue_()
    expect(page.locator("#explorer")).to_be_visible()


@pytest.mark.exhaustive
def test_variations_are_kept_promoted_deleted_and_in_the_link(board, visit):
    play(board, "d3", "a2", "c1", "b0")
    board.keyboard.press("ArrowLeft")
    board.keyboard.press("ArrowLeft")
    play(board, "e1", "c3")
    tree = ["1. d3", "2. a2", "3. c1", "3. e1", "4. c3", "4. b0"]
    assert move_list(board) == tree
    again = visit(board.url)
    expect(again.locator("#standing")).to_contain_text("Ply 4: c3.")
    assert move_list(again) == tree
    again.keyboard.press("ArrowLeft")
    again.keyboard.press("ArrowDown")
    expect(again.locator("#moves [aria-current]")).to_have_text("3. c1")
    again.keyboard.press("ArrowUp")
    expect(again.locator("#moves [aria-current]")).to_have_text("3. e1")
    again.get_by_role("button", name="Promote").click()
    assert move_list(again) == ["1. d3", "2. a2", "3. e1", "3. c1", "4. b0", "4. c3"]
    assert again.url.endswith("moves=d3,a2,e1,(c1,b0),c3&ply=3")
    again.get_by_role("button", name="Delete from here").click()
    assert move_list(again) == ["1. d3", "2. a2", "3. c1", "4. b0"]
    again.get_by_role("button", name="Undo delete").click()
    expect(again.locator("#moves [aria-current]")).to_have_text("3. e1")
    assert len(move_list(again)) == 6


@pytest.mark.exhaustive
def test_arrow_keys_step_wherever_the_focus_is_but_where_text_is_written(board):
    play(board, "d3", "a2")
    board.get_by_text("Import and export").click()
    for id, steps in (("show-exact", True), ("agent-unit", True), ("moves button", True), ("agent-limit", False)):
        board.locator(f"#{id}").first.focus()
        board.keyboard.press("ArrowLeft")
        expect(board.locator("#standing")).to_contain_text("Ply 1: d3" if steps else "Ply 2: a2")
        board.locator("#last").click(force=True)
        expect(board.locator("#standing")).to_contain_text("Ply 2: a2")
    expect(board.locator("#agent-unit")).to_have_value("nodes")


@pytest.mark.exhaustive
def test_a_link_holds_the_run_and_its_game_with_variations_and_a_reload_loses_nothing(board, run):
    replay = replay_of_run(run, 0)
    names = [cell_name(move, 5) for move in replay.moves]
    load(board, 0)
    expect(board.locator("#seats .seat")).to_have_text(["ID_Improvedto move", "Random"])
    for ply in (1, 2, 3):
        board.locator("#forward").click()
        expect(board.locator("#standing")).to_contain_text(f"Ply {ply}: ")
    other = min(names_of(replay.board(3).legal_cells(), 5) - {names[3]})
    play(board, other)
    moves = move_list(board)
    expect(board.locator("#delete")).to_be_enabled()
    assert "run=played&game=0" in board.url
    board.reload()
    expect(board.locator("#title")).to_contain_text("played, game 0: ID_Improved – Random.")
    expect(board.locator("#standing")).to_contain_text(f"Ply 4: {other}.")
    assert move_list(board) == moves
    board.keyboard.press("ArrowLeft")
    expect(board.locator("#note")).to_contain_text("ply 3: ID_Improved played")
    expect(board.locator("#delete")).to_be_disabled()


def drag(page, start, end):
    start.wait_for()
    end.wait_for()
    begin, stop = start.bounding_box(), end.bounding_box()
    page.mouse.move(begin["x"] + begin["width"] / 2, begin["y"] + begin["height"] / 2)
    page.mouse.down()
    page.mouse.move(stop["x"] + 20, stop["y"] + 20, steps=4)
    page.mouse.up()


def test_knights_are_dragged_to_cells_and_from_their_seats(board):
    drag(board, board.locator("[data-seat='1'] .knight"), cell(board, "d3"))
    expect(board.locator("#standing")).to_have_text("Ply 1: d3. Player 2 to move.")
    play(board, "a2")
    drag(board, cell(board, "d3"), cell(board, "c1"))
    expect(board.locator("#standing")).to_have_text("Ply 3: c1. Player 2 to move.")
    drag(board, cell(board, "c1"), cell(board, "e2"))  # not to move
    drag(board, cell(board, "a2"), cell(board, "a2"))
    expect(board.locator("#problem")).to_have_text("")
    drag(board, cell(board, "a2"), cell(board, "a3"))
    expect(board.locator("#problem")).to_have_text("a3 is not a legal move for player 2.")
    assert len(move_list(board)) == 3


@pytest.mark.exhaustive
def test_a_knight_that_is_dragged_shows_no_dot_and_no_trail_through_it(board):
    play(board, "d3", "a2")
    expect(board.locator("#standing")).to_contain_text("Ply 2")  # what is drawn anew is dragged no more
    box = cell(board, "d3").bounding_box()
    board.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    board.mouse.down()
    board.mouse.move(box["x"] + 1.6 * box["width"], box["y"] + 1.5 * box["height"], steps=4)
    dragged = board.locator("#board .dragged")
    expect(dragged).to_have_count(1)
    expect(dragged.locator(".knight")).to_have_count(1)
    assert dragged.text_content() == ""
    assert dragged.evaluate("cell => getComputedStyle(cell, '::after').borderRadius") != "50%"
    board.mouse.up()


SLIDES = """() => {
  window.slides = [];
  const { animate } = Element.prototype;
  Element.prototype.animate = function (...given) {
    slides.push(given[0][0].transform);
    return animate.apply(this, given);
  };
}"""


@pytest.mark.exhaustive
@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_a_knight_slides_to_its_cell_unless_it_was_dragged_or_motion_is_unwanted(visit, address, motion):
    page = visit(f"{address}#moves=d3,a2", reduced_motion=motion)
    expect(page.locator("#standing")).to_contain_text("Ply 2")
    page.evaluate(SLIDES)
    drag(page, cell(page, "d3"), cell(page, "c1"))
    expect(page.locator("#standing")).to_contain_text("Ply 3: c1.")
    assert page.evaluate("slides") == []
    play(page, "b0")
    side = page.evaluate("document.querySelector('[data-cell]').offsetWidth - 1")
    moved = [[float(number) for number in re.findall(r"-?[0-9.]+", text)] for text in page.evaluate("slides")]
    assert all(abs(x + side) < 2 and abs(y - 2 * side) < 3 for x, y in moved)
    assert bool(moved) == (motion != "reduce")


@pytest.mark.exhaustive
def test_first_placements_show_their_refutations_and_what_runs_played(visit, lab):
    page = visit(f"{lab[0]}/openings#a0")
    expect(page.get_by_role("heading", name="a0: 24 of 48 replies refute it")).to_be_visible()
    page.get_by_label("d3: 16 refutations").hover()
    expect(page.get_by_role("heading", name="d3: 16 of 48 replies refute it")).to_be_visible()
    page.get_by_label("d3: 16 refutations").click()
    assert page.url.endswith("#d3")
    expect(page.get_by_label("c1: ivory wins")).to_have_count(1)
    expect(page.locator("#played-state")).to_contain_text(" began with d3")
    page.get_by_label("d3: 16 refutations").press("ArrowRight")
    expect(page.get_by_label("e3: 25 refutations")).to_be_focused()
    page.get_by_label("b0: navy wins, a refutation").click()
    expect(page.locator("#standing")).to_have_text("Ply 2: b0. Player 1 to move.")


def test_a_puzzle_is_tried_until_a_move_keeps_the_win_and_counts_once(visit, lab):
    page = visit(f"{lab[0]}/openings?puzzle=3")
    resources = Resources()
    asked, kept = puzzle(PuzzleQuestion(number=3), resources), judge_move(PuzzleAnswer(number=3), resources)["moves"]
    lost = next(move for move in Board.from_moves(asked["moves"], asked["size"]).legal_cells() if move not in kept)
    choose = lambda move: page.locator(f"#puzzle [data-cell='{move}']").click()  # noqa: E731
    expect(page.locator("#puzzle-rating")).to_have_text(f"rated {asked['rating']:,} · you 1,500")
    choose(lost)
    expect(page.locator("#puzzle-said")).to_have_text(f"{cell_name(lost, 7)} throws the win away: try another move.")
    rated = page.locator("#puzzle-rating").text_content()
    assert not rated.endswith("1,500")
    choose(kept[0])
    expect(page.locator("#puzzle-said")).to_have_text(f"{cell_name(kept[0], 7)} keeps the win.")
    expect(page.locator("#puzzle-rating")).to_have_text(rated)
    page.get_by_role("button", name="Another").click()
    page.wait_for_url(re.compile(r"puzzle=(?!3$)"))


@pytest.mark.exhaustive
def test_a_finger_drags_a_knight_too(visit, address):
    page = visit(f"{address}#moves=d3,a2", viewport=PHONE, has_touch=True)
    expect(page.locator("#standing")).to_contain_text("Ply 2")
    page.evaluate(
        """() => {
          const [from, to] = [24, 9].map((cell) => document.querySelector(`[data-cell="${cell}"]`));
          const at = (cell) => { const box = cell.getBoundingClientRect();
            return { pointerType: "touch", pointerId: 7, bubbles: true, button: 0,
              clientX: box.x + box.width / 2, clientY: box.y + box.height / 2 }; };
          from.dispatchEvent(new PointerEvent("pointerdown", at(from)));
          from.dispatchEvent(new PointerEvent("pointermove", at(to)));
          from.dispatchEvent(new PointerEvent("pointerup", at(to)));
        }"""
    )
    expect(page.locator("#standing")).to_contain_text("Ply 3: c1.")
    assert cell(page, "c1").evaluate("cell => getComputedStyle(cell).touchAction") == "auto"
    assert cell(page, "a2").evaluate("cell => getComputedStyle(cell).touchAction") == "none"


@pytest.mark.exhaustive
def test_games_are_pasted_read_from_a_file_and_exported(board, run, tmp_path):
    board.get_by_text("Import and export").click()
    board.locator("#import-text").fill("".join(exported(run, "pgn")))
    board.get_by_role("button", name="Import", exact=True).click()
    expect(board.locator("#import-state")).to_have_text("5 games read; this is the first.")
    expect(board.locator("#title")).to_contain_text("ID_Improved – Random.")
    board.reload()
    expect(board.locator("#title")).to_contain_text("ID_Improved – Random.")
    expect(board.locator("#chart .bar")).to_have_count(len(random_record(0).moves))
    board.get_by_text("Import and export").click()
    board.locator("#import-text").fill("".join(exported(run, "jsonl")))
    board.get_by_role("button", name="Import", exact=True).click()
    board.locator("#imported").select_option("1")
    names = [cell_name(move, 5) for move in random_record(1, NAMES[1:]).moves]
    expect(board.locator("#moves .move")).to_have_text([f"{ply}. {name}" for ply, name in enumerate(names, start=1)])
    with board.expect_download() as saved:
        board.get_by_role("button", name="Save").click()
    saved.value.save_as(tmp_path / "game.txt")
    assert (tmp_path / "game.txt").read_text() == ",".join(names)
    (tmp_path / "position.fen").write_text("7/2N4/n6/3*3/7/7/7 b - - 1 1")
    board.locator("#import-file").set_input_files(tmp_path / "position.fen")
    expect(board.locator("#standing")).to_have_text("Player 2 to move.")
    expect(cell(board, "c1")).to_have_accessible_name("c1, knight of player 1")
    board.locator("#form").select_option("gif")
    expect(board.locator("#copy-out")).to_be_disabled()


@pytest.mark.exhaustive
def test_what_cannot_be_exported_or_read_is_said_where_it_was_asked_for(visit, address):
    page = visit(f"{address}#board=7x7&moves=d3,a2,c1,b0&ply=2")
    page.get_by_text("Import and export").click()
    page.locator("#form").select_option("csv")
    for button in ("Save", "Copy"):
        page.locator("#exchange-part").get_by_role("button", name=button, exact=True).click()
        expect(page.locator("#export-state")).to_contain_text("a log row needs a finished game")
        page.locator("#forward").click()
        expect(page.locator("#export-state")).to_have_text("")
    for text, message, heading in (
        ("d3,a2", "", "Imported moves"),
        ("hello", "cannot read 'hello': expected moves", "Board"),
    ):
        page.locator("#import-text").fill(text)
        page.get_by_role("button", name="Import", exact=True).click()
        expect(page.locator("#import-state")).to_contain_text(message)
        expect(page.locator("#title")).to_have_text(heading)
    expect(page.locator("#standing")).to_contain_text("Ply 2: a2.")
    # The browser itself notes every answer of status 400.
    assert ["400 (Bad Request)" in complaint for complaint in visit.complaints] == [True] * 3
    visit.complaints.clear()


@pytest.mark.exhaustive
def test_a_phone_sees_the_board_when_a_game_is_loaded(visit, address):
    page = visit(address, viewport=PHONE)
    load(page, 0)
    expect(page.locator("#title")).to_contain_text("game 0")
    expect(page.locator("#board")).to_be_in_viewport()


@pytest.mark.exhaustive
def test_what_is_compiled_says_how_long_it_took(visit, address):
    page = visit(f"{address}#moves=d3,a2")
    answers = {
        name: {"depth": 1, "moves": {}, "compiling": seconds} for name, seconds in (("improved", 2.5), ("territory", 0))
    }
    page.route("**/api/values", lambda route: route.fulfill(json={"values": answers}))
    page.get_by_label("Show on the board").check()
    expect(page.locator("#values-state")).to_have_text("improved was compiled in 2.5 s.")


@pytest.mark.exhaustive
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_of_the_board_stands_out_from_what_is_behind_it(visit, address, scheme):
    page = visit(f"{address}#moves=d3,a2,c1,(e1),b0,e2", color_scheme=scheme)
    page.get_by_label("Show on the board").check()
    page.get_by_label("Exact result").check()
    expect(page.locator("#win-bar")).to_be_visible()
    expect(page.locator("#board .value").first).to_be_visible()
    page.evaluate("for (const details of document.querySelectorAll('details')) details.open = true")
    poor = [part for part in page.evaluate(CONTRAST) if "disabled" not in part]
    assert poor == []


# How it looks


@pytest.mark.parametrize(("viewport", "scheme"), APPEARANCES)
def test_nothing_is_wider_than_the_screen(visit, address, run, tmp_path, viewport, scheme):
    (tmp_path / "replay.html").write_text(replay_page(replay_of_run(run, 0)), encoding="utf-8")
    for url in (address, (tmp_path / "replay.html").as_uri()):
        page = visit(url, viewport=viewport, color_scheme=scheme)
        expect(page.locator("#board button").first).to_be_visible()
        page.evaluate("for (const details of document.querySelectorAll('details')) details.open = true")
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
        lightness = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0]")
        assert (lightness > 128) == (scheme == "light")


# The replay page


@pytest.fixture
def replay(visit, run, tmp_path):
    game = replace(replay_of_run(run, 0), mistakes=(4,))
    path = tmp_path / "replay.html"
    path.write_text(replay_page(game), encoding="utf-8")
    return visit(path.as_uri()), game


def test_a_replay_opens_from_the_disk_and_is_stepped_through(replay):
    page, game = replay
    last = len(game.moves)
    line = page.locator("#line")
    expect(line).to_have_text("ID_Improved against Random on 5x5")
    for press, ply in (
        (lambda: page.locator("#forward").click(), 1),
        (lambda: page.keyboard.press("ArrowRight"), 2),
        (lambda: page.keyboard.press("ArrowLeft"), 1),
        (lambda: page.keyboard.press("End"), last),
        (lambda: page.locator("#back").click(), last - 1),
        (lambda: page.locator("#slider").fill("3"), 3),
        (lambda: page.locator("#moves button").nth(4).click(), 5),
        (lambda: page.locator("#last").click(), last),
    ):
        press()
        expect(line).to_contain_text(f"ply {ply}:")
        assert page.locator("#slider").input_value() == str(ply)
        visited = page.locator("#board .visited").count()
        assert visited == max(0, ply - 2)
    expect(line).to_contain_text("has no move.")
    page.locator("#first").click()
    expect(page.locator("#back")).to_be_disabled()


def test_a_replay_plays_by_itself_to_the_end(replay):
    page, game = replay
    page.locator("#slider").fill(str(len(game.moves) - 2))
    page.locator("#autoplay").click()
    expect(page.locator("#line")).to_contain_text(f"ply {len(game.moves)}:")
    expect(page.locator("#autoplay")).to_have_text("Play")


@pytest.mark.exhaustive
def test_a_replay_charts_scores_and_depths_and_marks_mistakes(replay):
    page, game = replay
    expect(page.locator("#chart .dot")).to_have_count(len(game.moves) - 2)
    expect(page.locator("#chart .bar")).to_have_count(len(game.moves))
    bars = "bars => bars.every((bar) => bar.getBoundingClientRect().width > 1)"
    assert page.locator("#chart .bar").evaluate_all(bars)
    expect(page.locator("#chart .mistake")).to_have_count(1)
    expect(page.locator("#moves .mistake")).to_have_text(f"4. {cell_name(game.moves[3], 5)} ?")
    page.keyboard.press("End")
    page.locator("#chart").click(position={"x": 46, "y": 40})
    expect(page.locator("#slider")).to_have_value("0")


# The report


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    names = tuple(f"ID_a_heuristic_of_a_rather_long_name_{number}" for number in range(8))
    rates = {"Base": 0.5} | {name: 0.3 + 0.05 * number for number, name in enumerate(names)}
    run = gauntlet(12, random_wins(rates), contenders=names).write(folder / "run")
    return write_report(load_findings([run]), folder / "report.html").as_uri()


def test_tables_of_the_report_are_sorted_by_a_click_and_filtered_by_typing(visit, report):
    page = visit(report)
    page.get_by_label("Sections").get_by_role("link", name="Numbers").click()
    table = page.locator("#numbers table.rows").first
    names = table.locator("tbody th")
    before = names.all_text_contents()
    table.get_by_role("button", name="difference").click()
    expect(names).to_have_text(before[::-1])
    expect(table.get_by_role("columnheader", name="difference")).to_have_attribute("aria-sort", "ascending")
    page.get_by_role("searchbox", name="Filter rows: Standings").fill("name_3")
    standings = page.get_by_role("region", name="Standings").locator("tbody tr:visible")
    expect(standings).to_have_count(1)


@pytest.mark.parametrize("width", [390, 1024, 1280, 1920])
def test_no_part_of_the_report_s_first_table_is_out_of_sight(visit, report, width):
    page = visit(report, viewport={"width": width, "height": 900})
    wider = page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
    assert not wider
    if width >= 1024:
        page.get_by_label("Sections").get_by_role("link", name="Numbers").click()
        hidden = page.locator("#numbers .scroll").first.evaluate("part => part.scrollWidth - part.clientWidth")
        assert hidden <= 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_of_the_report_stands_out_from_what_is_behind_it(visit, report, scheme):
    page = visit(report, color_scheme=scheme)
    poor = page.evaluate(CONTRAST)
    assert poor == []


@pytest.mark.exhaustive
def test_the_report_is_printed_no_wider_than_the_paper_and_its_forest_on_page_one(visit, report):
    millimetre = 96 / 25.4
    page = visit(report, viewport={"width": round((210 - 28) * millimetre), "height": round((297 - 28) * millimetre)})
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert page.evaluate("document.querySelector('#comparison .chart').getBoundingClientRect().bottom < innerHeight")
    size = page.locator("table.rows td").first.evaluate("cell => parseFloat(getComputedStyle(cell).fontSize)")
    assert size == pytest.approx(8 / 72 * 96, abs=0.1)
    expect(page.locator(".collapsed")).to_be_visible()
    expect(page.locator("#games")).to_be_hidden()


@pytest.mark.exhaustive
def test_a_coloured_table_is_one_stop_and_the_arrow_keys_walk_over_it(visit, report):
    page = visit(report)
    table = page.locator("#opponents .heatmap")
    expect(table.locator("a[tabindex='0']")).to_have_count(1)
    table.locator("a").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    second = table.locator("tbody tr").nth(1).locator("td a").nth(1)
    expect(second).to_be_focused()
    expect(second).to_have_attribute("tabindex", "0")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()


def test_a_number_of_the_report_leads_to_a_game_that_shows_it(visit, report):
    page = visit(report)
    page.locator("#opponents .heatmap a").first.click()
    viewer = page.get_by_role("dialog")
    expect(viewer).to_be_visible()
    expect(viewer.get_by_role("heading")).to_contain_text("ID_a_heuristic")
    command = viewer.locator("code").text_content()
    *_, path, game_id = command.split()
    game = replay_of_run(path, int(game_id))
    expect(viewer.locator(f"td[data-cell='{cell_name(game.moves[-1], 7)}']")).to_have_text(str(len(game.moves)))
    viewer.get_by_label("Ply").press("Home")
    viewer.get_by_label("Ply").press("ArrowRight")
    expect(viewer.locator("td.heat")).to_have_text(["1"])
    viewer.get_by_role("button", name="Close").click()
    expect(viewer).to_be_hidden()


# The page of a run that is being played


@pytest.mark.exhaustive
@pytest.mark.parametrize(("viewport", "scheme"), APPEARANCES)
def test_a_run_that_is_played_is_shown_and_fits_the_screen(visit, tmp_path, viewport, scheme):
    names = ("ID_a_heuristic_of_a_rather_long_name_indeed", EVIL)
    path = gauntlet(12, random_wins({"Base": 0.5, names[0]: 0.9, EVIL: 0.2}), contenders=names).write(tmp_path / "run")
    (path / "lock").write_text(str(os.getpid()))
    with watching(path) as port:
        page = visit(f"http://127.0.0.1:{port}/runs/run", viewport=viewport, color_scheme=scheme)
        expect(page.locator("#standings tbody tr .agent")).to_have_text([names[0], "Base", EVIL])
        expect(page.locator("#line")).to_have_text("144 of 144 games, 100.0 %")
        expect(page.locator("#race tbody th")).to_have_text([names[0], EVIL])
        expect(page.locator("#race .chip").first).to_have_text("no significant difference yet")
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
        assert page.evaluate(CONTRAST) == []
        expect(page.locator("#end")).to_be_hidden()
        (path / "finished.json").write_text("{}")
        page.get_by_role("link", name="The run has ended: its report").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("than Base")


# The pages of a class


@pytest.fixture(scope="module")
def league(tmp_path_factory):
    """The pages of a class whose players, errors and files mean harm."""
    path = tmp_path_factory.mktemp("league") / "run"
    config = Config(format="round-robin", contenders=("random", "greedy"), pairs=2, jobs=1, out=str(path))
    play_tournament(config, pools=lambda jobs: ScriptedPool(Script()))
    results = read_results(path)
    lost = PlayerForfeits("Random", "error", EVIL, (0,), f"Traceback\n  {EVIL}</script>")
    is_first = results.games["game_id"] == 0
    games = results.games.astype({"reason": object, "detail": object})
    games.loc[is_first, ["reason", "detail", "is_forfeit"]] = ["error", f"{EVIL}</script>", True]
    results = replace(results, forfeits=(lost,), games=games)
    check = Check("", (CheckResult("moves", False, EVIL), CheckResult("time", False, "slow", is_note=True)))
    entry = Entry(Submission("Random", Path("game_agent.py"), "CustomPlayer", "second"), "", check)
    return write_pages(path, LeagueEntries((entry,), (Skipped(EVIL, f"fails: {EVIL}"),)), results)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("viewport", "scheme"), APPEARANCES)
def test_the_pages_of_a_class_lead_to_every_game_and_fit_the_screen(visit, axe, league, viewport, scheme):
    page = visit(league.as_uri(), viewport=viewport, color_scheme=scheme)
    expect(page.locator("#skipped tbody tr")).to_contain_text([EVIL])

    def check():
        page.wait_for_load_state()
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
        assert violations(page, axe) == []

    check()
    page.locator("#ranking").get_by_role("link", name="Random").click()
    expect(page.locator("#forfeits pre")).to_contain_text(EVIL)
    check()
    page.locator("#forfeits").get_by_role("link", name="0", exact=True).click()
    expect(page.locator("#line")).to_contain_text("raised an error")
    page.locator("#slider").press("ArrowLeft")
    expect(page.locator("#line")).not_to_contain_text("raised an error")
    page.locator("#game").select_option(index=1)
    expect(page).to_have_url(re.compile("#1$"))
    check()


# The lab


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A lab of three runs, one of them still playing; gives its address and the folder of the runs."""
    home = tmp_path_factory.mktemp("lab") / "runs"
    for name, rate in (("first", 0.9), ("second", 0.5), ("going", 0.7)):
        run = gauntlet(12, random_wins({"Base": 0.5, "Good": rate}), planned=999 if name == "going" else None)
        path = run.write(home / name)
        (path / "lock").write_text(str(os.getpid()))
        if name != "going":
            (path / "finished.json").write_text("{}")
    with serving(Resources(home=home)) as port:
        yield f"http://127.0.0.1:{port}", home


def test_runs_are_listed_with_their_findings_filtered_and_compared(visit, lab):
    address, _ = lab
    page = visit(address)
    row = page.locator(".run[data-name='first']")
    expect(row.get_by_role("link")).to_have_text("Good won significantly more against the same opponents than Base")
    expect(page.locator(".run[data-name='second']").get_by_role("link")).to_contain_text("No significant difference")
    expect(page.locator(".run[data-name='going'] .chip")).to_have_text("running")
    expect(page.get_by_role("heading", name="3 runs, one still playing")).to_be_visible()
    page.get_by_label("Filter runs").fill("significantly more")
    expect(page.locator(".runs .run:visible")).to_have_count(1)
    assert page.url.endswith("?filter=significantly+more")
    page.reload()
    expect(page.locator(".runs .run:visible")).to_have_count(1)
    page.get_by_label("Filter runs").fill("")
    for name in ("first", "second"):
        page.get_by_label(f"Select {name}").check()
    page.get_by_role("link", name="Compare").click()
    expect(page.get_by_role("heading", name="Results of agents in both runs")).to_be_visible()
    page.go_back()
    page.locator(".run[data-name='first']").get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("than Base")
    page.get_by_label("Pages").get_by_role("link", name="Board").click()
    expect(page.locator("#board button")).to_have_count(49)
    page.go_back()
    page.go_back()
    expect(page.locator(".runs .run")).to_have_count(3)


@pytest.mark.exhaustive
def test_an_archived_run_leaves_the_list_and_comes_back(visit, lab):
    address, home = lab
    page = visit(address)
    page.get_by_label("Select second").check()
    page.get_by_role("button", name="Archive").click()
    expect(page.locator(".runs .run")).to_have_count(2)
    page.get_by_role("link", name="1 archived").click()
    expect(page.locator(".runs .run")).to_have_attribute("data-name", "second")
    page.get_by_label("Select second").check()
    page.get_by_role("button", name="Bring back").click()
    expect(page.locator(".runs .run")).to_have_count(0)
    page.goto(address)
    expect(page.locator(".runs .run")).to_have_count(3)
    assert (home / "second" / "run.json").exists()


@pytest.mark.exhaustive
def test_two_heuristics_are_shown_where_only_one_keeps_the_win(visit, lab):
    page = visit(f"{lab[0]}/heuristics/territory")
    expect(page.locator("#seen")).to_contain_text("the win. Values one ply ahead")
    titles = page.locator("#title-0, #title-1").all_text_contents()
    assert sorted(title.partition(", which ")[2] for title in titles) == ["keeps the win", "throws it away"]
    moves = page.get_by_label("Moves of the position").input_value()
    page.get_by_role("button", name="Next position").click()
    expect(page.get_by_label("Moves of the position")).not_to_have_value(moves)
    page.get_by_label("Moves of the position").fill("d3,a2")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("#title-1")).to_contain_text("improved chooses ")
    expect(page.locator("#on-board")).to_have_attribute("href", "/board#board=7x7&moves=d3,a2")


@pytest.mark.exhaustive
def test_a_run_moves_in_the_list_until_it_ends(visit, lab):
    address, home = lab
    page = visit(address)
    row = page.locator(".run[data-name='going']")
    expect(row).to_contain_text("of 999")
    (home / "going" / "finished.json").write_text("{}")
    expect(row.locator(".chip")).to_have_count(0)
    (home / "going" / "finished.json").unlink()


@pytest.mark.exhaustive
def test_the_theme_is_chosen_once_for_all_pages(visit, lab):
    page = visit(lab[0], color_scheme="light")
    shade = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(shade)
    button = page.get_by_role("button", name="Theme")
    button.click()
    button.click()
    expect(button).to_have_text("Theme: dark")
    assert page.evaluate(shade) != light
    for path in ("/board", "/runs/first"):
        page.goto(lab[0] + path)
        assert page.evaluate("document.documentElement.dataset.theme") == "dark"
        assert page.evaluate(shade) != light


def test_a_function_is_pasted_and_tried_and_what_is_wrong_with_it_is_said(visit, lab):
    page = visit(f"{lab[0]}/try")
    page.get_by_label("A function of (game, player)").fill(
        "def score(game, player):\n    open('/tmp/x', 'w')\n    return 0.0"
    )
    page.get_by_role("button", name="Try it").click()
    expect(page.locator("#lines")).to_contain_text("Does not compile: it calls open", timeout=60_000)
    expect(page.locator("#lines")).to_contain_text("PermissionError: a player from a file may not write files here")
    page.get_by_label("A function of (game, player)").fill("def score(game")
    page.get_by_role("button", name="Try it").click()
    expect(page.locator("#state")).to_have_text("line 1: '(' was never closed")
    assert len(visit.complaints) == 1  # the browser itself notes every answer of status 400
    visit.complaints.clear()


@pytest.mark.exhaustive
@pytest.mark.parametrize(("viewport", "scheme"), APPEARANCES)
def test_axe_finds_nothing_wrong_with_the_lab(visit, axe, lab, viewport, scheme):
    for path in ("/", "/runs/first", "/runs/going", "/diff?before=second&after=first", "/heuristics",
                 "/heuristics/improved", "/openings", "/try", "/class", "/board", "/runs/none"):  # fmt: skip
        page = visit(lab[0] + path, viewport=viewport, color_scheme=scheme)
        page.wait_for_load_state("load")
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"], path
        assert violations(page, axe) == [], path
        page.close()
    visit.complaints[:] = [text for text in visit.complaints if "404" not in text]


# What keeps people from using a page


@pytest.fixture(scope="module")
def axe(tmp_path_factory):
    return axe_script(tmp_path_factory.mktemp("axe"))


def test_axe_finds_nothing_wrong_with_any_page(visit, axe, address, report, run, tmp_path):
    (tmp_path / "replay.html").write_text(replay_page(replay_of_run(run, 0)), encoding="utf-8")
    begun = gauntlet(12)
    begun.planned = 500
    with watching(begun.write(tmp_path / "run")) as port:
        for url, part in (
            (f"{address}#moves=d3,a2", "#board button"),
            ((tmp_path / "replay.html").as_uri(), "#moves button"),
            (f"http://127.0.0.1:{port}/runs/run", "#standings tbody tr"),
            (report, "#opponents .heatmap a"),
        ):
            page = visit(url)
            page.locator(part).first.wait_for()
            page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true })")
            violated = violations(page, axe)
            page.emulate_media(color_scheme="dark")
            violated += violations(page, axe, COLOURS)
            page.close()
            assert violated == []
    page = visit(report)
    page.locator("#opponents .heatmap a").first.click()
    assert violations(page, axe) == []
    page.emulate_media(color_scheme="dark")
    assert violations(page, axe, COLOURS) == []

"""Refutations: lines that beat an agent from won openings, checked move by move, and proofs that there are none."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import knights_isolation as ki
from knights_isolation.command_line.main import main
from knights_isolation.experiments.exact.refutation import MOST_POSITIONS, OpeningAnswer
from knights_isolation.experiments.plan import parse_agent
from knights_isolation.isolation import Board, solve
from knights_isolation.isolation.games.batches import Positions, States, choose_moves
from knights_isolation.isolation.search.agents import Agent

SIZE, SPEC = "5x5", "ID:learned"


def move_of(agent: Agent, moves: tuple[int, ...]) -> int:
    return int(choose_moves(agent, Positions.of([moves], SIZE), np.ones(1, np.uint64)).cells[0])


def is_beaten(agent: Agent, board: Board, side: int) -> bool:
    """Whether some play of the opponent beats the agent, tried out without a solver."""
    if not board.legal_cells():
        return board.active_index == side - 1
    if board.active_index == side - 1:
        chosen = choose_moves(agent, States.of([board]), np.ones(1, np.uint64)).cells[0]
        return is_beaten(agent, board.successor(int(chosen)), side)
    return any(is_beaten(agent, board.successor(cell), side) for cell in board.legal_cells())


@pytest.fixture(scope="module")
def answers() -> list[OpeningAnswer]:
    (found,) = ki.refute(SPEC, board=SIZE, limits=["nodes=300"], openings=30, jobs=1).value
    return list(found.answers)


@pytest.mark.slow
def test_every_line_is_a_game_that_the_agent_loses_by_its_own_moves(answers: list[OpeningAnswer]) -> None:
    agent = parse_agent(f"{SPEC}@nodes=300")
    refuted = [answer for answer in answers if answer.line]
    assert refuted
    for answer in refuted:
        assert answer.line[:2] == answer.opening
        board = Board.from_moves(answer.line, SIZE)
        assert (len(board.legal_cells()), board.active_index) == (0, answer.side - 1)
        before, after = (Board.from_moves(answer.line[: answer.error_ply + plies], SIZE) for plies in (0, 1))
        assert (solve(before).winner, solve(after).winner) == (answer.side, 3 - answer.side)
        for ply in range(answer.side + 1, len(answer.line), 2):
            assert move_of(agent, answer.line[:ply]) == answer.line[ply]


@pytest.mark.slow
def test_what_is_held_nobody_beats(answers: list[OpeningAnswer]) -> None:
    agent = parse_agent(f"{SPEC}@nodes=300")
    held = sorted((answer for answer in answers if answer.is_held), key=lambda answer: answer.positions)
    assert len(held) > 3
    for answer in held[:3]:
        assert not is_beaten(agent, Board.from_moves(answer.opening, SIZE), answer.side)
        assert solve(Board.from_moves(answer.opening, SIZE)).winner == answer.side
        assert answer.positions <= MOST_POSITIONS


@pytest.mark.slow
def test_the_command_shows_the_share_held_and_the_shortest_refutation() -> None:
    words = ["perfect", "refute", SPEC, "--board", SIZE, "--limit", "nodes=300", "--openings", "20", "--jobs", "1"]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0
    text = " ".join(result.output.split())
    player, number, cell = re.search(
        r"won for player (\d) .* move (\d+) of .*, (\w+), throws the win away", text
    ).groups()
    placement, *moves = re.search(r"--moves (\S+)", text)[1].split(",")[int(player) - 1 :: 2]
    assert moves[int(number) - 1] == cell != placement
    assert "isolation replay --moves" in result.output


@pytest.mark.exhaustive
def test_several_boards_and_limits_make_one_page(tmp_path: Path) -> None:
    words = [
        "perfect",
        "refute",
        "ID:open",
        "ID:null",
        "--board",
        "3x4",
        "--board",
        "4x4",
        "--openings",
        "4",
        "--jobs",
        "1",
    ]
    limits = ["--limit", "nodes=10", "--limit", "depth=1"]
    result = CliRunner().invoke(main, [*words, *limits, "--html", str(tmp_path / "held.html"), "--format", "json"])
    rows = json.loads(result.stdout)["refutations"]
    assert [(row["board"], row["limit"]) for row in rows[::2]] == [
        ("3x4", "nodes=10"), ("3x4", "depth=1"), ("4x4", "nodes=10"), ("4x4", "depth=1"),
    ]  # fmt: skip
    page = (tmp_path / "held.html").read_text()
    assert all(f"<th scope=\"col\" class=\"number\">{size}, {limit}</th>" in page for size in ("3x4", "4x4")
               for limit in ("nodes=10", "depth=1"))  # fmt: skip
    assert page.count("heat") > 8


def test_what_cannot_be_refuted_is_said_in_one_line() -> None:
    chance = CliRunner().invoke(main, ["perfect", "refute", "random"])
    assert (chance.exit_code, "leaves something to chance" in chance.output) == (2, True)
    large = CliRunner().invoke(main, ["perfect", "refute", "ID:improved", "--board", "9x11"])
    assert (large.exit_code, "up to 64 cells" in large.output) == (2, True)


def test_an_agent_that_fails_at_its_first_move_holds_no_opening_as_either_player(tmp_path: Path) -> None:
    (tmp_path / "fails.py").write_text("def fails(game, player):\n    raise ValueError('no')\n")
    (found,) = ki.refute(f"ID:{tmp_path}/fails.py:fails", board="4x4", limits=["nodes=50"], openings=40, jobs=1).value
    moving = [answer for answer in found.answers if answer.side == 1 or answer.positions]
    assert {answer.side for answer in moving} == {1, 2}
    assert not any(answer.is_held for answer in moving)
    assert all(answer.error_ply == len(answer.line) == 1 + answer.side for answer in moving)

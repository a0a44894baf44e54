"""Request handlers: move values, score graph, an agent's move, exact result, opening explorer, games of runs."""

from __future__ import annotations

import random
import re
import time
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from knights_isolation.experiments import queries
from knights_isolation.experiments.exact.labels import has_labels
from knights_isolation.experiments.plan import board_refusal, complete, make_agent, parse_spec
from knights_isolation.experiments.positions import Heuristic, compiles, move_values, opposing, position_value
from knights_isolation.experiments.record.log import games_folder, live_files
from knights_isolation.isolation.rules.game import Limit, Size
from knights_isolation.isolation.search.agents import Agent, choose_once
from knights_isolation.isolation.suggestions import command
from knights_isolation.isolation.usercode.user_exceptions import format_exception

from ..replay import as_json, json_score, replay_of_run
from . import resources as asked
from .resources import Resources, run_of

if TYPE_CHECKING:
    from knights_isolation.isolation.rules.classic_board import Board

INTERPRETED_DEPTH = 3
"""Maximum depth for a heuristic that does not compile, or on a board that compiled code does not support."""
PLACING_DEPTH = 1
"""Maximum depth before both knights are placed: there are dozens of moves, and the search is interpreted."""
SOLVING_MS, BRIEF_SOLVING_MS = 3000, 1000
_LONGEST_ERROR = 300
_NOTICED_SECONDS = 0.2


def values(question: asked.ValuesQuestion, resources: Resources) -> dict[str, Any]:
    """Return, for each heuristic, the value of every legal move to the side to move, or the error, and the depth used.

    `compiling` is the time of compiling the heuristic in seconds; 0 if it is negligible.
    """
    board = asked.board_of(question.position)
    functions = {name: resources.heuristic(name) for name in question.heuristics}
    answers: dict[str, Any] = {}
    for name, function in functions.items():
        started = time.perf_counter()
        depth = possible_depth(board, opposing(function), question.depth)
        answers[name] = {"depth": depth, "compiling": _worth_telling(time.perf_counter() - started)}
        try:
            cell_values = move_values(board, function, depth=depth)
            answers[name]["moves"] = {cell: json_score(value) for cell, value in cell_values.items()}
        except Exception as error:
            answers[name]["error"] = format_exception(error, _LONGEST_ERROR)
    return {"values": answers}


def graph(question: asked.GraphQuestion, resources: Resources) -> dict[str, Any]:
    """Return a heuristic's value of a line's positions for player 1; null if it fails or a knight is not placed."""
    function = resources.heuristic(question.heuristic)
    scores: list[float | str | None] = []
    for board in asked.boards_of(question.position):
        if None in board.locations:
            scores.append(None)
            continue
        try:
            value = position_value(board, function, possible_depth(board, function, question.depth))
        except Exception:
            value = float("nan")
        scores.append(json_score(0.0 - value if board.active_index else value))
    return {"scores": scores}


def move(question: asked.MoveQuestion, resources: Resources) -> dict[str, Any]:
    """Return an agent's move and its search data; in a game against a person without what the search found.

    `preparing` is the time of compiling or loading code before, in seconds.
    """
    board = asked.board_of(question.position)
    if not board.legal_cells():
        raise ValueError("the game is over: no legal moves")
    agent = resources.agents.get(question.agent) or safe_agent(question.agent)
    started = time.perf_counter()
    try:
        result = choose_once(agent.placing() if None in board.locations else agent, board, random.getrandbits(63))
    except Exception as error:
        raise ValueError(f"{agent.name} failed: {format_exception(error, _LONGEST_ERROR)}") from None
    if result.move not in board.legal_cells():
        raise ValueError(f"{agent.name} answered with an illegal move, cell {result.move}")
    preparing = _worth_telling(time.perf_counter() - started - result.seconds)
    played = {"agent": agent.name, "move": result.move, "preparing": preparing}
    if question.is_game:
        return played
    return {
        **played,
        "score": json_score(result.score),
        "depth": result.depth,
        "nodes": result.nodes,
        "ms": round(result.seconds * 1000, 1),
        "line": list(result.pv),
    }


def exact(question: asked.SolveQuestion, resources: Resources) -> dict[str, Any]:
    """Return the winner under perfect play, the moves that keep the win, and a line of play to the end.

    The winner is 1, 2 or null; `undecided` lists moves for which the time did not suffice. During a game against a
    person who has not asked, all is undecided.
    """
    board = asked.board_of(question.position)
    cells = list(board.legal_cells())
    if question.is_game or not cells:
        return {"winner": None if cells else 2 - board.active_index, "moves": [], "undecided": cells, "line": []}
    from knights_isolation.isolation import solve

    solution = solve(board, Limit(ms=BRIEF_SOLVING_MS if question.brief else SOLVING_MS))
    lists = {name: list(getattr(solution, name)) for name in ("moves", "undecided", "line")}
    return {"winner": solution.winner, **lists}


def possible_depth(board: Board, heuristic: Heuristic, depth: int) -> int:
    """Return the depth that can be searched in acceptable time."""
    if None in board.locations:
        return min(depth, PLACING_DEPTH)
    return depth if compiles(board, heuristic) else min(depth, INTERPRETED_DEPTH)


def safe_agent(text: str) -> Agent:
    """Return the agent of a spec; ValueError if it is malformed, of a kind that pages may not start, or too slow."""
    spec = complete(parse_spec(text.partition("\n")[0]))
    if refusal := board_refusal(spec):
        raise ValueError(f"{text}: {refusal}")
    return make_agent(spec)


def _worth_telling(seconds: float) -> float:
    return round(seconds, 1) if seconds >= _NOTICED_SECONDS else 0.0


def explored(question: asked.ExploreQuestion, resources: Resources) -> dict[str, Any]:
    """Return, for each legal move (symmetric ones merged), the number of the run's games with it, and of those won.

    The log is read for the first question about it, and again when it has grown.
    """
    run, board = run_of(resources, question.run), asked.board_of(question.position)
    written = tuple(file.name for file in live_files(games_folder(run)))
    replies = queries.explore(_cached_games(run, Size(board.height, board.width), written), board)
    return {
        "games": replies.games,
        "drawn": replies.drawn,
        "plies": queries.PLIES,
        "moves": [{"cells": list(reply.cells), "games": reply.games, "won": reply.won} for reply in replies.replies],
    }


@lru_cache(maxsize=2)
def _cached_games(run: Path, size: Size, written: tuple[str, ...]) -> queries.PlayedGames:
    return queries.read_played(run, size)


MOST_GAMES = 200
_SHOWN = ("game_id", "agent_1", "agent_2", "winner", "reason", "plies")


def games(question: asked.GamesQuestion, resources: Resources) -> dict[str, Any]:
    """Return the first games of a run by kind and agent (default: all), their total number, and all agents.

    `advice` explains how to get the games' mistakes counted, if that has not been done.
    """
    run = run_of(resources, question.run)
    found = queries.find_games(run, question.kind)  # type: ignore[arg-type]
    agents = sorted({*found["agent_1"].astype(str), *found["agent_2"].astype(str)})
    if agent := question.agent:
        found = found[(found["agent_1"].astype(str) == agent) | (found["agent_2"].astype(str) == agent)]
    rows = queries.with_mistakes(run, found.head(MOST_GAMES), _SHOWN)
    advice = "" if has_labels(run) else command("perfect", "label", run)
    return {"agents": agents, "total": len(found), "games": rows, "advice": advice}


def game(question: asked.GameQuestion, resources: Resources) -> dict[str, Any]:
    """Return a game of a run with all its data."""
    return as_json(replay_of_run(run_of(resources, question.run), number_of(question.game)))


def number_of(text: str) -> int:
    """Parse the number of a game in a request; raise ValueError if it is none."""
    if not re.fullmatch("[0-9]{1,18}", text):
        raise ValueError("game ids must be whole numbers of at most 18 digits")
    return int(text)

"""Serves the analysis board on the loopback address."""

from __future__ import annotations

import random
import re
import socket
import threading
import webbrowser
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

import heuristics
from experiments.find_games import KINDS, find_games
from experiments.log import games_folder
from reports.board import answers
from reports.board.guarding import Guarded
from reports.board.questions import (
    DEEPEST,
    GraphQuestion,
    MoveQuestion,
    SolveQuestion,
    ValuesQuestion,
    parse,
)
from reports.replay import as_json, replay_of_run

if TYPE_CHECKING:
    import pandas as pd

    from isolation.agents import Agent

LOOPBACK = "127.0.0.1"
MOST_GAMES = 200
STATIC = Path(__file__).parent / "static"

Heuristic = Callable[[Any, Any], float]
Question = TypeVar("Question", bound=BaseModel)


@dataclass(frozen=True)
class Shelf:
    """What the page can choose from. It asks for runs by their place here, and for the rest by name.

    `heuristics` and `agents` are those added to the toolkit's own.
    """

    runs: tuple[Path, ...] = ()
    heuristics: Mapping[str, Heuristic] = field(default_factory=dict)
    agents: Mapping[str, Agent] = field(default_factory=dict)

    @property
    def all_heuristics(self) -> dict[str, Heuristic]:
        """The registry's and those added."""
        return {**{name: heuristics.get(name) for name in heuristics.names()}, **self.heuristics}


def make_app(shelf: Shelf, port: int) -> ASGIApp:
    """The application that serves the page at http://127.0.0.1:`port`; it answers several questions at a time.

    Raises:
        ValueError: a run is none.
    """
    for run in shelf.runs:
        if not games_folder(run).is_dir():
            raise ValueError(f"{run}: no run lies there (no folder games/)")
    known = shelf.all_heuristics

    def answering(question: type[Question], answer: Callable[[Question], dict[str, Any]]) -> Any:
        async def endpoint(request: Request) -> Response:
            body = await request.body()

            def respond() -> dict[str, Any]:
                return answer(parse(question, body))

            return await _answered(respond)

        return endpoint

    async def start(request: Request) -> Response:
        return JSONResponse(_choices(shelf))

    async def games(request: Request) -> Response:
        return await _answered(partial(_games, shelf, dict(request.path_params), dict(request.query_params)))

    async def game(request: Request) -> Response:
        return await _answered(partial(_game, shelf, **request.path_params))

    async def page(request: Request) -> Response:
        return FileResponse(STATIC / "board.html")

    def move(question: MoveQuestion) -> dict[str, Any]:
        return answers.move(question, shelf.agents, seed=random.getrandbits(63))

    routes = [
        Route("/", page),
        Route("/api/start", start),
        Route("/api/runs/{run}/games", games),
        Route("/api/runs/{run}/games/{game_id}", game),
        Route("/api/values", answering(ValuesQuestion, lambda asked: answers.values(asked, known)), methods=["POST"]),
        Route("/api/graph", answering(GraphQuestion, lambda asked: answers.graph(asked, known)), methods=["POST"]),
        Route("/api/solve", answering(SolveQuestion, answers.exact), methods=["POST"]),
        Route("/api/move", answering(MoveQuestion, move), methods=["POST"]),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    return Guarded(Starlette(routes=routes), port)


def serve(shelf: Shelf, port: int, announce: Callable[[str], None], open_browser: bool = True) -> None:
    """Serve the board until Ctrl-C; port 0 takes any free one. `announce` is told the address.

    Raises:
        ValueError: a run is none, or the port is taken.
    """
    import uvicorn

    with listen(port) as listener:
        free = listener.getsockname()[1]
        app = make_app(shelf, free)
        address = f"http://{LOOPBACK}:{free}/"
        announce(address)
        if open_browser:
            threading.Timer(0.5, webbrowser.open, [address]).start()
        uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False)).run(sockets=[listener])


def listen(port: int) -> socket.socket:
    """A socket on the loopback address.

    Raises:
        ValueError: the port is taken, or must not be used.
    """
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((LOOPBACK, port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise ValueError(f"port {port} cannot be used: {error.strerror}; --port 0 takes any that is free") from None
    return listener


async def _answered(respond: Callable[[], dict[str, Any]]) -> Response:
    try:
        return JSONResponse(await run_in_threadpool(respond))
    except ValueError as error:
        return JSONResponse({"error": str(error)}, status_code=400)


def _choices(shelf: Shelf) -> dict[str, Any]:
    return {
        "heuristics": [{"name": name, "meaning": heuristics.meaning(name)} for name in heuristics.names()]
        + [{"name": name, "meaning": "yours"} for name in shelf.heuristics],
        "agents": list(shelf.agents),
        "runs": [run.resolve().name for run in shelf.runs],
        "kinds": list(KINDS),
        "deepest": DEEPEST,
    }


def _games(shelf: Shelf, path: Mapping[str, Any], query: Mapping[str, str]) -> dict[str, Any]:
    found = find_games(_run(shelf, path["run"]), query.get("kind", "all"))  # type: ignore[arg-type]
    agents = sorted({*found["agent_1"].astype(str), *found["agent_2"].astype(str)})
    if agent := query.get("agent"):
        found = found[(found["agent_1"].astype(str) == agent) | (found["agent_2"].astype(str) == agent)]
    return {"agents": agents, "total": len(found), "games": _rows(found.head(MOST_GAMES))}


def _rows(found: pd.DataFrame) -> list[dict[str, Any]]:
    shown = ["game_id", "agent_1", "agent_2", "winner", "reason", "plies"]
    return [dict(zip(shown, row, strict=True)) for row in found[shown].astype(object).itertuples(index=False)]


def _game(shelf: Shelf, run: str, game_id: str) -> dict[str, Any]:
    return as_json(replay_of_run(_run(shelf, run), _number(game_id)))


def _number(text: str) -> int:
    if not re.fullmatch("[0-9]{1,18}", text):
        raise ValueError("runs and games are asked for by whole numbers of at most 18 digits")
    return int(text)


def _run(shelf: Shelf, text: str) -> Path:
    number = _number(text)
    if number >= len(shelf.runs):
        raise ValueError(f"this board was started with {len(shelf.runs)} runs; there is no run {number}")
    return shelf.runs[number]

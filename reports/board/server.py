"""HTTP server of the analysis board, on the loopback address."""

from __future__ import annotations

import asyncio
import socket
import threading
import webbrowser
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import uvicorn
from pydantic import BaseModel
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

import heuristics
from experiments.exchange.find_games import KINDS
from experiments.record.log import games_folder
from reports.board.board_answers import BoardAnswer, failed
from reports.board.board_processes import ROOM, Processes, ServerLimits
from reports.board.request_guard import IMPORT, MOST_BYTES_IMPORTED, Guarded
from reports.board.request_models import (
    DEEPEST,
    ExploreQuestion,
    ExportQuestion,
    GameQuestion,
    GamesQuestion,
    GraphQuestion,
    ImportQuestion,
    MoveQuestion,
    SolveQuestion,
    ValuesQuestion,
    parse,
)
from reports.board.resources import Resources

LOOPBACK = "127.0.0.1"
STATIC = Path(__file__).parent / "static"
_READING_SECONDS = 5.0
"""Timeout in seconds for the rest of a request."""
_REPLACED = failed(409, "replaced by another request, or the board was closed")


class BoardServer(uvicorn.Server):
    """Server of the page at http://127.0.0.1:`port`. Questions are answered in parallel, in processes.

    A newer question of the same page and kind replaces an older one. Questions are cancelled when their client
    disconnects and when the server stops.

    Raises:
        ValueError: a run does not exist, or something on the shelf cannot be used in another process.
    """

    def __init__(self, shelf: Resources, port: int, room: ServerLimits = ROOM) -> None:
        for run in shelf.runs:
            if not games_folder(run).is_dir():
                raise ValueError(f"{run}: not a run directory (no folder games/)")
        self._processes = Processes(shelf, room)
        self._shelf = shelf
        self._asked: dict[asyncio.Task[BoardAnswer], tuple[str, type]] = {}
        # A client that stays connected without activity must not delay the server's end.
        super().__init__(
            uvicorn.Config(self._app(port), log_level="critical", access_log=False, timeout_graceful_shutdown=1)
        )

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start listening, with a process ready for the first question."""
        await super().startup(sockets)
        self._processes.prepare()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Cancel all questions, and end all processes that answer them."""
        for task in self._asked:
            task.cancel()
        self._processes.close()
        await super().shutdown(sockets)

    def _app(self, port: int) -> ASGIApp:
        async def page(request: Request) -> Response:
            return FileResponse(STATIC / "board.html")

        async def start(request: Request) -> Response:
            return JSONResponse(_choices(self._shelf))

        async def games(request: Request) -> Response:
            return await self._answered(request, GamesQuestion, {**request.query_params, **request.path_params})

        async def game(request: Request) -> Response:
            return await self._answered(request, GameQuestion, request.path_params)

        def answering(kind: type[BaseModel]) -> Any:
            async def endpoint(request: Request) -> Response:
                return await self._answered(request, kind)

            return endpoint

        routes = [
            Route("/", page),
            Route("/api/start", start),
            Route("/api/runs/{run}/games", games),
            Route("/api/runs/{run}/games/{game}", game),
            Route("/api/values", answering(ValuesQuestion), methods=["POST"]),
            Route("/api/graph", answering(GraphQuestion), methods=["POST"]),
            Route("/api/solve", answering(SolveQuestion), methods=["POST"]),
            Route("/api/move", answering(MoveQuestion), methods=["POST"]),
            Route("/api/explore", answering(ExploreQuestion), methods=["POST"]),
            Route(IMPORT, answering(ImportQuestion), methods=["POST"]),
            Route("/api/export", answering(ExportQuestion), methods=["POST"]),
            Mount("/static", StaticFiles(directory=STATIC)),
        ]
        return Guarded(Starlette(routes=routes), port)

    async def _answered(
        self, request: Request, kind: type[BaseModel], given: Mapping[str, Any] | None = None
    ) -> Response:
        """Answer a given question, or else the one in the request's body."""
        page = request.headers.get("x-page", "")
        try:
            if given is None:
                async with asyncio.timeout(_READING_SECONDS):
                    question = parse(kind, await request.body())
            else:
                question = kind.model_validate(given)
        except (ValueError, TimeoutError) as error:
            return _response(failed(400, str(error) or "the request was incomplete"))
        for task, asked in self._asked.items():
            if page and asked == (page, kind):
                task.cancel()
        asking = asyncio.create_task(self._processes.answer(question, page))
        leaving = asyncio.create_task(_left(request))
        self._asked[asking] = page, kind
        try:
            await asyncio.wait({asking, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            del self._asked[asking]
            leaving.cancel()
            if not asking.done():
                asking.cancel()
        await asyncio.wait({asking})
        return _response(_REPLACED if asking.cancelled() else asking.result())


def serve(shelf: Resources, port: int, announce: Callable[[str], None], open_browser: bool = True) -> None:
    """Serve the board until Ctrl-C; port 0 takes any free one. `announce` is called with the address.

    Raises:
        ValueError: a run does not exist, or the port is taken.
    """
    with listen(port) as listener:
        free = listener.getsockname()[1]
        board = BoardServer(shelf, free)
        address = f"http://{LOOPBACK}:{free}/"
        announce(address)
        if open_browser:
            opening = threading.Timer(0.5, webbrowser.open, [address])
            opening.daemon = True
            opening.start()
        board.run(sockets=[listener])


def listen(port: int) -> socket.socket:
    """Open a socket on the loopback address.

    Raises:
        ValueError: the port is taken, or not permitted.
    """
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((LOOPBACK, port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise ValueError(f"cannot use port {port}: {error.strerror}; --port 0 chooses a free one") from None
    return listener


async def _left(request: Request) -> None:
    """Wait until the client has disconnected."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _response(answer: BoardAnswer) -> Response:
    return Response(answer.body, answer.status, media_type="application/json")


def _choices(shelf: Resources) -> dict[str, Any]:
    return {
        "heuristics": [{"name": name, "meaning": heuristics.meaning(name)} for name in heuristics.names()]
        + [{"name": name, "meaning": "yours"} for name in shelf.heuristics],
        "agents": list(shelf.agents),
        "runs": [run.resolve().name for run in shelf.runs],
        "kinds": list(KINDS),
        "deepest": DEEPEST,
        "longest": MOST_BYTES_IMPORTED,
    }

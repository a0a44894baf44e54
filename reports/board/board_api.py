"""The board's questions over HTTP, answered in child processes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

import heuristics
from experiments.exchange.find_games import KINDS
from reports.board.board_answers import BoardAnswer, failed
from reports.board.board_processes import Processes
from reports.board.request_guard import IMPORT, MOST_BYTES_IMPORTED
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

STATIC = Path(__file__).parent / "static"
_READING_SECONDS = 5.0
"""Timeout in seconds for the rest of a request."""
_REPLACED = failed(409, "replaced by another request, or the board was closed")


class BoardApi:
    """Answers the questions of pages, in parallel, in `processes`; belongs to one event loop.

    A newer question of the same page and kind replaces an older one. Questions are cancelled when their client
    disconnects and by `cancel`.
    """

    def __init__(self, shelf: Resources, processes: Processes) -> None:
        self._shelf = shelf
        self._processes = processes
        self._asked: dict[asyncio.Task[BoardAnswer], tuple[str, BaseModel]] = {}

    def routes(self) -> list[Route]:
        """Return the routes below /api/."""
        posted: dict[str, type[BaseModel]] = {
            "/api/values": ValuesQuestion,
            "/api/graph": GraphQuestion,
            "/api/solve": SolveQuestion,
            "/api/move": MoveQuestion,
            "/api/explore": ExploreQuestion,
            IMPORT: ImportQuestion,
            "/api/export": ExportQuestion,
        }
        return [
            Route("/api/start", self._start),
            Route("/api/runs/{run}/games", self.named(GamesQuestion)),
            Route("/api/runs/{run}/games/{game}", self.named(GameQuestion)),
            *(Route(path, self.answering(kind), methods=["POST"]) for path, kind in posted.items()),
        ]

    def answering(self, kind: type[BaseModel], processes: Processes | None = None) -> Any:
        """Return an endpoint that answers the question in a request's body, if wanted in other processes."""

        async def endpoint(request: Request) -> Response:
            return await self._answered(request, kind, processes=processes)

        return endpoint

    def named(self, kind: type[BaseModel]) -> Any:
        """Return an endpoint that answers the question in a request's path and query."""

        async def endpoint(request: Request) -> Response:
            return await self._answered(request, kind, {**request.query_params, **request.path_params})

        return endpoint

    def cancel(self) -> None:
        """Cancel all questions."""
        for task in self._asked:
            task.cancel()

    async def _start(self, request: Request) -> Response:
        return JSONResponse(_choices(self._shelf))

    async def _answered(
        self,
        request: Request,
        kind: type[BaseModel],
        given: Mapping[str, Any] | None = None,
        processes: Processes | None = None,
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
        earlier = {task: asked for task, (of, asked) in self._asked.items() if page and of == page}
        if any(_moves_for_agent(asked, question) for asked in earlier.values()):
            return _response(failed(400, "the agent is thinking about its move: only its answer moves its knight"))
        for task, asked in earlier.items():
            if type(asked) is kind:
                task.cancel()
        asking = asyncio.create_task((processes or self._processes).answer(question, page))
        leaving = asyncio.create_task(_left(request))
        self._asked[asking] = page, question
        try:
            await asyncio.wait({asking, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            del self._asked[asking]
            leaving.cancel()
            if not asking.done():
                asking.cancel()
        await asyncio.wait({asking})
        return _response(_REPLACED if asking.cancelled() else asking.result())


def _moves_for_agent(asked: BaseModel, question: BaseModel) -> bool:
    """Return whether a question follows a move that a person made for the agent that was asked in a game."""
    if not (isinstance(asked, MoveQuestion) and asked.is_game and isinstance(question, MoveQuestion)):
        return False
    before, now = asked.position, question.position
    is_same_game = before.model_copy(update={"moves": now.moves}) == now
    return is_same_game and len(now.moves) > len(before.moves) and now.moves[: len(before.moves)] == before.moves


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
        "runs": list(shelf.named_runs()),
        "kinds": list(KINDS),
        "deepest": DEEPEST,
        "longest": MOST_BYTES_IMPORTED,
    }

"""The board's questions over HTTP, answered in child processes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from knights_isolation import heuristics
from knights_isolation.experiments.exchange.queries import KINDS

from . import handlers
from . import request_models as asked
from .board_processes import CAN_SEARCH, BoardAnswer, Processes, Question, failed
from .game_exchange import export_line, import_games
from .request_guard import IMPORT, MOST_BYTES_IMPORTED
from .request_models import Model
from .resources import Resources, game, games

_READING_SECONDS = 5.0
"""Timeout in seconds for the rest of a request."""
_REPLACED = failed(409, "replaced by another request, or the board was closed")


def endpoint(
    kind: type[Model], act: Callable[[Model, Request], Awaitable[BoardAnswer]]
) -> Callable[[Request], Awaitable[Response]]:
    """Return an endpoint that does what a request's body, or else its path and query, asks for.

    What is invalid, and what `act` refuses by a ValueError, is answered with its reason.
    """

    async def answered(request: Request) -> Response:
        try:
            async with asyncio.timeout(_READING_SECONDS):
                body = await request.body()
            given = body if request.method == "POST" else {**request.query_params, **request.path_params}
            answer = await act(asked.parse(kind, given), request)
        except (ValueError, TimeoutError) as error:
            answer = failed(400, str(error) or "the request was incomplete")
        return Response(answer.body, answer.status, media_type="application/json")

    return answered


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
        return [
            Route("/api/start", self._start),
            self.route("/api/runs/{run}/games", asked.GamesQuestion, games, "GET"),
            self.route("/api/runs/{run}/games/{game}", asked.GameQuestion, game, "GET"),
            self.route("/api/values", asked.ValuesQuestion, handlers.values),
            self.route("/api/graph", asked.GraphQuestion, handlers.graph),
            self.route("/api/solve", asked.SolveQuestion, handlers.exact),
            self.route("/api/move", asked.MoveQuestion, handlers.move),
            self.route("/api/explore", asked.ExploreQuestion, handlers.explored),
            self.route(IMPORT, asked.ImportQuestion, import_games),
            self.route("/api/export", asked.ExportQuestion, export_line),
        ]

    def route(
        self, path: str, kind: type[Model], answer: Callable[[Model, Resources], dict[str, Any]], method: str = "POST"
    ) -> Route:
        """Return a route whose requests `answer` answers, in a child process."""

        async def ask(question: Model, request: Request) -> BoardAnswer:
            return await self._ask(partial(answer, question), question, request)

        return Route(path, endpoint(kind, ask), methods=[method])

    def cancel(self) -> None:
        """Cancel all questions."""
        for task in self._asked:
            task.cancel()

    async def _start(self, request: Request) -> Response:
        shipped = [{"name": name, "meaning": heuristics.meaning(name)} for name in heuristics.names()]
        choices = {
            "heuristics": [*shipped, *({"name": name, "meaning": "yours"} for name in self._shelf.heuristics)],
            "agents": list(self._shelf.agents),
            "runs": list(self._shelf.named_runs()),
            "kinds": list(KINDS),
            "deepest": asked.DEEPEST,
            "longest": MOST_BYTES_IMPORTED,
        }
        return JSONResponse(choices)

    async def _ask(self, call: Question, question: BaseModel, request: Request) -> BoardAnswer:
        page = request.headers.get("x-page", "")
        searching = asked.ValuesQuestion | asked.GraphQuestion | asked.MoveQuestion | asked.SolveQuestion
        if not CAN_SEARCH and isinstance(question, searching):
            return failed(400, "positions can be analysed on Linux and macOS only; here the board only shows games")
        earlier = {task: other for task, (of, other) in self._asked.items() if page and of == page}
        if any(_moves_for_agent(other, question) for other in earlier.values()):
            return failed(400, "the agent is thinking about its move: only its answer moves its knight")
        for task, other in earlier.items():
            if type(other) is type(question):
                task.cancel()
        asking = asyncio.create_task(self._processes.answer(call, page))
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
        return _REPLACED if asking.cancelled() else asking.result()


def _moves_for_agent(earlier: BaseModel, question: BaseModel) -> bool:
    """Return whether a question follows a move that a person made for the agent that was asked in a game."""
    if not (isinstance(question, asked.MoveQuestion) and isinstance(earlier, asked.MoveQuestion) and earlier.is_game):
        return False
    before, now = earlier.position, question.position
    is_same_game = before.model_copy(update={"moves": now.moves}) == now
    return is_same_game and len(now.moves) > len(before.moves) and now.moves[: len(before.moves)] == before.moves


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass

"""HTTP of the lab: who is answered, and the board's questions, answered in child processes.

Any account of the machine can send requests to its loopback address. A request must therefore have the server's
secret: in the printed address, after that in a cookie. Any page in a browser can send requests as well, with the cookie
if it is of the same host. A request must therefore name the printed host, which fails for a page that has rebound its
own host name to 127.0.0.1, and must not come from another origin.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from html import escape
from secrets import compare_digest
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from pydantic import BaseModel
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request, cookie_parser
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from knights_isolation import heuristics
from knights_isolation.experiments.queries import KINDS

from . import handlers
from . import resources as asked
from .board_processes import CAN_SEARCH, BoardAnswer, Processes, Question, failed
from .game_exchange import export_line, import_games
from .resources import Model, Resources

TOKEN = "token"
"""Key of the secret in the query of an address."""

MOST_BYTES = 64 * 1024
IMPORT = "/api/import"
MOST_BYTES_IMPORTED = 4 * 1024 * 1024
"""Size limit for the one kind of request that contains games."""
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
}


def refusal(method: str, path: str, headers: Mapping[str, str], port: int) -> str:
    """Return why a request is rejected; empty if it is accepted.

    Pages may be opened by links from other sites; all other requests must have the same origin.
    """
    hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
    if headers.get("host", "") not in hosts:
        return f"this lab answers at http://127.0.0.1:{port} only"
    origin = headers.get("origin")
    if origin is not None and origin not in {f"http://{host}" for host in hosts}:
        return "only the lab's own pages may send requests"
    is_opening = method == "GET" and not path.startswith("/api/") and headers.get("sec-fetch-mode") == "navigate"
    if headers.get("sec-fetch-site", "none") not in ("same-origin", "none") and not is_opening:
        return "only the lab's own pages may send requests"
    if method == "POST" and headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        return "requests must be application/json"
    return ""


def cookie_of(port: int) -> str:
    """Return the name of the cookie with the secret. Cookies are shared by all ports of a host, names are not."""
    return f"isolation-lab-{port}"


def has_cookie(headers: Mapping[str, str], port: int, secret: str) -> bool:
    """Return whether a request has the secret in its cookie."""
    return _is_equal(cookie_parser(headers.get("cookie", "")).get(cookie_of(port), ""), secret)


def entrance(path: str, query: str, secret: str) -> str:
    """Return the address of the page, without the secret, that an address with the secret names; else an empty text."""
    words = parse_qsl(query, keep_blank_values=True)
    if not any(key == TOKEN and _is_equal(value, secret) for key, value in words):
        return ""
    rest = urlencode([(key, value) for key, value in words if key != TOKEN])
    return f"/{quote(path.lstrip('/'))}{'?' * bool(rest)}{rest}"


def leading_to(address: str) -> str:
    """Return a page that leads to an address.

    A redirection would not do: a browser that came from elsewhere leaves the cookie out after one.
    """
    place = escape(address)
    return (
        '<!doctype html><title>isolation lab</title><link rel="icon" href="data:,">'
        f'<meta http-equiv="refresh" content="0;url={place}">'
        f'<a href="{place}">isolation lab</a>'
    )


def _is_equal(given: str, secret: str) -> bool:
    return compare_digest(given.encode(errors="replace"), secret.encode())


def _locked_out(path: str) -> Response:
    """Return the answer to a request without the secret; after a link, a click may open the page."""
    reason = "open the address that the command printed, with its token"
    if path.startswith("/api/"):
        return JSONResponse({"error": reason}, status_code=403)
    again = 'If the lab is open in this browser and a link led here, <a href="">open this page again</a>.'
    return HTMLResponse(f"<!doctype html><title>isolation lab</title><p>403: {reason}.</p><p>{again}</p>", 403)


def _excess(path: str, length: str) -> str:
    """Return why a request of this size is rejected; empty if it is accepted."""
    most = MOST_BYTES_IMPORTED if path == IMPORT else MOST_BYTES
    if length.isdecimal() and int(length) <= most:
        return ""
    if path == IMPORT:
        return f"too large: at most {most:,} bytes of games at once; paste fewer games"
    return f"request too large (limit {most:,} bytes)"


class Guarded:
    """ASGI application that applies `refusal`, wants the secret, limits the request size, and adds security headers.

    A response that has one of these headers keeps its own. Of other kinds of connections there are none.
    """

    def __init__(self, app: ASGIApp, port: int, secret: str) -> None:
        self.app, self.port, self.secret = app, port, secret

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or reject it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                answer = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    answer.setdefault(name, value)
            await send(message)

        await (self._answer(scope) or self.app)(scope, receive, send_with_headers)

    def _answer(self, scope: Scope) -> Response | None:
        """Return the answer to a request that does not reach the application."""
        headers, method, path = Headers(scope=scope), scope["method"], scope["path"]
        if reason := refusal(method, path, headers, self.port):
            return JSONResponse({"error": reason}, status_code=403)
        address = entrance(path, scope["query_string"].decode("latin-1"), self.secret)
        if address and method == "GET" and not path.startswith("/api/"):
            answer = HTMLResponse(leading_to(address))
            answer.set_cookie(cookie_of(self.port), self.secret, httponly=True, samesite="strict")
            return answer
        if not has_cookie(headers, self.port, self.secret):
            return _locked_out(path)
        if reason := _excess(path, headers.get("content-length", "0")):
            return JSONResponse({"error": reason}, status_code=413)
        if "transfer-encoding" in headers:
            return JSONResponse({"error": "a request needs a Content-Length"}, status_code=411)
        return None


_READING_SECONDS = 5.0
"""Timeout in seconds for the rest of a request."""
_REPLACED = failed(409, "replaced by another request, or the board was closed")


def api_route(path: str, kind: type[Model], act: Callable[[Model, Request], Awaitable[BoardAnswer]]) -> Route:
    """Return a route that does what a request asks for: by its body, or by its path and query if `kind` is of these.

    What is invalid, and what `act` refuses by a ValueError, is answered with its reason.
    """
    method = "GET" if issubclass(kind, asked.AddressModel) else "POST"

    async def answered(request: Request) -> Response:
        try:
            async with asyncio.timeout(_READING_SECONDS):
                body = await request.body()
            given = body if method == "POST" else {**request.query_params, **request.path_params}
            answer = await act(asked.parse(kind, given), request)
        except (ValueError, TimeoutError) as error:
            answer = failed(400, str(error) or "the request was incomplete")
        return Response(answer.body, answer.status, media_type="application/json")

    return Route(path, answered, methods=[method])


class BoardApi:
    """Answers the questions of pages, in parallel, in `processes`; belongs to one event loop.

    A newer question of the same page and kind replaces an older one. Questions are cancelled when their client
    disconnects and by `cancel`.
    """

    def __init__(self, resources: Resources, processes: Processes) -> None:
        self._resources, self._processes = resources, processes
        self._asked: dict[asyncio.Task[BoardAnswer], tuple[str, BaseModel]] = {}

    def routes(self) -> list[Route]:
        """Return the routes below /api/."""
        return [
            Route("/api/start", self._start),
            self.route("/api/runs/{run}/games", asked.GamesQuestion, handlers.games),
            self.route("/api/runs/{run}/games/{game}", asked.GameQuestion, handlers.game),
            self.route("/api/values", asked.ValuesQuestion, handlers.values),
            self.route("/api/graph", asked.GraphQuestion, handlers.graph),
            self.route("/api/solve", asked.SolveQuestion, handlers.exact),
            self.route("/api/move", asked.MoveQuestion, handlers.move),
            self.route("/api/explore", asked.ExploreQuestion, handlers.explored),
            self.route(IMPORT, asked.ImportQuestion, import_games),
            self.route("/api/export", asked.ExportQuestion, export_line),
        ]

    def route(self, path: str, kind: type[Model], answer: Callable[[Model, Resources], dict[str, Any]]) -> Route:
        """Return a route whose requests `answer` answers, in a child process."""
        return api_route(path, kind, lambda question, request: self._ask(partial(answer, question), question, request))

    def cancel(self) -> None:
        """Cancel all questions."""
        for task in self._asked:
            task.cancel()

    async def _start(self, request: Request) -> Response:
        shipped = [{"name": name, "meaning": heuristics.meaning(name)} for name in heuristics.names()]
        choices = {
            "heuristics": [*shipped, *({"name": name, "meaning": "yours"} for name in self._resources.heuristics)],
            "agents": list(self._resources.agents),
            "runs": list(self._resources.named_runs()),
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

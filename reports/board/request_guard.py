"""Reject requests that do not come from the owner's browser and the lab's own pages.

Any account of the machine can send requests to its loopback address. A request must therefore have the server's
secret: in the printed address, after that in a cookie. Any page in a browser can send requests as well, with the cookie
if it is of the same host. A request must therefore name the printed host, which fails for a page that has rebound its
own host name to 127.0.0.1, and must not come from another origin.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from secrets import compare_digest
from urllib.parse import parse_qsl, quote, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
        self.app = app
        self.port = port
        self.secret = secret

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

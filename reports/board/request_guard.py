"""Reject requests that do not come from the lab's own pages.

Any page in a browser can send requests to this machine's own address. A request must therefore name the printed host,
which fails for a page that has rebound its own host name to 127.0.0.1, and must not come from another origin.
"""

from __future__ import annotations

from collections.abc import Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES = 64 * 1024
IMPORT = "/api/import"
MOST_BYTES_IMPORTED = 4 * 1024 * 1024
"""Size limit for the one kind of request that contains games."""
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
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


def _excess(path: str, length: str) -> str:
    """Return why a request of this size is rejected; empty if it is accepted."""
    most = MOST_BYTES_IMPORTED if path == IMPORT else MOST_BYTES
    if length.isdecimal() and int(length) <= most:
        return ""
    if path == IMPORT:
        return f"too large: at most {most:,} bytes of games at once; paste fewer games"
    return f"request too large (limit {most:,} bytes)"


class Guarded:
    """ASGI application that applies `refusal`, limits the request size, and adds security headers.

    A response that has one of these headers keeps its own.
    """

    def __init__(self, app: ASGIApp, port: int) -> None:
        self.app = app
        self.port = port

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or reject it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                answer = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    answer.setdefault(name, value)
            await send(message)

        headers = Headers(scope=scope)
        if reason := refusal(scope["method"], scope["path"], headers, self.port):
            await JSONResponse({"error": reason}, status_code=403)(scope, receive, send_with_headers)
            return
        if reason := _excess(scope["path"], headers.get("content-length", "0")):
            await JSONResponse({"error": reason}, status_code=413)(scope, receive, send_with_headers)
            return
        if "transfer-encoding" in headers:
            error = {"error": "a request needs a Content-Length"}
            await JSONResponse(error, status_code=411)(scope, receive, send_with_headers)
            return
        await self.app(scope, receive, send_with_headers)

"""The frame of the lab's pages: navigation, theme, and the security policy of pages that bring their own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from markupsafe import escape
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from ..league import SCRIPTS
from ..pages.templates import SCRIPT, page_template, policy_of
from ..replay import bundle

_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="[^"]*">\n')
_SHOWN = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
_BOXED = f"sandbox allow-downloads; {_SHOWN}; frame-ancestors 'self'"


@dataclass(frozen=True)
class Frame:
    """What surrounds a page: its key in the navigation, the folder of the runs, and the chosen theme."""

    page: str
    folder: str
    theme: str


def frame_of(request: Request, page: str) -> Frame:
    """Return the frame of a page for a request."""
    theme = request.cookies.get("theme", "")
    return Frame(page, request.app.state.folder, theme if theme in ("light", "dark") else "")


def lab_page(name: str, frame: Frame, status: int = 200, **values: object) -> Response:
    """Return a page of the lab itself, from its template."""
    return HTMLResponse(page_template(name).render(frame=frame, **values), status)


def framed(page: str, frame: Frame, crumb: str = "") -> Response:
    """Return a page that is complete by itself with the lab's navigation, and above its heading the name of its run.

    The page is made by this version of the toolkit. Its policy is the server's, whatever the page says: the toolkit's
    own scripts, and requests to the lab.
    """
    page = themed(_POLICY.sub("", page, count=1), frame)
    page = page.replace("</head>", '<script type="module" src="/lab/frame.js"></script>\n</head>', 1)
    page = page.replace("<body>", f"<body>\n{page_template('frame.html').render(frame=frame)}", 1)
    if crumb:
        above = f'<p class="crumb"><a href="/">Runs</a> / {escape(crumb)}</p>'
        page = page.replace('<main id="main">', f'<main id="main">\n{above}', 1)
    return HTMLResponse(page, headers={"content-security-policy": _policy_of_framed()})


def boxed(page: str, frame: Frame) -> Response:
    """Return a page of unknown origin: without scripts, in an origin of its own, shown in a frame of the lab."""
    return HTMLResponse(themed(page, frame), headers={"content-security-policy": _BOXED})


def themed(page: str, frame: Frame) -> str:
    """Return a page in the chosen theme."""
    theme = f' data-theme="{frame.theme}"' if frame.theme else ""
    return page.replace('<html lang="en">', f'<html lang="en"{theme}>', 1)


@cache
def _policy_of_framed() -> str:
    """Return the policy of our own pages that are complete by themselves; it names their inline scripts."""
    report, league = policy_of(SCRIPT.read_text(encoding="utf-8")), policy_of(bundle(SCRIPTS))
    return f"{_SHOWN}; script-src 'self' '{report}' '{league}'; connect-src 'self'; frame-ancestors 'none'"


def problem_page(frame: Frame, status: int, title: str, problem: str) -> Response:
    """Return a page that says what is wrong."""
    return lab_page("problem.html", frame, status, title=title, problem=problem)

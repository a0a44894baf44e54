"""HTTP server of the lab, on the loopback address: runs, their reports, the board, leagues, heuristics."""

from __future__ import annotations

import json
import secrets
import socket
import threading
import webbrowser
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import quote, urlencode

import uvicorn
from markupsafe import Markup
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from knights_isolation.experiments.exact.board_solving import BoardSummary, shipped_pairs, summarise
from knights_isolation.experiments.plan import AgentLike, parse_agent, reference_of
from knights_isolation.experiments.play.pools.interrupts import until_interrupted
from knights_isolation.experiments.record.run_directory import HOME, check_run, load_run
from knights_isolation.isolation.files.folders import temporary_folder
from knights_isolation.isolation.rules.game import parse_size
from knights_isolation.isolation.rules.geometry import cell_name
from knights_isolation.isolation.rules.solved_tables import covered_sizes

from ..answers import RunLike, run_path, run_paths
from ..board.board_api import TOKEN, BoardApi, Guarded, leading_to
from ..board.board_processes import USUAL_LIMITS, Processes, ServerLimits
from ..board.resources import Resources
from ..pages.templates import STYLE
from ..replay import BOARD_STATIC
from ..text.cell_values import Share
from .heuristic_pages import HeuristicPages
from .lab_answers import PuzzleAnswer, PuzzleQuestion, judge_move, puzzle
from .run_lines import RunLines
from .run_pages import PageError, RunPages, lab_page, problem_page

LOOPBACK = "127.0.0.1"
STATIC = Path(__file__).parent / "static"


class LabServer(uvicorn.Server):
    """Server of the lab at http://127.0.0.1:`port`. Questions are answered in parallel, in child processes.

    Only who has `secret` is answered; see `board_api`.
    """

    def __init__(self, resources: Resources, port: int, limits: ServerLimits = USUAL_LIMITS) -> None:
        self._processes = Processes(resources, limits)
        self._api = BoardApi(resources, self._processes)
        lines = RunLines()
        self._runs = RunPages(resources, self._processes, lines)
        self._heuristics = HeuristicPages(resources, self._processes, lines, limits)
        self._folder = str(resources.home) if resources.home else ", ".join(map(str, resources.runs))
        self._port = port
        self.secret = secrets.token_urlsafe(32)
        # A client that stays connected without activity must not delay the server's end.
        super().__init__(
            uvicorn.Config(
                self._app(port), log_level="critical", access_log=False, timeout_graceful_shutdown=1, ws="none"
            )
        )

    def address(self, path: str) -> str:
        """Return the address of a page, with the secret."""
        return f"http://{LOOPBACK}:{self._port}{path}?{urlencode({TOKEN: self.secret})}"

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start listening, with a process ready for the first question."""
        await super().startup(sockets)
        self._processes.prepare()
        self._runs.start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Cancel all questions, end all streams and all processes that answer."""
        self._api.cancel()
        for part in (self._runs, self._heuristics, self._processes):
            part.close()
        await super().shutdown(sockets)

    def _app(self, port: int) -> ASGIApp:
        async def style(request: Request) -> Response:
            return FileResponse(STYLE)

        async def board(request: Request) -> Response:
            return lab_page(request, "board.html", title="Board")

        routes = [
            *self._runs.routes(),
            *self._heuristics.routes(),
            Route("/openings", _openings_page),
            Route("/board", board),
            self._api.route("/api/puzzles/{number}", PuzzleQuestion, puzzle),
            self._api.route("/api/puzzles", PuzzleAnswer, judge_move),
            *self._api.routes(),
            Route("/lab.css", style),
            Mount("/lab", StaticFiles(directory=STATIC)),
            Mount("/static", StaticFiles(directory=BOARD_STATIC)),
        ]
        app = Starlette(routes=routes, exception_handlers={PageError: problem_page})
        app.state.folder = self._folder
        return Guarded(app, port, self.secret)


def serve_board(
    runs: Sequence[RunLike], files: Sequence[AgentLike], agents: Sequence[AgentLike], port: int, open_browser: bool
) -> None:
    """Serve the board with runs, by default those in `HOME`, heuristics of files, and agents."""
    from knights_isolation.experiments.plan.user_files import user_heuristics

    paths = tuple(map(check_run, run_paths(runs))) if runs else ()
    own = user_heuristics([reference_of(file) for file in files])
    named = {agent.name: agent for agent in map(parse_agent, agents)}
    serve(Resources(paths, own, named, None if runs else HOME), port, "Board", "/board", open_browser)


def serve_lab(home: Path | None, port: int, open_browser: bool) -> None:
    """Serve the lab with the runs in a folder, by default `HOME`."""
    if home and not home.is_dir():
        raise ValueError(f"{home}: no such directory")
    serve(Resources(home=home or HOME), port, "Lab", "/", open_browser)


def serve_run(run: RunLike | None, port: int, open_browser: bool) -> None:
    """Serve the page of a run, by default the latest one."""
    path = load_run(run_path(run)).path
    serve(Resources((path,)), port, "Live page", page_of_run(path), open_browser)


def serve(resources: Resources, port: int, name: str, path: str, open_browser: bool) -> None:
    """Serve the lab until Ctrl-C; port 0 takes any free one. The address of the page `path` is printed as of `name`."""
    with until_interrupted(), listen(port) as listener:
        server = LabServer(resources, listener.getsockname()[1])
        announce = partial(print, f"{name}:", end=" (Ctrl-C to stop)\n", flush=True)
        _show(server.address(path), announce, open_browser)
        server.run(sockets=[listener])


@contextmanager
def serve_in_background(
    resources: Resources, path: str, announce: Callable[[str], None], open_browser: bool = True
) -> Iterator[Callable[[], None]]:
    """Serve the lab during the context; yield a function that waits until the page is no longer needed."""
    with listen(0) as listener:
        port = listener.getsockname()[1]
        server = LabServer(resources, port)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        _show(server.address(path), announce, open_browser)
        try:
            yield thread.join
        finally:
            server.should_exit = True
            thread.join(timeout=5)


def page_of_run(run: Path) -> str:
    """Return the path of a run's page."""
    return f"/runs/{quote(run.resolve().name)}"


def listen(port: int) -> socket.socket:
    """Open a socket on the loopback address; ValueError if the port is taken, or not permitted."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((LOOPBACK, port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise ValueError(f"cannot use port {port}: {error.strerror}; --port 0 chooses a free one") from None
    return listener


def _show(address: str, announce: Callable[[str], None], open_browser: bool) -> None:
    """Announce an address, and open it by a file, since everybody can read the arguments of programs."""
    announce(address)
    if open_browser:
        page = temporary_folder("open").path / "lab.html"
        page.write_text(leading_to(address), encoding="utf-8")
        opening = threading.Timer(0.5, webbrowser.open, [page.as_uri()])
        opening.daemon = True
        opening.start()


def title_of(summary: BoardSummary) -> str:
    """Return what perfect play says about the first placement, in a sentence."""
    counts = [len(replies) for replies in summary.refutations]
    cells = len(counts)
    if won := counts.count(0):
        return f"{won} of {cells} first placements win"
    fewest = min(counts)
    if fewest == max(counts):
        return f"Every first placement loses, each to {fewest} of {cells - 1} replies"
    best = cell_name(counts.index(fewest), summary.size.columns)
    others = Counter(counts)[fewest] - 1
    which = f"{best} and {others} others leave" if others else f"{best} leaves"
    return f"Every first placement loses; {which} navy the fewest refutations, {fewest} of {cells - 1}"


async def _openings_page(request: Request) -> Response:
    try:
        size = parse_size(request.query_params.get("board", "7x7"))
        summary = summarise(shipped_pairs(size), size)
    except ValueError as error:
        raise PageError(404, "No such board", str(error)) from None
    facts = {"size": str(size), "rows": size.rows, "columns": size.columns, "refutations": summary.refutations}
    return lab_page(
        request,
        "openings.html",
        title=title_of(summary),
        size=str(size),
        sizes=[str(each) for each in sorted({*covered_sizes(), size})],
        rule=Share(summary.rule_holds / summary.openings).text,
        openings=Markup(json.dumps(facts)),
    )

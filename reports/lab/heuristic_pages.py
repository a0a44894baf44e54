"""Pages of heuristics: the gallery, each one's source and trial, and Try, for functions that are pasted.

Heuristics in files are found without running them; trials are kept in the cache folder until the source changes.
"""

from __future__ import annotations

import ast
import asyncio
import hashlib
import inspect
import json
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from knights_isolation import heuristics
from knights_isolation.experiments.plan.catalogue import TEMPLATE
from knights_isolation.experiments.record.checked_json import read_json, write_json
from knights_isolation.experiments.record.run_directory import HOME
from knights_isolation.heuristics.registry import Composite
from knights_isolation.isolation.compiling.code_cache import copy_engine, folder
from knights_isolation.isolation.files.folders import temporary_folder
from knights_isolation.isolation.processes.child import Setup
from knights_isolation.isolation.rules.parameters import unpartial
from knights_isolation.isolation.usercode.inputs import changed_input
from knights_isolation.isolation.usercode.parsing import parse

from ..board.board_api import api_route
from ..board.board_processes import BoardAnswer, Processes, ServerLimits, failed, succeeded
from ..board.resources import Resources, StrictModel
from ..text.cell_values import pluralise
from .lab_answers import RunPool, SeeingQuestion, pools, rated, resolved, see, trial
from .run_lines import RunLines
from .run_pages import PageError, lab_page
from .starting_runs import BUSY, COMPILED, Extending, RunStarter

_LONGEST_SOURCE = 60_000
_USUAL, _USUAL_OTHER = "improved", "territory"
"""Heuristics that others are shown beside."""


class Trying(StrictModel):
    """Request to try a heuristic by name, or one in a pasted source."""

    heuristic: Annotated[str, Field(max_length=300)] = ""
    source: Annotated[str, Field(max_length=_LONGEST_SOURCE)] = ""


class Matching(StrictModel):
    """Request to play a match of a pasted function against the baseline."""

    source: Annotated[str, Field(min_length=1, max_length=_LONGEST_SOURCE)]
    pairs: Annotated[int, Field(ge=1, le=5000)] = 500


_FOR_TRIALS = (
    "knights_isolation.reports.lab.lab_answers",
    "knights_isolation.experiments.analysis.quick_trial",
    "knights_isolation.reports.analysis.file_answers",
    "knights_isolation.isolation.native.position",
)


class HeuristicPages:
    """Routes of the pages about heuristics; `processes` run the toolkit's own."""

    def __init__(self, resources: Resources, processes: Processes, lines: RunLines, limits: ServerLimits) -> None:
        self._resources, self._processes, self._lines = resources, processes, lines
        # the folder of pasted sources, and of code that sandboxed processes compile
        self._tries = temporary_folder("try").path.resolve()
        scratch = self._tries / COMPILED
        scratch.mkdir()
        # pasted code is tried in processes that read `_tries` alone, and change nothing; that of files also reads here
        sandbox = Setup(b"", "sandboxed", str(self._tries), _FOR_TRIALS, (str(scratch),))
        self._sandboxed = Processes(Resources(), limits, sandbox)
        self._sandboxed_here = Processes(Resources(), limits, replace(sandbox, readable=(str(Path().resolve()),)))
        self._starter = RunStarter(self._tries, resources)
        self._ratings: dict[RunPool, dict[str, Any]] = {}

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            Route("/heuristics", self._gallery),
            Route("/heuristics/{name}", self._heuristic),
            Route("/try", self._try),
            Route("/api/ratings", self._rate),
            api_route("/api/see", SeeingQuestion, self._see),
            api_route("/api/trial", Trying, self._trial),
            api_route("/api/match", Matching, self._match),
            api_route("/api/extend", Extending, self._starter.extend),
        ]

    def close(self) -> None:
        """End a sandboxed run, and the processes that answer."""
        for part in (self._starter, self._sandboxed, self._sandboxed_here):
            part.close()

    async def _gallery(self, request: Request) -> Response:
        own = await asyncio.to_thread(own_heuristics, Path())
        shipped = [shipped_heuristic(name) for name in heuristics.names()]
        return lab_page(
            request,
            "heuristics.html",
            title=f"{len(shipped)} shipped heuristics, {len(own) or 'none'} of yours",
            groups=(("Yours", self._with_trials(own)), ("Shipped", self._with_trials(shipped))),
            here=Path().resolve(),
        )

    def _with_trials(self, listed: list[OwnHeuristic]) -> list[tuple[OwnHeuristic, str, dict[str, Any] | None]]:
        return [(heuristic, quote(heuristic.reference), read_trial(heuristic)) for heuristic in listed]

    async def _rate(self, request: Request) -> Response:
        """Return the rating of each heuristic in the pool of runs in which it played most, as they are now."""
        named = self._resources.named_runs().items()
        lines = await asyncio.to_thread(lambda: [self._lines.line(name, run) for name, run in named])
        rows: dict[str, dict[str, Any]] = {}
        known: dict[RunPool, dict[str, Any]] = {}
        for pool in pools(lines):
            if pool not in self._ratings:
                answer = await self._processes.answer(partial(rated, runs=pool.runs, limit=pool.limit), "ratings")
                if answer.status != 200:
                    continue
                self._ratings[pool] = json.loads(answer.body)["ratings"]
            known[pool] = self._ratings[pool]
            for name, row in known[pool].items():
                if name not in rows or row["runs"] > rows[name]["runs"]:
                    rows[name] = {**row, "where": f"{pool.board}, {pool.limit}"}
        self._ratings = known
        return JSONResponse({"ratings": rows})

    def _found(self, reference: str) -> OwnHeuristic | None:
        """Return a heuristic of the registry, or of a file in this folder."""
        path, colon, _ = reference.rpartition(":")
        if not colon:
            return shipped_heuristic(reference) if reference in heuristics.names() else None
        if Path(path).name != path:
            return None
        return next((heuristic for heuristic in heuristics_of(Path(path)) if heuristic.reference == reference), None)

    async def _heuristic(self, request: Request) -> Response:
        name = request.path_params["name"]
        if (shown := self._found(name)) is None:
            raise PageError(404, "No such heuristic", f"There is no heuristic {name} here.")
        in_runs = await asyncio.to_thread(self._lines.of_heuristic, name, self._resources)
        ahead, among = sum(row.verdict == "better" for row in in_runs), pluralise(len(in_runs), "comparison")
        return lab_page(
            request,
            "heuristic.html",
            title=name,
            shown=shown,
            is_own=":" in name,
            trial=read_trial(shown),
            others=[other for other in heuristics.names() if other != name],
            usual=_USUAL if name != _USUAL else _USUAL_OTHER,
            in_runs=in_runs,
            runs_title=f"Won significantly more than the baseline in {ahead} of {among}",
        )

    async def _see(self, asked: SeeingQuestion, request: Request) -> BoardAnswer:
        names = [self._known(name).reference for name in (asked.first, asked.second)]
        asked = asked.model_copy(update={"first": resolved(names[0]), "second": resolved(names[1])})
        processes = self._sandboxed_here if any(":" in name for name in names) else self._processes
        return await processes.answer(partial(see, asked), request.headers.get("x-page", ""))

    async def _try(self, request: Request) -> Response:
        self._sandboxed.prepare()
        shown = self._found(request.query_params.get("copy", ""))
        return lab_page(request, "try.html", title="Try a function", source=shown.source if shown else TEMPLATE)

    async def _trial(self, trying: Trying, request: Request) -> BoardAnswer:
        if trying.source:
            path, tried = self._saved(trying.source)
            reference, processes = f"{path}:{tried.function}", self._sandboxed
        else:
            tried = self._known(trying.heuristic)
            reference = resolved(tried.reference)
            processes = self._sandboxed_here if ":" in reference else self._processes
        await asyncio.to_thread(copy_engine, self._tries / COMPILED)
        answer = await processes.answer(partial(trial, heuristic=reference), request.headers.get("x-page", ""))
        if answer.status == 200:
            await asyncio.to_thread(keep_trial, tried, answer.body)
        return answer

    def _known(self, reference: str) -> OwnHeuristic:
        if (found := self._found(reference)) is None:
            raise ValueError(f"there is no heuristic {reference!r} here")
        return found

    def _saved(self, source: str) -> tuple[Path, OwnHeuristic]:
        """Save a pasted source; return its file and its heuristic, the last one if there are several."""
        try:
            parse(source)
        except SyntaxError as error:
            raise ValueError(f"line {error.lineno or 1}: {error.msg}") from None
        except (RecursionError, MemoryError):
            raise ValueError("it is nested too deeply to be parsed") from None
        path = self._tries / f"try_{hashlib.sha256(source.encode()).hexdigest()[:8]}.py"
        path.write_text(source, encoding="utf-8")
        found = heuristics_of(path)
        if not found:
            raise ValueError("there is no function of (game, player): begin with def score(game, player):")
        return path, found[-1]

    async def _match(self, matching: Matching, request: Request) -> BoardAnswer:
        """Start a match against the baseline in a process of its own, and return the address of its page."""
        path, shown = self._saved(matching.source)
        if self._starter.is_busy:
            return failed(503, BUSY)
        home = self._resources.home or HOME
        name = f"{path.stem}-{len(list(home.glob(f'{path.stem}-*'))) + 1}"
        out = home / name
        kept = out.with_suffix(".py")
        home.mkdir(parents=True, exist_ok=True)
        kept.write_text(matching.source, encoding="utf-8")
        spec = f"Tried=ID:{kept.resolve()}:{shown.function}"
        setup = {"format": "head-to-head", "openings": "random:4", "pairs": matching.pairs}
        try:
            keys = {**setup, "contenders": (spec,), "baseline": "ID:improved"}
            await self._starter.start_sandboxed("match", keys, out, (kept,))
        except ValueError as error:
            kept.unlink()
            raise ValueError(str(error).partition(" Tried=ID:")[0]) from None
        return succeeded({"address": f"/runs/{quote(name)}"})


def shipped_heuristic(name: str) -> OwnHeuristic:
    """Return a heuristic of the registry with its source."""
    function = unpartial(heuristics.get(name))
    source = _formula(function) if isinstance(function, Composite) else inspect.getsource(function)
    return OwnHeuristic(name, heuristics.meaning(name), source)


def _formula(composite: Composite) -> str:
    """Return what a composite adds up, a line a part."""
    lines: list[str] = []
    for until, parts in composite.phases:
        lines.append(f"until {until:.0%} of the cells are visited:" if until < 1 else "then:" if lines else "always:")
        lines += [f"    {weight:+g} × {getattr(part, '__name__', part)}" for weight, part in parts]
    return "\n".join(lines)


MOST_FILES = 200
_LARGEST = 1 << 18
_GAMES = ("game", "state", "board")
_PLAYERS = ("player", "player_id")


@dataclass(frozen=True)
class OwnHeuristic:
    """A function in a file: FILE:FUNCTION, the first line of its docstring, and its source."""

    reference: str
    meaning: str
    source: str

    @property
    def function(self) -> str:
        """The function's name."""
        return self.reference.rpartition(":")[2]


def own_heuristics(folder: Path) -> list[OwnHeuristic]:
    """Return the functions of (game, player) in the Python files of a folder, in the order of files and lines."""
    return [found for path in sorted(folder.glob("*.py"))[:MOST_FILES] for found in heuristics_of(path)]


def heuristics_of(path: Path) -> list[OwnHeuristic]:
    """Return the functions of (game, player) of a file; none if it is not Python or too large."""
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST:
            return []
        text = path.read_text(encoding="utf-8")
        functions = [node for node in parse(text).body if isinstance(node, ast.FunctionDef)]
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
        return []
    return [
        OwnHeuristic(
            f"{path.name}:{function.name}",
            (ast.get_docstring(function) or "").partition("\n")[0],
            ast.get_source_segment(text, function) or "",
        )
        for function in functions
        for names in [[argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]]
        if len(names) == 2 and names[0] in _GAMES and names[1] in _PLAYERS
    ]


_VERSION = 1
"""Increased when trials measure something else, so that kept ones are not shown."""


def read_trial(heuristic: OwnHeuristic) -> dict[str, Any] | None:
    """Return what the last trial of a heuristic found; None without one, or if its source or data has changed since."""
    try:
        trial = read_json(_file(heuristic))
    except (OSError, ValueError):
        return None
    folder_of_code = Path(heuristic.reference.rpartition(":")[0]).parent
    return None if changed_input(trial.pop("inputs", {}), folder_of_code) else trial


def keep_trial(heuristic: OwnHeuristic, trial: str) -> None:
    """Keep what a trial found, as JSON."""
    file = _file(heuristic)
    file.parent.mkdir(exist_ok=True)
    write_json(file, json.loads(trial))


def _file(heuristic: OwnHeuristic) -> Path:
    """Return the file of a heuristic's trial, named by all that its values depend on: its source, and its file's."""
    path = Path(heuristic.reference.rpartition(":")[0])
    around = path.read_bytes() if path.is_file() else b""
    parts = (str(_VERSION).encode(), heuristic.reference.encode(), heuristic.source.encode(), around)
    return folder() / "trials" / f"{hashlib.sha256(b'|'.join(parts)).hexdigest()[:24]}.json"

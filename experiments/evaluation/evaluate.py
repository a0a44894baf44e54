"""Evaluate candidates: files, texts or functions. Nothing is evaluated twice."""

from __future__ import annotations

import ast
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from experiments.evaluation.champions import admit, champions, is_champion
from experiments.evaluation.evaluation import Evaluation, EvaluationTask, failed
from experiments.evaluation.worker import Worker
from experiments.league.normalised_code import code_hash_without_layout
from experiments.record.run_directory import HOME
from experiments.roster import AgentLike, reference_of
from isolation.compiling.code_cache import engine_fingerprint
from isolation.files.atomic_write import make_folder, write_text
from isolation.files.temp_folders import temporary_folder
from isolation.loading.load_user_code import expand_path
from isolation.processes.transport import Idle
from isolation.suggestions import file_meant
from isolation.usercode.parsing import parse

KEPT = "evaluated"
"""Folder of kept answers, below that of the runs."""
_NOT_KEPT = ("time", "memory", "crash")
"""Failures that need not happen again, on another machine or another day."""
_EVALUATION = TypeAdapter(Evaluation)
_workers: Idle[EvaluationTask, Worker] = Idle(os.cpu_count() or 1)


def evaluate_all(
    candidates: Sequence[AgentLike | Path], question: EvaluationTask, jobs: int = 0, home: Path = HOME
) -> list[Evaluation]:
    """Evaluate candidates, `jobs` at a time, one per core by default; those known from before are answered at once.

    Args:
        candidates: each FILE[:FUNCTION], the text of a file, or a function of (game, player).
        home: folder below which answers are kept, and the candidates that beat the baseline, which later ones meet.

    Raises:
        ValueError: there is no such file, it has several functions of which none is named, or there is no such
            baseline or board.
    """
    answers: dict[str, Evaluation] = {}
    due: dict[str, tuple[str, str]] = {}
    keys = []
    for file, wanted in map(_file_of, candidates):
        found = _function_in(file, wanted)
        key = _key(file, found, question) if isinstance(found, str) else str(file)
        keys.append(key)
        known = _kept(home / KEPT / f"{key}.json") if isinstance(found, str) else found
        if known:
            answers[key] = known
        else:
            due.setdefault(key, (str(file), str(found)))
    new = _evaluated(due, question, jobs, home / KEPT)
    for key, answer in new.items():
        if answer.error_kind not in _NOT_KEPT:
            make_folder(home / KEPT)
            write_text(home / KEPT / f"{key}.json", json.dumps(asdict(answer), ensure_ascii=False))
        if is_champion(answer):
            admit(home / KEPT, question, key, Path(due[key][0]), due[key][1], answer.cost or 1.0)
    return [(answers | new)[key] for key in keys]


def _evaluated(
    due: Mapping[str, tuple[str, str]], question: EvaluationTask, jobs: int, kept: Path
) -> dict[str, Evaluation]:
    earlier = champions(kept, question) if question.asks("games") else ()

    def evaluate(candidate: tuple[str, str]) -> Evaluation:
        worker = _workers.take(question) or Worker(question)
        answer = worker.evaluate(*candidate, earlier)
        if worker.is_usable:
            _workers.put(question, worker)
        return answer

    if not due:
        return {}
    with ThreadPoolExecutor(min(jobs or os.cpu_count() or 1, len(due))) as threads:
        return dict(zip(due, threads.map(evaluate, due.values()), strict=True))


def candidate_reference(candidate: AgentLike | Path) -> str:
    """Return FILE:FUNCTION of a candidate that can be parsed."""
    file, wanted = _file_of(candidate)
    return f"{file}:{_function_in(file, wanted)}"


def code_of_candidate(candidate: AgentLike | Path) -> str:
    """Return a hash of a candidate's code without layout; no code of it runs."""
    file, _ = _file_of(candidate)
    return code_hash_without_layout(file)[:12]


def _file_of(candidate: AgentLike | Path) -> tuple[Path, str]:
    """Return a candidate's file, written if it is a text, and the name of its function; "" if none is named."""
    if isinstance(candidate, str) and "\n" in candidate:
        folder = _texts() / hashlib.sha256(candidate.encode()).hexdigest()[:16]
        folder.mkdir(exist_ok=True)
        (folder / "candidate.py").write_text(candidate, encoding="utf-8")
        return folder / "candidate.py", ""
    reference = str(candidate) if isinstance(candidate, Path) else reference_of(candidate)
    path, colon, name = reference.rpartition(":")
    file = expand_path(path if colon and path.endswith(".py") else reference).resolve()
    if file.is_dir():
        raise ValueError(f"{file} is a folder: name a file in it")
    if not file.is_file():
        raise ValueError(f"no such file: {file}{file_meant(str(file))}")
    return file, name if colon and path.endswith(".py") else ""


@cache
def _texts() -> Path:
    return temporary_folder("candidates").path


def _function_in(file: Path, wanted: str) -> str | Evaluation:
    """Return the name of a file's heuristic from its text alone, or why there is none.

    Raises:
        ValueError: there are several.
    """
    try:
        tree = parse(file.read_bytes())
    except SyntaxError as error:
        where = f"line {error.lineno}: " if error.lineno else ""
        return failed("parse", "syntax", f"{where}{error.msg}", error.lineno)
    except (ValueError, RecursionError, MemoryError) as error:
        return failed("parse", "syntax", f"it cannot be parsed: {str(error) or type(error).__name__}")
    if wanted:
        return wanted
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef) and _takes_two(node)]
    if not names:
        return failed("parse", "missing", "it has no function of (game, player)")
    if len(names) > 1 and "score" not in names:
        raise ValueError(f"{file.name} has several functions: name one, as in {file.name}:{names[0]}")
    return names[0] if len(names) == 1 else "score"


def _takes_two(node: ast.FunctionDef) -> bool:
    """Return whether a public function can be called with two arguments."""
    count = len(node.args.posonlyargs) + len(node.args.args)
    return not node.name.startswith("_") and count - len(node.args.defaults) <= 2 <= count


def _key(file: Path, name: str, question: EvaluationTask) -> str:
    """Return what is the same for candidates that differ in comments, docstrings and layout only."""
    parts = (code_hash_without_layout(file), name, json.dumps(asdict(question)), engine_fingerprint())
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def _kept(path: Path) -> Evaluation | None:
    """Return an answer that was kept, without the processor time that it took; None if there is none."""
    with suppress(OSError, ValidationError):
        return replace(_EVALUATION.validate_json(path.read_bytes()), seconds=0.0)
    return None

"""Evaluate candidates: files, texts or functions. Nothing is evaluated twice.

Warm workers fork a process for every candidate, which inherits all that is prepared and ends with it; see
`processes.child`. It has the sandbox of `processes.sandbox`, and may write only in a folder of its own.
"""

from __future__ import annotations

import ast
import gc
import json
import os
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from knights_isolation.isolation.compiling import code_cache
from knights_isolation.isolation.compiling.code_cache import engine_fingerprint
from knights_isolation.isolation.files.folders import temporary_folder
from knights_isolation.isolation.loading.load_user_code import expand_path, namespace, sources
from knights_isolation.isolation.processes.child import (
    PROCESSOR_SECONDS,
    SPARING,
    Child,
    Failure,
    Idle,
    NoAnswer,
    Setup,
    Termination,
    recipe,
    to_bytes,
)
from knights_isolation.isolation.processes.sandbox import landlock_version
from knights_isolation.isolation.suggestions import file_meant
from knights_isolation.isolation.usercode.inputs import (
    all_inputs,
    changed_input,
    digest_of_inputs,
    unseen_by_inputs,
    visible_variables,
)
from knights_isolation.isolation.usercode.parsing import parse

from ..league.entries import code_hash_without_layout
from ..plan import AgentLike, named_settings, reference_of, split_reference
from ..record.checked_lines import append_lines, read_lines
from ..record.log_parts import versions
from ..record.run_directory import HOME
from ..record.tries import code_of, held_out_positions, known_tries, questions_to
from ..statistics.step_down import level_of
from ..verification import KEPT
from .cascade import Champion, Prepared, admit, champions, check_question, is_champion, prepare, run_cascade
from .evaluation import STAGES, Answer, Evaluation, EvaluationTask, Stage, failed

_NOT_KEPT = ("time", "memory", "crash")
"""Failures that need not happen again, on another machine or another day."""
LONGEST_WAIT = 300.0
"""Wall time of a candidate, in seconds: some sleep, and a busy machine is no fault of theirs."""
LONGEST_PREPARATION = 600.0
_EXAMPLE = """
def score(game, player):
    own, other = game.get_legal_moves(player), game.get_legal_moves(game.get_opponent(player))
    return len(own) - 1.0 * len(other)
"""
_ANSWER = TypeAdapter(Answer)
_workers: Idle[Child] = Idle(os.cpu_count() or 1)


def evaluate_all(candidates: Sequence[AgentLike | Path], question: EvaluationTask, jobs: int = 0) -> list[Evaluation]:
    """Evaluate candidates, `jobs` at a time, one per core by default; those known from before are answered at once.

    Answers are kept below `runs/`, and the candidates that beat the baseline, which later ones meet.

    Args:
        candidates: each FILE[:FUNCTION], the text of a file, or a function of (game, player).

    Raises:
        ValueError: there is no such file, it has several functions of which none is named, or there is no such
            baseline or board.
    """
    question = replace(question, code=code_of(named_settings(question.baseline)[1]))
    answers: dict[_Candidate, Evaluation] = {}
    asked = []
    for file, wanted in map(_file_of, candidates):
        found = _function_in(file, wanted)
        if isinstance(found, str):
            candidate = _Candidate(file, found, _key(file, found, question))
            known = _kept(candidate)
        else:
            candidate, known = _Candidate(file, "", ""), found
        asked.append(candidate)
        answers |= {candidate: known} if known else {}
    due = [candidate for candidate in dict.fromkeys(asked) if candidate not in answers]
    asked_before = questions_to(held_out_positions(str(question.size)), known_tries())
    for candidate, answer in zip(due, _evaluated(due, question, jobs), strict=True):
        if answer.evaluation.held_out and question.asks("held-out"):
            asked_before += 1
            answer = replace(answer, evaluation=judge_held_out(answer.evaluation, asked_before))
        answers[candidate] = _keep(candidate, answer, question)
    return [answers[candidate] for candidate in asked]


@dataclass(frozen=True)
class _Candidate:
    """A function of a file, and the key of its code for a question."""

    file: Path
    name: str
    key: str

    @property
    def record(self) -> Path:
        """Return the file of its answers: one for each state of the data that it reads."""
        return HOME / KEPT / f"{self.key}.jsonl"


def judge_held_out(evaluation: Evaluation, number: int) -> Evaluation:
    """Return an evaluation with the answer of the held-out positions, which were asked `number` questions so far.

    It says no more than whether the candidate passed, so that nothing can be learned from it.
    """
    lead = evaluation.held_out
    level = level_of(number)
    passed = lead is not None and lead.estimate > 0 and lead.p_value is not None and lead.p_value <= level
    verdict = "significantly better" if passed else "not significantly better"
    said = f"{verdict} on held-out positions, question {number:,} to them, at level {level:.2g}. "
    return replace(evaluation, passed=passed, level=level, feedback=said + evaluation.feedback)


def _keep(candidate: _Candidate, answer: Answer, question: EvaluationTask) -> Evaluation:
    """Keep an answer, unless it may be another one next time, and return it with the hash of its code and data."""
    file, inputs = candidate.file, answer.inputs
    code, data = code_hash_without_layout(file)[:12], digest_of_inputs(inputs)
    evaluation = replace(answer.evaluation, code=sha256(f"{code}{data}".encode()).hexdigest()[:12] if data else code)
    if evaluation.error_kind in _NOT_KEPT:
        return evaluation
    changed = changed_input(inputs, file.parent) if _key(file, candidate.name, question) == candidate.key else file.name
    unseen = unseen_by_inputs(sources(file).values())
    why = f"{changed} changed meanwhile" if changed else f"what {unseen} reads is not seen" if unseen else ""
    if not why:
        append_lines(candidate.record, [asdict(Answer(evaluation, inputs))])
        if is_champion(evaluation):
            why = admit(HOME / KEPT, question, file, candidate.name, evaluation.cost or 1.0, inputs)
            why = why and f"not among the champions: {why}"
    else:
        why = f"its evaluation is not kept: {why}"
    if why:
        warnings.warn(f"{file.name}:{candidate.name}: {why}", stacklevel=3)
    return evaluation


def _evaluated(due: Sequence[_Candidate], question: EvaluationTask, jobs: int) -> list[Answer]:
    earlier = champions(HOME / KEPT, question) if question.asks("games") else ()

    def evaluate(candidate: _Candidate) -> Answer:
        worker = _workers.take(question) or _started_worker(question)
        answer = ask_worker(worker, str(candidate.file), candidate.name, earlier)
        _workers.put(question, worker)
        return answer

    if not due:
        return []
    with ThreadPoolExecutor(min(jobs or os.cpu_count() or 1, len(due))) as threads:
        return list(threads.map(evaluate, due))


def candidate_reference(candidate: AgentLike | Path) -> str:
    """Return FILE:FUNCTION of a candidate that can be parsed."""
    file, wanted = _file_of(candidate)
    return f"{file}:{_function_in(file, wanted)}"


def _file_of(candidate: AgentLike | Path) -> tuple[Path, str]:
    """Return a candidate's file, written if it is a text, and the name of its function; "" if none is named."""
    if isinstance(candidate, str) and "\n" in candidate:
        folder = _texts() / sha256(candidate.encode()).hexdigest()[:16]
        folder.mkdir(exist_ok=True)
        (folder / "candidate.py").write_text(candidate, encoding="utf-8")
        return folder / "candidate.py", ""
    reference = str(candidate) if isinstance(candidate, Path) else reference_of(candidate)
    path, name = split_reference(reference)
    file = expand_path(path).resolve()
    if file.is_dir():
        raise ValueError(f"{file} is a folder: name a file in it")
    if not file.is_file():
        raise ValueError(f"no such file: {file}{file_meant(str(file))}")
    return file, name


@cache
def _texts() -> Path:
    return temporary_folder("candidates").path


def _function_in(file: Path, wanted: str) -> str | Evaluation:
    """Return the name of a file's heuristic from its text alone, or why there is none."""
    # raises ValueError: there are several.
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
    count = len(node.args.posonlyargs) + len(node.args.args)
    return not node.name.startswith("_") and count - len(node.args.defaults) <= 2 <= count


def _key(file: Path, name: str, question: EvaluationTask) -> str:
    """Return what is the same for candidates that differ in comments, docstrings and layout only."""
    ours = (engine_fingerprint(), versions()["knights-isolation"])
    parts = (code_hash_without_layout(file), name, json.dumps({**asdict(question), "size": str(question.size)}), *ours)
    return sha256("\0".join(parts).encode()).hexdigest()[:32]


def _kept(candidate: _Candidate) -> Evaluation | None:
    """Return the answer that was kept for the data as it is now, without its processor time; None if there is none."""
    # raises DamagedFileError: a kept answer was damaged or edited.
    remedy = "delete the file, and the candidate is evaluated again"
    for answer in reversed(read_lines(candidate.record, _ANSWER.validate_python, remedy)):
        if not changed_input(answer.inputs, candidate.file.parent):
            return replace(answer.evaluation, seconds=0.0)
    return None


def _started_worker(question: EvaluationTask) -> Child:
    """Start a warm process that evaluates one candidate at a time; raise ValueError if it cannot be prepared."""
    worker = Child(Setup(recipe(open_worker, question), "forking"))
    try:
        worker.start(LONGEST_PREPARATION)
    except NoAnswer as error:
        raise ValueError(error.detail or str(error)) from None
    return worker


def ask_worker(worker: Child, file: str, name: str, champions: Sequence[Champion] = ()) -> Answer:
    """Evaluate a function of a file, which meets champions if it plays games."""
    call = to_bytes((file, name, tuple(champions), {**visible_variables(), **SPARING}))
    folder, champions_folders = str(Path(file).parent), [Path(champion.file).parent for champion in champions]
    # Without Landlock a candidate could write through links into what all share.
    share = code_cache.share_engine if landlock_version() else code_cache.copy_engine
    with _scratch() as scratch:
        share(scratch)
        readable = tuple(map(str, [*code_cache.engine_folders(), *champions_folders]))
        setup = Setup(call, "sandboxed", folder, (), (str(scratch),), readable, wall=LONGEST_WAIT)
        try:
            forked = worker.ask((setup,), 2 * LONGEST_WAIT)
        except NoAnswer:
            return Answer(failed("load", "crash", "its worker process ended"))
    if isinstance(forked, Failure):
        return Answer(failed("load", "crash", f"its worker process failed: {forked.detail}"))
    return _answer_of(*forked)


@contextmanager
def _scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="isolation-evaluate-", ignore_cleanup_errors=True) as name:
        yield Path(name).resolve()


def open_worker(question: EvaluationTask) -> Callable[..., str]:
    """Prepare a worker in its process, and return the function that evaluates a candidate in a fork."""
    check_question(question)
    prepared = prepare(question)
    with _scratch() as scratch:  # what is done once, such as starting the compiler, is done before the first fork
        code_cache.share_engine(scratch)
        code_cache.move_to(scratch)
        example = scratch / "example.py"
        example.write_text(_EXAMPLE, encoding="utf-8")
        run_cascade(prepared, str(example), "score", (), lambda stage: None)
    gc.collect()
    gc.freeze()
    return partial(_evaluate_here, prepared)


def _evaluate_here(
    prepared: Prepared,
    begin: Callable[[Stage], None],
    file: str,
    name: str,
    champions: Sequence[Champion],
    variables: dict[str, str],
) -> str:
    """Evaluate a candidate in this process, with the variables of the process that asks."""
    code = os.environ[code_cache.ENVIRONMENT_VARIABLE]
    os.environ.clear()
    os.environ.update({**variables, code_cache.ENVIRONMENT_VARIABLE: code})
    with all_inputs(Path(file).parent, namespace(file)) as inputs:
        result = run_cascade(prepared, file, name, champions, begin)
    return json.dumps(asdict(Answer(result, inputs)))


def _answer_of(said: list[Any], why: str, seconds: float) -> Answer:
    stage: Any = next((note for note in reversed(said) if note in STAGES), "load")
    late = {
        Termination.TIMED_OUT.value: f"it takes longer than {LONGEST_WAIT:g} s",
        Termination.SPENT.value: f"it computes for more than {PROCESSOR_SECONDS} s; is there an endless loop?",
    }
    answer = Answer(failed(stage, "time" if why in late else "crash", late.get(why, "its process ended")))
    if said and not why:
        with suppress(ValidationError):
            answer = _ANSWER.validate_json(said[-1])
    return replace(answer, evaluation=replace(answer.evaluation, seconds=seconds))

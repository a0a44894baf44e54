"""Warm workers: each forks a process for every candidate, which inherits all that is prepared and ends with it.

So nothing of a candidate remains: no memory, no changed module, no loop. A candidate's process has the sandbox of
`processes.sandbox`, limits of memory and processor time, and may write only in a folder of its own.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import select
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from knights_isolation.isolation.compiling import code_cache
from knights_isolation.isolation.loading.load_user_code import namespace
from knights_isolation.isolation.processes.agent_pickling import recipe
from knights_isolation.isolation.processes.child import Failure, Setup, SetupError
from knights_isolation.isolation.processes.child_process import SPARING, ChildProcess, exchange
from knights_isolation.isolation.processes.sandbox import enter_sandbox
from knights_isolation.isolation.processes.transport import TransportClosed, TransportTimeout
from knights_isolation.isolation.usercode.inputs import all_inputs

from .cascade import Prepared, check_question, prepare, run_cascade
from .champions import Champion
from .evaluation import STAGES, Answer, EvaluationTask, Stage, failed

LONGEST_COMPUTING = 60
"""Processor time of a candidate, in seconds."""
LONGEST_WAIT = 300.0
"""Wall time of a candidate, in seconds: some sleep, and a busy machine is no fault of theirs."""
LONGEST_PREPARATION = 600.0
_EXAMPLE = """
def score(game, player):
    own, other = game.get_legal_moves(player), game.get_legal_moves(game.get_opponent(player))
    return len(own) - 1.0 * len(other)
"""
_ANSWER = TypeAdapter(Answer)


class Worker:
    """A warm process that evaluates one candidate at a time."""

    def __init__(self, question: EvaluationTask) -> None:
        """Start the process, and wait until everything is prepared.

        Raises:
            ValueError: it cannot be prepared.
        """
        self._process = ChildProcess()
        setup = Setup(recipe(open_worker, question), "none")
        self.is_usable = True
        refusal = exchange(self._process, setup, LONGEST_PREPARATION)
        if isinstance(refusal, SetupError):
            raise ValueError(refusal.why)

    def evaluate(self, file: str, name: str, champions: Sequence[Champion] = ()) -> Answer:
        """Evaluate a function of a file, which meets champions if it plays games."""
        try:
            answer = exchange(self._process, (file, name, tuple(champions), dict(os.environ)), 2 * LONGEST_WAIT)
        except (TransportTimeout, TransportClosed):
            self.is_usable = False
            self.end()
            return Answer(failed("load", "crash", "its worker process ended"))
        if isinstance(answer, Failure):
            return Answer(failed("load", "crash", f"its worker process failed: {answer.detail}"))
        return _ANSWER.validate_json(answer)

    def end(self) -> None:
        """End the process."""
        self._process.end()


def open_worker(question: EvaluationTask) -> Callable[[str, str, Sequence[Champion], Mapping[str, str]], str]:
    """Prepare a worker in its process, and return the function that answers questions."""
    check_question(question)
    prepared = prepare(question)
    scratch = Path(tempfile.mkdtemp(prefix="isolation-evaluate-"))
    try:  # what is first done at a candidate, such as starting the compiler, is done before candidates are forked
        example = scratch / "example.py"
        example.write_text(_EXAMPLE, encoding="utf-8")
        with _own_code_folder(scratch):
            run_cascade(prepared, str(example), "score", (), lambda stage: None)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    gc.collect()
    gc.freeze()
    return lambda *candidate: json.dumps(asdict(_evaluate_forked(prepared, *candidate)))


@contextmanager
def _own_code_folder(scratch: Path) -> Iterator[None]:
    """Keep compiled code in a folder meanwhile; the kernels that all share are read where they are."""
    before = code_cache.folder()
    code_cache.share_engine(scratch)
    code_cache.move_to(scratch)
    try:
        yield
    finally:
        code_cache.move_to(before)


def _evaluate_forked(
    prepared: Prepared, file: str, name: str, champions: Sequence[Champion], variables: Mapping[str, str]
) -> Answer:
    """Evaluate a candidate in a process forked from this one, with the variables of the process that asks."""
    scratch = Path(tempfile.mkdtemp(prefix="isolation-evaluate-"))
    reading, writing = os.pipe()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    child = os.fork()
    if not child:
        _run_candidate(prepared, file, name, champions, variables, scratch, writing)
    os.close(writing)
    try:
        lines = _lines_until(reading, time.monotonic() + LONGEST_WAIT)
    finally:  # one that has ended is unaffected until it is waited for
        os.kill(child, signal.SIGKILL)
        status = os.waitpid(child, 0)[1]
        os.close(reading)
        shutil.rmtree(scratch, ignore_errors=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
    answer = _answer_of(lines, status, seconds)
    return replace(answer, evaluation=replace(answer.evaluation, seconds=seconds))


def _run_candidate(
    prepared: Prepared, file: str, name: str, champions: Sequence[Champion], variables: Mapping[str, str],
    scratch: Path, writing: int,
) -> None:  # fmt: skip
    try:
        os.environ.clear()
        os.environ.update({**variables, **SPARING})
        most = os.sysconf("SC_OPEN_MAX")
        os.closerange(3, writing)
        os.closerange(writing + 1, most)
        resource.setrlimit(resource.RLIMIT_CPU, (LONGEST_COMPUTING, LONGEST_COMPUTING + 1))
        shared = [*code_cache.engine_folders(), *(Path(champion.file).parent for champion in champions)]
        code_cache.share_engine(scratch)
        code_cache.move_to(scratch)
        enter_sandbox(str(Path(file).parent), str(scratch), [str(path) for path in shared])

        def begin(stage: Stage) -> None:
            os.write(writing, f"{stage}\n".encode())

        with all_inputs(Path(file).parent, namespace(file)) as inputs:
            result = run_cascade(prepared, file, name, champions, begin)
        answer = memoryview(json.dumps(asdict(Answer(result, inputs))).encode() + b"\n")
        while answer:
            answer = answer[os.write(writing, answer) :]
    finally:
        os._exit(0)


def _lines_until(reading: int, deadline: float) -> list[str] | None:
    """Return what a candidate's process writes until it ends; None if it does not end in time."""
    received = bytearray()
    while True:
        ready, _, _ = select.select([reading], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return None
        chunk = os.read(reading, 1 << 16)
        if not chunk:
            return received.decode(errors="replace").splitlines()
        received += chunk


def _answer_of(lines: list[str] | None, status: int, seconds: float) -> Answer:
    if lines is None:
        return Answer(failed("load", "time", f"it takes longer than {LONGEST_WAIT:g} s"))
    *_, last = ["load", *lines]
    with suppress(ValidationError):
        return _ANSWER.validate_json(last)
    stage: Any = last if last in STAGES else "load"
    if os.WIFSIGNALED(status) and seconds >= LONGEST_COMPUTING:
        why = f"it computes for more than {LONGEST_COMPUTING} s; is there an endless loop?"
        return Answer(failed(stage, "time", why))
    return Answer(failed(stage, "crash", "its process ended"))

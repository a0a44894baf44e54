import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from functools import partial

import pytest
from hypothesis import HealthCheck, settings

import knights_isolation.command_line  # noqa: F401 -- messages name commands, as they do once this is there

# Read when NumPy is imported; the command line does the same.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ["ISOLATION_TRIES"] = "off"  # tests of commands leave no log of tries where they are run
# A machine busy with something else must not fail a test; and what half of the usual examples find, they find often.
# On a crowded machine drawing takes long, which says nothing about the code.
# The same examples are drawn in every run, so that a failure is due to what has changed; --hypothesis-profile=explore
# draws new ones.
settings.register_profile("explore", deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("patient", settings.get_profile("explore"), derandomize=True)
settings.load_profile("patient")


@pytest.fixture(scope="session", autouse=True)
def empty_session_folder(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Make fixtures that several tests share in an empty folder, too."""
    os.chdir(tmp_path_factory.mktemp("session"))


@pytest.fixture(autouse=True)
def empty_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run every test in an empty folder: the checkout may hold runs, games and journals of its owner."""
    monkeypatch.chdir(tmp_path_factory.mktemp("empty"))


@pytest.fixture(autouse=True)
def usual_recursion_limit() -> Iterator[None]:
    """Undo what players do that raise the limit: with a high one, a file nested deeply ends the process."""
    limit = sys.getrecursionlimit()
    yield
    sys.setrecursionlimit(limit)


@pytest.fixture
def costs_measured() -> None:
    """Have runs measure what their agents cost, which others leave out to save time."""


@pytest.fixture(autouse=True)
def costs_left_out(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have runs begin without measuring what a node of their agents costs, and trials measure it in two rounds."""
    if "costs_measured" not in request.fixturenames:
        monkeypatch.setattr("knights_isolation.experiments.play.runner.measure_in", lambda pool, names, interrupted: {})
        measure_in_two_rounds(monkeypatch)


def measure_in_two_rounds(patch: pytest.MonkeyPatch) -> None:
    """Measure costs in two rounds in place of up to forty, each of which takes tens of milliseconds in Python."""
    for name, rounds in (("ROUNDS", 2), ("FEWEST_ROUNDS", 2), ("_SETS", 1)):
        patch.setattr(f"knights_isolation.isolation.checks.search_cost.{name}", rounds)


@pytest.fixture(scope="module")
def two_rounds() -> Iterator[None]:
    """Have fixtures that several tests share measure costs in two rounds, too."""
    with pytest.MonkeyPatch.context() as patch:
        measure_in_two_rounds(patch)
        yield


@pytest.fixture
def quick_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have `isolation try` play few games, and ask few positions."""
    from knights_isolation.experiments.analysis import quick_trial
    from knights_isolation.experiments.suite import read_suite

    monkeypatch.setattr(quick_trial, "read_suite", lambda *asked: read_suite(*asked).sample(500, 1))
    monkeypatch.setattr(quick_trial, "try_heuristic", partial(quick_trial.try_heuristic, pairs=20, python_pairs=1))


def pytest_configure(config: pytest.Config) -> None:
    """Compile into a folder that lasts for the session, and leave the user's own alone; keep bytecode; hear Ctrl-C.

    Started by a shell in the background, Python ignores Ctrl-C.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # Hundreds of processes are started, each of which would compile all that it imports.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    if "ISOLATION_CACHE" not in os.environ:
        os.environ["ISOLATION_CACHE"] = tempfile.mkdtemp(prefix="isolation-tests-")

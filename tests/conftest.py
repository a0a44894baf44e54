import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from functools import partial

import pytest
from hypothesis import settings

# Read when NumPy is imported; the command line does the same.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# A machine busy with something else must not fail a test; and what half of the usual examples find, they find often.
settings.register_profile("patient", deadline=None, max_examples=50)
settings.load_profile("patient")


@pytest.fixture(autouse=True)
def usual_recursion_limit() -> Iterator[None]:
    """Undo what players do that raise the limit: with a high one, a file nested deeply ends the process."""
    limit = sys.getrecursionlimit()
    yield
    sys.setrecursionlimit(limit)


@pytest.fixture
def quick_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have `isolation try` play for a tenth of a second rather than for four seconds."""
    from experiments import trial

    monkeypatch.setattr(trial, "try_heuristic", partial(trial.try_heuristic, seconds=0.1))


def pytest_configure(config: pytest.Config) -> None:
    """Compile into a folder that lasts for the session, and leave the user's own alone; keep bytecode; hear Ctrl-C.

    Started by a shell in the background, Python ignores Ctrl-C.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # Hundreds of processes are started, each of which would compile all that it imports.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if "ISOLATION_CACHE" not in os.environ:
        os.environ["ISOLATION_CACHE"] = tempfile.mkdtemp(prefix="isolation-tests-")

from collections.abc import Iterator

import pytest

from knights_isolation.isolation.compiling import compile_heuristic


@pytest.fixture
def old_compiler_alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What stands behind the compiler in front has to take everything."""

    def takes_nothing(*_: object) -> None:
        raise compile_heuristic.CompileError("taken by nobody")

    monkeypatch.setattr(compile_heuristic, "score_texts", takes_nothing)
    compile_heuristic._compiled_or_refused.cache_clear()
    yield
    compile_heuristic._compiled_or_refused.cache_clear()

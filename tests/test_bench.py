"""The rows of `isolation bench`, at invented speeds."""

import pytest

from experiments import bench
from isolation.speed import Speed


def test_a_ratio_stands_beside_what_is_compared_and_names_its_comparator(monkeypatch: pytest.MonkeyPatch) -> None:
    def nodes(heuristic, openings, depth, size="7x7", *, interpreted=False):
        return Speed(100 if interpreted else 1000 if heuristic.__name__ == "improved" else 500, 1.0)

    monkeypatch.setattr(bench, "nodes_per_second", nodes)
    monkeypatch.setattr(bench, "games_per_second", lambda *_, interpreted=False: Speed(1 if interpreted else 4, 1.0))
    monkeypatch.setattr(bench, "_seconds", lambda *_: 0.5)
    rows = {row["measured"]: (row["ratio"], row["to"]) for row in bench.measure()}
    assert rows["alpha-beta, improved, 7x7, depth 11"] == (None, "")
    assert rows["alpha-beta, territory, 7x7, depth 11"] == (0.5, "improved")
    assert rows["the first, interpreted, depth 10"] == (0.1, "compiled")
    assert rows["the same, move by move"] == (0.25, "in one call")
    assert all((ratio is None) == (to == "") for ratio, to in rows.values())

"""Charts of published results have a row for each claim, and none without claims."""

from dataclasses import replace

import pytest

from knights_isolation import published
from knights_isolation.reports.studies.published import published_chart


def test_published_results_are_drawn_with_a_row_for_each_claim():
    analysis = published().value
    chart = published_chart(analysis)
    assert chart is not None
    claims = [claim.test.difference for claim in analysis.claims]
    assert [row.value for row in chart.rows] == pytest.approx([100 * claim.estimate for claim in claims])
    assert {row.role for row in chart.rows} <= {"better", "worse", ""}
    assert published_chart(replace(analysis, claims=())) is None

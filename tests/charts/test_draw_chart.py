import collections
import itertools
import math
from xml.etree import ElementTree

import numpy as np
import pytest
from every_command import NAMED
from hypothesis import given
from hypothesis import strategies as st
from invented_runs import Invented, gauntlet, random_wins

from knights_isolation.experiments.statistics.contender_verdicts import judge
from knights_isolation.experiments.statistics.move_statistics import Scores, count_groups, merge_counts
from knights_isolation.experiments.statistics.run_results import load_findings
from knights_isolation.isolation.rules.game import Size
from knights_isolation.reports.charts.chart import Axis, Card, Picture, round_ticks
from knights_isolation.reports.charts.interval_charts import forest
from knights_isolation.reports.charts.line_plots import limits_chart
from knights_isolation.reports.plots import KINDS, draw_kind, draw_plot
from knights_isolation.reports.plots.draw_chart import draw_card, draw_chart, save, short, to_svg

LONG = "ID_<b>&$x$_a_name_of_forty_characters_{:02d}"
SHOWS_NAMES = {"forest", "heatmap", "ladder", "lengths", "depth", "nodes"}


def many(count):
    names = tuple(LONG.format(number) for number in range(count))
    assert {len(name) for name in names} == {40}
    rates = {name: 0.2 + 0.6 * number / count for number, name in enumerate(names)} | {"Base": 0.5}
    return gauntlet(12, random_wins(rates), contenders=names), names


@pytest.fixture(scope="module", params=[1, 20])
def crowd(request, tmp_path_factory):
    run, names = many(request.param)
    return load_findings([run.write(tmp_path_factory.mktemp("runs") / "run")]), names


def texts_of(svg):
    root = ElementTree.fromstring(svg)
    return " ".join("".join(element.itertext()) for element in root.iter() if element.tag.endswith("text"))


def test_a_place_on_an_axis_is_a_share_of_its_length() -> None:
    values = (-math.inf, 2, 3, 6, math.inf)
    assert [Axis("points", 2, 6, ()).percent(value) for value in values] == [0, 0, 25, 100, 100]
    assert Axis("nodes", 10, 1000, (), is_log=True).percent(100) == 50


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "card"])  # invented games cannot be pictured
def test_every_plot_is_drawn_for_one_and_for_twenty_contenders_of_long_names(crowd, kind):
    findings, names = crowd
    written = texts_of(to_svg(draw_kind(kind, findings)))
    if kind in SHOWS_NAMES:
        assert all(name in written for name in names)


def test_a_card_shows_the_finding_the_forest_and_games(crowd):
    findings, _ = crowd
    rows = forest(findings, judge(findings))
    games = tuple(Picture(Size(7, 7), (24, 14, 9, 1), f"game {number}") for number in range(3))
    written = texts_of(to_svg(draw_card(Card("One of two beats Base", rows, games))))
    assert all(text in written for text in ("One of two beats Base", rows.rows[0].name, "game 0", "game 2"))


@pytest.mark.parametrize("kind", KINDS)
def test_every_plot_says_so_when_there_is_no_data(tmp_path, kind):
    findings = load_findings([gauntlet(0, planned=10).write(tmp_path / "run")])
    written = texts_of(to_svg(draw_kind(kind, findings)))
    assert "yet" in written or "No " in written


def test_the_same_run_gives_the_same_file(tmp_path):
    run, _ = many(2)
    path = run.write(tmp_path / "run")
    first, second = (draw_plot("forest", [path], tmp_path / name).read_bytes() for name in ("a.svg", "b.svg"))
    assert first == second


def test_plots_are_written_as_png_too(tmp_path):
    run, _ = many(1)
    written = draw_plot("heatmap", [run.write(tmp_path / "run")], tmp_path / "plot.png")
    assert written.read_bytes().startswith(b"\x89PNG")


def test_other_files_kinds_and_agents_are_refused(tmp_path):
    path = many(1)[0].write(tmp_path / "run")
    with pytest.raises(ValueError, match=r"unknown format"):
        draw_plot("forest", [path], tmp_path / "plot.bmp")
    with pytest.raises(ValueError, match="no such directory"):
        draw_plot("forest", [path], tmp_path / "nowhere" / "plot.svg")
    assert not (tmp_path / "nowhere").exists()
    with pytest.raises(ValueError, match="no plot 'pie'; choose one of forest"):
        draw_plot("pie", [path], tmp_path / "plot.svg")
    with pytest.raises(ValueError, match="no games of 'Nobody'"):
        draw_plot("running", [path], tmp_path / "plot.svg", agent="Nobody")
    with pytest.raises(ValueError, match="--agent applies to running"):
        draw_plot("forest", [path], tmp_path / "plot.svg", agent="Base")


@pytest.mark.parametrize("kind", KINDS)
def test_the_help_names_just_the_kinds_that_take_an_agent(tmp_path, kind):
    (option,) = (parameter for parameter in NAMED["plot"].params if parameter.name == "agent")
    path = many(2)[0].write(tmp_path / "run")
    if kind == "calibration":
        with pytest.raises(ValueError, match="nothing to draw: No unproven scores"):
            draw_plot(kind, [path], tmp_path / "plot.svg", agent=LONG.format(0))
    elif kind in option.help:
        alone, all_together = (draw_plot(kind, [path], tmp_path / f"{agent}.svg", agent=agent).read_bytes()
                               for agent in (LONG.format(0), None))  # fmt: skip
        assert alone != all_together
    else:
        with pytest.raises(ValueError, match=f"not to {kind}"):
            draw_plot(kind, [path], tmp_path / "plot.svg", agent=LONG.format(0))


def test_win_rate_by_limit_joins_agents_that_differ_in_their_limit_only(tmp_path):
    runs = []
    for nodes in (500, 1000, 2000):
        run = gauntlet(8, random_wins({"Base": 0.5, "Good": 0.7}))
        for name, role in (("Base", "baseline"), ("Good", "contender")):
            run.agent(name, role, limit={"nodes": nodes})
        runs.append(load_findings([run.write(tmp_path / str(nodes))]))
    chart = limits_chart(runs)
    (good,) = (line for line in chart.panels[0].series if line.name == "Good")
    assert good.x == (500, 1000, 2000)
    save(draw_chart(chart), tmp_path / "limits.svg")


def test_one_agent_s_calibration_is_drawn_by_score(tmp_path):
    run = Invented().agent("A", "contender").agent("B", "baseline")
    rng = np.random.default_rng(1)
    for opening in range(60):
        scores = [float("nan")] * 2 + rng.normal(size=4).tolist()
        run.pair("A", "B", opening, int(rng.integers(3)), score=scores)
    findings = load_findings([run.write(tmp_path / "run")])
    assert "AUC" in texts_of(to_svg(draw_kind("calibration", findings, "A")))


def test_auc_is_the_chance_that_winners_score_higher_at_the_same_ply():
    ply = np.array([2, 2, 2, 2, 4, 4])
    won = np.array([True, False, True, False, True, False])
    assert scores_at(ply, np.array([1.0, 0, 1, 0, 10, 9]), won).auc == 1
    assert scores_at(ply, np.array([0.0, 1, 0, 1, 9, 10]), won).auc == 0
    assert scores_at(ply, np.zeros(6), won).auc == 0.5
    # a score that only grows with the ply knows nothing
    assert scores_at(ply, ply.astype(float), won).auc == 0.5
    assert math.isnan(scores_at(ply[:0], np.zeros(0), won[:0]).auc)


def test_auc_counts_pairs_of_a_won_and_a_lost_position():
    rng = np.random.default_rng(2)
    ply, score, won = rng.integers(2, 6, 300), rng.integers(0, 5, 300).astype(float), rng.random(300) < 0.4
    right = pairs = 0.0
    for first, second in itertools.product(np.flatnonzero(won), np.flatnonzero(~won)):
        if ply[first] == ply[second]:
            right += 1 if score[first] > score[second] else 0.5 if score[first] == score[second] else 0
            pairs += 1
    scores = scores_at(ply, score, won)
    assert scores.auc == right / pairs
    assert scores.positions == 300
    assert scores.between(3, 4).positions == int(((ply == 3) | (ply == 4)).sum())


def scores_at(ply, score, won):
    """The scores of positions, a row a position."""
    counted = count_groups([ply, score], [won.astype(np.int64), (~won).astype(np.int64)])
    return Scores(*counted.keys, *counted.counts)


@given(st.lists(st.lists(st.tuples(st.integers(0, 3), st.sampled_from([-1.0, 0.0, 0.5]), st.integers(0, 9)))))
def test_what_is_tallied_piece_by_piece_is_what_is_tallied_at_once(parts):
    def rows(part):
        return [np.array([row[index] for row in part], kind) for index, kind in enumerate((int, float, int))]

    nothing = count_groups(rows([])[:2], rows([])[2:])
    counts = merge_counts((count_groups(rows(part)[:2], rows(part)[2:]) for part in parts), nothing)
    sums = collections.Counter()
    for first, second, count in itertools.chain.from_iterable(parts):
        sums[first, second] += count
    assert list(zip(*(key.tolist() for key in counts.keys), strict=True)) == sorted(sums)
    assert counts.counts[0].tolist() == [sums[key] for key in sorted(sums)]


def test_long_names_keep_both_ends():
    assert short("a" * 30 + "b" * 30, 11) == "aaaa…bbbbbb"
    assert short("short") == "short"


@given(st.floats(-50, 50), st.floats(-2, 3))
def test_an_axis_has_four_to_seven_ticks(low, power):
    high = low + 10**power
    ticks = round_ticks(low, high)
    assert 4 <= len(ticks) <= 7
    assert low - 1e-9 <= ticks[0] < ticks[-1] <= high + 1e-9

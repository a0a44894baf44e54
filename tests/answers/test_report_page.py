import base64
import csv
import io
import itertools
import math
import re
from hashlib import sha256
from html.parser import HTMLParser
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from invented_runs import Invented, gauntlet, random_wins

from knights_isolation.experiments.exact.labels import SCHEMA
from knights_isolation.experiments.queries import read_game
from knights_isolation.experiments.statistics.contender_verdicts import judge
from knights_isolation.experiments.statistics.move_statistics import (
    games_by_opponent,
    games_by_placement,
    leads_by_opening,
    placements,
)
from knights_isolation.experiments.statistics.ratings import rate
from knights_isolation.experiments.statistics.run_results import load_findings, relative_costs
from knights_isolation.isolation.rules.game import Size
from knights_isolation.isolation.rules.geometry import format_moves
from knights_isolation.reports.charts.chart import Panel, Series, fit_axis, round_ticks
from knights_isolation.reports.charts.grids import leads, placement_maps
from knights_isolation.reports.charts.interval_charts import forest, ladder, nearest_to_decision, running
from knights_isolation.reports.charts.line_plots import limits_chart, strength_by_cost
from knights_isolation.reports.pages.next_steps import next_steps
from knights_isolation.reports.pages.report_page import headline, report_page, write_report
from knights_isolation.reports.plots.draw_chart import draw_panel, inline_svg, new_figure
from knights_isolation.reports.tables.ratings import rating_sections
from knights_isolation.reports.text.rendering import show

NASTY = "<script>alert(1)</script>&\"'"


class Page(HTMLParser):
    """The tags of a page, its visible text and where its links and pictures point."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.targets, self.text = [], {}, []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        for name, value in attributes:
            if name in ("href", "src", "srcset"):
                self.targets.setdefault(dict(attributes).get("download", tag), value)

    def handle_data(self, data):
        self.text.append(data)


def page_of(run, path):
    return report_page(load_findings([run.write(path / "run")]))


def test_the_verdict_comes_first(tmp_path):
    run = gauntlet(60, random_wins({"Base": 0.4, "Good": 0.9}))
    text = "".join(Page(page_of(run, tmp_path)).text)
    assert "Won more against the same opponents than Base: Good by +" in text
    assert (
        text.index("Won more against the same opponents than Base")
        < text.index("Comparison")
        < text.index("Method and settings")
    )


def test_names_and_error_texts_are_escaped(tmp_path):
    run = gauntlet(8, contenders=(NASTY,))
    run.rows[0] |= {"reason": "error", "detail": NASTY}
    page = Page(page_of(run, tmp_path))
    assert page.tags.count("script") == 1  # its own
    assert NASTY in "".join(page.text)


def test_the_page_needs_nothing_from_anywhere(tmp_path):
    text = page_of(gauntlet(8), tmp_path)
    page = Page(text)
    assert all(target.startswith(("data:", "#")) for target in page.targets.values())
    assert "default-src 'none'" in text
    assert not re.search(r"@import|url\((?!#)", text)


def test_every_table_can_be_had_as_csv(tmp_path):
    page = Page(page_of(gauntlet(8), tmp_path))
    for name in (
        "verdicts",
        "effects",
        "standings",
        "opponents",
        "sides",
        "ratings",
        "superiority",
        "search",
        "lengths",
    ):
        url = page.targets[f"{name}.csv"]
        rows = list(csv.DictReader(io.StringIO(unquote(url.partition(",")[2]))))
        assert rows, name
    assert {"agent", "win_rate", "win_rate_low", "win_rate_high"} <= set(standings_of(page)[0])


def standings_of(page):
    text = unquote(page.targets["standings.csv"].partition(",")[2])
    return list(csv.DictReader(io.StringIO(text)))


def test_an_empty_run_has_a_page(tmp_path):
    text = "".join(Page(page_of(gauntlet(0, planned=50), tmp_path)).text)
    assert "No complete pairs to judge yet." in text
    assert "0 of 50 planned" in text


@pytest.mark.exhaustive
def test_twenty_contenders_of_long_names_have_a_page(tmp_path):
    names = tuple(f"ID_a_name_of_quite_forty_characters___{number:02d}" for number in range(20))
    text = page_of(gauntlet(4, contenders=names), tmp_path)
    assert all(name in text.replace("<wbr>", "") for name in names)


def test_a_duel_is_reported_with_its_pairs(tmp_path):
    run = Invented(config={"format": "head-to-head", "contenders": ["random"], "baseline": "greedy"}, population=30)
    run.is_census = True
    run.agent("A", "contender").agent("B", "baseline")
    for opening in range(30):
        run.pair("A", "B", opening, 2 if opening < 20 else 1)
    text = "".join(Page(page_of(run, tmp_path)).text)
    assert "Beat B: A with" in text
    assert "On all 30 openings of this kind A won 83.3 %" in text


def test_a_round_robin_is_headed_by_its_ratings(tmp_path):
    run = Invented(config={"format": "round-robin", "contenders": ["random", "greedy"]})
    for name in ("A", "B", "C"):
        run.agent(name, "contender")
    for opening in range(10):
        run.pair("A", "B", opening, 2).pair("A", "C", opening, 1).pair("B", "C", opening, 1)
    text = "".join(Page(page_of(run, tmp_path)).text)
    assert "Rated highest: A" in text
    assert "Every pair of agents" in text


def test_an_interval_without_bound_runs_out_of_the_chart_with_an_arrow(tmp_path):
    run = Invented(config={"format": "round-robin", "contenders": ["random", "greedy"]})
    for name in ("A", "B", "C"):
        run.agent(name, "contender")
    for opening in range(10):
        run.pair("A", "B", opening, 2).pair("A", "C", opening, 2).pair("B", "C", opening, 1)
    findings = load_findings([run.write(tmp_path / "run")])
    chart = ladder(rate(findings))
    assert chart is not None
    best, *others = chart.rows
    assert (best.name, best.high) == ("A", math.inf)
    assert chart.axis.low < best.low < best.value < chart.axis.high
    assert all(chart.axis.low < end < chart.axis.high for other in others for end in (other.low, other.high))
    assert chart.axis.label.endswith("arrow: the rating is unbounded on that side")
    assert report_page(findings).count('class="open"') == 1


def test_forfeits_head_the_page_and_what_they_do_to_the_rest_is_said(tmp_path):
    run = Invented().agent("A", "contender").agent("Base", "baseline")
    for opening in range(10):
        run.pair("A", "Base", opening, 0, reason="error")
    text = headline(findings := load_findings([run.write(tmp_path / "run")]), judge(findings))
    assert text[0] == "20 of 20 games (100.0 %) were forfeits: A lost 20 games by error."
    assert text[1].startswith("They count as losses")
    assert text[2].startswith("Lost to Base: A")


def test_a_single_forfeit_is_told_without_a_warning(tmp_path):
    run = Invented().agent("A", "contender").agent("Base", "baseline")
    for opening in range(20):
        run.pair("A", "Base", opening, 1)
    run.pair("A", "Base", 20, 0, reason="timeout")
    text = headline(findings := load_findings([run.write(tmp_path / "run")]), judge(findings))
    assert text[0].startswith("2 of 42 games (4.8 %) were forfeits: A lost 2 games by timeout.")
    assert not any("count as losses" in sentence for sentence in text)


def test_the_page_is_written_whole_and_the_same_each_time(tmp_path):
    findings = load_findings([gauntlet(5).write(tmp_path / "run")])
    first, second = (write_report(findings, tmp_path / name).read_bytes() for name in ("a.html", "b.html"))
    assert first == second


def test_a_missing_directory_is_said(tmp_path):
    findings = load_findings([gauntlet(1).write(tmp_path / "run")])
    with pytest.raises(ValueError, match="no such directory"):
        write_report(findings, tmp_path / "nowhere" / "report.html")


def test_a_labelled_run_shows_how_accurate_its_agents_were(tmp_path):
    run = gauntlet(8)
    path = run.write(tmp_path / "run")
    assert "Accuracy" not in report_page(load_findings([path]))
    plies = run.rows[0].get("plies", 6)
    values = [[1] * plies] * len(run.rows)
    labels = {
        "game_id": range(len(run.rows)),
        "value": values,
        "winning": values,
        "legal": [[2] * plies] * len(run.rows),
    }
    pq.write_table(pa.table({**labels, "kept": values}, SCHEMA), path / "labels.parquet")
    page = report_page(load_findings([path]))
    assert "<h3>Accuracy</h3>" in page
    assert "by ply" in page


def test_only_the_script_of_the_page_may_run(tmp_path):
    text = page_of(gauntlet(2), tmp_path)
    script = re.search(r'<script type="module">(.*?)</script>', text, re.DOTALL)[1]
    allowed = base64.b64encode(sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{allowed}'" in text


def test_the_limit_in_the_header_is_that_of_the_agents_and_not_the_usual_one(tmp_path):
    run = gauntlet(2)
    for name in ("Base", "Good"):
        run.agent(name, *run.agents[name]["roles"], limit={"nodes": 1000})
    page = "".join(Page(page_of(run, tmp_path)).text)
    assert "Limitnodes=1000Census" in page.replace("\n", "")


def test_parts_are_titled_by_what_they_found(tmp_path):
    run = gauntlet(20, lambda agent, other, _: 2 if (agent, other) == ("Good", "Opp_B") else 1)
    text = "".join(Page(page_of(run, tmp_path)).text)
    assert "Good won significantly more against the same opponents than Base" in text
    assert "The largest lead of Good is +50.0 against Opp_B, the smallest 0.0 against Opp_A" in text
    assert "Good is rated highest: +" in text


def test_likelihoods_counted_in_resamples_are_never_certain(tmp_path):
    run = gauntlet(30, lambda agent, *_: 2 if agent == "Good" else 0)
    _, superiority = rating_sections(load_findings([run.write(tmp_path / "run")]))
    cells = {show(value) for row in superiority.rows for key, value in row.items() if key.isdecimal()}
    assert {"> 99", "< 1"} <= cells
    assert not {"100", "0"} & cells


def findings_of(tmp_path, run):
    return load_findings([run.write(tmp_path / "run")])


def test_the_forest_draws_the_interval_that_the_verdict_is_about(tmp_path):
    rates = random_wins({"Base": 0.5, "Good": 0.6, "Fair": 0.5})
    findings = findings_of(tmp_path, gauntlet(40, rates, contenders=("Good", "Fair")))
    verdicts = judge(findings)
    chart = forest(findings, verdicts)
    kinds = {claim.contender: claim.verdict for claim in verdicts.claims}
    assert [row.name for row in chart.rows] == [name for name in findings.ranked if name in ("Good", "Fair")]
    for row in chart.rows:
        assert row.low < row.value < row.high
        assert (row.low <= 0 <= row.high) == (kinds[row.name] == "no significant difference")
        assert (row.value > 0) == row.text.startswith("+")


def test_first_placements_count_openings_and_fold_the_board(tmp_path):
    run = Invented().agent("A", "contender").agent("B", "baseline")
    for opening in range(12):
        corner = (0, 6, 42, 48)[opening % 4]
        run.pair("A", "B", opening, 2, moves=[corner, 24, 30, 31, 32, 33])
    findings = findings_of(tmp_path, run)
    first, second = placements(findings)
    assert (first.cell, first.cells, first.games, first.openings) == (0, (0, 6, 42, 48), 24, 12)
    assert (second.cell, second.placed_first, second.rate.estimate) == (24, False, 0.5)
    assert first.rate.low < first.rate.estimate < first.rate.high
    rows = placement_maps(placements(findings), Size(7, 7), {}).boards[0].rows
    assert {rows[row][1][column].text for row in (0, 6) for column in (0, 6)} == {"50"}
    assert rows[3][1][3].text == ""


def test_too_few_openings_leave_a_placement_blank(tmp_path):
    run = gauntlet(4)
    board = placement_maps(placements(findings_of(tmp_path, run)), Size(7, 7), {}).boards[0]
    assert not any(cell.text for _, cells in board.rows for cell in cells)


def test_running_estimates_are_shown_of_those_nearest_to_a_decision(tmp_path):
    rates = {"Base": 0.5} | {f"C{number}": 0.5 + 0.05 * number for number in range(9)}
    findings = findings_of(tmp_path, gauntlet(40, random_wins(rates), contenders=tuple(rates)[1:]))
    printed = [panel.title for panel in running(findings, nearest_to_decision(findings, judge(findings))).panels]
    assert len(printed) == 6
    assert "C8" not in printed
    assert len(running(findings).panels) == 9


def test_strength_by_cost_joins_whom_nobody_beats_at_a_lower_cost(tmp_path):
    rates = {"Base": 0.4, "Dear": 0.6, "Poor": 0.3, "Wasteful": 0.2}
    run = gauntlet(20, random_wins(rates), contenders=("Dear", "Poor", "Wasteful"))
    run.costing(Base=1.0, Dear=3.0, Poor=2.0, Wasteful=4.0)
    findings = findings_of(tmp_path, run)
    (panel,) = strength_by_cost(findings, judge(findings), relative_costs(findings), {"Dear": "#game-0-1"}).panels
    by_name = {series.name: series for series in panel.series}
    assert by_name[""].x == (2.0, 3.0)
    assert by_name["Dear"].y[0] > panel.level > by_name["Poor"].y[0]
    assert "3.00 × the processor time" in by_name["Dear"].tooltip
    assert '<a href="#game-0-1" aria-label="Dear: ' in inline_svg(panel, "cost")


def test_names_of_points_overlap_neither_each_other_nor_points():
    places = [(1 + 0.02 * number, number % 3) for number in range(12)]
    points = [Series(f"a_heuristic_{x:.2f}", "0", (x,), (y,), form="points") for x, y in places]
    axes = new_figure(3.3, 5.2).add_subplot()
    draw_panel(axes, Panel("", tuple(points), fit_axis("x", [1, 2]), fit_axis("y", [-5, 8])))
    boxes = {text.get_text(): text.get_window_extent() for text in axes.texts if text.get_text()}
    assert set(boxes) == {point.name for point in points}
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes.values(), 2))
    assert not any(box.contains(*axes.transData.transform(place)) for box in boxes.values() for place in places)


def test_ticks_are_round_and_few():
    assert round_ticks(-0.4, 8.3) == [0, 2, 4, 6, 8]
    assert round_ticks(-700, 160) == [-600, -400, -200, 0]


def linked(findings, leads):
    """By agent and opponent, the row of the log of the game that a lead is linked with, and the link's game."""
    rows = findings.games.set_index("own_id")
    return {pair: (rows.loc[game.game_id], game) for pair, game in games_by_opponent(findings, leads).items()}


def test_a_lead_is_linked_with_a_game_that_went_otherwise_for_the_baseline(tmp_path):
    rates = {"Base": 0.5, "Good": 0.8, "Poor": 0.2}
    findings = findings_of(tmp_path, gauntlet(20, random_wins(rates), contenders=("Good", "Poor")))
    lead_rows = leads(findings, judge(findings))
    rows = findings.games.set_index("own_id")
    for (agent, opponent), (row, game) in linked(
        findings, {pair: first.lead for pair, first in lead_rows.items()}
    ).items():
        assert {row.agent_1, row.agent_2} == {agent, opponent} == set(game.agents)
        assert (game.agents[game.winner - 1] == agent) == (lead_rows[agent, opponent].lead >= 0)
        if agent == "Base":
            assert game.instead is None
            continue
        second = rows.loc[game.instead]
        assert second.opening_id == row.opening_id
        assert [second.agent_1, second.agent_2] == [name.replace(agent, "Base") for name in game.agents]
        assert second.winner != row.winner


def test_a_first_placement_is_linked_with_a_game_of_the_best_who_began_so(tmp_path):
    run = Invented().agent("A", "baseline").agent("B", "contender").agent("C", "contender")
    for opening in range(6):
        for first, second, wins in (("A", "B", 1), ("A", "C", 2), ("B", "C", 2)):
            run.pair(first, second, opening, wins, moves=[(0, 6, 42)[opening % 3], 24, 30, 31, 32, 33])
    findings = findings_of(tmp_path, run)
    games = games_by_placement(findings, placements(findings))
    assert set(games) == {(0, True), (24, False)}
    assert set(games[0, True].agents) == {"A", "B"}
    assert games[0, True].moves[:2] in ((0, 24), (6, 24), (42, 24))


def test_every_link_of_the_page_leads_to_one_game_of_its_list(tmp_path):
    first, second = (gauntlet(6, random_wins({"Base": 0.4, "Good": 0.6}, seed)) for seed in (1, 2))
    second.config["seed"] = 2
    runs = [first.write(tmp_path / "one"), second.write(tmp_path / "other")]
    text = report_page(load_findings(runs))
    rows = re.findall(r'<tr id="(game-\d+-\d+)" data-size="7x7" data-moves="([^"]+)"', text)
    assert set(re.findall(r'href="#(game-[^"]+)"', text)) == {anchor for anchor, _ in rows}
    assert len({anchor for anchor, _ in rows}) == len(rows) > 0
    for anchor, moves in rows:
        run, game_id = map(int, anchor.split("-")[1:])
        assert format_moves(read_game(runs[run], game_id)["moves"], 7) == moves


def test_agents_that_differ_in_their_limit_only_are_lines_over_it(tmp_path):
    run = Invented().agent("Base", "baseline")
    for nodes, wins in ((500, 0), (1000, 1), (2000, 2)):
        run.agent(f"Good@nodes={nodes}", "contender", heuristic="good", limit={"nodes": nodes})
        for opening in range(8):
            run.pair(f"Good@nodes={nodes}", "Base", opening, wins)
    (panel,) = limits_chart([findings_of(tmp_path, run)]).panels
    good = next(line for line in panel.series if line.name == "Good")
    x0, x1, x2 = map(panel.x.percent, good.x)
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.2)  # doublings are as far apart
    assert good.y == (0, 50, 100)
    assert [label for _, label in panel.x.ticks] == ["500", "1,000", "2,000"]
    assert limits_chart([findings_of(tmp_path / "alike", gauntlet(4))]) is None


def test_running_estimates_are_as_high_as_what_their_bands_came_to(tmp_path):
    findings = findings_of(tmp_path, gauntlet(200, random_wins({"Base": 0.5, "Good": 0.5})))
    (panel,) = running(findings).panels
    (line,) = panel.series
    assert (line.low[0] < panel.y.low, line.high[0] > panel.y.high) == (True, True)
    assert max(abs(line.low[-1]), abs(line.high[-1])) == pytest.approx(panel.y.high / 1.1 / 1.06, rel=0.01)


def dots(*points):
    series = tuple(Series(name, "better", (x,), (y,), form="points") for name, x, y in points)
    return Panel("Dots", series, fit_axis("x", [0.0, 10.0]), fit_axis("y", [0.0, 10.0]), 0.0)


def test_names_in_a_plot_are_shortened_and_left_out_where_there_is_no_room():
    svg = inline_svg(dots(("ID_A", 5.0, 5.0), ("x" * 200, 5.0, 8.0)), "dots")
    assert ">ID_A</text>" in svg
    assert re.search(">x+…x+</text>", svg)
    crowd = inline_svg(dots(*((f"a_heuristic_{number}", 5.0, 5.0) for number in range(80))), "crowd")
    assert 9 < crowd.count(">a_heuristic_") - crowd.count("<title>a_heuristic_") < 80


def test_a_plot_in_a_page_has_the_page_s_colours_and_no_ids_of_another_plot():
    first, second = (inline_svg(dots((NASTY, 5.0, 5.0)), key) for key in ("one", "other"))
    assert not re.search(r"#[0-9a-f]{6}", first)
    assert "var(--better)" in first
    assert "<style" not in first
    assert NASTY not in first
    ids = [set(re.findall(r'id="([^"]+)"', svg)) for svg in (first, second)]
    assert ids[0]
    assert not ids[0] & ids[1]


def test_where_a_contender_wins_is_by_the_first_cell_with_a_game_that_decided(tmp_path):
    run = Invented().agent("Good", "contender").agent("Base", "baseline").agent("Opp", "opponent")
    for opening in range(12):
        corner = opening % 2 == 0
        moves = [0 if corner else 24, 16, 13, 31, 32, 33]
        run.pair("Good", "Opp", opening, 2 if corner else 1, moves=moves)
        run.pair("Base", "Opp", opening, 1, moves=moves)
    leads = {lead.cell: lead for lead in leads_by_opening(findings_of(tmp_path, run), "Good")}
    assert {cell: (lead.lead, lead.openings) for cell, lead in leads.items()} == {0: (0.5, 6), 24: (0.0, 6)}
    assert leads[0].game.agents[leads[0].game.winner - 1] == "Good"
    assert leads[0].game.instead is not None


def test_the_next_step_decides_about_the_nearest_by_a_command_that_is_possible(tmp_path):
    rates = random_wins({"Base": 0.5, "Fair": 0.54})
    run = gauntlet(60, rates, contenders=("Fair",))
    findings = findings_of(tmp_path, run)
    verdicts = judge(findings)
    assert next_steps(findings, verdicts, {}) == []  # it is still played
    (tmp_path / "run" / "finished.json").write_text("{}")
    (decide,) = [step for step in next_steps(findings, verdicts, {}) if step.pairs]
    path = findings.sources[0].info.path
    assert decide.command == f"isolation tournament --extend {path} --pairs {decide.pairs} --contender Fair"
    assert decide.pairs > 60
    assert "games" in decide.price

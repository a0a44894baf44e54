"""The page of a run that is being played: what it is told, when, and who may ask."""

import json
from contextlib import contextmanager
from http.client import HTTPConnection

import pytest
from board_server import cookie, request, serving
from click.testing import CliRunner
from invented_runs import gauntlet, random_wins

from cli import main
from knights_isolation.experiments.plan.config import load_config
from knights_isolation.experiments.play.interim_results import live_standings
from knights_isolation.experiments.play.runner import play_tournament
from knights_isolation.experiments.record import log, log_parts
from knights_isolation.experiments.statistics.run_results import load_findings
from knights_isolation.reports.board.resources import Resources
from knights_isolation.reports.lab.run_pages import Pace, run_state
from knights_isolation.reports.lab.server import serve_in_background


@contextmanager
def watching(run):
    """Serves a lab that has one run; gives the port."""
    with serving(Resources((run,))) as port:
        yield port


def page_of(port, name="run", part=""):
    """The status, the headers and the text of a run's page or of a part of it."""
    return request(port, f"/runs/{name}{part}")


@contextmanager
def told(port, name="run"):
    """Gives what reads the next state."""
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", f"/runs/{name}/events", headers={"cookie": cookie(port)})
    answer = connection.getresponse()
    assert answer.headers["content-type"].startswith("text/event-stream")

    def following():
        while not (line := answer.readline()).startswith(b"data: "):
            assert line, "the server has ended the line"
        return json.loads(line.removeprefix(b"data: "))

    yield following
    connection.close()


def test_the_state_of_a_run_says_who_stands_how_and_what_was_lost_otherwise(tmp_path):
    run = gauntlet(6, lambda agent, *_: 2 if agent == "Good" else 1, planned=999)
    run.rows[-1] |= {"reason": "error", "detail": "Oops"}
    state = run_state(run.write(tmp_path / "run"))
    assert (state["played"], state["total"], state["state"]) == (48, 999, "stopped")
    assert [(row["name"], row["openings"], row["rate"]) for row in state["standings"]] == [
        ("Good", 6, 1.0), ("Base", 6, 0.5),
    ]  # fmt: skip
    assert all(row["low"] <= row["rate"] <= row["high"] for row in state["standings"])
    assert "1 of 48 games" in state["forfeits"][0]
    assert [game["id"] for game in state["games"][:2]] == [47, 46]


def test_the_race_zooms_in_on_intervals_that_shrink_and_says_who_is_ahead(tmp_path):
    wins = random_wins({"Base": 0.5, "Good": 0.9, "Even": 0.5})
    early, late = (
        run_state(gauntlet(openings, wins, contenders=("Even", "Good")).write(tmp_path / str(openings)))["race"]
        for openings in (5, 80)
    )
    assert [(row["name"], row["role"], row["units"]) for row in late["rows"]] == [
        ("Good", "better", 80), ("Even", "", 80),
    ]  # fmt: skip
    assert {row["role"] for row in early["rows"]} == {""}
    low, value, high = late["rows"][0]["at"]
    assert 0 <= late["zero"] < low < value < high <= 100
    lows, _, highs = late["rows"][0]["course"]
    assert (lows == sorted(lows), highs == sorted(highs, reverse=True)) == (True, True)
    assert float(late["ticks"][-1][1]) < float(early["ticks"][-1][1])
    assert run_state(gauntlet(0).write(tmp_path / "none"))["race"] is None


def test_the_pace_is_that_of_the_last_minute_and_silent_while_nothing_is_added():
    pace = Pace()
    assert pace.words(0.0, 500, 10_000) == ""
    assert pace.words(5.0, 1000, 10_000) == "100 games/s, about 90 s left"
    for second in range(10, 120, 10):
        pace.words(float(second), 1000 + 2 * second, 10_000)
    assert pace.words(120.0, 1240, 10_000) == "2 games/s, about 73 min left"
    assert pace.words(200.0, 1240, 10_000) == pace.words(300.0, 1240, 10_000) == ""
    assert pace.words(301.0, 5, 10_000) == ""


def test_only_openings_that_are_through_count(tmp_path):
    run = gauntlet(6)
    run.rows.pop()
    assert {row["name"]: row["openings"] for row in run_state(run.write(tmp_path / "run"))["standings"]} == {
        "Base": 6, "Good": 5,
    }  # fmt: skip


def test_what_is_told_is_what_the_terminal_shows(tmp_path):
    keys = {"contenders": ["greedy"], "opponents": ["random"], "baseline": "MM:open@depth=1", "pairs": 8, "jobs": 1}
    outcome = play_tournament(load_config(None, {**keys, "out": str(tmp_path / "run")}))
    live_standings_by_name = {
        live_standing.name: (live_standing.openings, live_standing.rate, live_standing.low, live_standing.high)
        for live_standing in live_standings(outcome.plan, outcome.points)
    }
    state = run_state(outcome.path)
    assert {
        row["name"]: (row["openings"], row["rate"], row["low"], row["high"]) for row in state["standings"]
    } == live_standings_by_name


def test_a_page_is_told_at_once_and_again_when_the_log_has_grown(tmp_path):
    run = gauntlet(3, planned=24)
    whole, run.rows = run.rows, run.rows[:12]
    path = run.write(tmp_path / "run")
    with watching(path) as port, told(port) as following:
        state = following()
        assert (state["played"], state["line"]) == (12, "12 of 24 games, 50.0 %, stopped")
        run.rows = whole
        other = run.write(tmp_path / "other")
        args = log.read_table(other, list(log.SCHEMA.names)).slice(12)
        log_parts.append(path / "games", args)
        (path / "finished.json").write_text("{}")
        states = [following()]
        while states[-1]["state"] != "finished":
            states.append(following())
        assert states[-1]["line"] == "24 of 24 games, 100.0 %, finished"


@pytest.mark.exhaustive
def test_the_report_is_there_when_the_run_has_ended_and_not_before(tmp_path):
    path = gauntlet(3, planned=99).write(tmp_path / "run")
    with watching(path) as port:
        assert "Standings" in page_of(port)[2]
        (path / "finished.json").write_text("{}")
        status, headers, text = page_of(port)
    assert status == 200
    assert 'id="comparison"' in text
    assert "script-src 'self' 'sha256-" in headers["content-security-policy"]


def finished(run, path):
    run.write(path)
    (path / "finished.json").write_text("{}")
    return path


@pytest.mark.exhaustive
def test_the_report_is_that_of_the_run_that_lies_there_now(tmp_path):
    path = finished(gauntlet(3), tmp_path / "run")
    with watching(path) as port:
        assert "Newcomer" not in page_of(port)[2]
        path.rename(tmp_path / "elsewhere")
        finished(gauntlet(3, contenders=("Newcomer",)), path)
        assert "Newcomer" in page_of(port)[2]


@pytest.mark.exhaustive
def test_the_report_of_a_damaged_run_says_what_is_wrong(tmp_path):
    path = finished(gauntlet(3), tmp_path / "run")
    with watching(path) as port:
        (path / "run.json").write_text("{")
        status, _, text = page_of(port)
    assert status == 409
    assert f"{path}/run.json: " in text


@pytest.mark.exhaustive
def test_a_finished_run_that_is_removed_or_replaced_is_noticed(tmp_path):
    path = finished(gauntlet(3), tmp_path / "run")
    with watching(path) as port, told(port) as following:
        assert following()["state"] == "finished"
        path.rename(tmp_path / "elsewhere")
        state = following()
        assert (state["problem"], state["state"], state["played"]) == (
            f"{path} has been moved or deleted; this is its last known state", "", 24,
        )  # fmt: skip
        finished(gauntlet(3, contenders=("Newcomer",)), path)
        state = following()
        assert "Newcomer" in {row["name"] for row in state["standings"]}
        assert "problem" not in state


def test_a_run_that_is_damaged_from_the_beginning_is_shown_as_that(tmp_path):
    path = gauntlet(1).write(tmp_path / "run")
    (path / "run.json").write_text("{")
    with watching(path) as port, told(port) as following:
        state = following()
    assert state["problem"].startswith(f"{path}/run.json: ")
    assert (state["standings"], state["line"]) == ([], "0 of 0 games, not started")


def test_no_more_pages_are_told_than_there_is_room_for_even_if_all_come_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr("knights_isolation.reports.lab.run_pages._LISTENERS", 3)
    path = gauntlet(1).write(tmp_path / "run")
    with watching(path) as port:
        lines = [HTTPConnection("127.0.0.1", port, timeout=60) for _ in range(8)]
        for line in lines:
            line.request("GET", "/runs/run/events", headers={"cookie": cookie(port)})
        answers = [line.getresponse().status for line in lines]
        assert sorted(answers) == [200] * 3 + [503] * 5
        for line in lines:
            line.close()
        answer = 503
        while answer == 503:
            with told_or_refused(port) as answer:
                pass
        assert answer == 200


@contextmanager
def told_or_refused(port):
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/runs/run/events", headers={"cookie": cookie(port)})
    yield connection.getresponse().status
    connection.close()


def test_a_run_that_has_not_begun_is_waited_for(tmp_path):
    with watching(tmp_path / "later") as port, told(port, "later") as following:
        assert (following()["total"]) == 0


def test_nobody_else_is_answered(tmp_path):
    path = gauntlet(1).write(tmp_path / "run")
    with watching(path) as port:
        for headers in ({"host": "evil.example"}, {"origin": "http://evil.example"}, {"sec_fetch_site": "cross-site"}):
            for index in ("/", "/runs/run", "/runs/run/events", "/lab/live.js"):
                assert request(port, index, **headers)[0] == 403
        status, headers, _ = request(port, "/")
        assert status == 200
        assert "default-src 'none'" in headers["content-security-policy"]
        assert request(port, "/static/../server.py")[0] == 404


def test_names_of_agents_reach_the_page_as_text(tmp_path):
    path = gauntlet(2, contenders=("<b>&",)).write(tmp_path / "run")
    with watching(path) as port, told(port) as following:
        assert "<b>&" in {row["name"] for row in following()["standings"]}


def test_a_tournament_is_watched_while_it_is_played_and_its_page_stays(tmp_path, monkeypatch):
    seen = []

    @contextmanager
    def beside(resources, path, announce):
        with serve_in_background(resources, path, announce, open_browser=False):
            yield lambda: seen.append(load_findings(resources.runs))

    monkeypatch.setattr("knights_isolation.reports.lab.server.serve_in_background", beside)
    words = ["match", "random", "greedy", "--pairs", "2", "--jobs", "1", "--watch", "--out", str(tmp_path / "run")]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    assert "Live page: http://127.0.0.1:" in result.output
    assert len(seen[0].games) == 4


@pytest.mark.parametrize("words", [["watch", "nowhere", "--no-open"]])
def test_a_run_that_there_is_not_is_said(words):
    assert "nowhere: not a run directory" in CliRunner().invoke(main, words).output

"""`isolation league` as a teacher uses it: checks, plans, boards, formats, and a class with all that goes wrong."""

import json
import re
import shutil
import zipfile
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner
from submissions import HONEST, THIRD, league, submit

import knights_isolation as ki
from cli import main
from knights_isolation.experiments.league.entries import (
    Check,
    Entry,
    LeagueEntries,
    is_unchanged,
    keep,
    played_in,
    read_book,
)
from knights_isolation.experiments.league.league_run import choose_board, fit_for, read_results
from knights_isolation.experiments.league.submissions import Submission
from knights_isolation.experiments.plan.run_keeping import reopen
from knights_isolation.experiments.record.log import games_folder, read_games
from knights_isolation.experiments.record.log_parts import remove_games
from knights_isolation.experiments.statistics.run_results import load_findings
from knights_isolation.isolation.compiling import code_cache
from knights_isolation.isolation.rules.game import Size

BEST = HONEST.format(prefers="len(game.forecast_move(move).get_legal_moves(self))")
NEVER = "class CustomPlayer:\n    def get_move(self, game, time_left):\n        return (-1, -1)\n"
SHORT = ("--pairs", "1", "--limit", "cpu_ms=100", "--jobs", "1")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class of five, played into `run`; `said.json` and `notes.txt` are what the command printed."""
    home = tmp_path_factory.mktemp("league")
    submit(home / "class", "ada", BEST)
    submit(home / "class", "ben", f"# my own\n{BEST}")
    submit(home / "class", "cleo", "def f(:\n")
    submit(home / "class", "cleo", BEST, "sample_players.py")
    submit(home / "class", "never", NEVER)
    with zipfile.ZipFile(home / "class" / "zoe.zip", "w") as archive:
        archive.writestr("game_agent.py", HONEST.format(prefers="move"))
    done = league(home / "class", *SHORT, "--format", "json", "--out", home / "run")
    assert done.exit_code == 0, done.output
    (home / "said.json").write_text(done.stdout)
    (home / "notes.txt").write_text(done.stderr)
    return home


@pytest.mark.exhaustive
def test_with_another_format_only_the_tables_are_on_stdout(home: Path) -> None:
    data = json.loads((home / "said.json").read_text())
    assert list(data) == ["ranking", "identical", "forfeits", "checks", "skipped", "verdict", "notes"]
    notes = (home / "notes.txt").read_text()
    assert "Note: cleo does not play: game_agent.py is not Python: line 1: invalid syntax\n" in notes
    assert "Board: 7x7, the usual one; no player is of the third edition.\n" in notes
    assert f"12 of 12 games, logged in {home / 'run'}\n" in notes
    assert data["verdict"] == [{"verdict": notes.splitlines()[-1]}]


@pytest.mark.slow
def test_who_never_makes_a_legal_move_has_no_rank(home: Path) -> None:
    ranking = json.loads((home / "said.json").read_text())["ranking"]
    assert [(row["rank"], row["player"]) for row in ranking[-1:]] == [(None, "never")]
    assert {row["rank"] for row in ranking[:-1]} <= {1, 2, 3}
    assert [row["games"] for row in ranking] == [4, 4, 4, 6]
    results = read_results(home / "run")
    assert results.never_moved == {"never"}
    pages = home / "run" / "league"
    assert "<dd>none: it never made a legal move</dd>" in (pages / "player-never.html").read_text()
    assert " of 3</dd>" in (pages / "player-ada.html").read_text()


@pytest.mark.exhaustive
def test_the_function_resumes_a_league_and_returns_the_ranking_of_the_command(home: Path) -> None:
    with pytest.warns(UserWarning, match="cleo does not play: "):
        result = ki.league(home / "class", resume=home / "run", jobs=1)
    ranking = json.loads((home / "said.json").read_text())["ranking"]
    assert result.to_frame()["player"].tolist() == [row["player"] for row in ranking]
    assert result.value.never_moved == {"never"}
    with pytest.raises(ValueError, match=r"resume keeps the settings of run: omit (--)?pairs"):
        ki.league(home / "class", resume="run", pairs=3)


@pytest.mark.exhaustive
def test_a_class_in_which_at_most_one_ever_moves_has_no_ranking(tmp_path: Path) -> None:
    for name in ("x", "y"):
        submit(tmp_path / "class", name, NEVER)
    done = league(tmp_path / "class", *SHORT, "--out", tmp_path / "none")
    assert done.exit_code == 0, done.output
    assert done.output.splitlines()[-1] == "No player made legal moves, so there is no ranking."
    submit(tmp_path / "class", "z", BEST)
    done = league(tmp_path / "class", *SHORT, "--out", tmp_path / "one")
    assert done.exit_code == 0, done.output
    assert done.output.splitlines()[-1] == "Only z made legal moves, so there is no ranking."
    assert "\nWithout a rank, having never made a legal move: x, y. Their" in done.output
    assert "<dt>Rank</dt><dd>none</dd>" in (tmp_path / "one" / "league" / "player-z.html").read_text()


def test_identical_submissions_stand_side_by_side(home: Path) -> None:
    ((pair),) = json.loads((home / "said.json").read_text())["identical"]
    results = read_results(home / "run")
    assert pair == {
        "player": "ada", "identical_to": "ben",
        "rank": results.ranks["ada"], "rank_of_the_other": results.ranks["ben"],
    }  # fmt: skip
    pages = home / "run" / "league"
    assert "Identical submissions" in (pages / "index.html").read_text()
    assert "dentical" not in (pages / "player-ada.html").read_text()


def test_rows_of_the_crosstable_have_the_ranks_that_head_its_columns(home: Path) -> None:
    page = (home / "run" / "league" / "index.html").read_text()
    table = page.partition('id="meetings"')[2].partition("</table>")[0]
    for agent, rank in read_results(home / "run").ranks.items():
        assert f'<th scope="row">{rank or "–"} {agent}</th>' in table
        assert f'<th scope="col" class="number"><abbr title="{agent}">{rank or "–"}</abbr></th>' in table


def test_nobody_is_an_opponent_of_their_own(home: Path) -> None:
    page = (home / "run" / "league" / "player-ada.html").read_text()
    listed = page.partition('id="opponents"')[2].partition("</table>")[0]
    others = [name for name in read_results(home / "run").ranks if name != "ada"]
    assert re.findall(r">(ada|ben|zoe|never)<", listed) == others


def test_the_page_of_a_class_says_what_was_played(home: Path) -> None:
    run = home / "run"
    facts = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", (run / "league" / "index.html").read_text()))
    games, day = len(read_games(run)), date.fromisoformat(facts["Played"])
    assert day.isoformat() == json.loads((run / "run.json").read_text())["created_at"][:10]
    findings = load_findings([run])
    ranked = len(findings.agents)
    assert facts["Players"] == f"{ranked} ranked of {ranked + 1}"
    assert facts["Games"] == f"{findings.played} counted of {games}"
    assert (facts["Board"], facts["Hard cap"]) == ("7x7", "2 s")


@pytest.mark.parametrize("command", ["results", "ratings", "report"])
def test_every_command_leaves_out_whom_the_page_of_the_class_leaves_out_and_says_so(command: str, home: Path) -> None:
    run = str(home / "run")
    text = CliRunner().invoke(main, [command, run], catch_exceptions=False).output
    if command == "report":
        text = (home / "run" / "report.html").read_text()
    if command == "results":
        CliRunner().invoke(main, ["results", run, "--full"], catch_exceptions=False)
    sentence = "Without a rank, having never made a legal move: never. Their 6 games count for nobody."
    assert sentence in text
    assert sentence in (home / "run" / "league" / "index.html").read_text()
    if command == "ratings":
        page = json.loads((home / "said.json").read_text())["ranking"][:-1]
        rows = json.loads(CliRunner().invoke(main, ["ratings", run, "--format", "json"]).output)["ratings"]
        assert [(row["agent"], row["games"], row["wins"]) for row in rows] == [
            (row["player"], row["games"], row["wins"]) for row in page
        ]


@pytest.mark.slow
def test_the_class_can_be_checked_without_a_game(home: Path) -> None:
    done = league(home / "class", "--check-only", "--jobs", "1", "--format", "json")
    assert done.exit_code == 1
    data = json.loads(done.stdout)
    rows = {row["submission"]: row for row in data["submissions"]}
    assert {name: row["plays"] for name, row in rows.items()} == {
        "ada": True, "ben": True, "cleo": False, "never": True, "zoe": True,
    }  # fmt: skip
    assert rows["cleo"]["remark"] == "game_agent.py is not Python: line 1: invalid syntax"
    assert (rows["zoe"]["file"], rows["zoe"]["player"], rows["zoe"]["edition"]) == (
        "game_agent.py", "CustomPlayer", "second",
    )  # fmt: skip
    assert rows["never"]["remark"] == "1 check failed"
    assert [row["player"] for row in data["checks"]] == ["never"]
    assert data["identical"] == [{"player": "ada", "identical_to": "ben"}]


def test_a_class_without_refusals_is_checked_with_exit_code_0(tmp_path: Path) -> None:
    submit(tmp_path / "class", "ada", BEST)
    (tmp_path / "class" / "grades.xlsx").write_text("")
    done = league(tmp_path / "class", "--check-only", "--jobs", "1")
    assert done.exit_code == 0, done.output
    assert "1 of 1 submission can play." in done.output
    assert "grades.xlsx  is not a folder" in done.output
    assert not (tmp_path / "runs").exists()


@pytest.mark.slow
def test_a_league_can_be_planned_without_a_game(home: Path, tmp_path: Path) -> None:
    done = league(home / "class", *SHORT, "--dry-run", "--out", tmp_path / "run")
    assert done.exit_code == 0, done.output
    assert "Round-robin on 7x7: 12 games would be played, in 6 matches of 1 opening" in done.output
    assert "Estimated time: at most " in done.output
    assert not (tmp_path / "run").exists()
    shutil.copytree(home / "class", tmp_path / "class")
    late = tmp_path / "late"
    submit(late, "late", HONEST.format(prefers="-move[0]"))
    done = league(late, "--resume", home / "run", "--dry-run", "--jobs", "1")
    assert done.exit_code == 0, done.output
    assert "8 games would be played in addition to 12 already played" in done.output


def test_a_league_goes_on_where_the_cache_of_unpacked_archives_was_cleared(home: Path) -> None:
    shutil.copytree(home / "run", home / "again")
    unpacked, begun = code_cache.folder() / "submissions", read_book(home / "again")
    assert begun is not None
    cached = [entry.player.file for entry in begun.entries if entry.player.file.is_relative_to(unpacked)]
    assert cached
    for file in cached:  # no others: tests of other processes use the same cache
        shutil.rmtree(unpacked / file.relative_to(unpacked).parts[0])
    done = league(home / "class", "--resume", home / "again", "--jobs", "1")
    assert done.exit_code == 0, done.output
    assert f"Board: 7x7, as in {home / 'again'}.\n" in done.output
    book = read_book(home / "again")
    assert book is not None
    assert [entry.player.name for entry in book.entries] == ["ada", "ben", "never", "zoe"]


@pytest.mark.slow
def test_all_changed_folders_play_as_new_players_beside_what_they_were(tmp_path: Path) -> None:
    first, second = HONEST.format(prefers="move"), HONEST.format(prefers="-move[0]")
    for name in ("ada", "ben"):
        submit(tmp_path / "class", name, first)
        submit(tmp_path / "class", name, "1", "weights.json")
    done = league(tmp_path / "class", *SHORT, "--out", tmp_path / "run")
    assert done.exit_code == 0, done.output
    submit(tmp_path / "class", "ada", second)
    submit(tmp_path / "class", "ben", "2", "weights.json")
    submit(tmp_path / "class", "cleo", BEST)
    done = league(tmp_path / "class", "--resume", tmp_path / "run", "--jobs", "1")
    assert done.exit_code == 0, done.output
    for name in ("ada", "ben"):
        assert (
            f"The folder '{name}' has changed since {name} played: what it holds now plays as {name}-2" in done.output
        )
    assert "2 games come from" in done.output
    kept = tmp_path / "run-2" / "submitted"
    assert sorted(folder.name for folder in kept.iterdir()) == ["ada", "ada-2", "ben", "ben-2", "cleo"]
    assert [(kept / name / "game_agent.py").read_text() for name in ("ada", "ada-2")] == [first, second]
    assert [(kept / name / "weights.json").read_text() for name in ("ben", "ben-2")] == ["1", "2"]
    done = league(tmp_path / "class", "--resume", tmp_path / "run", "--jobs", "1")
    assert done.exit_code == 0, done.output
    assert not (tmp_path / "run-3").exists()


@pytest.mark.slow
def test_a_league_that_was_moved_needs_neither_its_place_nor_the_submissions(tmp_path: Path) -> None:
    for name, prefers in (("ada", "move"), ("ben", "-move[0]")):
        submit(tmp_path / "class", name, HONEST.format(prefers=prefers))
    assert league(tmp_path / "class", *SHORT, "--out", tmp_path / "run").exit_code == 0
    shutil.rmtree(tmp_path / "class")
    moved = (tmp_path / "run").rename(tmp_path / "moved")
    reopen(moved)
    assert remove_games(games_folder(moved), "") == 2
    submit(tmp_path / "others", "cleo", BEST)
    done = league(tmp_path / "others", "--resume", moved, "--jobs", "1")
    assert done.exit_code == 0, done.output
    assert "6 of 6 games" in done.output
    assert {player.player.name for player in played_in(tmp_path / "moved-2").entries} == {"ada", "ben", "cleo"}


@pytest.mark.parametrize(
    ("file", "text", "is_same"),
    [("game_agent.py", BEST, True), ("game_agent.py", f"{BEST}# b", False), ("weights.json", "2", False),
     ("helper.py", "2", True), ("report.txt", "2", True)],
)  # fmt: skip
def test_a_folder_is_unchanged_if_all_that_was_copied_is_as_it_was(
    file: str, text: str, is_same: bool, tmp_path: Path
) -> None:
    player = Submission("ada", submit(tmp_path, "ada", BEST), "CustomPlayer", "second")
    submit(tmp_path, "ada", "1", "weights.json")
    (copy,) = keep([player], tmp_path / "run").values()
    submit(tmp_path, "ada", text, file)
    assert is_unchanged(player, copy) is is_same


def test_a_class_that_cannot_play_says_why_and_ends_with_exit_code_1(tmp_path: Path) -> None:
    submit(tmp_path / "class", "ada", BEST)
    submit(tmp_path / "class", "ben", "def f(:\n")
    done = league(tmp_path / "class", *SHORT, "--out", tmp_path / "run")
    assert done.exit_code == 1
    assert done.stderr == (
        "Note: ben does not play: game_agent.py is not Python: line 1: invalid syntax\n"
        "Error: a league needs two players; only 1 of the submissions can play\n"
    )
    assert not (tmp_path / "run").exists()


def test_archives_in_place_of_the_folder_are_to_be_unpacked(tmp_path: Path) -> None:
    (tmp_path / "autumn.zip").write_bytes(b"")
    done = league(tmp_path / "autumn")
    assert (done.exit_code, done.output) == (
        2, f"Error: {tmp_path / 'autumn'}: no such directory; there is {tmp_path / 'autumn.zip'}: unpack it\n",
    )  # fmt: skip
    done = league(tmp_path / "autumn.zip")
    assert (done.exit_code, done.output) == (
        2, f"Error: {tmp_path / 'autumn.zip'} is an archive: unpack it; name a folder of submissions\n",
    )  # fmt: skip


def test_help_shows_two_commands() -> None:
    output = league("--help").output
    assert "\n    isolation league submissions --check-only\n" in output
    assert "\n    isolation league submissions --pairs 20 --limit cpu_ms=300 --out runs/class\n" in output


# The board


def class_of(*editions: str) -> LeagueEntries:
    """A class of players of these editions."""
    players = [Submission(f"p{n}", Path("game_agent.py"), "CustomPlayer", name) for n, name in enumerate(editions)]
    return LeagueEntries(tuple(Entry(player, "", Check("")) for player in players), ())


def test_the_board_is_the_one_that_most_wrote_for_unless_asked_for_another() -> None:
    one_of_three, two_of_three = class_of("first", "second", "third"), class_of("third", "second", "third")
    board = choose_board(one_of_three)
    assert board.size == (7, 7)
    assert board.sentence.startswith(
        "Board: 7x7, the usual one; 1 of 3 players is of the third edition, which was made"
    )
    assert choose_board(class_of("first", "third")).size == (7, 7)
    board = choose_board(two_of_three)
    assert board.size == (9, 11)
    assert board.sentence.startswith(
        "Board: 9x11, since 2 of 3 players are of the third edition, which was made for it"
    )
    assert choose_board(two_of_three, "5x6").size == (5, 6)
    assert choose_board(two_of_three, "5x6").sentence.startswith("Board: 5x6, as asked for; 2 of 3 players are")


def test_players_that_do_not_know_the_board_are_listed_and_not_played() -> None:
    book = class_of("first", "third", "second")
    assert fit_for(book, Size(9, 11)) == book
    large = fit_for(book, Size(10, 11))
    assert [entry.player.name for entry in large.entries] == ["p0", "p2"]
    (refused,) = large.refused
    assert (refused.name, refused.why) == ("p1", "players of the third edition support boards of up to 9x11, not 10x11")


@pytest.mark.slow
def test_a_board_is_asked_for_on_the_command_line(tmp_path: Path) -> None:
    submit(tmp_path, "ada", BEST)
    submit(tmp_path, "ben", THIRD, "my_custom_player.py")
    submit(tmp_path, "cleo", HONEST.format(prefers="move"))
    done = league(tmp_path, *SHORT, "--board", "10x11", "--dry-run")
    assert done.exit_code == 0, done.output
    assert (
        "Note: ben does not play: players of the third edition support boards of up to 9x11, not 10x11\n" in done.output
    )
    assert "Round-robin on 10x11: 2 games would be played" in done.output
    assert "Round-robin on 7x7: 6 games would be played" in league(tmp_path, *SHORT, "--dry-run").output

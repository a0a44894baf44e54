import html
import json
import math
import re
from dataclasses import replace

import pytest
from played_games import NAMES, random_record, write_run

from knights_isolation.experiments import game_files
from knights_isolation.experiments.game_files import append_game, load_game, save_game
from knights_isolation.experiments.queries import KINDS, find_games, read_game
from knights_isolation.experiments.record.log import PER_PLY, read_games
from knights_isolation.isolation import Board
from knights_isolation.isolation.rules.game import Size
from knights_isolation.reports.pages.templates import STYLE
from knights_isolation.reports.replay import (
    as_json,
    bundle,
    describe_end,
    describe_ply,
    find_replay,
    next_ply,
    page,
    ply_rows,
    replay_of_moves,
    replay_of_row,
    replay_of_run,
    replay_page,
    step_through,
)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "played"
    write_run(path)
    return path


@pytest.fixture(scope="module")
def frame(run):
    return read_games(run)


# Finding games


def test_a_played_game_is_read_back_from_the_log(run, frame):
    records = [random_record(seed, (NAMES[seed % 3], NAMES[(seed + 1) % 3])) for seed in (0, 1)]
    assert len(frame) == 12
    for game_id, record in enumerate(records):
        row = read_game(run, game_id)
        assert [tuple(row[name]) for name in ("moves", "depth", "nodes")] == [record.moves, record.depth, record.nodes]
        assert (row["agent_1"], row["agent_2"], row["winner"]) == (record.agent_1, record.agent_2, record.winner)
        assert (row["rows"], row["columns"], row["plies"]) == (5, 5, len(record.moves))


def test_longest_and_shortest_games_come_in_order_of_their_plies(run, frame):
    assert list(find_games(run, "longest")["plies"]) == sorted(frame["plies"], reverse=True)
    assert list(find_games(run, "shortest")["plies"]) == sorted(frame["plies"])


def test_forfeits_are_the_games_that_ended_otherwise(run):
    assert list(find_games(run, "forfeits")["game_id"]) == [5]


def test_upsets_were_won_by_the_agent_that_wins_less_the_widest_gap_first(run, frame):
    games = [
        (row.agent_1, row.agent_2) if row.winner == 1 else (row.agent_2, row.agent_1) for row in frame.itertuples()
    ]
    share = {name: sum(winner == name for winner, _ in games) / sum(name in game for game in games) for name in NAMES}
    gaps = {index: share[loser] - share[winner] for index, (winner, loser) in enumerate(games)}
    listed = find_games(run, "upsets")
    assert set(listed["game_id"]) == {index for index, gap in gaps.items() if gap > 0} != set()
    assert [gaps[index] for index in listed["game_id"]] == sorted((g for g in gaps.values() if g > 0), reverse=True)


def test_a_condition_speaks_of_the_columns_and_of_who_won_and_lost(run, frame):
    expected = frame[(frame["agent_1"] == "Random") & (frame["plies"] > 10)]["game_id"]
    assert list(find_games(run, "all", "agent_1 == 'Random' and plies > 10")["game_id"]) == list(expected)
    won = find_games(run, "all", "won_by == 'Random'")
    assert all((row.agent_1 if row.winner == 1 else row.agent_2) == "Random" for row in won.itertuples())
    assert len(won) + len(find_games(run, "all", "won_by != 'Random'")) == len(frame)
    assert list(find_games(run, "longest", "lost_by == 'Random'")["lost_by"].unique()) in (["Random"], [])


@pytest.mark.parametrize(
    "where", ["nothing > 3", "plies >", "plies", "True", "@frame", "__import__('os')", "agent_1 + 1"]
)
def test_a_condition_that_cannot_be_evaluated_is_refused_in_one_line(run, where):
    with pytest.raises(ValueError, match="--where") as caught:
        find_games(run, "all", where)
    assert "\n" not in str(caught.value)


def test_unknown_kinds_runs_and_games_are_refused(run, tmp_path):
    with pytest.raises(ValueError, match="choose one of all, longest"):
        find_games(run, "oldest")
    for reading in (lambda: find_games(tmp_path), lambda: read_game(tmp_path, 0)):
        with pytest.raises(ValueError, match="not a run directory"):
            reading()
    for game_id in (99, 10**30):
        with pytest.raises(ValueError, match=f"has no game {game_id}"):
            read_game(run, game_id)
    assert "upsets" in KINDS


# Saved games


def test_a_saved_game_is_loaded_again(tmp_path):
    game = random_record(3)
    save_game(tmp_path / "game.json", game)
    loaded = load_game(tmp_path / "game.json")
    assert replace(loaded, score=()) == replace(game, score=())
    assert [score for score in loaded.score if not math.isnan(score)] == list(game.score[2:])


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"moves": 3}', "\x00"])
def test_a_file_that_is_no_saved_game_is_refused(tmp_path, text):
    (tmp_path / "game.json").write_text(text)
    with pytest.raises(ValueError, match="is not a saved game"):
        load_game(tmp_path / "game.json")


def test_a_saved_game_with_illegal_moves_is_refused(tmp_path):
    save_game(tmp_path / "game.json", replace(random_record(3), moves=(0, 0)))
    with pytest.raises(ValueError, match="is not a saved game: ValueError: illegal move at ply 2"):
        load_game(tmp_path / "game.json")


def test_games_are_numbered_on_and_are_pairs_of_their_own(tmp_path):
    agents = (None, None)
    assert [append_game(tmp_path / "log", random_record(seed), agents) for seed in range(3)] == [0, 1, 2]
    frame = read_games(tmp_path / "log")
    assert list(frame["game_id"]) == list(frame["pair_id"]) == [0, 1, 2]
    assert json.loads(frame["settings_1"][0]) == {"kind": "human"}
    assert all(len(row[name]) == row["plies"] for row in frame.to_dict("records") for name in PER_PLY)


def test_unfinished_games_and_games_in_a_tournament_are_not_appended(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="only finished games can be logged"):
        append_game(tmp_path / "log", replace(random_record(1), winner=0), (None, None))
    monkeypatch.setattr(game_files, "is_run", lambda path: True)
    with pytest.raises(ValueError, match="is a tournament run"):
        append_game(tmp_path / "log", random_record(1), (None, None))
    assert list(tmp_path.iterdir()) == []


# What a replay says


def test_every_ply_is_told_with_what_its_mover_knew(run):
    replay = replay_of_run(run, 0)
    assert describe_ply(replay, 0) == "ID_Improved against Random on 5x5"
    assert re.fullmatch(r"ply 1: ID_Improved placed [a-e][0-4], of the opening", describe_ply(replay, 1))
    assert re.fullmatch(
        r"ply 4: Random played [a-e][0-4], score [\d.]+, depth \d, [\d,]+ nodes, [\d.]+ ms", describe_ply(replay, 4)
    )
    assert ", score win," in describe_ply(replay, len(replay.moves))


def test_mistakes_are_told_where_they_are_known(run):
    replay = replace(replay_of_run(run, 0), mistakes=(5,))
    assert "mistake: gave the win away" in describe_ply(replay, 5)
    assert [row["ply"] for row in ply_rows(replay) if row["mistake"]] == [5]
    assert "mistake" not in ply_rows(replay_of_run(run, 0))[4]


@pytest.mark.parametrize(
    ("game", "end"),
    [
        (replay_of_moves([24, 14], Size(7, 7)), "Player 1 to move."),
        (replay_of_moves([0, 5], Size(2, 3)), "Player 2 has won: Player 1 has no move."),
        (
            replay_of_row("x", vars(replace(random_record(1), winner=1, reason="timeout", detail="late at ply 6"))),
            "ID_Improved has won: Random exceeded its time (late at ply 6).",
        ),
        (
            replay_of_row("x", vars(replace(random_record(1), winner=2, reason="resigned"))),
            "Random has won: ID_Improved resigned.",
        ),
    ],
)
def test_the_end_says_who_won_and_why(game, end):
    assert describe_end(game) == end


def test_a_game_is_found_by_run_and_number_by_file_or_by_moves(run, tmp_path, monkeypatch):
    save_game(tmp_path / "game.json", random_record(7))
    moves = tuple(read_game(run, 3)["moves"])
    assert find_replay(str(run), 3, "7x7", "").moves == moves
    monkeypatch.setattr("knights_isolation.reports.replay.run_path", lambda latest: latest or run)
    assert find_replay("3", None, "7x7", "").moves == moves
    assert find_replay(str(tmp_path / "game.json"), None, "7x7", "").moves == random_record(7).moves
    assert find_replay([24, 14], None, "7x7", "").moves == (24, 14)
    assert find_replay(random_record(7), None, "7x7", "").moves == random_record(7).moves
    typed = [find_replay(None, None, "7x7", moves).moves for moves in ("d3,a2", "24 14")]
    assert typed == [(24, 14), (24, 14)]


@pytest.mark.parametrize(
    ("source", "game_id", "moves", "complaint"),
    [
        (None, None, "", "no game named"),
        ("x", 1, "d3", "choose one source of the game: a run, a file or --moves"),
        (None, 1, "d3", "choose one source of the game: a run, a file or --moves"),
        ("RUN", None, "", "no game of"),
        ("RUN", 99, "", "has no game 99"),
        ("missing.json", None, "", "missing.json: No such file"),
        (None, None, "d3,d3", "illegal move at ply 2"),
        (None, None, "d3,z9", "is not on the 7x7 board"),
    ],
)
def test_a_game_that_cannot_be_found_is_refused(run, source, game_id, moves, complaint):
    with pytest.raises(ValueError, match=re.escape(complaint)):
        find_replay(str(run) if source == "RUN" else source, game_id, "7x7", moves)


# In the terminal


def test_keys_step_through_a_game():
    assert [next_ply(key, 3, 9) for key in ("\r", "\x1b[C", "n", "\x1b[D", "b", "f", "\x1b[H", "l", "x", "q")] == [
        4, 4, 4, 2, 2, 0, 0, 9, 3, None,
    ]  # fmt: skip
    assert (next_ply("b", 0, 9), next_ply("n", 9, 9)) == (0, 9)


def test_stepping_shows_each_position_until_the_input_ends(run, monkeypatch):
    keys, printed = iter("nlb"), []
    replay = replay_of_run(run, 0)

    def read_key():
        try:
            return next(keys)
        except StopIteration:
            raise EOFError from None

    monkeypatch.setattr("click.echo", printed.append)
    step_through(replay, read_key=read_key)
    last = len(replay.moves)
    assert [re.search(r"\[(\d+)/", text)[1] for text in printed] == ["0", "1", str(last), str(last - 1)]
    assert describe_end(replay) in printed[2]
    assert describe_end(replay) not in printed[3]
    assert page(replay, 3, ascii_only=True).isascii()


# As a page


def game_of(text):
    return json.loads(re.search(r'<script type="application/json" id="game">(.*?)</script>', text, re.DOTALL)[1])


def test_the_page_holds_the_game_and_asks_no_network(run):
    replay = replay_of_run(run, 2)
    text = replay_page(replay)
    assert game_of(text) == json.loads(json.dumps(as_json(replay)))
    assert not re.search(r"""(?:src|href)=["']?(?!data:)[^"'\s>]""", text)
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)
    assert "default-src 'none'" in text


def test_scores_of_simulations_are_known_to_be_shares(run):
    shares = {replay_of_run(run, game).agents: replay_of_run(run, game).is_share for game in range(3)}
    assert shares[("MCTS_10nodes", "ID_Improved")] == (True, False)
    assert shares[("ID_Improved", "Random")] == (False, False)


def test_the_page_escapes_what_players_are_called():
    evil = "</script><script>alert(1)</script>"
    text = replay_page(replay_of_row(evil, vars(random_record(1, (evil, "<b>&"), detail=evil, reason="error"))))
    assert evil not in text
    assert html.escape(evil) in text
    assert game_of(text)["agents"] == [evil, "<b>&"]


def test_a_game_of_which_only_the_moves_are_known_has_a_page_too():
    game = game_of(replay_page(replay_of_moves([24, 14, 9], Size(7, 7))))
    assert (game["score"], game["winner"], game["end"]) == ([], None, "Player 2 to move.")
    assert len(game["lines"]) == 4


def test_the_modules_of_the_page_are_one_script():
    script = bundle()
    assert not re.search(r"^\s*(import|export)\b", script, re.MULTILINE)
    names = re.findall(r"^(?:async )?(?:function|const|let) (\w+)", script, re.MULTILINE)
    assert len(names) == len(set(names))


def test_pages_and_pictures_draw_the_same_knight():
    from knights_isolation.isolation.rules.drawing import KNIGHT

    assert KNIGHT in re.sub(r'" \+\s*"', "", bundle())


def test_positions_of_a_replay_are_those_of_the_game(run):
    replay = replay_of_run(run, 4)
    assert replay.board(len(replay.moves)) == Board.from_moves(replay.moves, "5x5")
    assert replay.board(0) == Board.from_moves([], "5x5")


def test_a_labelled_runs_replay_marks_the_plies_that_threw_the_win_away(run):
    from knights_isolation.experiments.exact.labelling import label_run
    from knights_isolation.experiments.exact.labels import mistakes

    label_run(run, first_ply=12)
    result = 0
    for game_id in read_games(run, columns=["game_id"])["game_id"]:
        marked = replay_of_run(run, game_id).mistakes
        assert marked == tuple(ply + 1 for ply in mistakes(run, game_id))
        result += len(marked)
    assert result


def test_no_style_of_the_lab_meets_a_class_of_a_drawing_by_chance():
    scripts = [path.read_text() for path in (STYLE.parents[1] / "board" / "static").glob("*.js")]
    drawn = {
        name
        for text in scripts
        for kind, names in re.findall(r'makeSvg\("(\w+)", \{[^}]*?class: ["`]([^"`]*)', text)
        for name in names.split()
        if kind != "svg"
    }
    assert {"bar", "dot", "axis"} <= drawn
    style = re.sub(r"/\*.*?\*/", "", STYLE.read_text(), flags=re.DOTALL)
    bare = set(re.findall(r"(?:^|[,}{])\s*\.([\w-]+)\s*(?=[,{])", style))
    assert "soft" in bare
    assert not drawn & bare

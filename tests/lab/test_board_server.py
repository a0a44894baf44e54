import asyncio
import json
import math
import random
import re
from dataclasses import asdict, dataclass, replace
from functools import partial

import pytest
from board_server import request, serving
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from played_games import random_record, write_run
from random_games import positions

from cli import main
from knights_isolation import heuristics, isolation
from knights_isolation.experiments.exact import labels
from knights_isolation.experiments.exact.labelling import label_run
from knights_isolation.experiments.game_files import append_game
from knights_isolation.experiments.plan import complete, make_agent, parse_spec
from knights_isolation.experiments.plan.agent_kinds import KINDS, AgentKind
from knights_isolation.experiments.positions import move_values, opposing, position_value
from knights_isolation.isolation import Board
from knights_isolation.isolation.search.agents import GreedyAgent, RandomAgent
from knights_isolation.isolation.search.interpreted import value_of_move
from knights_isolation.reports.board import board_processes
from knights_isolation.reports.board.board_api import IMPORT, MOST_BYTES, MOST_BYTES_IMPORTED, refusal
from knights_isolation.reports.board.board_processes import USUAL_LIMITS, Processes
from knights_isolation.reports.board.handlers import exact, explored, games, safe_agent
from knights_isolation.reports.board.resources import (
    ExploreQuestion,
    GamesQuestion,
    Position,
    Resources,
    SolveQuestion,
    ValuesQuestion,
    as_position,
    board_of,
    boards_of,
    parse,
)
from knights_isolation.reports.lab.server import listen

ENGINE = AgentKind(
    "engine",
    syntax="engine",
    words=("engine",),
    read=lambda word, spec: "",
    refused=((), ""),
    make=lambda spec: RandomAgent(spec.name),
)
"""A kind of agents that says nothing of the board."""
OPENING = {"size": "7x7", "moves": [24, 14]}


def distance(game, player):
    """Not worth to one player what it costs the other."""
    row, column = game.get_player_location(player) or (0, 0)
    return float(10 * row + column)


def failing(game, player):
    raise RuntimeError("oops")


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "played"
    return path, write_run(path)


@pytest.fixture(scope="module")
def port(records):
    resources = Resources(
        (records[0],), {"distance": distance, "failing": failing}, {"my agent": GreedyAgent("my agent")}
    )
    with serving(resources) as port:
        yield port


def ask(port, path, question=None):
    body = None if question is None else json.dumps(question).encode()
    status, _, text = request(port, path, body)
    return status, json.loads(text)


# Who may ask


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "evil.example:{port}"},
        {"host": "127.0.0.1"},
        {"host": "127.0.0.1:1"},
        {"host": "localhost.evil.example:{port}"},
        {"host": ""},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:1"},
        {"origin": "https://127.0.0.1:{port}"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
        {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"},
    ],
)
def test_other_hosts_and_other_origins_are_refused_everywhere(port, headers):
    headers = {name: value.format(port=port) for name, value in headers.items()}
    for path, body in (
        ("/api/start", None),
        ("/api/move", json.dumps({"position": OPENING, "agent": "random"}).encode()),
    ):
        status, _, text = request(port, path, body, **headers)
        assert status == 403
        error = json.loads(text)["error"]
        assert "answers at" in error or "own pages" in error


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"host": "localhost:{port}"},
        {"origin": "http://127.0.0.1:{port}", "sec_fetch_site": "same-origin"},
        {"sec_fetch_site": "none", "sec_fetch_mode": "navigate"},
    ],
)
def test_the_page_itself_is_answered(port, headers):
    headers = {name: value.format(port=port) for name, value in headers.items()}
    assert request(port, "/api/start", **headers)[0] == 200


def test_a_link_from_elsewhere_opens_the_page_but_reads_nothing_else():
    elsewhere = {"host": "127.0.0.1:80", "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    for page in ("/", "/board", "/runs/first"):
        assert refusal("GET", page, elsewhere, 80) == ""
    assert refusal("GET", "/api/start", elsewhere, 80) != ""
    assert refusal("POST", "/", elsewhere, 80) != ""


def test_questions_in_a_form_are_refused_as_any_page_can_send_them(port):
    body = json.dumps({"position": OPENING, "agent": "random"}).encode()
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        assert request(port, "/api/move", body, content_type=kind)[0] == 403


def test_long_and_endless_questions_are_refused(port):
    assert request(port, "/api/move", b" " * (MOST_BYTES + 1))[0] == 413
    assert request(port, "/api/move", b"", content_length="x")[0] in (400, 413)
    status, _, message = request(port, IMPORT, b"", content_length=MOST_BYTES_IMPORTED + 1)
    assert (status, "paste fewer games" in message) == (413, True)
    assert request(port, "/api/move", b"0\r\n\r\n", transfer_encoding="chunked")[0] == 411


def test_the_browser_is_told_to_load_nothing_from_elsewhere_and_to_frame_nothing(port):
    for path in (
        "/",
        "/board",
        "/heuristics",
        "/try",
        "/class",
        "/static/app.js",
        "/lab/frame.js",
        "/api/start",
        "/nothing",
    ):
        headers = request(port, path)[1]
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in headers
        if not path.startswith("/static"):
            assert not re.search(r"<script(?![^>]*src=)|\son\w+=|style=", request(port, path)[2])


def test_it_listens_on_the_loopback_address_only():
    with listen(0) as listener:
        assert listener.getsockname()[0] == "127.0.0.1"
        with pytest.raises(ValueError, match=r"cannot use port .*--port 0"):
            listen(listener.getsockname()[1])


@pytest.mark.parametrize(
    "path",
    [
        "/static/../server.py",
        "/static/..%2fserver.py",
        "/static/%2e%2e/server.py",
        "/static//etc/passwd",
        "/static/%2fetc%2fpasswd",
        "/..//..//etc/passwd",
        "/api/runs/played/games/../../../../etc/passwd",
        "/api/runs/%2fetc/games",
        "/api/runs/-1/games",
        f"/api/runs/{'9' * 5000}/games",
        f"/api/runs/played/games/{'9' * 5000}",
    ],
)
def test_no_path_leads_out_of_what_is_served(port, path):
    status, _, text = request(port, path)
    assert status in (400, 404)
    assert "import" not in text
    assert "root:" not in text


# Runs


def test_the_page_is_told_what_there_is_to_choose(port):
    status, choices = ask(port, "/api/start")
    assert status == 200
    assert choices["runs"] == ["played"]
    assert choices["agents"] == ["my agent"]
    assert {entry["name"] for entry in choices["heuristics"]} == {*heuristics.names(), "distance", "failing"}


def test_games_are_listed_and_loaded(port, records):
    status, listed = ask(port, "/api/runs/played/games?kind=longest&agent=Random")
    assert status == 200
    assert (
        listed["total"] == sum("Random" in (game.agent_1, game.agent_2) for game in records[1]) == len(listed["games"])
    )
    assert listed["agents"] == ["ID_Improved", "MCTS_10nodes", "Random"]
    for row in listed["games"][:2]:
        game = ask(port, f"/api/runs/played/games/{row['game_id']}")[1]
        assert tuple(game["moves"]) == records[1][row["game_id"]].moves
        assert len(game["moves"]) == row["plies"]


def test_games_are_shown_where_there_are_no_child_processes(records, monkeypatch):
    monkeypatch.setattr(board_processes, "CAN_SEARCH", False)
    monkeypatch.setattr(board_processes, "Child", None)
    processes = Processes(Resources((records[0],)))
    processes.prepare()
    answer = asyncio.run(processes.answer(partial(games, GamesQuestion(run="played", kind="longest")), ""))
    assert answer.status == 200
    assert json.loads(answer.body)["total"] == len(records[1])


def test_a_board_that_closes_while_it_answers_keeps_no_process(records, monkeypatch):
    ended = []

    class Process:
        def __init__(self, setup, longest):
            pass

        def start(self):
            pass

        def ask(self, question, seconds):
            processes.close()
            return 200, ""

        def memory(self):
            return 0

        def end(self):
            ended.append(self)

    monkeypatch.setattr(board_processes, "Child", Process)
    processes = Processes(Resources((records[0],)))
    asyncio.run(processes.answer(partial(games, GamesQuestion(run="played", kind="longest")), ""))
    assert len(ended) == 1


def test_a_list_of_games_has_their_mistakes_or_says_how_to_have_them(tmp_path):
    run = tmp_path / "played"
    write_run(run, 3)
    listing = games(GamesQuestion(run=run.name), Resources((run,)))
    assert listing["advice"] == f"isolation perfect label {run}"
    assert "mistakes" not in listing["games"][0]
    label_run(run)
    listing = games(GamesQuestion(run=run.name), Resources((run,)))
    assert listing["advice"] == ""
    assert [row["mistakes"] for row in listing["games"]] == [
        len(labels.mistakes(run, row["game_id"])) for row in listing["games"]
    ]


def test_replies_in_a_run_are_counted_and_read_anew_when_it_has_grown(tmp_path):
    run, record = tmp_path / "played", random_record(1)
    append_game(run, record, (None, None))
    question = ExploreQuestion(run=run.name, position=Position(size="5x5", moves=list(record.moves[:3])))
    for games_played in (1, 2):
        answer = explored(question, Resources((run,)))
        assert (answer["games"], answer["drawn"], answer["moves"][0]) == (
            games_played,
            False,
            {"cells": [record.moves[3]], "games": games_played, "won": games_played * (record.winner == 2)},
        )
        append_game(run, record, (None, None))


def test_reading_a_log_leaves_memory_for_what_comes_next(records):
    with serving(Resources((records[0],)), replace(USUAL_LIMITS, short_places=1)) as port:
        assert ask(port, "/api/explore", {"run": "played", "position": {"size": "5x5"}})[0] == 200
        assert ask(port, "/api/runs/played/games")[0] == 200
        question = {"position": OPENING, "heuristics": ["improved"]}
        assert "error" not in ask(port, "/api/values", question)[1]["values"]["improved"]


def test_the_page_explores_takes_in_and_gives_out(port, records):
    moves = list(records[1][0].moves)
    status, answer = ask(port, "/api/explore", {"run": "played", "position": {"size": "5x5", "moves": moves[:2]}})
    assert (status, answer["games"]) == (200, 1)
    status, answer = ask(port, "/api/export", {"kind": "json", "position": {"size": "5x5", "moves": moves}})
    assert status == 200
    status, answer = ask(port, "/api/import", {"text": answer["text"]})
    assert (status, answer["games"][0]["moves"]) == (200, moves)


def test_games_are_taken_in_by_the_hundred(port, records):
    line = json.dumps({"size": "5x5", "moves": list(records[1][0].moves), "detail": "x" * 1000}) + "\n"
    status, answer = ask(port, IMPORT, {"text": line * 110})
    assert (status, len(answer["games"])) == (200, 110)


@pytest.mark.parametrize(
    ("path", "complaint"),
    [
        ("/api/runs/1/games", "no run '1'"),
        ("/api/runs/7/games/0", "no run '7'"),
        ("/api/runs/played/games/99", "has no game 99"),
        ("/api/runs/played/games?kind=oldest", "no kind of games"),
    ],
)
def test_what_is_not_there_is_said_so(port, path, complaint):
    status, answer = ask(port, path)
    assert (status, complaint in answer["error"]) == (400, True)


def test_a_board_cannot_be_started_with_what_is_no_run(tmp_path):
    result = CliRunner().invoke(main, ["board", str(tmp_path), "--no-open"])
    assert "not a run directory" in result.output


# Positions


@given(positions(st.sampled_from(["5x5", "7x7", "4x6"])))
def test_a_position_set_up_is_the_position_that_was_played(board):
    assert board_of(Position(size=board.size, moves=list(board.history))) == board
    start = as_position(board)
    again = board_of(parse(Position, json.dumps(start).encode()))
    assert again == board
    assert again.move_count == board.move_count


def test_a_line_has_every_position_from_the_start():
    boards = boards_of(Position(size="7x7", visited=[0], knights=(24, 14), turn=2, moves=[29, 9]))
    assert [board.active_index for board in boards] == [1, 0, 1]
    assert boards[-1].locations == (9, 29)
    assert not boards[0].blank & 1


@pytest.mark.parametrize(
    ("position", "complaint"),
    [
        ({}, "size"),
        ({"size": "0x7"}, "at least 1 row"),
        ({"size": "99x99"}, "at most 128"),
        ({"size": "7"}, "ROWSxCOLUMNS"),
        ({"size": "7x7", "moves": [24, 24]}, "illegal move 2 (d3): cell 24 is already visited"),
        ({"size": "7x7", "moves": [24, 14, 0]}, "illegal move 3 (a0)"),
        ({"size": "7x7", "moves": [127]}, "illegal move 1"),
        ({"size": "7x7", "moves": [-1]}, "moves.0"),
        ({"size": "7x7", "moves": ["24"]}, "moves.0"),
        ({"size": "7x7", "moves": [1] * 200}, "moves"),
        ({"size": "7x7", "knights": [3, 3]}, "both knights stand on d0"),
        ({"size": "3x3", "visited": [9]}, "not on the 3x3 board"),
        ({"size": "7x7", "turn": 3}, "turn"),
        ({"size": "7x7", "path": "/etc/passwd"}, "path"),
        (None, "position"),
    ],
)
def test_bad_positions_get_a_clear_message(port, position, complaint):
    question = {"position": position, "heuristics": ["improved"]}
    status, answer = ask(port, "/api/values", question)
    assert status == 400
    assert complaint in answer["error"]
    assert "\n" not in answer["error"]


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
@settings(max_examples=200)
def test_what_is_no_question_is_refused_in_a_sentence(body):
    with pytest.raises(ValueError, match=r"^[^\n]+$"):
        parse(ValuesQuestion, body)


def test_no_body_no_json_and_no_method_are_refused(port):
    for body in (b"", b"{", b"[]", b"null", b"\xff"):
        assert request(port, "/api/values", body)[0] == 400
    assert request(port, "/api/values")[0] == 405


# Values


NAMES = ("open", "net_advantage_proximity")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_values_of_moves_are_those_of_minimax_to_that_depth(name):
    heuristic = heuristics.get(name)
    for seed, depth in ((1, 1), (2, 2), (3, 3)):
        board = random_position(seed)
        values = move_values(board, heuristic, depth=depth)
        assert values == {cell: value_of_move(board, heuristic, cell, depth) for cell in board.legal_cells()}


def random_position(seed):
    draw = random.Random(seed)
    board = Board(1, 2)
    for _ in range(8):
        board.play_cell(draw.choice(board.legal_cells()))
    return board


def test_a_heuristic_that_is_not_the_other_players_loss_is_valued_in_the_movers_name():
    board = Board.from_moves([24, 14])
    assert move_values(board, distance) == {cell: 10.0 * (cell // 7) + cell % 7 for cell in board.legal_cells()}
    assert opposing(distance)(board, 1) == -distance(board, 2)
    assert position_value(board, distance, 0) == 33.0


def test_a_won_move_is_a_win_whatever_the_heuristic_says():
    board = Board.from_moves([0, 2, 6], size="2x4")
    assert position_value(board.successor(board.legal_cells()[0]), distance, 3) in (math.inf, -math.inf)


@pytest.mark.slow
def test_values_are_answered_for_every_move_and_errors_for_what_fails(port):
    question = {"position": OPENING, "heuristics": ["distance", "failing"], "depth": 9}
    status, answer = ask(port, "/api/values", question)
    assert status == 200
    assert set(answer["values"]["distance"]["moves"]) == {str(c) for c in Board.from_moves([24, 14]).legal_cells()}
    assert "oops" in answer["values"]["failing"]["error"]


def test_before_both_knights_are_placed_one_looks_a_ply_ahead(port):
    question = {"position": {"size": "7x7"}, "heuristics": ["distance"], "depth": 9}
    answer = ask(port, "/api/values", question)[1]["values"]["distance"]
    assert answer["depth"] == 1
    assert len(answer["moves"]) == 49


def test_a_line_is_valued_from_player_1s_view(port):
    question = {"position": {"size": "7x7", "moves": [24, 14, 9]}, "heuristic": "distance", "depth": 1}
    status, answer = ask(port, "/api/graph", question)
    # Player 1 to move reaches row 5 from d3, at e5; then player 2 reaches b4 from a2.
    assert (status, answer["scores"]) == (200, [None, None, 54.0, -41.0])


@pytest.mark.parametrize(
    ("path", "question", "complaint"),
    [
        ("/api/values", {"heuristics": ["os.system"]}, "no heuristic 'os.system'; choose one of"),
        ("/api/values", {"heuristics": []}, "heuristics"),
        ("/api/values", {"heuristics": ["improved"], "depth": 11}, "depth"),
        ("/api/values", {"heuristics": ["improved"], "depth": 0}, "depth"),
        ("/api/explore", {"run": "1"}, "no run '1'"),
        ("/api/explore", {"run": "../x"}, "no run '../x'"),
        ("/api/export", {"kind": "exe"}, "kind"),
        ("/api/export", {"kind": "pgn", "run": "played", "game": "99"}, "has no game 99"),
        ("/api/graph", {"heuristic": "x.py:f"}, "no heuristic "),
        ("/api/move", {"agent": "/etc/passwd"}, "no player "),
        ("/api/move", {"agent": "ID:/tmp/evil.py:score"}, "name agents from files with --agent"),
        ("/api/move", {"agent": "/tmp/evil.py:Player"}, "name agents from files with --agent"),
        ("/api/move", {"agent": "ID:improved@depth=99"}, "at most depth=12"),
        ("/api/move", {"agent": "ID:improved@ms=99999"}, "at most ms=10,000"),
        ("/api/move", {"agent": "MM:improved@depth=9"}, "minimax is limited to depth=7"),
        ("/api/move", {"agent": "ID:*"}, "one heuristic"),
        ("/api/move", {"agent": "ID:improved@nodes=0"}, "positive"),
        ("/api/move", {"position": {"size": "1x1", "moves": [0]}, "agent": "random"}, "the game is over"),
    ],
)
def test_what_cannot_be_answered_is_refused_with_the_reason(port, path, question, complaint):
    status, answer = ask(port, path, {"position": OPENING, **question})
    assert status == 400
    assert complaint in answer["error"]


# The exact result


@dataclass(frozen=True)
class Solved:
    winner: int | None
    moves: tuple[int, ...] = ()
    undecided: tuple[int, ...] = ()
    line: tuple[int, ...] = ()


@pytest.mark.parametrize(
    "solution", [Solved(1, (9, 11), (19,), (9, 1, 4)), Solved(2, line=(9, 1)), Solved(None, (), (9, 11))]
)
def test_the_exact_result_is_the_solvers(monkeypatch, solution):
    monkeypatch.setitem(vars(isolation), "solve", lambda board, limit: solution)
    assert exact(SolveQuestion(position=Position(**OPENING)), Resources()) == {
        name: list(value) if isinstance(value, tuple) else value for name, value in asdict(solution).items()
    }


def test_the_solvers_line_leads_to_the_end_it_promises(port):
    position = {"size": "7x7", "visited": [0, 1, 2], "knights": [24, 14], "turn": 2}
    status, answer = ask(port, "/api/solve", {"position": position})
    end = board_of(parse(Position, json.dumps({**position, "moves": answer["line"]}).encode()))
    assert (status, answer["winner"]) == (200, end.outcome().winner)


def test_a_finished_game_needs_no_solver(port):
    assert ask(port, "/api/solve", {"position": {"size": "2x3", "moves": [0, 5]}})[1]["winner"] == 2


# Agents


@pytest.mark.parametrize("agent", ["random", "my agent", "ID:improved@depth=2", "MCTS@nodes=50"])
@pytest.mark.parametrize("moves", [[], [24], [24, 14]])
def test_agents_move_before_and_after_the_placements(port, agent, moves):
    status, answer = ask(port, "/api/move", {"position": {"size": "7x7", "moves": moves}, "agent": agent})
    assert status == 200
    assert answer["move"] in Board.from_moves(moves).legal_cells()
    assert answer["line"][0] == answer["move"]


def test_in_a_game_nobody_is_told_what_has_been_found_out(port):
    position = {"size": "5x5", "moves": [12, 3]}
    status, answer = ask(port, "/api/move", {"position": position, "agent": "perfect", "is_game": True})
    assert status == 200
    assert set(answer) == {"agent", "move", "preparing"}
    _, answer = ask(port, "/api/solve", {"position": position, "brief": True, "is_game": True})
    cells = list(Board.from_moves([12, 3], "5x5").legal_cells())
    assert answer == {"winner": None, "moves": [], "undecided": cells, "line": []}


def test_agents_play_on_from_a_position_that_was_set_up(port):
    position = {"size": "7x7", "visited": [0, 1], "knights": [24, 14], "turn": 2}
    answer = ask(port, "/api/move", {"position": position, "agent": "ID:improved@depth=2"})[1]
    assert answer["move"] in board_of(parse(Position, json.dumps(position).encode())).legal_cells()


def test_safe_agents_are_those_of_the_toolkit():
    assert safe_agent("random") == RandomAgent()
    assert safe_agent("ID:improved").name == "ID_Improved"
    for text in ("greedy", "perfect", "MCTS@nodes=100", "MM:open@depth=7", "AB:open@depth=12", "ID:open@ms=10000"):
        safe_agent(text)


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("a.py:Player", "name agents from files with --agent when starting the board"),
        ("ID:a.py:score", "name agents from files with --agent when starting the board"),
        ("ID:*", "name one heuristic, not all"),
        ("MM:open@depth=8", "minimax is limited to depth=7 here; AB and ID go deeper"),
        ("MM:open@depth=13", "at most depth=12"),
        ("AB:open@depth=13", "at most depth=12"),
        ("ID:open@nodes=20000001", "at most nodes=20,000,000"),
        ("perfect@nodes=20000001", "at most nodes=20,000,000"),
        ("perfect@ms=10001", "at most ms=10,000"),
        ("ID:open@cpu_ms=10001", "at most cpu_ms=10,000"),
        ("MCTS@cpu_ms=5001", "at most cpu_ms=5,000, as its tree grows"),
        ("BF:open@nodes=2000001", "at most nodes=2,000,000, as its tree grows"),
        ("MCTS:open@nodes=20000000", "at most nodes=2,000,000, as its tree grows"),
        ("engine@nodes=1", "name engine players with --agent when starting the board"),
    ],
)
def test_the_page_starts_only_what_a_kind_allows(text, refusal, monkeypatch):
    monkeypatch.setitem(KINDS, "engine", ENGINE)
    with pytest.raises(ValueError, match=f"^{re.escape(text)}: {re.escape(refusal)}$"):
        safe_agent(text)
    assert make_agent(complete(parse_spec("engine@nodes=1"))) == RandomAgent("Engine_1nodes")

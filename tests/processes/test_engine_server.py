"""Our agents as an engine: what it answers, when, and that it plays as the agent does here."""

import queue
import threading
from dataclasses import replace

import pytest

from knights_isolation.experiments.bench import COMMAND
from knights_isolation.experiments.plan import parse_agent
from knights_isolation.isolation import Board, Limit, play
from knights_isolation.isolation.engines import engine_server
from knights_isolation.isolation.engines.engine_agent import EngineAgent
from knights_isolation.isolation.engines.engine_server import format_info, plan_search
from knights_isolation.isolation.engines.protocol import Program, read_go, read_move, start_of, write_move
from knights_isolation.isolation.rules.game import USUAL_SIZE
from knights_isolation.isolation.search import SearchResult, agents
from knights_isolation.isolation.search.agents import GreedyAgent, RandomAgent, opened_player
from knights_isolation.isolation.search.interpreted import greedy_interpreted


class Talk:
    """An engine that runs in a thread of this process, and what it says."""

    def __init__(self, agent, size=USUAL_SIZE):
        self.lines, self.said = queue.SimpleQueue(), queue.SimpleQueue()
        self.thread = threading.Thread(
            target=engine_server.serve, args=(agent, iter(self.lines.get, None), self.said.put, size)
        )
        self.thread.start()

    def ask(self, line, until=None):
        """Say a line; what is answered up to a line that begins so, or nothing."""
        self.lines.put(line)
        received = []
        while until is not None and not (received and received[-1].startswith(until)):
            received.append(self.said.get(timeout=60))
        return received

    def end(self):
        self.lines.put("quit")
        self.thread.join(60)
        assert not self.thread.is_alive()


@pytest.fixture
def talk():
    talks = []

    def begin(spec, size=USUAL_SIZE):
        talks.append(Talk(parse_agent(spec) if isinstance(spec, str) else spec, size))
        return talks[-1]

    yield begin
    for talk in talks:
        talk.end()


def test_both_languages_are_greeted_in(talk):
    engine = talk("Mine=random")
    answer = engine.ask("ugi", "ugiok")
    assert answer[0] == "id name Mine"
    assert "option name Board type string default 7x7" in answer
    (variants,) = [line for line in engine.ask("uci", "uciok") if "UCI_Variant" in line]
    assert variants.startswith("option name UCI_Variant type combo default joust var joust var joust5x5 var ")
    assert variants.endswith(" var placing9x11")
    for name in variants.split(" var ")[1:]:
        assert start_of(name)
    assert engine.ask("isready", "readyok") == ["readyok"]


def found_here(limit):
    """What our agent finds after three plies of 7x7."""
    return parse_agent(f"ID:improved@{limit}").choose(Board.from_moves([24, 14, 9]), 0)


def is_told(result, nodes, info, best):
    """Whether lines of an engine say what was found, in so many nodes."""
    move = write_move(Board.from_moves([24, 14, 9]), result.move)
    line = f"info depth {result.depth} nodes {nodes} time "
    text = f" score cp {round(100 * result.score)} pv {move} "
    return best == f"bestmove {move}" and info.startswith(line) and text in info


def test_a_move_is_the_one_that_the_agent_chooses_here(talk):
    engine, result = talk("ID:improved@nodes=9"), found_here("nodes=300")
    engine.ask("position startpos moves N@d4 N@a5 d4c6")
    assert is_told(result, result.nodes, *engine.ask("go nodes 300", "bestmove"))


def test_a_depth_is_reached_ply_by_ply_each_with_a_line_and_nodes_add_up(talk):
    engine = talk("ID:improved@nodes=9")
    engine.ask("position startpos moves N@d4 N@a5 d4c6")
    answer = engine.ask("go depth 3", "bestmove")
    assert [line.split()[2] for line in answer[:-1]] == ["1", "2", "3"]
    nodes = sum(found_here(f"depth={depth}").nodes for depth in (1, 2, 3))
    assert is_told(found_here("depth=3"), nodes, *answer[-2:])


@pytest.mark.parametrize(
    ("line", "depth"),
    [
        ("go depth 2 nodes 1000000", 2),
        ("go nodes 300 depth 60", None),
        ("go movetime 60000 depth 2", 2),
        ("go depth 2 p1time 90000 p2time 90000 p1inc 100", 2),
    ],
)
def test_whichever_limit_is_reached_first_counts(talk, line, depth):
    depth = depth or found_here("nodes=300").depth
    engine = talk("ID:improved@nodes=9")
    engine.ask("position startpos moves N@d4 N@a5 d4c6")
    engine.ask("isready", "readyok")
    assert f"info depth {depth} " in engine.ask(line, "bestmove")[-2]


@pytest.mark.slow
@pytest.mark.parametrize("line", ["go movetime 20 depth 60", "go btime 60 wtime 60 depth 60", "go depth 60"])
def test_a_search_that_its_time_or_stop_ends_plays_the_best_move_so_far(talk, line):
    engine = talk("ID:improved@nodes=9")
    board = Board.from_moves([24, 14], "9x11")
    engine.ask(f"position fen {board.fen}")
    engine.ask("isready", "readyok")
    output = []
    if line == "go depth 60":
        output += engine.ask(line, "info depth 4")
        line = "stop"
    output += engine.ask(line, "bestmove")
    reached = max(int(info.split()[2]) for info in output[:-1])
    result = parse_agent(f"ID:improved@depth={reached}").choose(board, 0)
    assert output[-1] == f"bestmove {write_move(board, result.move)}"


@pytest.mark.exhaustive
def test_a_number_of_nodes_is_also_ended_by_time(talk):
    engine = talk("MCTS@nodes=64")
    engine.ask("position startpos moves N@d4 N@a5 d4c6")
    engine.ask("isready", "readyok")
    engine.ask("go nodes 9", "bestmove")
    *_, info, best = engine.ask("go nodes 4000000000 movetime 20", "bestmove")
    assert info.startswith("info depth ")
    assert int(info.split()[4]) < 4_000_000_000
    assert best != "bestmove (none)"


@pytest.mark.slow
def test_a_long_search_says_now_and_then_that_it_goes_on(talk, monkeypatch):
    monkeypatch.setattr(engine_server, "INFO_SECONDS", 0.01)
    engine = talk("MCTS@nodes=64")
    engine.ask("position startpos moves N@d4 N@a5 d4c6")
    engine.ask("isready", "readyok")
    engine.ask("go infinite")
    nodes = [int(engine.ask("", "info nodes ")[-1].split()[2]) for _ in range(3)]
    assert nodes == sorted(nodes)
    assert nodes[-1] > nodes[0]
    assert engine.ask("stop", "bestmove")[-2].startswith("info depth")


@pytest.mark.slow
def test_an_endless_search_tells_of_every_ply(talk):
    engine = talk("ID:improved")
    engine.ask(f"position fen {Board.from_moves([24, 14], '9x11').fen}")
    engine.ask("isready", "readyok")
    engine.ask("go infinite")
    answer = engine.ask("", "info depth 4 ")
    assert [line.split()[2] for line in answer] == ["1", "2", "3", "4"]
    engine.ask("stop", "bestmove")


def test_in_a_lost_position_the_move_before_the_loss_was_seen_is_played(talk):
    board = Board.from_fen("2*1***/*1***2/****1**/3***1/2Nn1**/3**2/5** b")
    engine = talk("AB:improved@depth=1")
    engine.ask(f"position fen {board.fen}")
    *_, info, best = engine.ask("go depth 30", "bestmove")
    there = parse_agent("ID:improved@nodes=1000000").choose(board, 0)
    assert (there.score, there.exact) == (float("-inf"), True)
    assert f" score mate -{there.depth} " in info
    assert best == f"bestmove {write_move(board, there.move)}"


def test_without_a_limit_the_agent_has_its_own_and_of_one_it_cannot_have_it_says_why(talk):
    engine = talk("MCTS@nodes=64")
    engine.ask(f"position fen {Board.from_moves([24, 14]).fen}")
    engine.ask("isready", "readyok")
    assert " nodes 64 " in engine.ask("go", "bestmove")[0]
    why, result, _ = engine.ask("go depth 3", "bestmove")
    assert why == "info string MCTS has no depth limit: use nodes, ms or cpu_ms; its own limit counts"
    assert " nodes 64 " in result
    why, result, _ = engine.ask("go depth 3 nodes 32", "bestmove")
    assert why == "info string MCTS has no depth limit: use nodes, ms or cpu_ms; the other arguments of go apply"
    assert " nodes 32 " in result
    assert engine.ask("go nodes 0", "bestmove")[0] == "info string go nodes 0 is treated as go nodes 1"
    assert " nodes 100 " in engine.ask("go nodes 100", "bestmove")[0]
    assert talk("random").ask("go nodes 5", "bestmove")


def test_proven_results_are_mates_in_plies_and_in_moves_where_their_distance_is_known():
    board = Board.from_moves([24, 14])
    results = SearchResult(9, float("inf"), 7, 5, 0.001, (9, 29), True)
    lost = SearchResult(9, float("-inf"), 7, 5, 0.001, (9,), True)

    def said(result, protocol=engine_server.UGI, counts_plies=True):
        return format_info(result, board, protocol, counts_plies=counts_plies)

    assert said(results) == "info depth 7 nodes 5 time 1 score mate 7 pv d4c6 a5b3"
    assert "score mate -4 pv d4c6,c6d4" in said(lost, engine_server.UCI)
    assert "score cp 1000000000 pv" in said(results, counts_plies=False)
    assert "score cp -1000000000 pv" in said(lost, counts_plies=False)
    assert "score cp 1000000000 pv" in said(replace(results, exact=False))
    assert "score cp 999999999 pv" in said(replace(results, score=1.7e308))
    assert said(SearchResult(9, float("nan"), 0, 0, 0.0, (9,), False)) == "info depth 0 nodes 0 time 0 pv d4c6"


@pytest.mark.slow
def test_a_move_that_ends_the_game_is_a_mate_in_one_whoever_finds_it(talk):
    engine = talk("greedy")
    engine.ask(f"position fen {4 * '*******/'}N*1****/**1****/n2**** w")
    assert " score mate 1 pv a3c2" in engine.ask("go", "bestmove")[-2]


def test_an_endless_search_answers_isready_and_stops_when_told_to(talk):
    engine = talk("ID:improved")
    engine.ask(f"position fen {Board.from_moves([24, 14], '9x11').fen}")
    engine.ask("isready", "readyok")
    engine.ask("go infinite")
    *output, ready = engine.ask("isready", "readyok")
    *options, best = engine.ask("stop", "bestmove")
    assert ready == "readyok"
    assert all(line.startswith("info ") for line in (*output, *options))
    assert best.split()[1].startswith("c7")


@pytest.mark.slow
def test_an_endless_search_that_is_over_waits_for_stop(talk):
    engine, fen = talk("ID:improved"), f"{4 * '*******/'}3****/N2****/2n**** w"
    last = parse_agent("ID:improved@nodes=1000000").choose(Board.from_fen(fen), 0).depth
    engine.ask(f"position fen {fen}")
    engine.ask("isready", "readyok")
    engine.ask("go infinite", f"info depth {last} ")
    assert not any(line.startswith("bestmove") for line in engine.ask("isready", "readyok"))
    assert engine.ask("stop", "bestmove")[-1].startswith("bestmove a2")


class Stubborn(RandomAgent):
    """An agent that does not hear that it is to stop."""

    def choose(self, board, seed):
        self.pause.wait(60)
        return super().choose(board, seed)


def test_who_cannot_be_stopped_is_answered_for_at_once_and_only_once(talk, monkeypatch):
    monkeypatch.setattr(engine_server, "HALT_SECONDS", 0.01)
    agent = Stubborn("Stubborn")
    object.__setattr__(agent, "pause", threading.Event())
    engine = talk(agent, "3x4")
    engine.ask("go infinite")
    assert engine.ask("stop", "bestmove") == ["bestmove N@a3"]
    agent.pause.set()
    engine.ask("position startpos moves N@a1")
    info, best = engine.ask("go", "bestmove")
    assert info.startswith("info depth")
    assert best.startswith("bestmove N@")


@pytest.mark.slow
def test_a_new_command_stops_a_search(talk):
    engine = talk("ID:improved", "9x11")
    engine.ask("position startpos moves a1 c3")
    engine.ask("isready", "readyok")
    engine.ask("go infinite")
    assert engine.ask("position startpos", "bestmove")[-1].startswith("bestmove a1")


class Unprepared(GreedyAgent):
    """An agent whose code takes as long as a test wants it to."""

    def compiled(self, size):
        self.pause.wait(60)
        return None

    def choose(self, board, seed):
        return greedy_interpreted(board, self.heuristic)


def test_the_time_holds_though_code_is_still_being_compiled_and_later_moves_are_the_agents(talk):
    agent = Unprepared("Unprepared")
    object.__setattr__(agent, "pause", threading.Event())
    engine, board = talk(agent), Board.from_moves([24, 14])
    engine.ask(f"position fen {board.fen}")
    first, best = write_move(board, board.legal_cells()[0]), write_move(board, agent.choose(board, 0).move)
    assert first != best
    note = "info string code for 7x7 is still being compiled: the first legal move"
    assert engine.ask("go movetime 20", "bestmove") == [note, f"bestmove {first}"]
    assert engine.ask("go p1time 400 p2time 400", "bestmove") == [note, f"bestmove {first}"]
    agent.pause.set()
    assert engine.ask("isready", "readyok") == ["readyok"]
    assert engine.ask("go movetime 20", "bestmove")[-1] == f"bestmove {best}"


def test_of_a_time_only_what_compiling_has_left_is_searched_for():
    done = threading.Event()
    compiling = threading.Thread(target=done.wait, args=(60,))
    compiling.start()
    asked, output = queue.SimpleQueue(), queue.SimpleQueue()
    board, agent = Board.from_moves([24, 14]), parse_agent("ID:improved@ms=9")

    def ask(agent, board):
        asked.put(agent.limit.ms)
        return greedy_interpreted(board, agent.heuristic)

    plan = plan_search(agent, read_go(["movetime", "60010"], 0), board)
    engine_server.RunningSearch(plan, board, engine_server.UGI, ask, output.put, compiling)
    done.set()
    assert output.get(timeout=60).startswith("info depth")
    assert asked.get() < plan.agent.limit.ms == 60_000


def test_questions_about_the_position_are_answered(talk):
    engine = talk("random", "3x4")

    def queried():
        return [engine.ask(f"query {what}", "response")[0].split()[1] for what in ("p1turn", "gameover", "result")]

    assert queried() == ["true", "false", "none"]
    engine.ask("position fen *N**/4/n3 w")
    assert queried() == ["true", "false", "none"]
    engine.ask("position fen *N2/****/n3 b")
    assert queried() == ["false", "true", "p1win"]
    assert engine.ask("go", "bestmove") == ["bestmove (none)"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("position fen 7/7", "error: not a FEN"),
        ("position startpos moves z9", "error: square z9 is not on the 7x7 board"),
        ("position", "error: position expects startpos or fen"),
        ("setoption name Hash value 3", "error: no option Hash"),
        ("setoption name Board value 7", "error: a board size must be ROWSxCOLUMNS, such as 7x7, not"),
        ("query weather", "error: query expects p1turn, gameover or result, not"),
        ("xyzzy", "unknown command: xyzzy"),
    ],
)
def test_what_cannot_be_done_is_said_and_the_engine_goes_on(talk, line, message):
    engine = talk("random")
    (output,) = engine.ask(line, "info string")
    assert output.startswith(f"info string {message}")
    assert engine.ask("isready", "readyok") == ["readyok"]


@pytest.mark.parametrize("line", ["position fen 7/7", "position startpos moves a1 c3 a1a7"])
def test_after_a_position_that_cannot_be_read_no_move_of_another_is_played(talk, line):
    engine, error = talk("random"), "info string error: no position: the last one was invalid"
    engine.ask("position startpos moves a1")
    engine.ask(line, "info string")
    assert engine.ask("isready", "readyok") == ["readyok"]
    assert engine.ask("query p1turn", "info string") == [error]
    assert engine.ask("go", "bestmove") == [error, "bestmove (none)"]
    engine.ask("position startpos moves a1")
    assert engine.ask("go", "bestmove")[-1].startswith("bestmove N@")


LATE = """
import time
class P:
    def get_move(self, game, time_left):
        while time_left() > -1:
            time.sleep(0.001)
        return game.get_legal_moves()[-1]
"""


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["{}:P@ms=1", "perfect@ms=1"])
def test_a_late_move_is_a_move_nevertheless(talk, tmp_path, monkeypatch, spec):
    path = tmp_path / "late.py"
    path.write_text(LATE)
    monkeypatch.setattr(agents, "LATE_MS", -1e9)
    engine = talk(spec.format(path))
    board = Board.from_moves([24, 14])
    engine.ask(f"position fen {board.fen}")
    engine.ask("isready", "readyok")
    best = engine.ask("go movetime 1", "bestmove")[-1]
    assert read_move(board, best.split()[1]) in board.legal_cells()


def test_a_number_that_is_none_is_left_out_and_a_move_comes_nevertheless(talk):
    engine = talk("MCTS@nodes=64")
    engine.ask(f"position fen {Board.from_moves([24, 14]).fen}")
    engine.ask("isready", "readyok")
    for line, number in (("go nodes", "nodes expects a whole number, not ''"), ("go depth x", "depth")):
        answer = engine.ask(line, "bestmove")
        assert answer[0].startswith(f"info string go {number}")
        assert answer[0].endswith("; ignored")
        assert " nodes 64 " in answer[1]
    assert " nodes 32 " in engine.ask("go nodes 32 movetime soon", "bestmove")[1]


def test_the_board_of_startpos_is_an_option_and_that_of_joust_is_given(talk):
    engine = talk("random")
    engine.ask("setoption name Board value 1x2")
    engine.ask("position startpos moves a1")
    assert engine.ask("go", "bestmove")[-1] == "bestmove N@b1"
    engine.ask("uci", "uciok")
    engine.ask("position startpos moves d4c2,c2d4")
    assert engine.ask("go", "bestmove")[-1].startswith("bestmove e5")


def test_startpos_is_that_of_the_variant_as_our_file_of_variants_has_it(talk):
    engine = talk("random")
    engine.ask("uci", "uciok")
    (output,) = engine.ask("setoption name UCI_Variant value chess", "info string")
    assert output.startswith("info string error: no variant chess")
    for variant, moves, answer in (("joust3x3", "moves a3c2", "bestmove c1a2,a2c1"), ("placing1x2", "", "bestmove N@")):
        engine.ask(f"setoption name UCI_Variant value {variant}")
        engine.ask(f"position startpos {moves}")
        assert engine.ask("go", "bestmove")[-1].startswith(answer[:11])


def test_an_agent_that_raises_has_no_move(talk, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("class P:\n    def get_move(self, game, time_left):\n        raise KeyError('x')\n")
    engine = talk(f"{path}:P")
    engine.ask("position startpos moves d4 a5")
    assert engine.ask("go", "bestmove")[-2:] == [
        "info string error: KeyError: 'x' (mine.py, line 3)",
        "bestmove (none)",
    ]


@pytest.mark.parametrize(
    ("words", "limits"),
    [
        ("", ()),
        ("depth 4", (Limit(depth=4),)),
        ("nodes 0", (Limit(nodes=1),)),
        ("movetime 100", (Limit(ms=90),)),
        ("movetime 4", (Limit(ms=2),)),
        ("movetime -5", (Limit(ms=1),)),
        ("wtime 4000 btime 90 winc 50", (Limit(ms=240),)),
        ("p1time 4000 p2time 90 p1inc 50 p2inc 0", (Limit(ms=240),)),
        ("wtime 100 btime 90 winc 5000", (Limit(ms=90),)),
        ("wtime 400 btime 90 movestogo 2", (Limit(ms=190),)),
        ("wtime 400 btime 90 movestogo 1", (Limit(ms=390),)),
        ("btime 90", ()),
        ("p1time -3", (Limit(ms=1),)),
        ("movetime 100 depth 60", (Limit(depth=60), Limit(ms=90))),
        ("nodes 5 depth 3 wtime 400 movetime 100", (Limit(depth=3), Limit(nodes=5), Limit(ms=10))),
    ],
)
def test_time_is_shared_out_and_all_limits_are_kept(words, limits):
    assert read_go(words.split(), 0).limits == limits


def test_each_side_has_its_own_clock():
    assert read_go(["wtime", "10", "btime", "4000"], 1).limits == (Limit(ms=190),)


@pytest.mark.exhaustive
def test_an_agent_plays_the_same_game_as_an_engine_and_here():
    here = parse_agent("ID:improved@nodes=60")
    program = Program((*COMMAND, "engine", "ID:improved@nodes=9"), "uci")
    there = EngineAgent("There", program, Limit(nodes=60))
    first, second = (play(agent, parse_agent("AB:open@depth=2"), [5, 12], "5x5") for agent in (here, there))
    assert first.moves == second.moves
    assert first.nodes == second.nodes
    assert first.reason == second.reason == "no_moves"
    with opened_player(there.open()) as player:
        player.new_game()
        assert player._session is not None
        player._session.end()

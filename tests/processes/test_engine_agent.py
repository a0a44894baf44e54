"""What is said to engines, what is made of their answers, and how long each answer is waited for; without processes."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knights_isolation.isolation import Board, Limit
from knights_isolation.isolation.engines import engine_agent
from knights_isolation.isolation.engines.engine_agent import EngineAgent, Timeouts
from knights_isolation.isolation.engines.protocol import Info, Program, add_info, parse_pv, variant_of, variants_text
from knights_isolation.isolation.processes.child import Idle, NoAnswer, Termination
from knights_isolation.isolation.rules.game import Reason
from knights_isolation.isolation.search import is_well_formed
from knights_isolation.isolation.search.agents import ForfeitError, forfeit_from, opened_player

BOARD = Board.from_moves([24, 14])
UGI = ("id name one", "option name Hash type spin default 1", "ugiok")
UCI = (
    *("id name two", "option name UCI_Variant type combo default chess var joust"),
    *("option name VariantPath type string default <empty>", "uciok"),
)

DEAD, TOO_LONG = NoAnswer(Termination.DIED), NoAnswer(Termination.NONSENSE)


class Clock:
    """Time that passes only where somebody waits."""

    def __init__(self):
        self.now = 100.0

    def monotonic(self):
        return self.now

    perf_counter = monotonic


class Script:
    """An engine that answers each line it is sent as told, by its first words; a number in an answer is seconds."""

    def __init__(self, clock, answers):
        self.clock = clock
        self.answers = answers
        self.sent = []
        self.said = []
        self.ended = 0

    def send(self, line, seconds):
        text = line.decode()
        self.sent.append(text)
        for start, answer in self.answers.items():
            if text == start or text.startswith(f"{start} "):
                self.said += answer
                return

    def receive(self, seconds):
        if not self.said:
            self.clock.now += seconds
            raise NoAnswer(Termination.TIMED_OUT)
        output = self.said[0]
        if isinstance(output, (int, float)) and output > seconds:
            self.said[0] -= seconds
            self.clock.now += seconds
            raise NoAnswer(Termination.TIMED_OUT)
        self.said.pop(0)
        if isinstance(output, (int, float)):
            self.clock.now += output
            return self.receive(seconds - output)
        if isinstance(output, BaseException):
            raise output
        return output if isinstance(output, bytes) else output.encode()

    def ending(self, seconds):
        return "ended with exit code 3"

    def end(self):
        self.ended += 1


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(engine_agent, "time", clock)
    monkeypatch.setattr("knights_isolation.isolation.engines.engine_agent._idle", Idle())
    return clock


SPEAKS_UGI = {"ugi": UGI, "isready": ("readyok",), "go": ("bestmove d4c2",)}
SPEAKS_UCI = {"ugi": ("Unknown command: ugi",), "uci": UCI, "isready": ("readyok",), "go": ("bestmove d4c2,c2d4",)}


def agent_of(limit=Limit(nodes=100), **program):  # noqa: B008
    return EngineAgent("Mine", Program(("mine",), **program), limit)


def opened(script, agent):
    """The player of an agent that is alone with its script."""
    return opened_player(replace(agent or agent_of(), errors=str(id(script))).open(lambda program, errors: script))


def ask(clock, answers, agent=None):
    """The script of an engine, and its move in a game."""
    script = Script(clock, answers)
    with opened(script, agent) as player:
        player.new_game()
        return script, player.choose(BOARD, 0)


def lose(clock, answers, agent=None):
    """The script of an engine, and how it loses."""

    def play():
        player.new_game()
        player.choose(BOARD, 0)

    script = Script(clock, answers)
    with opened(script, agent) as player, pytest.raises(ForfeitError) as loss:
        play()
    return script, loss.value


# What is said


def test_an_engine_that_knows_ugi_is_spoken_to_in_ugi(clock):
    script, result = ask(clock, SPEAKS_UGI)
    assert script.sent == [
        *("ugi", "isready", "isready", "uginewgame", "isready"),
        *("position fen 7/7/n6/3N3/7/7/7 w - - 0 1", "isready", "go nodes 100"),
    ]
    assert result.move == 37
    assert script.ended == 0


def test_an_engine_that_does_not_is_spoken_to_in_uci_of_variants_it_is_told(clock):
    script, result = ask(clock, SPEAKS_UCI)
    path = next(line for line in script.sent if "VariantPath" in line).rpartition(" ")[2]
    assert script.sent == [
        *("ugi", "isready", "uci", "isready", "ucinewgame", "isready"),
        *(f"setoption name VariantPath value {path}", "setoption name UCI_Variant value joust7x7"),
        *("position fen 7/7/n6/3N3/7/7/7 w - - 0 1", "isready", "go nodes 100"),
    ]
    assert result.move == 37
    with open(path, encoding="utf-8") as file:
        assert file.read() == variants_text((7, 7))


def test_variants_are_told_once_a_size_and_named_when_they_change(clock):
    script = Script(clock, SPEAKS_UCI | {"go": ("bestmove a1",)})
    with opened(script, None) as player:
        player.new_game()
        for board in (Board(1, 2), Board.from_moves([29, 24]), Board.from_moves([29, 10]), Board(1, 2, 5, 5)):
            player.choose(board, 0)
    options = [line.split(" value ") for line in script.sent if line.startswith("setoption")]
    assert [value for name, value in options if "UCI_Variant" in name] == ["placing7x7", "joust7x7", "placing5x5"]
    assert len([value for name, value in options if "VariantPath" in name]) == 2


def test_whoever_cannot_read_the_file_of_variants_loses_by_that_and_not_by_its_moves(clock):
    says = {"setoption name VariantPath": ("Unable to open file /x.ini",)}
    script, loss = lose(clock, says | SPEAKS_UCI)
    assert loss.reason is Reason.ERROR
    assert loss.detail.startswith("cannot read its file of variants: Unable to open file /x.ini; at last: ")
    assert script.ended == 1


def test_a_protocol_that_is_known_is_not_asked_for(clock):
    assert ask(clock, SPEAKS_UGI, agent_of(protocol="ugi"))[0].sent[:2] == ["ugi", "isready"]
    assert ask(clock, SPEAKS_UCI, agent_of(protocol="uci"))[0].sent[0] == "uci"


def test_an_engine_is_told_its_options_and_says_which_it_has(clock):
    script, _ = ask(clock, SPEAKS_UGI, agent_of(options=(("hash", "8"),)))
    assert "setoption name hash value 8" in script.sent
    assert "setoption name Hash" in ask(clock, SPEAKS_UGI, agent_of(options=(("Hash", ""),)))[0].sent
    script, loss = lose(clock, SPEAKS_UGI, agent_of(options=(("Hsh", "8"),)))
    assert loss.reason is Reason.ERROR
    assert "has no option Hsh; it has Hash" in loss.detail
    assert script.ended == 1


def test_variants_that_the_options_name_are_left_alone(clock):
    script, _ = ask(clock, SPEAKS_UCI, agent_of(options=(("VariantPath", "/mine.ini"),)))
    assert [line for line in script.sent if "VariantPath" in line] == ["setoption name VariantPath value /mine.ini"]
    assert "setoption name UCI_Variant value joust7x7" in script.sent
    script, _ = ask(clock, SPEAKS_UCI, agent_of(options=(("UCI_Variant", "mine"),)))
    assert [line for line in script.sent if "setoption" in line] == ["setoption name UCI_Variant value mine"]


@pytest.mark.parametrize(
    ("limit", "line"),
    [
        (Limit(nodes=2**40), "go nodes 1099511627776"),
        (Limit(depth=4), "go depth 4"),
        (Limit(ms=150), "go movetime 150"),
        (Limit(ms=0.5), "go movetime 1"),
    ],
)
def test_a_limit_becomes_go(clock, limit, line):
    assert ask(clock, SPEAKS_UGI, agent_of(limit))[0].sent[-1] == line


def test_processor_time_is_no_limit_for_an_engine():
    with pytest.raises(ValueError, match="an engine needs a limit of depth, nodes or ms, not cpu_ms=5"):
        agent_of(Limit(cpu_ms=5))


def test_boards_have_variants_of_their_own():
    assert variant_of(Board.from_moves([0, 63], "8x8")) == "joust"
    assert variant_of(Board.from_moves([0], "8x8")) == "placing8x8"
    assert variant_of(Board.from_moves([0, 98], "9x11")) == "joust9x11"
    assert "maxRank = 9\nmaxFile = k\nstartFen = N10/11/11/11/11/11/11/11/10n w" in variants_text((9, 11))


# What is answered


def test_what_an_engine_reports_is_its_result(clock):
    output = ("info string hi", "info depth 3 nodes 42 score cp -150 pv d4c2 a5b3 z9", "bestmove d4c2 ponder a5b3")
    _, result = ask(clock, SPEAKS_UGI | {"go": (0.25, *output)})
    assert (result.move, result.depth, result.nodes, result.score, result.pv) == (37, 3, 42, -1.5, (37, 29))
    assert result.seconds == pytest.approx(0.25)
    assert not result.exact
    assert is_well_formed(result)


def test_a_line_that_does_not_begin_with_the_move_is_not_taken_for_its_line(clock):
    output = ("info depth 3 score mate 3 pv d4e2", "bestmove d4c2")
    _, result = ask(clock, SPEAKS_UGI | {"go": output})
    assert result.pv == (37,)
    assert result.score == math.inf


@pytest.mark.parametrize(
    ("line", "info"),
    [
        ("info depth 5 score mate -2", Info(depth=5, score=-math.inf)),
        ("info score mate 0", Info(score=-math.inf)),
        ("info nodes 9 score cp 20 lowerbound pv d4c2", Info(nodes=9)),
        ("info depth 4 multipv 2 score cp 20 pv d4c2", Info()),
        ("info depth x nodes -3 score cp one", Info()),
        (f"info depth 3 nodes {10**400} score cp {10**400}", Info(depth=3)),
        ("info string depth 3", Info()),
        ("info pv depth 3", Info(pv=("depth", "3"))),
    ],
)
def test_what_cannot_be_read_changes_nothing(line, info):
    assert repr(add_info(Info(), line)) == repr(info)


@given(st.lists(st.sampled_from(["info", "depth", "score", "cp", "mate", "pv", "7", "-3", "d4c2", "nodes", "x"])))
def test_any_words_are_some_information_that_fits_into_a_log(words):
    info = add_info(Info(), " ".join(["info", *words]))
    assert 0 <= info.depth < 1 << 15
    assert 0 <= info.nodes < 1 << 62
    assert isinstance(info.score, float)
    assert len(parse_pv(BOARD, info.pv)) <= len(info.pv)


# How engines lose


@pytest.mark.parametrize(
    ("answers", "reason", "detail"),
    [
        ({"ugi": (), "isready": ()}, Reason.HANG, "no ugiok or readyok in time; at last: > ugi | > isready"),
        ({"ugi": (DEAD,)}, Reason.CRASH, "ended with exit code 3; at last: > ugi | > isready"),
        ({"ugi": ("hello", TOO_LONG)}, Reason.NONSENSE, "sent a line of more than 1,048,576 bytes"),
        ({"uginewgame": (DEAD,)}, Reason.CRASH, "ended with exit code 3"),
        ({"position": (DEAD,)}, Reason.CRASH, "ended with exit code 3"),
        ({"go": ()}, Reason.HANG, "no line while it searched in time; at last: "),
        ({"go": ("info depth 1", DEAD)}, Reason.CRASH, "| > go nodes 100 | < info depth 1"),
        ({"go": ("bestmove d4d5",)}, Reason.ILLEGAL_MOVE, "d4d5 is not legal in 7/7/n6/3N3/7/7/7 w"),
        ({"go": ("bestmove c4c2",)}, Reason.ILLEGAL_MOVE, "leaves c4, but the knight stands on d4"),
        ({"go": ("bestmove a99999999999999999999",)}, Reason.ILLEGAL_MOVE, "not on the 7x7 board"),
        ({"go": ("bestmove",)}, Reason.NONSENSE, "answered '' for a move"),
        ({"go": ("bestmove (none)",)}, Reason.NONSENSE, "answered '(none)' for a move"),
        ({"go": (b"bestmove \xff\x00",)}, Reason.NONSENSE, "for a move; at last: "),
        ({"go": (b"\x1b[2J\xfe", "bestmove d4d5")}, Reason.ILLEGAL_MOVE, "| < \\x1b[2J"),
    ],
)
def test_each_way_to_lose_has_its_reason_and_the_last_lines_of_the_dialogue(clock, answers, reason, detail):
    script, loss = lose(clock, SPEAKS_UGI | answers)
    assert loss.reason is reason
    assert detail in loss.detail
    answered = reason in (Reason.ILLEGAL_MOVE, Reason.NONSENSE) and "bytes" not in loss.detail
    assert script.ended == (0 if answered else 1)


@pytest.mark.parametrize("word", ["(none)", "0000", "resign"])
def test_an_engine_resigns_by_naming_no_move(clock, word):
    lost = Board.from_moves([24, 17])
    _, loss = lose(clock, SPEAKS_UGI | {"go": (f"bestmove {word}",)})
    assert forfeit_from(loss, lost).reason.word == "resigned"
    assert forfeit_from(loss, BOARD).reason.word == "nonsense"
    _, crash = lose(clock, SPEAKS_UGI | {"go": (DEAD,)})
    assert forfeit_from(crash, lost).reason.word == "crash"


def test_an_engine_that_does_not_play_joust_is_told_from_one_that_does(clock):
    _, loss = lose(clock, SPEAKS_UCI | {"uci": ("uciok",)})
    assert "has no option VariantPath; it has none" in loss.detail


def test_a_late_move_is_waited_for_and_lost_by_its_time(clock):
    script, loss = lose(clock, SPEAKS_UGI | {"go": (0.3, "bestmove d4c2")}, agent_of(Limit(ms=100)))
    assert loss.reason is Reason.TIMEOUT
    assert "took 300 ms of 100 ms" in loss.detail
    assert script.sent[-1] == "stop"
    assert script.ended == 0


def test_a_move_within_the_allowance_is_in_time(clock):
    assert ask(clock, SPEAKS_UGI | {"go": (0.14, "bestmove d4c2")}, agent_of(Limit(ms=100)))[1].move == 37


def test_an_engine_that_does_not_stop_is_ended(clock):
    began = clock.now
    script, loss = lose(clock, SPEAKS_UGI | {"go": ()}, agent_of(Limit(ms=100)))
    assert loss.reason is Reason.HANG
    assert "no move in time" in loss.detail
    assert script.ended == 1
    assert clock.now - began == pytest.approx(0.15 + Timeouts().ready)


def test_who_shows_signs_of_life_may_think_until_the_end_of_a_move(clock):
    alive = (50, "info depth 1") * 3
    assert ask(clock, SPEAKS_UGI | {"go": (*alive, "bestmove d4c2")})[1].move == 37
    script, loss = lose(clock, SPEAKS_UGI | {"go": (50, "info depth 1") * 20})
    assert loss.reason is Reason.HANG
    assert "no move in time" in loss.detail
    assert script.ended == 1


def test_a_hard_cap_ends_a_move_sooner(clock):
    began = clock.now
    _, loss = lose(clock, SPEAKS_UGI | {"go": (3, "info depth 1") * 20}, agent_of().capped(10))
    assert loss.reason is Reason.HANG
    assert clock.now - began == pytest.approx(10)


@pytest.mark.parametrize("limit", [Limit(ms=100), Limit(ms=60_000), Limit(nodes=5)])
@pytest.mark.parametrize("stuck", [{"go": ()}, {"isready": (2, "readyok"), "go": (2, "info depth 1") * 20}])
def test_a_hard_cap_holds_for_all_that_belongs_to_a_move(clock, limit, stuck):
    script = Script(clock, dict(SPEAKS_UGI))
    with opened(script, agent_of(limit).capped(3)) as player:
        player.new_game()
        began = clock.now
        script.answers |= stuck
        with pytest.raises(ForfeitError) as loss:
            player.choose(BOARD, 0)
    assert loss.value.reason is Reason.HANG
    assert clock.now - began == pytest.approx(3)
    assert ("stop" in script.sent) == (limit == Limit(ms=100))


@pytest.mark.parametrize(("word", "seconds"), [("uginewgame", 3), ("setoption", 10)])
def test_a_hard_cap_holds_for_an_engine_that_does_not_get_ready(clock, word, seconds):
    began = clock.now
    script = Script(clock, dict(SPEAKS_UGI))
    script.answers[word] = (100,)
    with (
        opened(script, agent_of(options=(("Hash", "8"),)).capped(3)) as player,
        pytest.raises(ForfeitError, match="no readyok"),
    ):
        player.new_game()
    assert clock.now - began == pytest.approx(seconds)


def test_what_was_asked_is_told_however_much_was_answered(clock):
    _, loss = lose(clock, SPEAKS_UGI | {"go": (*("info depth 1 nodes 2",) * 9, "bestmove d4d5")})
    assert loss.detail.endswith(
        "; at last: > isready | … | > position fen 7/7/n6/3N3/7/7/7 w - - 0 1 | > isready | … | > go nodes 100 | … | "
        "< info depth 1 nodes 2 | < info depth 1 nodes 2 | < bestmove d4d5"
    )


def test_a_program_that_cannot_be_started_has_crashed():
    agent = EngineAgent("Mine", Program(("/no/such/program",)), Limit(nodes=1))
    with pytest.raises(ForfeitError, match="could not be started: /no/such/program is not a program") as loss:
        agent.open().new_game()
    assert loss.value.reason is Reason.CRASH


# From game to game


def test_an_engine_is_kept_for_the_next_game_of_the_very_same_agent(clock):
    scripts = [Script(clock, SPEAKS_UGI) for _ in range(3)]
    starts = iter(scripts)
    agent = agent_of()
    for item in (agent, agent, replace(agent, program=Program(("mine", "--fast"))), replace(agent, errors="/tmp/x")):
        with opened_player(item.open(lambda program, errors: next(starts))) as player:
            player.new_game()
            player.choose(BOARD, 0)
    assert [script.sent.count("uginewgame") for script in scripts] == [2, 1, 1]
    assert [script.ended for script in scripts] == [0, 0, 0]


def test_an_engine_that_ended_between_games_is_started_anew(clock):
    scripts = [Script(clock, dict(SPEAKS_UGI)), Script(clock, SPEAKS_UGI)]
    starts = iter(scripts)
    player = agent_of().open(lambda program, errors: next(starts))
    player.new_game()
    scripts[0].answers["uginewgame"] = (DEAD,)
    player.new_game()
    assert player.choose(BOARD, 0).move == 37
    assert [script.ended for script in scripts] == [1, 0]
    player.close()


def test_an_engine_that_owes_a_move_is_not_kept(clock):
    def play():
        with opened(script, None) as player:
            player.new_game()
            player.choose(BOARD, 0)

    script = Script(clock, SPEAKS_UGI | {"go": (KeyboardInterrupt(),)})
    with pytest.raises(KeyboardInterrupt):
        play()
    assert script.ended == 1


# Who an engine is


def test_settings_follow_the_files_of_the_command_and_not_where_they_lie(tmp_path):
    texts = []
    for folder, content in (("a", "1"), ("b", "1"), ("c", "2")):
        (tmp_path / folder).mkdir()
        file = tmp_path / folder / "mine.js"
        file.write_text(content)
        texts.append(EngineAgent("x", Program(("sh", str(file))), Limit(nodes=1)).settings())
        here = Program(("sh", "mine.js"), directory=str(tmp_path / folder))
        assert EngineAgent("x", here, Limit(nodes=1)).settings() == texts[-1]
    assert texts[0] == texts[1] != texts[2]
    assert texts[0]["kind"] == "engine"
    assert EngineAgent("x", Program(("sh",), options=(("Hash", "8"),)), Limit(nodes=1)).settings()["options"] == [
        "Hash=8"
    ]


def test_nobody_promises_that_an_engine_repeats_itself():
    agent = agent_of()
    assert not agent.is_deterministic
    assert agent.why_unrepeatable == "engines may be nondeterministic"
    assert agent.compiled((7, 7)) is None

"""Hostile players, each in a real tournament: who loses and why, and whether other games stay the same.

The others are compiled agents, and an honest player object and an honest heuristic from a file. The last two run
interpreted, so any change to Python would affect them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.attacks.attack import Attack, some
from benchmarks.attacks.tournaments import TIMES, command, emptied
from knights_isolation.experiments.play.pools.loky_pool import LokyPool
from knights_isolation.experiments.play.pools.recovery import FORFEITED
from knights_isolation.experiments.record import log

Game = dict[str, Any]
NAME = "Hostile"
CAP = ("--hard-cap", "2")
WORDS = ("tournament", "--baseline", "greedy", "--opponent", "random", "--opponent", "MM:null@depth=1",
         "--board", "4x5", "--pairs", "1", "--jobs", "2", "--seed", "5")  # fmt: skip
HONEST = """
class Honest:
    def get_move(self, game, time_left):
        moves = game.get_legal_moves()
        return max(moves, key=lambda move: len(game.forecast_move(move).get_legal_moves(self)), default=(-1, -1))
def words(game, player):
    return float(len(str(game.get_legal_moves(player))))
"""
PLAYER = """
import builtins, ctypes, isolation, os, random, signal, sys, threading, time
{at_import}
class CustomPlayer:
    def get_move(self, game, time_left):
        moves = game.get_legal_moves()
        {act}
        return moves[0]
"""
SCORE = """
import os, random, sys, time
{at_import}
def score(game, player):
    {act}
    return float(len(game.get_legal_moves(player)))
"""


@dataclass(frozen=True)
class Hostile:
    """A hostile player: what it does before it moves, how it should lose, and whether it needs a hard cap.

    `at_import` is code that its file runs first. Without reasons it should play as if it did nothing; with `no_moves`
    among them, it may win or lose on the board.
    """

    name: str
    act: str
    reasons: tuple[str, ...] = ("error",)
    template: str = PLAYER
    capped: bool = False
    at_import: str = ""


FINE: tuple[str, ...] = ()
HOSTILE = (
    Hostile("an endless loop", "while True: pass", ("hang",), capped=True),
    Hostile("an endless sleep", "time.sleep(10**6)", ("hang",), capped=True),
    Hostile("sys.exit", "sys.exit(3)"),
    Hostile("os._exit", "os._exit(0)"),
    Hostile("SIGKILL to itself", "os.kill(os.getpid(), 9)"),
    Hostile("a bad address", "ctypes.string_at(0)"),
    Hostile("KeyboardInterrupt", "raise KeyboardInterrupt"),
    Hostile("GeneratorExit", "raise GeneratorExit"),
    Hostile("a BaseException of its own", "raise type('Mine', (BaseException,), {})('x')"),
    Hostile("an exception with a lone surrogate", "raise ValueError('\\ud800')"),
    Hostile("an exception of a megabyte", "raise ValueError('x' * 10**6)"),
    Hostile("an exception whose text raises",
            "raise type('Mine', (Exception,), {'__str__': lambda self: 1 / 0, '__repr__': lambda self: 1 / 0})"),
    Hostile("an exception with a newline", "raise ValueError('a\\nb\\x1b[31m')"),
    Hostile("closing every descriptor", "os.closerange(0, 256)"),
    Hostile("emptying sys.modules", "sys.modules.clear()", ("error", "no_moves")),
    Hostile("deleting builtins", "import builtins; vars(builtins).clear()"),
    Hostile("bottomless recursion", "f = lambda: f(); f()"),
    Hostile("recursion without a limit", "sys.setrecursionlimit(10**9); f = lambda: f(); f()",
            ("hang", "error"), capped=True),
    Hostile("all memory it can have", "x = [bytearray(1 << 40)]"),
    Hostile("None for a move", "return None", ("illegal_move", "error")),
    Hostile("a string for a move", "return 'a1'", ("illegal_move", "error")),
    Hostile("NaN for a move", "return (float('nan'), 0)", ("illegal_move", "error")),
    Hostile("a huge number for a move", "return (10**30, -10**30)", ("illegal_move", "error")),
    Hostile("a cell off the board", "return (99, 99)", ("illegal_move", "error")),
    Hostile("an object equal to all",
            "return type('All', (), {'__eq__': lambda *of: True, '__hash__': id})()", ("illegal_move", "error")),
    Hostile("changing the folder", "os.chdir('/')", FINE),
    Hostile("a fork a move", "os.fork() or os._exit(0)", FINE),
    Hostile("a fork that stays", "os.fork() or time.sleep(5) or os._exit(0)", FINE),
    Hostile("threads that never end", "threading.Thread(target=time.sleep, args=(10**6,), daemon=True).start()", FINE),
    Hostile("threads that outlive the game", "threading.Thread(target=time.sleep, args=(3,)).start()", FINE),
    Hostile("a hundred megabytes kept", "CustomPlayer.kept = bytearray(10**8)", FINE),
    Hostile("prints by the megabyte", "print('x' * 10**6); os.write(1, b'y' * 10**5); os.write(2, b'z' * 10**5)", FINE),
    Hostile("random that is not", "random.random = random.choice = random.seed = lambda *a, **k: 0.0", FINE),
    Hostile("a clock that stands still", "time.time = time.monotonic = time.perf_counter = lambda: 0.0", FINE),
    Hostile("a clock that runs backwards",
            "time.time = time.monotonic = lambda c=iter(range(0, -10**9, -3600)): float(next(c))", FINE),
    Hostile("an environment without anything", "os.environ.clear()", FINE),
    Hostile("signals taken over", "import signal; [signal.signal(n, signal.SIG_IGN) for n in (2, 14, 15)]", FINE),
    Hostile("the opponent's pieces moved", "[game.apply_move(m) for m in moves[:1]]", FINE),
    Hostile("the board emptied", "vars(game).clear()", ("error", "no_moves")),
    Hostile("its parent stopped", "os.kill(os.getppid(), signal.SIGSTOP)"),
    Hostile("its worker stopped past Python",
            "ctypes.CDLL(None).kill(int(open(f'/proc/{os.getppid()}/stat').read().split()[3]), 19); time.sleep(9)"),
    Hostile("its group interrupted", "os.killpg(os.getpgrp(), signal.SIGINT)"),
    Hostile("processes without end", "while True: os.fork() or time.sleep(60)"),
    Hostile("no stack left", "sys.setrecursionlimit(len(moves) and 30)", ("error",)),
    Hostile("no stack left at import", "pass", ("error", "no_moves"), at_import="sys.setrecursionlimit(60)"),
    Hostile("a board without moves at import", "pass", ("illegal_move", "error"),
            at_import="isolation.Board.get_legal_moves = lambda board, player=None: []"),
    Hostile("a board without moves", "isolation.Board.get_legal_moves = lambda board, player=None: []",
            ("illegal_move", "error", "no_moves")),
    Hostile("no builtins", "builtins.len = builtins.max = lambda *a, **k: 0", ("error", "illegal_move", "no_moves")),
    Hostile("a heuristic: NaN", "return float('nan')", ("error",), SCORE),
    Hostile("a heuristic: a string", "return 'much'", ("error",), SCORE),
    Hostile("a heuristic: None", "return None", ("error",), SCORE),
    Hostile("a heuristic: infinity", "return float('inf')", ("no_moves",), SCORE),
    Hostile("a heuristic: sys.exit", "sys.exit(0)", ("error",), SCORE),
    Hostile("a heuristic: os._exit", "os._exit(0)", ("error",), SCORE),
    Hostile("a heuristic: an endless loop", "while True: pass", ("hang",), SCORE, capped=True),
    Hostile("a heuristic: an own BaseException", "raise type('Mine', (BaseException,), {})", ("error",), SCORE),
    Hostile("a heuristic: closing every descriptor", "os.closerange(0, 256)", ("error",), SCORE),
)  # fmt: skip


def attack(folder: Path, share: float) -> Iterator[Attack]:
    """Yield every hostile player, with a hard cap, and without one if it does not need one."""
    usual = {
        template: _play(emptied(folder / "harmless"), Hostile("", "pass", (), template), ())[1]
        for template in (PLAYER, SCORE)
    }
    cases = [(accuracy, cap) for accuracy in HOSTILE for cap in ((CAP,) if accuracy.capped else ((), CAP))]
    for accuracy, cap in some(cases, share):
        fault, games = _play(emptied(folder / "hostile"), accuracy, cap)
        failure = fault or _judged(accuracy, games, usual[accuracy.template])
        yield Attack("with a hard cap" if cap else "without a hard cap", failure and f"{accuracy.name}: {failure}")


def _play(folder: Path, first: Hostile, cap: tuple[str, ...]) -> tuple[str, list[Game]]:
    """Play a tournament with a player that does this; return what is wrong with its end, and the games."""
    file = folder / "hostile.py"
    file.write_text(first.template.format(act=first.act, at_import=first.at_import))
    (folder / "honest.py").write_text(HONEST)
    honest = ("--opponent", f"Honest={folder}/honest.py:Honest@ms=9999",
              "--opponent", f"Words=AB:{folder}/honest.py:words@depth=1")  # fmt: skip
    spec = f"{NAME}={file}:CustomPlayer@ms=1000" if first.template == PLAYER else f"{NAME}=AB:{file}:score@depth=1"
    run = folder / "run"
    ended = command(
        [*WORDS, *honest, *cap, "--contender", spec, "--out", str(run)], folder / "output.txt", pools=LokyPool
    )
    if ended.fault or ended.code:
        return ended.fault or ended.output, []
    return "", log.read_table(run, log.SCHEMA.names).drop(TIMES).sort_by("game_id").to_pylist()


def _judged(first: Hostile, games: list[Game], usual: list[Game]) -> str:
    """Return what is wrong with the games: all must be as usual, except those of a harmful player."""
    if len(games) != len(usual):
        return f"{len(games)} games instead of {len(usual)}"
    for game, second in zip(games, usual, strict=True):
        side = next((side for side in (1, 2) if game[f"agent_{side}"] == NAME), None)
        if side is None:
            if repr(game) != repr(second):
                return f"game {game['game_id']} of others is another"
        elif not _is_just(first, game, second, side):
            return f"game {game['game_id']}: {game['winner']} won by {game['reason']} ({game['detail']}), it is {side}"
    return ""


def _is_just(first: Hostile, game: Game, usual: Game, side: int) -> bool:
    """Return whether a game of the hostile player, on this side, ended as it should."""
    if not first.reasons:
        return game["reason"] == "no_moves" and game["moves"] == usual["moves"]
    if game["winner"] != side:
        return game["reason"] in first.reasons or game["detail"] == FORFEITED
    return "no_moves" in first.reasons and game["reason"] == "no_moves"

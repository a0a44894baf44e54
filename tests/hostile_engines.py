"""Engines in a few lines of Python for tests: one that plays, and others that do what engines should not."""

import sys
from pathlib import Path

PLAYS = """
import re, sys
JUMPS = [(down, right) for down in (-2, -1, 1, 2) for right in (-2, -1, 1, 2) if abs(down) != abs(right)]

def moves(fen):
    board, side = fen.split()[:2]
    rows = [re.sub(r"\\\\d+", lambda run: "." * int(run[0]), row) for row in board.split("[")[0].split("/")]
    cells = {(r, c): sign for r, row in enumerate(rows) for c, sign in enumerate(row)}
    name = lambda cell: chr(97 + cell[1]) + str(len(rows) - cell[0])
    here = [cell for cell, sign in cells.items() if sign == ("N" if side == "w" else "n")]
    if not here:
        return ["N@" + name(cell) for cell in cells if cells[cell] == "."]
    near = [(here[0][0] + down, here[0][1] + right) for down, right in JUMPS]
    return [name(here[0]) + name(cell) for cell in near if cells.get(cell) == "."]

def say(text):
    print(text, flush=True)

fen = ""
for line in sys.stdin:
    words = line.split()
    AT
    if words[0] == "ugi":
        say("id name mine\\\\noption name Hash type spin default 1 min 1 max 64\\\\nugiok")
    elif words[0] == "isready":
        say("readyok")
    elif words[0] == "position":
        fen = " ".join(words[2:])
    elif words[0] == "go":
        first = moves(fen)[0]
        say(f"info depth 2 nodes 7 score cp 150 pv {first}\\\\nbestmove {first}")
    elif words[0] == "quit":
        break
""".replace("\\\\", "\\")


def engine(path: Path, does: str = "") -> Path:
    """Write an engine that plays the first move there is; it first does something else with the `words` of a line."""
    path.write_text(f"#!{sys.executable}\n" + PLAYS.replace("AT", does or "pass"))
    path.chmod(0o755)
    return path


def at(word: str, does: str) -> str:
    """What an engine does when it hears a word."""
    return f"if words[0] == {word!r}: {does}"


FLOODS = "sys.stdout.write('x' * 5_000_000)"
CHATTERS = "[say('info string still here') for _ in iter(int, 1)]"
HANGS = "import time; time.sleep(10**6)"
DIES = "sys.exit(3)"
LIES = "say('bestmove a1a1'); continue"
BABBLES = "say('bestmove knight to c2'); continue"

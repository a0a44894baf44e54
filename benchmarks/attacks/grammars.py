"""Coverage-guided fuzzing of every grammar the project reads, and of the addresses of the analysis board."""

from __future__ import annotations

import importlib.util
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from benchmarks.attacks.attack import Attack
from benchmarks.attacks.targets import SEEDS, TARGETS
from benchmarks.attacks.tournaments import play_whole
from knights_isolation.experiments.bench import COMMAND

RUNS = 100_000
"""Number of calls of each target."""
REQUESTS = 5_000
ADDRESSES = (b"/", b"/api/start", b"/api/runs/0/games?kind=longest&agent=Greedy", b"/api/runs/0/games/3",
             b"/static/app.js", b"/static/../questions.py", b"/api/values", b"/api/solve",
             b"/api/explore", b"/api/import", b"/api/export")  # fmt: skip
EXPECTED = {200, 304, 307, 400, 403, 404, 405, 411, 413, 415, 422, 429, 503}


def attack(folder: Path, share: float) -> Iterator[Attack]:
    """Yield every target fuzzed by atheris, if it is installed, and the board with randomly changed requests."""
    for name in TARGETS if importlib.util.find_spec("atheris") else ():
        yield _fuzzed(name, folder / "fuzzing", max(100, round(share * RUNS)))
    yield _asked(folder, max(50, round(share * REQUESTS)))


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Return bytes with some of them flipped, inserted, deleted or duplicated."""
    result = bytearray(data)
    for _ in range(chance.randrange(1, 6)):
        index = chance.randrange(len(result) + 1)
        match chance.randrange(4):
            case 0 if result:
                result[index % len(result)] ^= 1 << chance.randrange(8)
            case 1:
                result[index:index] = bytes([chance.randrange(256)])
            case 2:
                del result[index : index + chance.randrange(1, 5)]
            case _:
                result[index:index] = result[: chance.randrange(len(result) + 1)]
    return bytes(result)


def _fuzzed(name: str, folder: Path, runs: int) -> Attack:
    words = [sys.executable, "-m", "benchmarks.attacks.fuzzing", name, str(runs), str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)
    calls = max(map(int, re.findall(r"^#(\d+)", done.stderr, re.MULTILINE)), default=0)
    what = f"{name.replace('_', ' ')}, coverage-guided"
    if done.returncode == 0:
        return Attack(what, count=calls)
    message = [
        line for line in (done.stdout + done.stderr).splitlines() if re.match(r"[\w.]*(Error|Exception)\b", line)
    ]
    return Attack(what, f"exit code {done.returncode}: {message[-1] if message else done.stderr[-300:]}", calls)


def _asked(folder: Path, requests: int) -> Attack:
    """Send requests to changed addresses: the board answers each correctly, and still runs at the end."""
    run, chance = play_whole(folder), random.Random(1)
    words = [*COMMAND, "board", "--no-open", "--port", "0", str(run)]
    board = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    what = "addresses and questions of the board, changed at random"
    try:
        assert board.stdout
        port = int(re.findall(r":(\d+)/", board.stdout.readline())[0])
        for number in range(requests):
            address, body = mutated(chance.choice(ADDRESSES), chance), mutated(SEEDS["questions"][number % 2], chance)
            status = _status(port, address, body)
            if status not in EXPECTED:
                return Attack(what, f"{status} for {address!r} with {body!r}", number + 1)
        alive = _status(port, b"/api/start", b"")
        return Attack(what, "" if alive == 200 else f"in the end it answers {alive}", requests)
    finally:
        board.terminate()
        board.wait()


def _status(port: int, address: bytes, body: bytes) -> int:
    """Return the status of the board's answer; 400 if it closes the connection, as for an invalid request."""
    with closing(HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        method = (
            "POST" if address.startswith((b"/api/v", b"/api/s", b"/api/m", b"/api/e", b"/api/i")) and body else "GET"
        )
        head = b"%s %s HTTP/1.1\r\nhost: 127.0.0.1:%d\r\n" % (method.encode(), address.replace(b"\n", b""), port)
        kind = b"content-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body)
        connection.connect()
        connection.sock.sendall(head + (kind + body if method == "POST" else b"\r\n"))
        response = connection.response_class(connection.sock, method=method)
        try:
            response.begin()
            return int(response.status)
        except (HTTPException, ConnectionError):
            return 400
        finally:
            response.close()

"""Cost of a cluster for the parent process: CPU time per game, and games per second by the length of batches.

    python benchmarks/cluster.py machines ADDRESS COUNT CORES GAME_US   machines that sleep and send real games
    python benchmarks/cluster.py play ADDRESS PAIRS SECONDS             a run with batches of SECONDS seconds

The machines are dask workers in one process. They do not play: each core sleeps GAME_US a game, and sends as many of
the games of an earlier run.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import psutil
from distributed import Worker

from knights_isolation.experiments.plan.config import load_config
from knights_isolation.experiments.plan.tournament_plan import make_plan
from knights_isolation.experiments.play.cluster import dispatcher, remote_worker
from knights_isolation.experiments.play.finished_games import FinishedGames
from knights_isolation.experiments.play.pools.game_worker import GameWorker as Player
from knights_isolation.experiments.play.pools.game_worker import PlayedBatch, task_of
from knights_isolation.experiments.play.pools.pool import Finished, Work
from knights_isolation.experiments.play.runner import RunProgress, play_tournament
from knights_isolation.experiments.record import log

GAMES = {"format": "head-to-head", "contenders": ["AB:open@depth=3"], "baseline": "AB:improved@depth=3"}
OPENINGS = "random:6"


def simulated(game_us: float) -> None:
    """Replace `remote_worker.do` by a function that sleeps, and sends as many games as the original would send."""
    plan = make_plan(load_config(None, {**GAMES, "openings": OPENINGS, "pairs": 32768}))
    played = Player(task_of(plan)).play_batch(np.arange(65536)).played

    def do(key: str, works: Sequence[Work]) -> remote_worker.Done:
        began, ids = time.monotonic(), np.array(works[0].ids)
        if not works[0].ids:
            return remote_worker.Done([Finished(work.number, {}) for work in works], 0.0, {})
        games = played.games.taken(np.arange(len(ids)) % len(played.ids))
        finished = FinishedGames(ids, games, np.full(len(ids), int(time.time() * 1e6)))
        batch = PlayedBatch(finished, np.array([0]), np.array([game_us / 1e6]))
        time.sleep(max(0.0, len(ids) * game_us / 1e6 - (time.monotonic() - began)))
        return remote_worker.Done([Finished(works[0].number, batch)], 0.0, {})

    remote_worker.do = do


async def machines(address: str, count: int, cores: int) -> None:
    """Run simulated machines in this process, until it is ended."""
    with tempfile.TemporaryDirectory() as folder:
        workers = [
            Worker(address, nthreads=cores, memory_limit=0, local_directory=folder, name=f"m{n}") for n in range(count)
        ]
        await asyncio.gather(*workers)
        print(f"{count} machines are there", flush=True)
        await asyncio.gather(*(worker.finished() for worker in workers))


def play(address: str, pairs: int, seconds: float, scheduler: int | None = None) -> None:
    """Play a run, and print its cost for the parent, and for the scheduler if its process is given."""
    dispatcher.FIRST = min(dispatcher.FIRST, seconds)
    dispatcher.SHORTEST = dispatcher.LONGEST = seconds
    marks: list[tuple[float, float, float, int]] = []
    other = psutil.Process(scheduler) if scheduler else None

    def show(progress: RunProgress) -> None:
        if not progress.logged or (
            progress.logged == progress.total and len(marks) > 1 and marks[-1][3] == progress.total
        ):
            return
        spent = sum(other.cpu_times()[:2]) if other else 0.0
        marks.append((time.process_time(), spent, time.monotonic(), progress.logged))

    with tempfile.TemporaryDirectory() as folder:
        keys = {**GAMES, "openings": OPENINGS, "pairs": pairs, "out": f"{folder}/run", "cluster": address}
        before = time.process_time()
        outcome = play_tournament(load_config(None, keys), show=show)
        if not outcome.finished:
            sys.exit(f"{outcome.logged:,} games; {outcome.notes}")
        size = sum(path.stat().st_size for path in log.games_folder(Path(folder) / "run").iterdir())
    # Without the start, when the time per game is unknown, and the end, when machines have nothing left to do.
    total = marks[-1][3]
    first = next(mark for mark in marks if mark[3] >= 0.1 * total)
    last = next(mark for mark in marks if mark[3] >= 0.8 * total)
    games = last[3] - first[3]
    print(
        f"batches of {seconds} s: {games / (last[2] - first[2]):,.0f} games/s; CPU a game, us: "
        f"parent {(last[0] - first[0]) / games * 1e6:.2f}, scheduler {(last[1] - first[1]) / games * 1e6:.2f}; "
        f"{size / last[3]:.0f} bytes a game; parent in all {time.process_time() - before:.1f} s",
        flush=True,
    )


if __name__ == "__main__":
    if sys.argv[1] == "machines":
        simulated(float(sys.argv[5]))
        asyncio.run(machines(sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
    else:
        play(sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5]) if len(sys.argv) > 5 else None)

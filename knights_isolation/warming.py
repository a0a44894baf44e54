"""Compilation ahead of time, for containers and classrooms."""

from __future__ import annotations

from contextlib import chdir
from tempfile import TemporaryDirectory

import knights_isolation as ki
from knights_isolation.isolation import Board


def warm() -> None:
    """Compile what the default board needs: a tournament, a screening and a solution, played small and thrown away."""
    with TemporaryDirectory() as folder, chdir(folder):  # where run and log of tries are written
        ki.tournament(pairs=1)
        ki.screen("ID:territory", sample=10)
        ki.solve(Board.from_moves([24, 14]))

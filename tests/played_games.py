"""Games for tests of logs and replays: random moves, with scores and depths made up."""

import random

from experiments.roster import parse_agent
from experiments.saved_games import append_game
from isolation import Board
from isolation.match import GameRecord

NAMES = ("ID_Improved", "Random", "MCTS_10nodes")
SPECS = {"ID_Improved": "ID:improved", "Random": "random", "MCTS_10nodes": "MCTS@nodes=10"}


def random_record(seed, names=NAMES[:2], size="5x5", reason="no_moves", detail=""):
    """A finished game; without a reason of its own it goes on until a player has no move."""
    draw = random.Random(seed)
    board = Board.from_moves([], size)
    while board.legal_cells() and not (reason != "no_moves" and board.move_count > 4):
        board.play_cell(draw.choice(board.legal_cells()))
    plies = board.move_count
    return GameRecord(
        size=size,
        opening=board.history[:2],
        agent_1=names[0],
        agent_2=names[1],
        winner=2 - board.active_index,
        reason=reason,
        detail=detail,
        moves=board.history,
        score=(float("nan"), float("nan"), *(draw.choice([0.25, 0.5, 1.0]) for _ in range(plies - 3)), float("inf")),
        depth=(0, 0, *(draw.randint(1, 9) for _ in range(plies - 2))),
        nodes=(0, 0, *(draw.randint(1, 9999) for _ in range(plies - 2))),
        time_us=(0, 0, *(draw.randint(1, 99_999) for _ in range(plies - 2))),
        exact=(False,) * (plies - 1) + (True,),
    )


def write_run(path, games=12):
    """A log of games between `NAMES`, one of them lost by a late move; returns their records."""
    records = []
    for seed in range(games):
        names = NAMES[seed % 3], NAMES[(seed + 1) % 3]
        late = {"reason": "timeout", "detail": "late at ply 6"} if seed == 5 else {}
        record = random_record(seed, names, **late)
        append_game(path, record, tuple(parse_agent(SPECS[name]) for name in names), seed)
        records.append(record)
    return records

"""Games for tests of logs and replays: random moves, with scores and depths made up."""

import json
import random

import pyarrow as pa

from knights_isolation.experiments.game_files import row_of
from knights_isolation.experiments.plan import parse_agent
from knights_isolation.experiments.record.log import games_folder
from knights_isolation.experiments.record.log_parts import append
from knights_isolation.isolation import Board
from knights_isolation.isolation.games.match import GameRecord

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


PERSON = '{"kind": "human"}'


def write_games(path, records, settings=(PERSON, PERSON)):
    """A log of these games in one part; `settings` are those of the players, of all games alike or of each."""
    each = settings if isinstance(settings, list) else [settings] * len(records)
    folder = games_folder(path)
    folder.mkdir(parents=True)
    rows = [row_of(record, id_, own, id_) for id_, (record, own) in enumerate(zip(records, each, strict=True))]
    append(folder, pa.concat_tables(rows))


def write_run(path, games=12):
    """A log of games between `NAMES`, one of them lost by a late move; returns their records."""
    known = {name: json.dumps(parse_agent(spec).settings(), sort_keys=True) for name, spec in SPECS.items()}
    records, settings = [], []
    for seed in range(games):
        names = NAMES[seed % 3], NAMES[(seed + 1) % 3]
        late = {"reason": "timeout", "detail": "late at ply 6"} if seed == 5 else {}
        records.append(random_record(seed, names, **late))
        settings.append(tuple(known[name] for name in names))
    write_games(path, records, settings)
    return records

"""Frames of games, in which tests count rows, as the pairs that inference starts from."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa

from knights_isolation.experiments.statistics.game_pairs import PairTable, pair_games


def pairs_in(games: pd.DataFrame, cluster: str | None = None) -> PairTable:
    return pair_games(pa.Table.from_pandas(games, preserve_index=False), cluster)

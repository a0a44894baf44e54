"""Tables of pairs of games."""

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from paired import pairs_in


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd"), st.sampled_from([1, 2])), min_size=1))
def test_every_pair_is_listed_for_both_its_agents(meetings: list[tuple[str, str, int]]) -> None:
    rows = [meeting for meeting in meetings if meeting[0] != meeting[1]] or [("a", "b", 1)]
    games = pd.DataFrame(rows, columns=["agent_1", "agent_2", "winner"])
    games["game_id"] = games["pair_id"] = games["opening_id"] = np.arange(len(rows))
    table = pairs_in(games.assign(size="7x7"))
    for code, name in enumerate(table.agents):
        assert table.pairs_of(name).tolist() == np.flatnonzero((table.first == code) | (table.second == code)).tolist()

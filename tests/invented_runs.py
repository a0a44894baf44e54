"""Runs whose results are made up: a log and a run.json, without any game being played."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa

from knights_isolation.experiments.plan.config import load_config
from knights_isolation.experiments.plan.run_keeping import identity
from knights_isolation.experiments.record import log, log_parts
from knights_isolation.isolation.rules.game import parse_size
from knights_isolation.isolation.rules.seeds import game_seeds

IMPROVED = {"kind": "search", "method": "alphabeta", "heuristic": "improved", "limit": {"nodes": 1000}, "options": []}


@dataclass
class Invented:
    """Games to be: `pair` adds two of one opening, `game` adds one."""

    agents: dict = field(default_factory=dict)
    rows: list = field(default_factory=list)
    config: dict = field(default_factory=dict)
    population: int = 0
    is_census: bool = False
    planned: int | None = None
    pairs: int = 0
    pools_control: bool = False
    costs: dict = field(default_factory=dict)

    def agent(self, name, *roles, **settings):
        """An agent; unlike others of the same settings, it is told apart by its name."""
        own = {**IMPROVED, "heuristic": name, **settings}
        own = {key: value for key, value in own.items() if value is not None}
        self.agents[name] = {"spec": f"{name}=ID:open", "roles": list(roles), "settings": json.dumps(own)}
        return self

    def costing(self, **times):
        """The run has measured what a node of each costs over the baseline's, whose cost is 1."""
        for name, each in times.items():
            low, high = (each, each) if each == 1 else (0.98 * each, 1.02 * each)
            self.costs[name] = {"nanoseconds": 4.0 * each, "times": each, "low": low, "high": high}
        return self

    def pair(self, agent, opponent, opening, wins, **options):
        """A pair of which `agent` wins 0, 1 (the game it places first) or 2."""
        self.game(agent, opponent, opening, wins > 0, **options)
        self.game(opponent, agent, opening, wins < 2, **options)
        self.pairs += 1
        return self

    def game(self, first, second, opening, first_wins, **options):
        """One game of the pair being made."""
        self.rows.append({"pair_id": self.pairs, "agent_1": first, "agent_2": second, "opening_id": opening,
                          "winner": 1 if first_wins else 2, **options})  # fmt: skip
        return self

    def write(self, path):
        """The run as a directory."""
        path = Path(path)
        (path / "games").mkdir(parents=True)
        facts = {
            "created_at": "2025-01-01T00:00:00+00:00",
            "requested": identity(load_config(None, self.config)),
            "agents": self.agents,
            "games": len(self.rows) if self.planned is None else self.planned,
            "openings": len({row["opening_id"] for row in self.rows}),
            "population": self.population,
            "is_census": self.is_census,
            "notes": [],
            "processor_costs": self.costs,
            "fingerprint": "",
            "versions": {},
            "pools_control": self.pools_control,
        }
        (path / "run.json").write_text(json.dumps(facts))
        if self.rows:
            log_parts.append(
                path / "games", pa.Table.from_pylist([self._row(i, row) for i, row in enumerate(self.rows)], log.SCHEMA)
            )
        return path

    def _seed(self, game_id, row):
        """What the schedule would give the game."""
        names = list(self.agents)
        players = np.array([[names.index(row["agent_1"]), names.index(row["agent_2"])]])
        opening = np.array([row["opening_id"]]).astype(np.uint64)
        seed = load_config(None, self.config).seed
        return int(game_seeds("agents", seed, names, np.array([game_id]), players, opening)[0])

    def _row(self, game_id, row):
        plies = row.get("plies", 6)
        rows, columns = parse_size(self.config.get("board", "7x7"))
        usual = {
            "game_id": game_id,
            "rows": rows,
            "columns": columns,
            "settings_1": self.agents[row["agent_1"]]["settings"],
            "settings_2": self.agents[row["agent_2"]]["settings"],
            "opening": [row["opening_id"] % 7, 24],
            "orbit": row["opening_id"],
            "colours": ("same", "other")[row["opening_id"] % 2],
            "population": self.population,
            "reason": "no_moves",
            "detail": "",
            "plies": plies,
            "moves": [row["opening_id"] % 7, 24, *range(30, 28 + plies)],
            "score": [float("nan")] * 2 + [0.5] * (plies - 2),
            "depth": [0, 0] + [3, 5] * 30,
            "nodes": [0, 0] + [100, 1000] * 30,
            "time_us": [0, 0] + [10, 50] * 30,
            "exact": [False] * plies,
            "seed": self._seed(game_id, row),
            "started_at": 0,
        }
        filled = {**usual, **row}
        return {**filled, **{name: filled[name][:plies] for name in ("depth", "nodes", "time_us")}}


def gauntlet(openings=20, wins=None, opponents=("Opp_A", "Opp_B"), contenders=("Good",), **options):
    """A gauntlet of a baseline, contenders and opponents; `wins(agent, opponent, opening)` says who wins."""
    run = Invented(**options)
    run.agent("Base", "baseline")
    for name in contenders:
        run.agent(name, "contender")
    for name in opponents:
        run.agent(name, "opponent")
    wins = wins or (lambda agent, opponent, opening: 1)
    for opening in range(openings):
        for agent in ("Base", *contenders):
            for opponent in opponents:
                run.pair(agent, opponent, opening, wins(agent, opponent, opening))
    return run


def random_wins(rates, seed=0):
    """Results drawn by rate of the agent, per game."""
    rng = np.random.default_rng(seed)
    return lambda agent, opponent, opening: int(rng.binomial(2, rates[agent]))

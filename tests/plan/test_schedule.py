"""Schedules and designs: who plays whom from what, each game once, with seeds that hang on the game alone."""

from collections import Counter
from pathlib import Path

import joblib
import numpy as np
import pytest

from knights_isolation.experiments.plan.config import Config, load_config
from knights_isolation.experiments.plan.schedule import Schedule, pair_points, points_table, record_points
from knights_isolation.experiments.plan.tournament_plan import Plan, make_plan
from knights_isolation.heuristics import names

CONTENDERS = len(names()) - 1
OF_CONTROL = round(180 * (CONTENDERS**0.5 - 1))


def plan_of(**keys: object) -> Plan:
    return make_plan(load_config(None, keys))


def test_files_of_a_pattern_that_cannot_play_or_play_alike_are_left_out_and_named(tmp_path: Path) -> None:
    sources = {"ann": "1.0", "bob": "(", "cy": "1.0", "dan": "2.0"}
    for who, value in sources.items():
        (tmp_path / who).mkdir()
        (tmp_path / who / "h.py").write_text(f"def score(game, player):\n    return {value}\n")
    file = tmp_path / "class.toml"
    file.write_text(f'format = "round-robin"\npairs = 1\ncontenders = ["ID:{tmp_path}/*/h.py@nodes=9"]\n')
    plan = make_plan(load_config(file))
    assert plan.schedule.agents == ("ID_ann.h.score_9nodes", "ID_dan.h.score_9nodes")
    bob, cy = [note for note in plan.notes if note.startswith("left out: ")]
    assert f"{tmp_path}/bob/h.py failed to import: line 2" in bob
    assert cy == "left out: ID_cy.h.score_9nodes plays exactly like ID_ann.h.score_9nodes"
    assert "*" not in str(plan.config.contenders)


def all_ids(schedule: Schedule) -> np.ndarray:
    ids = np.arange(schedule.bound)
    return ids[schedule.exists(ids)]


def games_of(plan: Plan) -> list[tuple[str, str, tuple[int, ...]]]:
    schedule = plan.schedule
    ids = all_ids(schedule)
    names = [(schedule.agents[first], schedule.agents[second]) for first, second in schedule.players(ids)]
    return [(*pair, tuple(opening)) for pair, opening in zip(names, schedule.openings(ids), strict=True)]


@pytest.fixture(scope="module")
def classic() -> Plan:
    return make_plan(Config())


@pytest.mark.parametrize("limit", ["nodes=100", "ms=150", "cpu_ms=150"])
def test_the_baseline_is_not_among_all_heuristics_under_any_limit(limit: str) -> None:
    agents = [entrant.agent.name for entrant in make_plan(load_config(None, {"limit": limit})).entrants]
    assert agents.count("ID_Improved") == 1
    assert len(agents) == 1 + CONTENDERS + 1 + 7


def test_the_baseline_is_not_among_all_heuristics_where_ties_are_left_to_chance() -> None:
    plan = plan_of(contenders=["ID:*@ties"], baseline="ID:improved@ties", opponents=["random"])
    roles = {entrant.agent.name: entrant.roles for entrant in plan.entrants}
    assert roles["ID_Improved_ties"] == ("baseline",)


def test_the_classic_evaluation_has_every_contender_meet_every_opponent(classic: Plan) -> None:
    roles = Counter(role for entrant in classic.entrants for role in entrant.roles)
    assert roles == {"baseline": 1, "contender": CONTENDERS, "control": 1, "opponent": 7}
    assert len(classic.schedule) == ((1 + CONTENDERS) * 180 + OF_CONTROL) * 7 * 2 + CONTENDERS * 180 * 2
    assert not classic.is_census


def test_every_game_is_played_once_and_once_with_the_sides_swapped(classic: Plan) -> None:
    games = games_of(classic)
    assert len(set(games)) == len(games) == len(classic.schedule)
    assert {(second, first, opening) for first, second, opening in games} == set(games)


def test_contenders_meet_the_same_openings_and_the_control_others(classic: Plan) -> None:
    met: dict[str, set[tuple[int, ...]]] = {}
    for item, _, opening in games_of(classic):
        met.setdefault(item, set()).add(opening)
    control = met["ID_Improved_control"]
    contenders = [openings for name, openings in met.items() if name.startswith("ID_") and not name.endswith("control")]
    assert all(openings == contenders[0] for openings in contenders)
    assert (len(contenders[0]), len(control)) == (180, OF_CONTROL)
    assert not control & contenders[0]


@pytest.mark.parametrize(("contenders", "own"), [(1, 50), (4, 50), (9, 100), (16, 150)])
def test_baseline_and_control_play_as_many_openings_as_tell_most_of_all_contenders(contenders: int, own: int) -> None:
    specs = [f"C{number}=ID:open@nodes={number + 1}" for number in range(contenders)]
    keys = {"contenders": specs, "opponents": ["random"], "pairs": 50}
    (match,) = [match for match in plan_of(**keys).schedule.matches if match.start]
    assert match.pairs == own
    (match,) = [match for match in plan_of(**keys, sprt=[0, 3]).schedule.matches if match.start]
    assert match.pairs == 50


def test_a_run_from_before_goes_on_with_a_control_as_long_as_its_contenders() -> None:
    plan = make_plan(load_config(None, {"pairs": 30}), pools_control=False)
    assert {match.pairs for match in plan.schedule.matches} == {30}
    assert not plan.pools_control


def test_every_prefix_of_the_schedule_treats_contenders_alike(classic: Plan) -> None:
    schedule = classic.schedule
    played = Counter(schedule.match_of(np.arange(schedule.bound * 3 // 8)).tolist())
    assert max(played.values()) - min(played.values()) <= 2


def test_the_two_games_of_a_pair_share_an_opening_and_a_pair_id(classic: Plan) -> None:
    schedule = classic.schedule
    ids = all_ids(schedule)
    rows = schedule.opening_rows(ids)
    assert np.array_equal(rows[::2], rows[1::2])
    assert np.array_equal(schedule.players(ids)[::2], schedule.players(ids)[1::2, ::-1])


def seeds_of(**keys: object) -> dict[object, int]:
    """The seed of each game, by who moves first, who second, and the opening."""
    plan = plan_of(**keys)
    return dict(zip(games_of(plan), plan.schedule.seeds(all_ids(plan.schedule)).tolist(), strict=True))


def test_seeds_do_not_hang_on_the_company_or_the_number_of_pairs() -> None:
    small = seeds_of(contenders=["AB:open"], opponents=["random"], pairs=5)
    large = seeds_of(contenders=["MM:open", "AB:open"], opponents=["greedy", "random"], pairs=9)
    shared = {game: seed for game, seed in large.items() if "AB_Open" in game and game in small}
    assert len(shared) == 20
    assert shared == {game: seed for game, seed in small.items() if "AB_Open" in game}


def test_seeds_hang_on_opening_side_opponent_and_the_run_and_not_on_the_contender() -> None:
    keys: dict[str, object] = {"opponents": ["random", "R=random"], "pairs": 5, "control": False}
    seeds = seeds_of(contenders=["MM:open"], baseline="AB:open", **keys)
    own = {game: seed for game, seed in seeds.items() if "MM_Open" in game and "AB_Open" not in game}
    assert len(set(own.values())) == len(own) == 20
    assert own == {
        tuple("MM_Open" if part == "AB_Open" else part for part in game): seed
        for game, seed in seeds.items()
        if "AB_Open" in game and "MM_Open" not in game
    }
    again = seeds_of(contenders=["MM:open"], baseline="AB:open", seed=2, **keys)
    assert not set(seeds.values()) & set(again.values())


def test_results_are_counted_for_the_first_agent_of_the_match() -> None:
    schedule = plan_of(format="head-to-head", contenders=["AB:open"], baseline="MM:open", pairs=3).schedule
    points = points_table(schedule)
    record_points(points, np.array([0, 1, 2, 3, 4]), [1, 2, 2, 2, 2])
    assert pair_points(points).tolist() == [[2], [1], [-1]]


def test_a_resolved_configuration_makes_the_same_plan_again(tmp_path: Path) -> None:
    book = tmp_path / "book.txt"
    book.write_text("24,14\n14,24\n0,1\n2,3\n")
    for keys in (
        {"pairs": 3},
        {"openings": "placements,same", "board": "4x4", "contenders": ["ID:open"]},
        {"openings": f"file:{book}", "pairs": 2, "contenders": ["ID:open"]},
        {"format": "round-robin", "contenders": ["MM:open", "AB:open@depth=2", "random"]},
        {"format": "head-to-head", "contenders": ["MM:*"], "baseline": "X=ID:open@ms=5"},
    ):
        plan = plan_of(**keys)
        again = make_plan(plan.config)
        assert again.schedule.fingerprint == plan.schedule.fingerprint
        assert again.config == plan.config


def test_exhausted_openings_are_said_and_no_game_is_repeated() -> None:
    plan = plan_of(board="4x4", contenders=["AB:open"], pairs=10_000)
    games = games_of(plan)
    assert len(set(games)) == len(games)
    assert any("only 240 distinct openings exist (10,000 requested)" in note for note in plan.notes)
    assert any("no control" in note for note in plan.notes)


def test_a_census_is_recognised_only_where_nothing_is_left_to_chance() -> None:
    census = plan_of(board="4x4", openings="placements", contenders=["AB:open"], opponents=["MM:open"])
    assert census.is_census
    assert any("census" in note for note in census.notes)
    assert not plan_of(board="4x4", openings="placements", contenders=["AB:open"], opponents=["random"]).is_census
    assert not plan_of(board="4x4", openings="placements", contenders=["AB:open@ties"], opponents=["greedy"]).is_census
    assert not plan_of(board="4x4", openings="random:2", pairs=239, opponents=["greedy"], control=False).is_census
    assert plan_of(board="4x4", openings="random:2", pairs=240, opponents=["greedy"], control=False).is_census


def test_the_population_is_known_for_agents_that_leave_nothing_to_chance() -> None:
    plan = plan_of(contenders=["AB:open"], opponents=["random", "greedy"], pairs=4)
    populations = {plan.schedule.agents[match.second]: match.population for match in plan.schedule.matches}
    assert populations == {"Random": 0, "Greedy": 2352, "ID_Improved": 2352}


def meetings_of(plan: Plan) -> list[tuple[str, str]]:
    agents = plan.schedule.agents
    return [(agents[match.first], agents[match.second]) for match in plan.schedule.matches]


def test_every_contender_of_a_gauntlet_also_meets_the_baseline_on_the_openings_of_its_other_games() -> None:
    plan = plan_of(contenders=["AB:open", "MM:open"], opponents=["random", "greedy"], pairs=4)
    assert meetings_of(plan)[-2:] == [("AB_Open", "ID_Improved"), ("MM_Open", "ID_Improved")]
    assert sum("ID_Improved" in meeting for meeting in meetings_of(plan)) == 2 + 2
    openings = {name: {opening for *sides, opening in games_of(plan) if set(sides) == {"AB_Open", name}}
                for name in ("Greedy", "ID_Improved")}  # fmt: skip
    assert openings["Greedy"] == openings["ID_Improved"]
    plan = plan_of(
        contenders=["AB:center", "MM:open"], opponents=["random"], pairs=4, more_pairs=9, more_for=["MM_Open"]
    )
    assert [match.pairs for match in plan.schedule.matches][-2:] == [4, 9]


def test_games_with_the_baseline_change_no_other_game() -> None:
    config = load_config(None, {"contenders": ["AB:open", "MM:open"], "opponents": ["random", "greedy"], "pairs": 4})
    seeds = []
    for meets_baseline in (False, True):
        plan = make_plan(config, meets_baseline=meets_baseline)
        seeds.append(dict(zip(games_of(plan), plan.schedule.seeds(all_ids(plan.schedule)).tolist(), strict=True)))
    assert len(seeds[1]) == len(seeds[0]) + 2 * 4 * 2
    assert seeds[0].items() <= seeds[1].items()


def test_nothing_is_played_twice_where_baseline_or_contender_is_an_opponent() -> None:
    plan = plan_of(contenders=["AB:open"], opponents=["random", "ID:improved"], pairs=4)
    assert meetings_of(plan).count(("AB_Open", "ID_Improved")) == 1
    assert not any(map(plan.is_direct, plan.schedule.matches))
    plan = plan_of(contenders=["AB:open", "MM:open"], opponents=["random", "AB:open"], pairs=4)
    assert len(set(map(frozenset, meetings_of(plan)))) == len(plan.schedule.matches)
    direct = [number for number, match in enumerate(plan.schedule.matches) if plan.is_direct(match)]
    assert [meetings_of(plan)[number] for number in direct] == [("MM_Open", "ID_Improved")]


def test_only_gauntlets_have_games_with_the_baseline_added() -> None:
    for format_ in ("best-of", "head-to-head", "round-robin"):
        plan = plan_of(format=format_, contenders=["AB:center", "MM:center"], pairs=4)
        assert not any(map(plan.is_direct, plan.schedule.matches))


def test_a_run_planned_without_games_with_the_baseline_goes_on_without_and_says_so() -> None:
    plan = make_plan(load_config(None, {"contenders": ["AB:center"], "pairs": 4}), meets_baseline=False)
    assert ("AB_Center", "ID_Improved") not in meetings_of(plan)
    assert "no games against ID_Improved itself: the run was planned without them" in plan.notes


def test_an_agent_never_plays_itself() -> None:
    plan = plan_of(contenders=["AB:open"], opponents=["AB:open@depth=5", "greedy"], pairs=2)
    assert all(first != second for first, second, _ in games_of(plan))
    assert "AB_Open does not meet AB_Open: they are the same player" in plan.notes


def test_round_robin_and_head_to_head() -> None:
    robin = plan_of(format="round-robin", contenders=["random", "greedy", "MM:open", "AB:open"], pairs=2)
    assert len(robin.schedule.matches) == 6
    duel = plan_of(format="head-to-head", contenders=["MM:open", "AB:open"], baseline="greedy", pairs=2)
    assert [duel.schedule.agents[match.second] for match in duel.schedule.matches] == ["Greedy", "Greedy"]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"contenders": ["X=ID:open", "X=ID:center"]}, "contenders: two agents are called X; name one of them"),
        ({"contenders": ["ID:open", "Y=ID:open"]}, "contenders: Y plays exactly like ID_Open"),
        ({"contenders": ["Y=ID:improved"]}, "contenders: Y plays exactly like ID_Improved"),
        ({"contenders": ["X=ID:open"], "opponents": ["X=random"]}, "two different agents are called X"),
        ({"contenders": ["ID:opn"]}, "contenders\\[0\\]: no heuristic 'opn'; did you mean open"),
        ({"opponents": ["random", "ID:missing.py:f"]}, "opponents\\[1\\]: no such file"),
        ({"baseline": "ID:*"}, "baseline: exactly one agent required"),
        ({"format": "round-robin", "contenders": ["random"]}, "nothing to play"),
        ({"board": "1x2"}, "a 1x2 board has no opening of 2 plies after which .*: use a larger board"),
        ({"board": "1x5", "openings": "placements"}, "a 1x5 board has no placement pair that .*: use a larger board"),
        ({"openings": "file:nowhere.txt"}, "nowhere.txt: no such file"),
    ],
)
def test_what_cannot_be_played_is_refused(keys: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plan_of(**keys)


def test_more_jobs_than_cores_under_a_wall_clock_are_warned_of() -> None:
    keys: dict[str, object] = {"contenders": ["ID:open@ms=5"], "pairs": 1}
    assert any("bias" in note for note in plan_of(**keys, jobs=2 * joblib.cpu_count()).notes)
    assert not any("bias" in note for note in plan_of(**keys, jobs=1).notes)
    assert any("ID_Open_5ms thinks by the clock" in note for note in plan_of(**keys).notes)
    two = {**keys, "contenders": ["ID:open@ms=5", "ID:center@ms=5"]}
    assert any("ID_Open_5ms, ID_Center_5ms think by the clock" in note for note in plan_of(**two).notes)

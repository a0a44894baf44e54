"""Agent specs: the grammar, default names that tell apart what differs, and errors that point at the wrong part."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knights_isolation import heuristics
from knights_isolation.experiments.plan import (
    SpecError,
    board_refusal,
    complete,
    expand,
    make_agent,
    make_agents,
    named,
    parse_agent,
    parse_limit,
    parse_spec,
    settings_text,
    with_program,
)
from knights_isolation.experiments.plan.agent_kinds import KINDS
from knights_isolation.isolation import Limit
from knights_isolation.isolation.engines.protocol import Program

METHODS = st.sampled_from(["MM", "AB", "ID", "BF", "MCTS"])
LIMITS = st.one_of(
    st.builds("nodes={}".format, st.integers(1, 10**9)),
    st.builds("ms={}".format, st.floats(0.001, 1e6)),
    st.builds("cpu_ms={}".format, st.integers(1, 10**6)),
)
TARGETS = st.one_of(
    st.sampled_from(heuristics.names()), st.sampled_from(["my.py:score", "a@b/c d.py:f", "/x/y.py:g", "../z.py:h"])
)
SWITCHES = st.lists(st.sampled_from(["quiescence", "agree", "ties"]), unique=True)


@st.composite
def specs(draw: st.DrawFn) -> str:
    name = draw(st.sampled_from(["", "Mine=", "A b-c.1="]))
    method = draw(METHODS)
    options = [draw(LIMITS), *([] if method in ("BF", "MCTS") else draw(SWITCHES))]
    kept = draw(st.lists(st.sampled_from(options), unique=True)) if "agree" not in options else options
    return f"{name}{method}:{draw(TARGETS)}" + (f"@{','.join(kept)}" if kept else "")


@given(specs())
def test_a_completed_spec_reads_back_as_itself(text: str) -> None:
    spec = complete(parse_spec(text))
    again = complete(parse_spec(str(spec)))
    assert (str(again), again.name, again.limit, again.switches) == (str(spec), spec.name, spec.limit, spec.switches)


@given(specs(), specs())
def test_default_names_tell_apart_what_differs(item: str, other: str) -> None:
    first, second = complete(parse_spec(item)), complete(parse_spec(other))
    if first.name == second.name and not ("=" in item.split(":")[0] or "=" in other.split(":")[0]):
        assert str(first) == str(second)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("random", "Random"),
        ("greedy", "Greedy"),
        ("perfect", "Perfect"),
        ("perfect@ms=50", "Perfect_50ms"),
        ("MM:open@depth=3", "MM_Open"),
        ("AB:improved", "AB_Improved"),
        ("AB:improved@depth=7", "AB_Improved_depth7"),
        ("ID:improved", "ID_Improved"),
        ("id:improved_score@nodes=10000", "ID_Improved"),
        ("ID:territory@nodes=5000", "ID_Territory_5000nodes"),
        ("ID:net_advantage@ms=1.5,order", "ID_Net_Advantage_1.5ms_order"),
        ("BF:learned@nodes=1000", "BF_Learned_1000nodes"),
        ("MCTS@nodes=1000", "MCTS_1000nodes"),
        ("MCTS:improved", "MCTS_Improved"),
        ("alice/game_agent.py:CustomPlayer", "alice.game_agent.CustomPlayer"),
        ("/home/bob/my work/my.py:P@cpu_ms=20", "my_work.my.P_20cpu_ms"),
        ("ID:my.py:score", "ID_my.score"),
        ("engine:fairy", "fairy"),
        ("engine:./some dir/my player@ms=50,option.Skill Level=3", "my_player_50ms_Skill_Level3"),
        (" My agent = ID:open@nodes=5", "My agent"),
    ],
)
def test_names(text: str, name: str) -> None:
    assert complete(parse_spec(text)).name == name


def test_a_default_limit_is_for_players_that_have_none_of_their_own() -> None:
    limits = {text: complete(parse_spec(text), Limit(ms=20)).limit for text in ("ID:open", "MM:open", "a.py:P", "MCTS")}
    assert limits == {"ID:open": Limit(ms=20), "MM:open": Limit(depth=3), "a.py:P": Limit(ms=20), "MCTS": Limit(ms=20)}
    assert complete(parse_spec("a.py:P"), Limit(nodes=5)).limit == Limit(ms=150)
    assert complete(parse_spec("random")).limit is None


@pytest.mark.parametrize(("arguments", "limit"), [("legal_moves, time_left", 200), ("time_left", 150)])
def test_players_get_the_time_of_their_edition_where_no_limit_is_named(
    tmp_path: Path, arguments: str, limit: int
) -> None:
    file = tmp_path / "game_agent.py"
    file.write_text(f"class P:\n    def get_move(self, game, {arguments}):\n        return (0, 0)\n")
    for text in (f"{file}:P", f"{file}"):
        agent = parse_agent(text, Limit(nodes=5))
        assert agent.settings()["limit"] == {"ms": limit}
        assert "ms" not in agent.name
    assert parse_agent(f"{file}:P", Limit(cpu_ms=20)).settings()["limit"] == {"cpu_ms": 20}
    assert parse_agent(f"{file}:P@ms=30").settings()["limit"] == {"ms": 30}


def test_a_star_stands_for_every_heuristic() -> None:
    assert [spec.target for spec in expand(parse_spec("AB:*@depth=2"))] == heuristics.names()
    assert len(expand(parse_spec("AB:open"))) == 1


def _files(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"def score(game, player):\n    return {len(name)}.0\n")


def test_a_pattern_stands_for_every_file_that_matches_named_from_its_star_on(tmp_path: Path) -> None:
    _files(tmp_path, "class/cy/src/h.py", "class/ann/src/h.py", "class/bob/h.py", "class/.old/src/h.py", "class/dan.py")
    result = [complete(named(spec)) for spec in expand(parse_spec(f"ID:{tmp_path}/class/*/src/h.py@nodes=5"))]
    assert [spec.name for spec in result] == ["ID_ann.src.h.score_5nodes", "ID_cy.src.h.score_5nodes"]
    assert [spec.target for spec in result] == [f"{tmp_path}/class/{who}/src/h.py:score" for who in ("ann", "cy")]
    everywhere = [complete(spec).name for spec in expand(parse_spec(f"ID:{tmp_path}/class/**/[h].py:score"))]
    assert everywhere == ["ID_ann.src.h.score", "ID_bob.h.score", "ID_cy.src.h.score"]
    assert [complete(spec).name for spec in expand(parse_spec(f"{tmp_path}/class/d*.py:P"))] == ["class.dan.P"]


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path: Path) -> None:
    _files(tmp_path, "a[1].py", "a1.py")
    assert [spec.target for spec in expand(parse_spec(f"ID:{tmp_path}/a[1].py:score"))] == [f"{tmp_path}/a[1].py:score"]


def test_a_broken_file_of_a_pattern_is_left_out_and_named(tmp_path: Path) -> None:
    _files(tmp_path, "a.py", "b.py", "c.py")
    (tmp_path / "b.py").write_text("def score(game, player:\n")
    (tmp_path / "d.py").write_text("x = 1\n")
    made, left_out = make_agents(f"ID:{tmp_path}/*.py:score@nodes=5")
    assert [spec.target for spec, agent in made] == [f"{tmp_path}/a.py:score", f"{tmp_path}/c.py:score"]
    assert [why.partition(": ")[0] for why in left_out] == [
        f"{tmp_path}/b.py failed to import", f"{tmp_path}/d.py has no 'score'",
    ]  # fmt: skip


def test_a_pattern_that_gives_no_agent_is_an_error(tmp_path: Path) -> None:
    _files(tmp_path, "a.py")
    with pytest.raises(SpecError, match="no file matches"):
        make_agents(f"{tmp_path}/*/a.py:CustomPlayer")
    with pytest.raises(SpecError, match=r"the one file that matches cannot be used: .*a\.py has no class"):
        make_agents(f"{tmp_path}/*.py")
    with pytest.raises(SpecError, match="a name cannot be combined with"):
        make_agents(f"Mine=ID:{tmp_path}/*.py")


@pytest.mark.parametrize(
    ("text", "wrong", "message"),
    [
        ("ID:improvd@nodes=5", "improvd", "did you mean improved?"),
        ("rndom", "rndom", "did you mean random?"),
        ("ID_Improved", "ID_Improved", "did you mean ID:improved?"),
        ("ID_Improvd", "ID_Improvd", "did you mean ID:improved?"),
        ("territory", "territory", "did you mean ID:territory?"),
        ("X=ID", "ID", "ID needs a heuristic, like ID:improved"),
        ("ID:@nodes=3", ":", "a heuristic must follow ID:"),
        ("ID:improved@nodes=0", "nodes=0", "nodes must be a positive whole number, not 0"),
        ("ID:improved@nodse=5,order", "nodse=5", "did you mean nodes?"),
        ("ID:improved@nodes=5,depth=3", "depth=3", "second limit after nodes=5"),
        ("ID:improved@nodes=5, MS=3", "MS=3", "no option 'MS'; did you mean ms?"),
        ("MCTS@depth=3", "depth=3", "MCTS has no depth"),
        ("BF:open@depth=3", "depth=3", "BF has no depth"),
        ("BF:open@ties", "ties", "ties applies only to MM and AB and ID"),
        ("MCTS:open@order", "order", "order applies only to AB and ID"),
        ("random@nodes=5", "nodes=5", "random has no limit"),
        ("perfect@depth=5", "depth=5", "perfect searches to the end"),
        ("ID:improved@time=5", "time=5", "options are depth=, nodes=, ms=, cpu_ms="),
        ("perfct", "perfct", "did you mean perfect?"),
        ("MCTSS", "MCTSS", "did you mean MCTS?"),
        ("xyzzy", "xyzzy", "MCTS, MCTS:…, engine:…, policy:MODULE:FUNCTION, apart:FILE.py:CLASS or FILE.py:CLASS"),
        ("engine", "engine", "an engine is a name, such as engine:fairy, or a program, such as engine:./my_player"),
        ("apart:a/b.py:P@depth=5", "depth=5", "a player from a file needs a time limit: ms or cpu_ms"),
        ("apart:a/b.py", "a/b.py", "name the class, like apart:a/b.py:CustomPlayer"),
        ("engine:no_such", "no_such", "no_such is not a program; named engines are defined under [[engines]] in"),
        ("engine:sh@cpu_ms=5", "cpu_ms=5", "an engine needs a limit of depth, nodes or ms"),
        (
            "engine:sh@option.Hash",
            "option.Hash",
            "an engine option must be written option.NAME=VALUE, or option.NAME= for a button",
        ),
        ("engine:sh@option.A=1,option.a=2", "option.a=2", "a is set twice"),
        ("engine:sh@order", "order", "order applies only to AB and ID"),
        ("", "", "a player is missing"),
        ("greedy@ms=5", "ms=5", "greedy has no limit"),
        ("greedy@ties", "ties", "ties applies only to MM and AB and ID"),
        ("a/b.py:P@depth=5", "depth=5", "a player from a file needs a time limit: ms or cpu_ms"),
        ("AB:open@agree", "agree", "agree compares iterations: use a limit of nodes or time"),
        ("a/b.py:P@nodes=5", "nodes=5", "a player from a file needs a time limit: ms or cpu_ms"),
        ("a/b.py:", "a/b.py:", "like a/b.py:CustomPlayer"),
        ("ID:a/b.py:3@nodes=3", "a/b.py:3", "like a/b.py:my_score"),
        ("ID:missing.py@nodes=3", "missing.py", "no such file"),
        ("ID:missing.py:score", "missing.py:score", "no such file"),
    ],
)
def test_an_error_points_at_the_wrong_part(text: str, wrong: str, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_agent(text)
    first, printed, pointer = str(caught.value).split("\n")
    assert message in first
    start = pointer.index("^")
    assert printed[start : start + pointer.count("^")] == wrong


def test_an_option_of_an_engine_is_no_second_line_to_it() -> None:
    with pytest.raises(SpecError, match="an engine's option must be a single line"):
        parse_spec("engine:a@option.Board=3x3\nquit")


def test_the_perfect_player_has_a_limit_of_its_own() -> None:
    agent = parse_agent("perfect", Limit(nodes=5))
    assert agent.settings()["limit"]["nodes"] > 10**6
    assert str(complete(parse_spec("perfect@nodes=7"))) == "Perfect_7nodes=perfect@nodes=7"


def test_a_named_star_is_refused() -> None:
    with pytest.raises(SpecError, match="matches many agents"):
        expand(parse_spec("Mine=ID:*"))


def test_agents_are_what_their_specs_say() -> None:
    agent = parse_agent("Mine=ID:territory@nodes=5000,quiescence,ties")
    assert (agent.name, agent.is_deterministic) == ("Mine", False)
    settings = agent.settings()
    assert (settings["limit"], settings["heuristic"]) == ({"nodes": 5000}, "territory")
    assert sorted(settings["options"]) == ["quiescence", "random_ties"]
    assert parse_agent("ID:improved").is_deterministic


def test_a_file_s_heuristic_plays_and_its_settings_follow_its_content(tmp_path: Path) -> None:
    path = tmp_path / "my.py"
    texts = []
    for weight in (1, 2):
        path.write_text(f"from aside import W\n\ndef score(game, player):\n    return {weight}.0 * W\n")
        for aside in (3, 4):
            (tmp_path / "aside.py").write_text(f"W = {aside}\n")
            spec = complete(parse_spec(f"ID:{path}:score@nodes=100"))
            texts.append(settings_text(spec, parse_agent(str(spec))))
    assert len(set(texts)) == 4


def test_a_classic_player_is_loaded_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "game_agent.py"
    path.write_text("class P:\n    def get_move(self, game, time_left):\n        return game.get_legal_moves()[0]\n")
    agent = parse_agent(f"{path}:P@ms=40")
    assert agent.name.endswith("game_agent.P_40ms")
    assert not agent.is_deterministic
    path.write_text("class P:\n    pass\n")
    with pytest.raises(SpecError, match="get_move"):
        parse_agent(f"{path}:P")


def test_an_engine_is_one_of_the_file_or_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    fairy = Program(("sh", "-c", "true"), "uci", (("Hash", "1"), ("Threads", "1")))
    spec = complete(with_program(parse_spec("engine:fairy@depth=3,option.Hash=8"), {"fairy": fairy}))
    agent = make_agent(spec)
    assert agent.settings()["options"] == ["Hash=8", "Threads=1"]
    other = complete(with_program(parse_spec("engine:fairy@option.hash=9,option.Clear Hash="), {"fairy": fairy}))
    assert make_agent(other).settings()["options"] == ["hash=9", "Threads=1", "Clear Hash="]
    assert parse_spec(str(other)).options == (("hash", "9"), ("Clear Hash", ""))
    assert str(spec) == "fairy_depth3_Hash8=engine:fairy@depth=3,option.Hash=8"
    assert agent.name == "fairy_depth3_Hash8"
    assert complete(with_program(parse_spec("engine:./fairy"), {"fairy": fairy})).target == str(tmp_path / "fairy")
    assert complete(parse_spec("engine:sh"), Limit(cpu_ms=20)).limit == Limit(ms=20)
    Path("mine").write_text("")
    with pytest.raises(SpecError, match=r"mine is not a program; did you mean \./mine\?\n"):
        parse_agent("engine:mine")
    with pytest.raises(SpecError, match=r"mine is not executable: use chmod \+x"):
        parse_agent("engine:./mine")


def test_limits() -> None:
    assert parse_limit("cpu_ms=2.5") == Limit(cpu_ms=2.5)
    for wrong in ("nodes", "nodes=1.5", "nodes=1_0", "ms=1_0", "ms=-1", "plies=3", "ms=nan", "ms=inf"):
        with pytest.raises(ValueError, match=r"must be a positive|a limit must be written"):
            parse_limit(wrong)


def test_every_row_of_the_table_makes_agents_that_call_themselves_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mine.py"
    monkeypatch.chdir(tmp_path)
    path.write_text("class P:\n    def get_move(self, game, time_left):\n        return game.get_legal_moves()[0]\n")
    texts = {
        "random": "random",
        "greedy": "greedy",
        "perfect": "perfect",
        "search": "ID:open",
        "engine": "engine:sh",
        "policy": "policy:mine:first",
        "apart": f"apart:{path}:P",
        "classic": f"{path}:P",
    }
    assert list(texts) == list(KINDS)
    for kind, text in texts.items():
        spec = complete(parse_spec(text))
        agent = parse_agent(text)
        assert (spec.kind, agent.settings()["kind"], agent.name) == (kind, kind, spec.name)
        assert str(complete(parse_spec(str(spec)))) == str(spec)


def test_spaces_and_line_breaks_around_a_parameter_belong_to_neither_its_name_nor_the_agent() -> None:
    spaced, plain = (complete(parse_spec(f"ID:improved@{text}")) for text in ("option.a \n = 2", "option.a=2"))
    assert (str(spaced), spaced.parameters) == (str(plain), (("a", 2.0),))


def test_a_file_alone_stands_for_its_score_or_its_player(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a@b.py").write_text("def helper(game, player):\n    return 1\n\ndef score(game, player):\n    return 2\n")
    Path("mine.py").write_text("class Mine:\n    def get_move(self, game, time_left):\n        return None\n")
    assert parse_agent("ID:a@b.py").name == parse_agent("ID:a@b.py:score").name
    assert parse_agent("ID:a@b.py@nodes=3").name.endswith("a_b.score_3nodes")
    assert parse_agent("mine.py@ms=5").name.endswith("mine.Mine_5ms")
    with pytest.raises(SpecError, match=r"a heuristic is written ID:a@b\.py"):
        parse_agent("a@b.py")


def test_reading_and_completing_a_spec_loads_no_file(tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text("raise SystemError")
    spec = complete(parse_spec(f"ID:{tmp_path}/loud.py"))
    assert board_refusal(spec)


def test_a_limit_beyond_what_a_float_holds_is_written_in_full():
    assert str(parse_spec("MM:open@depth=206219865420201982")) == "MM:open@depth=206219865420201982"

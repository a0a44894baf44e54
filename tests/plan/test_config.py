"""Configurations: what a file may say, what it must not, and that writing one back loses nothing."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knights_isolation.experiments.plan.config import Config, example_toml, load_config, parse_openings, to_toml
from knights_isolation.experiments.play.parallel_map import parallel_map

ROOT = Path(__file__).parents[2]


def load(tmp_path: Path, text: str) -> Config:
    path = tmp_path / "t.toml"
    path.write_text(text, encoding="utf-8")
    return load_config(path)


def test_the_default_is_the_classic_evaluation() -> None:
    config = load_config()
    assert config.contenders == ("ID:*",)
    assert config.baseline == "ID:improved"
    assert config.opponents == ("random", "MM:null", "MM:open", "MM:improved", "AB:null", "AB:open", "AB:improved")
    assert (config.board, config.format, config.control) == ("7x7", "gauntlet", True)
    assert (config.openings, config.pairs, config.limit) == ("random:2", 180, "nodes=10000")


def test_the_commented_example_says_what_the_defaults_say(tmp_path: Path) -> None:
    assert load(tmp_path, example_toml()) == Config()
    assert all(f"{key} = " in example_toml() or f"[[{key}]]" in example_toml() for key in Config.model_fields)


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.toml")), ids=lambda path: path.stem)
def test_the_examples_load(example: Path) -> None:
    assert load_config(example).contenders


ONE_LINE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"))
OPTIONS = st.lists(
    st.tuples(ONE_LINE.filter(len), ONE_LINE | st.integers(0, 9) | st.booleans()),
    unique_by=lambda pair: pair[0].lower(),
).map(dict)
CONFIGS = st.builds(
    lambda **keys: load_config(None, keys),
    board=st.sampled_from(["7x7", "9x11", "5x6"]),
    format=st.sampled_from(["gauntlet", "head-to-head"]),
    sprt=st.sampled_from([None, [0, 20], [-5.0, 5.5]]),
    contenders=st.lists(st.text(min_size=1), min_size=1, max_size=4),
    openings=st.sampled_from(["random:2", "random:6", "placements", "placements,same", 'file:a "b"\\c.txt,other']),
    limit=st.sampled_from(["nodes=500", "depth=4", "ms=150", "cpu_ms=2.5"]),
    equal_cost=st.booleans(),
    seed=st.integers(0, 2**63 - 1),
    hard_cap=st.sampled_from([None, 2, 0.5]),
    jobs=st.integers(0, 8),
    out=st.none() | st.text(min_size=1),
    engines=st.none()
    | st.lists(
        st.fixed_dictionaries(
            {"name": st.sampled_from(["fairy", "my.one", "ü"]), "command": st.lists(st.text(min_size=1), min_size=1)},
            optional={
                "protocol": st.sampled_from(["ugi", "uci", ""]),
                "options": OPTIONS,
                "directory": st.text(),
            },
        ),
        min_size=1,
        max_size=2,
        unique_by=lambda engine: engine["name"],
    ),
)


@given(CONFIGS)
def test_written_as_toml_and_read_back_it_is_the_same(config: Config) -> None:
    import tomllib

    assert load_config(None, tomllib.loads(to_toml(config))) == config


def test_engines_are_programs_by_name(tmp_path: Path) -> None:
    text = """
    [[engines]]
    name = "fairy"
    command = ["fairy", "--quiet"]
    protocol = "uci"
    options = {Hash = 8, Ponder = false, "Skill Level" = "3"}
    directory = "there"
    """
    program = load(tmp_path, text).programs["fairy"]
    assert (program.command, program.protocol, program.directory) == (("fairy", "--quiet"), "uci", "there")
    assert program.options == (("Hash", "8"), ("Ponder", "false"), ("Skill Level", "3"))


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('name = "a"', "engines[0].command is missing"),
        ('name = "a"\ncomand = ["a"]', "unknown key engines[0].comand; did you mean command?"),
        ('name = "a"\ncommand = ["a"]\noptions = {Hash = 1, hash = 2}', "duplicate option Hash"),
        ('name = "a"\ncommand = []', "engines[0].command = []"),
        ('name = "a"\ncommand = "a"', 'engines[0].command = "a"'),
        ('name = "a b"\ncommand = ["a"]', 'engines[0].name = "a b"'),
        ('name = "a"\ncommand = ["a"]\nprotocol = "xboard"', 'protocol = "xboard"'),
        ('name = "a"\ncommand = ["a"]\n[[engines]]\nname = "a"\ncommand = ["a"]', "two engines are called a"),
        ('name = "a"\ncommand = ["a"]\ndir = "b"', "unknown key engines[0].dir"),
        ('name = "a"\ncommand = ["a"]\nx = "b"', "keys are name, command, protocol, options, directory"),
        ('name = "a"\ncommand = ["a"]\noptions = {Board = "3x3\\nquit"}', "option must be single lines"),
    ],
)
def test_engines_that_cannot_be_are_refused_in_one_line(tmp_path: Path, lines: str, message: str) -> None:
    with pytest.raises(ValueError, match=r"t\.toml: ") as error:
        load(tmp_path, f"[[engines]]\n{lines}\n")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_flags_replace_keys_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    path.write_text('pairs = 7\nboard = "9x9"\n')
    config = load_config(path, {"pairs": 8, "seed": None})
    assert (config.pairs, config.board, config.seed) == (8, "9x9", Config().seed)


def test_placements_and_files_are_played_whole_unless_told_otherwise(tmp_path: Path) -> None:
    assert load(tmp_path, 'openings = "placements"').pairs == "all"
    assert load(tmp_path, 'openings = "file:book.txt"\npairs = 5').pairs == 5


def test_formats_have_the_agents_they_need(tmp_path: Path) -> None:
    assert load(tmp_path, 'format = "head-to-head"').baseline == "ID:improved"
    robin = load(tmp_path, 'format = "round-robin"')
    assert (robin.baseline, robin.opponents, robin.control) == (None, (), False)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pairs = 0", 'pairs = 0: pairs must be a whole number of at least 1, or "all"'),
        ('pairs = "all"', "pairs = 'all' needs openings that can be listed: openings = \"placements\" or a file"),
        ("contendors = []", "unknown key contendors; did you mean contenders?"),
        ("contenders = []", "contenders = []: at least one contender is needed"),
        ('contenders = "ID:open"', 'contenders = "ID:open": input should be a valid list'),
        ('opponents = ["random", 3]', "opponents[1] = 3: input should be a valid string"),
        ("opponents = []", "opponents is empty: a gauntlet needs at least one"),
        ('board = "7"', "board = \"7\": a board size must be ROWSxCOLUMNS, such as 7x7, not '7'"),
        ('board = "12x11"', 'board = "12x11": too large: runs are played on boards of up to 128 cells'),
        ('board = "200x200"', 'board = "200x200": too large: a board has at most 32,767 cells'),
        ('limit = "nodes=0"', 'limit = "nodes=0": nodes must be a positive whole number, not 0'),
        ('limit = "7"', "limit = \"7\": a limit must be written depth=N, nodes=N, ms=N or cpu_ms=N, not '7'"),
        ('openings = "rndom"', 'openings = "rndom": openings must be random:PLIES, placements or file:PATH'),
        (
            'openings = "placements,blue"',
            "openings = \"placements,blue\": after the comma must be same, other, fit or screen, not 'blue'",
        ),
        (
            'format = "swiss"',
            "format = \"swiss\": input should be 'gauntlet', 'round-robin', 'head-to-head' or 'best-of'",
        ),
        ("seed = -1", "seed = -1: input should be greater than or equal to 0"),
        ("hard_cap = -1", "hard_cap = -1: input should be greater than or equal to 0"),
        ("sprt = [3]", "sprt = [3]: two increasing differences required, such as [0, 20], and maybe an error rate"),
        ("sprt = [0, 20, 0.5]", "sprt = [0, 20, 0.5]: the error rate must be between 0 and 0.5"),
        (
            'elo_model = "normalized"',
            "elo_model needs the sprt of a head-to-head; that of a gauntlet uses percentage points",
        ),
        (
            'format = "round-robin"\nbaseline = "random"',
            'baseline does not apply to a round-robin; remove it, or use format = "gauntlet" or "head-to-head"',
        ),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=r"t\.toml: ") as caught:
        load(tmp_path, text)
    assert str(caught.value) == f"{tmp_path / 't.toml'}: {message}"


def test_malformed_toml_and_missing_files_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^.*t\.toml: not TOML: .*line 1.*$"):
        load(tmp_path, "pairs = = 3")
    with pytest.raises(ValueError, match=r"none\.toml: No such file or directory"):
        load_config(tmp_path / "none.toml")


def test_opening_specs() -> None:
    assert (parse_openings("random").plies, parse_openings("random:6,other").subset) == (2, "other")
    assert (parse_openings("file:a:b.txt").path, parse_openings("file:a.txt,same").subset) == ("a:b.txt", "same")


def test_more_processes_than_a_machine_can_be_asked_for_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("joblib.cpu_count", lambda: 2)
    assert load_config(None, {"jobs": 16}).jobs == 16
    with pytest.raises(ValueError, match="jobs = 17: too many: at most 16 processes on 2"):
        load_config(None, {"jobs": 17})
    with pytest.raises(ValueError, match="1000000 jobs: too many"):
        next(parallel_map(abs, [(1,)], 1_000_000, None))


@pytest.mark.parametrize("text", ["format = {a = 1}", "format = [1]", "format = 3"])
def test_a_format_that_is_no_word_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="format = "):
        load(tmp_path, text)


@pytest.mark.parametrize("text", ["a = " + "[" * 5000 + "]" * 5000, "a = " + "{a=" * 3000 + "1" + "}" * 3000])
def test_a_file_nested_deeply_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"t\.toml: nested too deeply"):
        load(tmp_path, text)

"""The command line and what is written about it agree."""

import linecache
import re
import shutil
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from documented_commands import furnish, keep_small, words_of
from every_command import EVERY, NAMED
from sampling import sampled

from cli import main

ROOT = Path(__file__).parent.parent
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
OTHERS = (page for page in sorted((ROOT / "docs").rglob("*.md")) if page not in TUTORIALS)
READ = [ROOT / "README.md", *OTHERS]
NAMED_ALONE = {
    f"isolation {name}"
    for name in (
        "analyse",
        "compare",
        "fit",
        "games",
        "league",
        "match",
        "new",
        "replay",
        "screen",
        "sprt",
        "test-agent",
        "test-engine",
        "tournament --extend",
        "try",
        "tune",
    )
}
"""Commands that sentences speak of without what they need."""
PAGES = [*READ, *TUTORIALS, *sorted((ROOT / "examples").glob("*.md.jinja"))]


def options_of(command: click.Command) -> set[str]:
    options = (parameter for parameter in command.params if isinstance(parameter, click.Option))
    return {"-h", "--help"} | {name for option in options if not option.hidden for name in option.opts}


def code_of(text: str) -> list[str]:
    """The lines of code blocks, and the pieces of code in sentences."""
    blocks = re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    sentences = re.sub(r"^```\w*\n.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    spans = [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", sentences)]
    return [line.strip().removeprefix("$ ") for block in blocks for line in block.splitlines()] + spans


def meant(words: str) -> click.Command | None:
    """The command, or the one of a group, that a line calls by its first words."""
    name = words.partition(" ")[0]
    return EVERY.get(words if isinstance(NAMED.get(name), click.Group) else name)


def unknown(text: str) -> list[str]:
    """What a page calls a command of ours, or an option of one, and is none."""
    every = set[str]().union(*map(options_of, EVERY.values()))
    wrong = []
    for code in code_of(text):
        options = set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", code))
        if called := re.match(r"isolation ([a-z][a-z-]*(?: [a-z][a-z-]*)?)", code):
            command = meant(called[1])
            wrong += [code] if command is None or options - options_of(command) else []
        elif code.startswith("--") and not options <= every:
            wrong.append(code)
    return wrong


def test_pages_that_are_wrong_are_found() -> None:
    assert unknown("`isolation tornament`, `isolation results RUN --pairs 3`, `--nope`") == [
        *("isolation tornament", "isolation results RUN --pairs 3", "--nope")
    ]
    assert unknown("```\n$ isolation sprt RUN --elo2 3\n```\n") == ["isolation sprt RUN --elo2 3"]
    assert unknown("`isolation suite bulid`, `isolation suite build --nope`") == [
        *("isolation suite bulid", "isolation suite build --nope")
    ]
    assert unknown("`isolation sprt RUN --elo1 3`, `isolation`, `--mixed`, `isolation suite build --seed 2`") == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_name_no_command_or_option_that_there_is_not(page: Path) -> None:
    assert unknown(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("name", EVERY)
def test_every_command_helps_with_all_its_options(name: str) -> None:
    result = CliRunner().invoke(main, [*name.split(), "--help"], prog_name="isolation")
    assert result.exit_code == 0
    assert result.output.startswith(f"Usage: isolation {name}")
    assert all(option in result.output for option in options_of(EVERY[name]))


def command_lines() -> list[str]:
    """Every command line of README and documents, once."""
    result = [code for page in READ for code in code_of(page.read_text(encoding="utf-8"))]
    lines = [code for code in result if re.match(r"isolation +[a-z]", code) and " / " not in code]
    return sorted({line for line in lines if words_of(line)[0] in NAMED} - NAMED_ALONE)


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files and runs such as pages speak of."""
    folder = tmp_path_factory.mktemp("reader")
    furnish(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        keep_small(patch)
        for name in ("first", "mine", "X"):
            words = ["tournament", "my.toml", "--board", "5x5", "--openings", "random:4", "--out", f"runs/{name}"]
            assert CliRunner().invoke(main, words).exit_code == 0
        assert CliRunner().invoke(main, ["league", "submissions", "--out", "runs/autumn"]).exit_code == 0
        assert CliRunner().invoke(main, ["perfect", "label", "runs/mine", "--jobs", "1"]).exit_code == 0
        assert CliRunner().invoke(main, ["perfect", "label", "runs/first", "--jobs", "1"]).exit_code == 0
        (folder / "runs/X/finished.json").unlink()
    return folder


@pytest.mark.parametrize("line", sampled([(line,) for line in command_lines()], slow=15))
def test_every_command_line_of_the_documents_does_what_it_says(
    line: str, furnished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(furnished, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    keep_small(monkeypatch)
    words = words_of(line)
    if words[0] == "new":
        (tmp_path / words[1]).unlink()
    result = CliRunner().invoke(main, words, input="quit\n")
    assert result.exit_code == 0, result.output


STORY = re.compile(r"^```(python)?\n(.*?)^```", re.MULTILINE | re.DOTALL)


def in_this_folder(words: list[str]) -> list[str]:
    """The words of a command, with the runs that there are here: their names depend on the number of games."""
    names = [re.fullmatch(r"runs/(\w+)-[0-9a-f]{6}-(nodes|cost)", word) for word in words]
    runs = [next(Path("runs").glob(f"{name[1]}-*-{name[2]}")) if name else None for name in names]
    return [str(run) if run else word for word, run in zip(words, runs, strict=True)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.stem, marks=[pytest.mark.exhaustive] * (page.stem == "analysis"))
        for page in TUTORIALS
    ],
)
def test_a_tutorial_can_be_followed(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    if "$ isolation" in text:
        keep_small(monkeypatch)
    names: dict[str, object] = {}
    answer = ""
    lines = set[str]()
    for language, block in STORY.findall(text):
        if named := re.match(r"# ([\w/-]+\.py)\n", block):
            Path(named[1]).parent.mkdir(parents=True, exist_ok=True)
            Path(named[1]).write_text(block, encoding="utf-8")
        elif language:
            cell = f"<cell {len(linecache.cache)}>"  # whose source is known, as in a notebook
            linecache.cache[cell] = (len(block), None, block.splitlines(keepends=True), cell)
            with redirect_stdout(StringIO()) as output:
                exec(compile(block, cell, "exec"), names)
            answer = output.getvalue()
        elif answer:
            assert block.split() == answer.split()
            answer = ""
        for line in re.findall(r"^\$ ((?:isolation|cp) .*)", "" if language else block, re.MULTILINE):
            if line.startswith("cp "):
                shutil.copy(*line.split()[1:])
            if line.startswith("cp ") or line in lines:
                continue
            lines.add(line)
            result = CliRunner().invoke(main, in_this_folder(words_of(line)))
            assert result.exit_code == 0, f"{line}\n{result.output}"


COMPLETED = {ROOT / "docs" / "reference" / name for name in ("command-line.md", "python.md")}
"""Pages that the site completes from the program."""


def words_in(page: Path) -> int:
    """How many words a page has, without the tables that a script has filled in."""
    name = page.stem.replace("-", "_") + ".md.jinja"
    lines = page.read_text(encoding="utf-8").splitlines()
    if (ROOT / "examples" / name).exists():
        lines = [line for line in lines if not line.startswith("|")]
    return len(re.findall(r"\S*\w\S*", "\n".join(lines)))


FOR_USERS = [page for page in PAGES if page.suffix == ".md" and "contributing" not in page.parts]


@pytest.mark.parametrize("page", FOR_USERS[1:], ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_is_short_says_for_whom_it_is_and_is_listed(page: Path) -> None:
    paragraph = page.read_text(encoding="utf-8").split("\n\n")[1]
    assert paragraph.startswith("For ")
    assert words_in(page) <= 1500 or page.parent.name == "reference"
    if page.parent.name != "docs":
        index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
        assert f"({page.relative_to(ROOT / 'docs')})" in index


def test_what_a_student_needs_and_all_pages_together_stay_short() -> None:
    path = ("README.md", "docs/tutorials/analysis.md", "docs/how-to/read-a-verdict.md", "docs/explanation/cost.md")
    assert sum(words_in(ROOT / page) for page in path) < 5000
    assert sum(words_in(page) for page in FOR_USERS if page not in COMPLETED) < 32_800


@pytest.mark.exhaustive
@pytest.mark.usefixtures("costs_measured")
def test_the_first_tutorial_shows_what_analyse_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "tutorials" / "analysis.md").read_text(encoding="utf-8")
    Path("game_agent.py").write_text(
        next(block for _, block in STORY.findall(text) if block.startswith("# game_agent.py"))
    )
    printed = CliRunner().invoke(main, ["analyse", "game_agent.py"]).output
    differences = re.findall(r"^custom_score\S* +[+−][\d.]+ \(.*?\)", text, re.MULTILINE)
    rates = re.findall(r"^(?:AB_|Random|mean).*%$", text, re.MULTILINE)
    assert (len(differences), len(rates)) == (3, 4)
    assert [line for line in (*differences, *rates) if line not in printed] == []

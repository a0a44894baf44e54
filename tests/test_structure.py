"""The house: imports run downwards, functions are short, what is imported is declared, and starting costs little."""

import ast
import importlib
import importlib.metadata
import importlib.util
import re
import subprocess
import sys
import tomllib
from functools import cache
from graphlib import TopologicalSorter
from itertools import pairwise
from pathlib import Path
from runpy import run_path
from typing import NamedTuple

import grimp
import jinja2
import pytest
import yaml
from invented_runs import gauntlet

from knights_isolation.isolation.usercode.imports import LIBRARIES, refuse_hidden

ROOT = Path(__file__).parent.parent
CONTRIBUTORS = ROOT / "docs" / "contributing"
ROOMS = ("isolation", "heuristics", "experiments", "reports", "knights_isolation")
LONGEST_FUNCTION = 60


class Module(NamedTuple):
    """A module, the packages that it imports, at its top or inside functions, and the lines that its functions have."""

    name: str
    imported: set[str]
    functions: dict[str, int]


@cache
def modules(room: str) -> list[Module]:
    """The modules of a package, or the module of one file; none where there is none."""
    return [module(path) for path in sorted((ROOT / room).rglob("*.py")) or [ROOT / f"{room}.py"] if path.exists()]


def module(path: Path) -> Module:
    result = Module(str(path.relative_to(ROOT)), set(), {})
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            result.imported.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            result.imported.add((node.module or "").partition(".")[0])
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            result.functions[f"{node.name}, line {node.lineno}"] = node.end_lineno - node.lineno + 1
    return result


def modules_of(*rooms: str) -> list[Module]:
    return [module for room in rooms for module in modules(room)]


def test_imports_run_downwards():
    linter = Path(sys.executable).with_name("lint-imports")
    result = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout


def test_one_top_level_name_is_installed():
    assert importlib.metadata.distribution("knights-isolation").read_text("top_level.txt") == "knights_isolation\n"


def test_scripts_beside_the_packages_import_what_there_is():
    missing = []
    for script in sorted(path for room in ("benchmarks", "docs", "examples") for path in (ROOT / room).rglob("*.py")):
        for node in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("knights_isolation"):
                module = importlib.import_module(str(node.module))
                inner = f"{node.module}."
                missing += [
                    (script.name, alias.name)
                    for alias in node.names
                    if not hasattr(module, alias.name) and importlib.util.find_spec(inner + alias.name) is None
                ]
    assert missing == []


def test_packages_are_imported_by_their_one_name_alone():
    bare = {"cli", "isolation", "heuristics", "experiments", "reports"}
    assert [module.name for module in modules_of(*ROOMS) if module.imported & bare] == []


def test_a_process_for_a_player_starts_without_numpy_and_the_compiler():
    child = "knights_isolation.isolation.processes.child"
    code = f"import sys, {child}; print({{'numpy', 'numba', 'ssl'}} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


SIZES_COME_IN_AS_TEXT = {
    "isolation/rules/board.py",
    "isolation/engines/engine_server.py",
    "isolation/engines/protocol.py",
    "isolation/rules/solved_tables.py",
    "isolation/checks/search_cost.py",
    "isolation/games/batches.py",
    "isolation/games/match.py",
    "isolation/rules/classic_board.py",
    "isolation/games/learning.py",
    "isolation/rules/game.py",
    "experiments/exact/board_solving.py",
    "experiments/game_files.py",
    "experiments/league/league_run.py",
    "experiments/plan/config.py",
    "experiments/record/run_directory.py",
    "experiments/record/schema.py",
    "experiments/suite/suite_file.py",
    "reports/board/game_exchange.py",
    "reports/board/resources.py",
    "reports/lab/server.py",
    "reports/league.py",
    "reports/replay.py",
    "reports/studies/research.py",
    "knights_isolation/commands/perfect_play.py",
    "knights_isolation/commands/studies.py",
    "knights_isolation/commands/system.py",
    "knights_isolation/environments/isolation_v0.py",
}
"""What people and programs call, and what reads files: all else has sizes as rows and columns."""


def test_sizes_are_parsed_at_the_edge_alone():
    parsing = {
        str(path.relative_to(ROOT))
        for room in ROOMS
        for path in (ROOT / room).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Name) and node.id in ("parse_size", "size_of")
    }
    assert parsing == SIZES_COME_IN_AS_TEXT


def test_functions_are_short():
    functions = [
        (module.name, function, lines)
        for module in modules_of(*ROOMS, "cli")
        for function, lines in module.functions.items()
    ]
    assert len(functions) > 1000
    assert [function for function in functions if function[2] > LONGEST_FUNCTION] == []


def test_what_is_imported_is_declared():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    dependencies = [*project["dependencies"], *extras["cluster"], *extras["envs"], *extras["tuning"]]
    declared = {re.split(r"[^\w.-]", dependency)[0].lower() for dependency in dependencies}
    distributions = importlib.metadata.packages_distributions()
    own = {*ROOMS, "cli"}
    foreign = set().union(*(module.imported for module in modules_of(*own))) - own - sys.stdlib_module_names
    assert {distributions[item][0].lower() for item in foreign} == declared
    required = {re.split(r"[^\w.-]", dependency)[0] for dependency in project["dependencies"]}
    assert {distribution or name for name, distribution in LIBRARIES.items()} == required


def test_what_is_installed_aside_hides_nothing(tmp_path, monkeypatch):
    (tmp_path / "PIL").mkdir()
    (tmp_path / "PIL" / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "PIL", raising=False)
    with pytest.raises(ImportError, match="PIL hides the library PIL"):
        refuse_hidden()
    (tmp_path / "Pillow-12.0.dist-info").mkdir()
    refuse_hidden()


@pytest.mark.parametrize(
    "module",
    ["isolation", "heuristics", "experiments", "reports", "knights_isolation", "knights_isolation.command_line", "cli"],
)
def test_importing_loads_no_heavy_library(module):
    heavy = "{'numba', 'pandas', 'matplotlib', 'scipy', 'pyarrow', 'joblib', 'distributed'}"
    code = f"import sys, {module}; print(sorted({heavy} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_what_a_run_says_first_is_said_without_pandas_and_matplotlib(tmp_path):
    run = gauntlet(4).write(tmp_path / "run")
    code = (
        "import sys; from cli import main\n"
        "for name in ('runs', 'tried'): main([name, sys.argv[1]], standalone_mode=False)\n"
        "print(sorted({'scipy.special', 'pyarrow.compute', 'rich'} & set(sys.modules)))\n"
        "main(['results', sys.argv[1]], standalone_mode=False)\n"
        "print(sorted({'pandas', 'matplotlib', 'numba', 'scipy.stats'} & set(sys.modules)))"
    )
    command = [sys.executable, "-c", code, str(run)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "No significant difference between Good and Base" in result.stdout
    assert result.stdout.splitlines().count("[]") == 2


def test_games_are_read_with_pyarrow_and_pandas_and_a_few_modules(tmp_path):
    run = gauntlet(4).write(tmp_path / "run")
    code = (
        "import sys; from knights_isolation import read_games\n"
        "print(len(read_games(sys.argv[1])))\n"
        "libraries = {'click', 'joblib', 'llvmlite', 'matplotlib', 'numba', 'pydantic', 'rich', 'scipy'}\n"
        "print(sorted(libraries & set(sys.modules)))\n"
        "ours = {name.removeprefix('knights_isolation.') for name in sys.modules if 'knights_isolation.' in name}\n"
        "print(*sorted(ours))"
    )
    result = subprocess.run([sys.executable, "-c", code, run], cwd=ROOT, capture_output=True, text=True, check=True)
    games, libraries, ours = result.stdout.splitlines()
    assert int(games) > 0
    assert libraries == "[]"
    assert {name for name in ours.split() if name.startswith(("experiments.", "isolation."))} == {
        "experiments.record",
        *(f"experiments.record.{name}" for name in ("checked_parquet", "columns", "log", "schema")),
        *("isolation.files", "isolation.files.received", "isolation.usercode", "isolation.usercode.imports"),
        *("isolation.rules", "isolation.rules.game", "isolation.rules.seeds"),
    }


def test_arrow_is_known_to_the_records_alone():
    arrow = {module.name for module in modules_of(*ROOMS, "cli") if "pyarrow" in module.imported}
    assert arrow == {f"experiments/record/{name}.py" for name in ("checked_parquet", "columns", "schema")}


def test_the_public_names_are_those_that_scripts_rely_on():
    names = "Board, Limit, search, perft, play, solve"
    code = f"from knights_isolation.isolation import {names}; print(callable(search), callable(perft))"
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["True", "True"]


def anchors(page: Path) -> set[str]:
    """The names by which the headings of a page can be linked to."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def leads_somewhere(page: Path, target: str, anchor: str) -> bool:
    linked = page.parent / target if target else page
    return linked.exists() and (not anchor or anchor in anchors(linked))


def test_links_between_documents_lead_somewhere():
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    links = {page: page.read_text(encoding="utf-8") for page in pages}
    broken = [
        f"{page.relative_to(ROOT)}: {target}#{anchor}"
        for page, text in links.items()
        for target, anchor in re.findall(r"(?:\]\(|src=\")([^)#:\s\"]*)#?([^)\s\"]*)[)\"]", text)
        if not target.startswith("http") and (target or anchor) and not leads_somewhere(page, target, anchor)
    ]
    assert broken == []


def test_links_of_the_site_that_lead_nowhere_are_found(tmp_path):
    broken_links = run_path(str(ROOT / "docs" / "check_links.py"))["broken_links"]
    (tmp_path / "a.html").write_text(
        '<a id="top" href="#top"><a href="b.html#top"><a href="https://a.b/"><img src="c.png">'
    )
    (tmp_path / "b.html").write_text('<a class="x" href="a.html#top">')
    assert broken_links(tmp_path) == ["a.html: b.html#top", "a.html: c.png"]


def test_pages_about_the_code_name_files_that_there_are():
    folders = (ROOT / folder for folder in (*ROOMS, "tests", "docs", "benchmarks", "examples"))
    files = {path.name for path in (*ROOT.glob("*.py"), *(file for folder in folders for file in folder.rglob("*.py")))}
    pages = [ROOT / "CONTRIBUTING.md", CONTRIBUTORS / "architecture.md", *(CONTRIBUTORS / "decisions").glob("*.md")]
    named = {path.name: re.findall(r"`(?:[\w-]+/)*(\w+\.py)`", path.read_text(encoding="utf-8")) for path in pages}
    assert {page: set(names) - files for page, names in named.items() if set(names) - files} == {}


def rooms_of_the_page() -> tuple[dict[str, str], set[tuple[str, str]]]:
    """Return the room of each place that the page about the code names, and the arrows of its drawing."""
    page = (CONTRIBUTORS / "architecture.md").read_text(encoding="utf-8")
    drawing = page.partition("```mermaid\nflowchart TD\n")[2].partition("```")[0]
    rooms = re.findall(r"^\*\*(\w+)\*\* \((.*?)\):", page, re.MULTILINE | re.DOTALL)
    chains = [line.strip().split(" --> ") for line in drawing.splitlines()]
    arrows = {arrow for chain in chains for arrow in pairwise(chain)}
    return {place: name for name, places in rooms for place in re.findall(r"`(.+?)`", places)}, arrows


def test_the_page_about_the_code_has_each_folder_in_one_of_nineteen_rooms():
    room_of, arrows = rooms_of_the_page()
    assert {room for arrow in arrows for room in arrow} == {*room_of.values()}
    assert len({*room_of.values()}) <= 19
    there = [path.parent for path in ROOT.glob("*/*/__init__.py") if not path.parent.is_symlink()]
    names = {str(folder.relative_to(ROOT)) for folder in there if not folder.is_relative_to(ROOT / "benchmarks")}
    assert {place for place in room_of if not place.endswith(".py")} == {*names, "heuristics"}


def test_rooms_import_each_other_downwards_and_as_the_page_draws_it():
    room_of, arrows = rooms_of_the_page()
    room_of = {
        "knights_isolation." + place.removeprefix("knights_isolation/").removesuffix(".py").replace("/", "."): room_of[
            place
        ]
        for place in room_of
    }
    graph = grimp.build_graph("knights_isolation", exclude_type_checking_imports=True, cache_dir=None)

    def room(module: str) -> str:
        return next((room_of[place] for place in room_of if f"{module}.".startswith(f"{place}.")), "")

    for name, stub in (("commands.rooms", "commands/rooms.pyi"), ("reports.studies", "reports/studies/__init__.pyi")):
        text = (ROOT / "knights_isolation" / stub).read_text(encoding="utf-8")
        for imported in re.findall(r"^from (\S+) import", text, re.MULTILINE):
            graph.add_import(importer=f"knights_isolation.{name}", imported=imported)
    below: dict[str, set[str]] = {}
    for module in graph.modules:
        others = map(room, graph.find_modules_directly_imported_by(module))
        below.setdefault(room(module), set()).update({*others} - {room(module), ""})
    assert arrows <= {(room, other) for room in below for other in below[room]}
    del below[""]
    TopologicalSorter(below).prepare()  # raises CycleError


def test_no_room_has_more_lines_than_it_may():
    sizes = run_path(str(ROOT / "docs" / "room_sizes.py"))["sizes"]()
    assert [room for room, (_, lines, allowed) in sizes.items() if lines > allowed] == []


def test_tests_lie_in_a_folder_for_each_room() -> None:
    rooms = {*rooms_of_the_page()[0].values()}
    folders = {path.parent.name for path in (ROOT / "tests").glob("*/test_*.py")}
    assert folders == rooms


def test_the_conda_recipe_is_that_of_the_package() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project, built_with = settings["project"], settings["build-system"]["requires"]
    text = (ROOT / "conda" / "meta.yaml").read_text(encoding="utf-8")
    template = jinja2.Template(text, undefined=jinja2.StrictUndefined)
    recipe = yaml.safe_load(
        template.render(
            load_file_data=lambda path, **_: {"project": project}, environ={"VERSION": "1.2"}, PYTHON="python"
        )
    )
    assert recipe["package"] == {"name": project["name"], "version": "1.2"}
    assert [requirement.replace(" ", "") for requirement in recipe["requirements"]["host"][2:]] == built_with
    required = [requirement.split(" ") for requirement in recipe["requirements"]["run"]]
    assert required.pop(0) == ["python", project["requires-python"]]
    assert [name.removesuffix("-base") + bounds for name, bounds in required] == project["dependencies"]

"""Answers of `perfect`: solutions, refutations, accuracy, datasets."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pandas import DataFrame

from knights_isolation.experiments.exact.accuracy import BAND, accuracies, run_decisions
from knights_isolation.experiments.exact.accuracy_games import fresh_decisions, parse_depths
from knights_isolation.experiments.exact.board_solving import BoardSummary, solve_all, summarise
from knights_isolation.experiments.exact.dataset import PARTS, DatasetRecipe, write_dataset
from knights_isolation.experiments.exact.labelling import DEFAULT_LIMIT, label_run
from knights_isolation.experiments.exact.refutation import OpeningAnswer, Refuted, refute
from knights_isolation.experiments.plan import AgentLike
from knights_isolation.experiments.play.pools.interrupts import keeping
from knights_isolation.experiments.record.log import count_games
from knights_isolation.experiments.record.run_directory import LABELS_FILE
from knights_isolation.isolation.rules.classic_board import Board
from knights_isolation.isolation.rules.drawing import to_text
from knights_isolation.isolation.rules.game import USUAL_SIZE, Limit, Size
from knights_isolation.isolation.rules.geometry import cell_name, cell_of, column_name, format_moves
from knights_isolation.isolation.search.solver import Solution, solve, solve_length
from knights_isolation.isolation.suggestions import COMMAND, advice, command, tell

from ..answers import Result, RunLike, drawn, run_path
from ..charts.grids import refutation_maps, refutations_chart, solution_map
from ..charts.line_plots import accuracy_by_depth, accuracy_by_ply
from ..pages.report_page import parts_of, study_page
from ..plots.draw_chart import save
from ..tables.accuracy import accuracy_sections
from ..text.cell_values import Share, pluralise
from ..text.rendering import Section
from ..watch import counting


def refutations_answer(agents: Sequence[str], opponent: str, *asked: Any) -> Result[list[Refuted]]:
    """Return what agents hold, a row for each on a board at a limit; of one by itself also its shortest refutation.

    The arguments are those of `refute`.
    """
    results, opponent = refute(agents, opponent, *asked, counting=partial(counting, "openings"))
    sections, closing = [_refutations(results, opponent)], ""
    refuted = [answer for answer in results[0].answers if answer.line and not results[1:]]
    # the one whose error comes first, and of these the shortest game
    if shortest := min(refuted, key=lambda answer: (answer.error_ply, len(answer.line)), default=None):
        sections.append(_line_section(results[0], shortest))
        closing = f"\n{to_text(Board.from_moves(shortest.line[: shortest.error_ply], results[0].size))}"
    figure, page = partial(drawn, refutations_chart(results)), partial(_page, results, sections)
    return Result(results, tuple(sections), figure, closing=closing, page=page)


def _refutations(results: Sequence[Refuted], opponent: str) -> Section:
    rows = tuple(
        {
            "agent": result.agent,
            "board": str(result.size),
            "limit": result.limit,
            "openings": len(result.answers),
            "held": Share(result.held),
            "undecided": sum(not answer.is_decided for answer in result.answers),
            "wins": Share(result.won),
            "first_error": _median_move(result.answers),
        }
        for result in results
    )
    notes = (
        f"Openings of two placements, played as the player that they are won for. Held: proven that no line "
        f"beats the agent; in all others but those undecided, a line that does was found. Wins: share of the same "
        f"openings won against {opponent} at the same limit. First error: median number of the agent's move that "
        f"throws the win away in the shortest refutation.",
    )
    return Section("refutations", "Won openings held against an opponent who knows every move", rows, notes)


def _page(results: Sequence[Refuted], sections: Sequence[Section], reproduce: str) -> str:
    """Return the page: what each agent holds, coloured, and the tables."""
    openings = sorted({len(result.answers) for result in results})
    heading = (
        f"{' or '.join(map(str, openings))} won openings of each board: the share that nobody can win against the "
        "agent although its moves are known, and in brackets the share that it wins in games."
    )
    most = max(results, key=lambda result: result.held)
    worst = max(results, key=lambda result: result.won - result.held)
    verdict = (
        f"{most.agent} holds the most, {Share(most.held).text} on {most.size} at {most.limit}. Win rates mislead most "
        f"about {worst.agent} on {worst.size} at {worst.limit}: won {Share(worst.won).text}, held "
        f"{Share(worst.held).text}."
    )
    return study_page(
        "Refutations",
        heading,
        verdict,
        parts_of(sections, is_first_open=False),
        charts=[refutations_chart(results)],
        command=reproduce,
    )


def _line_section(result: Refuted, answer: OpeningAnswer) -> Section:
    """Return a refutation: what goes wrong where, and the line."""
    columns = result.size.columns
    moves = format_moves(answer.line, columns)
    error = format_moves(answer.line[answer.error_ply : answer.error_ply + 1], columns) or "failing to move"
    title = (
        f"Shortest refutation: won for player {answer.side} after {format_moves(answer.opening, columns)}, but move "
        f"{_move_number(answer)} of {result.agent}, {error}, throws the win away."
    )
    row = {"error_ply": answer.error_ply + 1, "plies": len(answer.line), "line": moves}
    replay = advice(
        command("replay", "--moves", moves, "--board", str(result.size)),
        f"ki.replay({list(answer.line)}, size={str(result.size)!r})",
    )
    return Section("shortest", title, (row,), (f"Step through it: {replay}",))


def _move_number(answer: OpeningAnswer) -> int:
    return (answer.error_ply - 2) // 2 + 1


def _median_move(answers: Sequence[OpeningAnswer]) -> int | None:
    numbers = [_move_number(answer) for answer in answers if answer.line]
    return round(statistics.median(numbers)) if numbers else None


_EXCEPTIONS_SHOWN = 12


def refuse_without(needed: str, **options: object) -> None:
    """Refuse options that are given without another one."""
    if unfit := next((name for name, value in options.items() if value is not None), None):
        raise ValueError(f"{unfit}: requires {needed}")


def position_answer(board: Board, with_length: bool, limit: Limit | None) -> Result[Solution]:
    """Solve a position: the winner, the winning moves, a line of play, and how long the game is if asked for."""
    solution = solve(board, limit)
    facts: dict[str, Any] = {
        "winner": f"player {solution.winner}" if solution.winner else "unknown within the limit",
        "winning moves": format_moves(solution.moves, board.width) or ("none known" if solution.undecided else "none"),
        "a line": format_moves(solution.line, board.width) or "none",
        "nodes": solution.nodes,
    }
    if solution.undecided:
        facts["undecided moves"] = format_moves(solution.undecided, board.width)
    if with_length:
        length = solve_length(board, limit)
        facts["plies with best play"] = f"at least {length.at_least}" if length.plies is None else length.plies
        facts["the shortest line"] = format_moves(length.line, board.width) or "none"
    section = Section("solution", "Solution", _fact_rows(facts))
    return Result(solution, (section,), partial(drawn, solution_map(board, solution)))


def _fact_rows(facts: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
    return tuple({"fact": name, "value": value} for name, value in facts.items())


def board_answer(
    board: Board, with_length: bool, limit: Limit | None, jobs: int, cluster: str | None, out: str | Path | None
) -> Result[BoardSummary]:
    """Solve all placement pairs of an empty board into a file, and summarise the results."""
    if board.history or with_length:
        raise ValueError(f"{'length' if with_length else '--moves'}: requires a position instead of --all")
    path = Path(out or f"solved_{board.size}.parquet")
    size = Size(board.height, board.width)
    with keeping("what was solved", path), counting("placement pairs") as show:
        winners = solve_all(size, path, jobs=jobs, cluster=cluster, limit=limit, show=show)
    summary = summarise(winners, size)
    return Result(summary, board_sections(summary, str(path)), partial(drawn, refutation_maps(summary)))


def board_sections(summary: BoardSummary, path: str) -> tuple[Section, ...]:
    """Summarise all placement pairs of a board, stored in a file, and the number of refutations of each first cell."""
    facts = Section("board", f"{summary.size}, in {path}", _fact_rows(_board_facts(summary)))
    notes = ["Number of winning replies of player 2 to a first placement on the cell."]
    if summary.unknown:
        notes.append("Some pairs are unsolved, so there may be more. Solve them with a higher --limit, or without one.")
    title = "Winning replies to a first placement"
    return facts, Section("refutations", title, tuple(_refutation_rows(summary)), tuple(notes), panels=True)


def _board_facts(summary: BoardSummary) -> dict[str, Any]:
    columns = summary.size.columns
    solved = summary.openings - summary.unknown
    held = Share(summary.rule_holds / max(1, solved)).text
    return {
        "placement pairs": summary.openings,
        "unknown": summary.unknown,
        "won by player 1": summary.first_wins,
        "from the empty board": f"player {summary.winner} wins" if summary.winner else "unknown",
        "colour rule holds": f"{summary.rule_holds:,} of {solved:,} ({held})",
        "exceptions": _named(summary.exceptions, columns),
        "not explained by mirroring": _named(summary.unexplained, columns),
    }


def _named(pairs: Sequence[tuple[int, int]], columns: int) -> str:
    names = [f"{cell_name(a, columns)}-{cell_name(b, columns)}" for a, b in pairs[:_EXCEPTIONS_SHOWN]]
    return ", ".join(names) + (" …" if len(pairs) > len(names) else "") or "none"


def _refutation_rows(summary: BoardSummary) -> list[dict[str, Any]]:
    rows, columns = summary.size
    counts = [len(cells) for cells in summary.refutations]
    return [
        {"row": row, **{column_name(column): counts[cell_of((row, column), columns)] for column in range(columns)}}
        for row in range(rows)
    ]


def label_answer(
    run: Path, sample: int | None, first_ply: int, limit: Limit | None, jobs: int, cluster: str | None
) -> int:
    """Label games of a run from a ply on, counted from 1, and return how many have labels; see `label_run`."""
    bound, start = limit or DEFAULT_LIMIT, first_ply - 1
    with keeping("what was labelled", run / LABELS_FILE), counting("games") as show:
        games = label_run(run, sample=sample, first_ply=start, limit=bound, jobs=jobs, cluster=cluster, show=show)
    if COMMAND.get():
        print(f"{pluralise(games, 'game')} labelled. Next: {command('perfect', 'accuracy', run)}")
    return games


def accuracy_answer(
    run: RunLike | None,
    heuristics: str | Sequence[AgentLike] | None,
    options: Mapping[str, Any],
    by_ply: bool,
    plot_by_ply: str | Path | None,
    plot_by_depth: str | Path | None,
) -> Result[DataFrame]:
    """Return the accuracy of the moves of a labelled run, or of heuristics in fresh games.

    Args:
        heuristics: as for `accuracy_games.fresh_decisions`, with its `options`, by the names of the command's.
        by_ply: also in bands of plies.
        plot_by_ply, plot_by_depth: files to draw both plots into.
    """
    if run is not None and heuristics is not None:
        raise ValueError(f"name a labelled {'RUN or --heuristics NAMES' if COMMAND.get() else 'run or heuristics'}")
    depths = parse_depths(options["depths"] or (3,))
    if heuristics is None:
        refuse_without("--heuristics", **options)
        path = run_path(run)
        decisions = run_decisions(path)
        notes = [f"{decisions['game_id'].nunique():,} of {count_games(path):,} games are labelled."]
    else:
        positions, size, where = options["positions"] or 500, options["board"] or USUAL_SIZE, options["cluster"]
        with counting("players") as show:
            decisions, notes = fresh_decisions(
                heuristics, depths, positions, size, jobs=options["jobs"] or 0, cluster=where, show=show
            )
    missing = "No agent with enough labelled moves."
    plots = ((plot_by_ply, accuracy_by_ply), (plot_by_depth, accuracy_by_depth))
    written = tuple(save(drawn(chart_of(decisions), missing), Path(path)) for path, chart_of in plots if path)
    sections = accuracy_sections(accuracies(decisions), accuracies(decisions, BAND) if by_ply else (), notes)
    chart = accuracy_by_depth(decisions) if depths[1:] else accuracy_by_ply(decisions)
    return Result(decisions, sections, partial(drawn, chart, missing), written=written)


def dataset_answer(recipe: DatasetRecipe, folder: Path, jobs: int) -> Result[dict[str, int]]:
    """Write a dataset, and return how many positions each split has; fewer than wanted are told."""
    with keeping("what was found", folder / PARTS), counting("positions") as show:
        counts = write_dataset(recipe, folder, jobs=jobs, show=show)
    total = sum(counts.values())
    if total < recipe.positions:
        tell(f"These settings give only {total:,} different positions of the {recipe.positions:,} wanted.")
    rows = tuple({"split": split, "positions": count} for split, count in counts.items())
    title, card = f"{pluralise(total, 'position')} in {folder}", folder / "README.md"
    parts = ", ".join(f"{split} {count:,}" for split, count in counts.items())
    section = Section("splits", title, rows, (f"Described in {card}.",))
    return Result(counts, (section,), text=f"{title} ({parts}), described in {card}")

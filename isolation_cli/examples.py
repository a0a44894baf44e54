"""Two examples for each command, shown below its options."""

EXAMPLES = {
    "new": (
        "isolation new my_heuristic.py",
        "isolation analyse my_heuristic.py",
    ),
    "eval": (
        "isolation eval --moves d3,a2",
        "isolation eval --fen '7/7/n6/3N3/7/7/7 w - - 0 1' --file my_heuristic.py",
    ),
    "heuristics": (
        "isolation heuristics",
        "isolation heuristics --file game_agent.py --format json",
    ),
    "test-agent": (
        "isolation test-agent game_agent.py",
        "isolation test-agent game_agent.py:AlphaBetaPlayer",
    ),
    "screen": (
        "isolation screen ID:my_heuristic.py:score",
        "isolation screen 'ID:*' --limit nodes=300",
    ),
    "suite": (
        "isolation suite build --board 6x6",
        "isolation screen ID:territory --suite suite_6x6.parquet",
    ),
    "ci": (
        "isolation ci my_heuristic.py",
        "isolation ci my_heuristic.py --base HEAD~1 --summary summary.md",
    ),
    "evaluate": (
        "isolation evaluate my_heuristic.py --format json",
        "isolation evaluate my_heuristic.py:score --budget suite --baseline ID:learned",
    ),
    "research": (
        "isolation research my_heuristic.py:score",
        "isolation research my_heuristic.py:score --against ID:territory --games 5000",
    ),
    "discover": (
        "isolation discover --minutes 5 --seed 1",
        "isolation discover --minutes 2 --board 6x6 --against ID:territory",
    ),
    "dataset": (
        "isolation dataset --positions 100000",
        "isolation dataset --positions 5000 --board 6x6 --feature territory",
    ),
    "tried": (
        "isolation tried",
        "isolation tried --diff 3 7",
    ),
    "features": (
        "isolation features",
        "isolation features --most 3 --format json",
    ),
    "fit": (
        "isolation fit my_heuristic.py",
        "isolation fit my_heuristic.py:score --patch score.patch",
    ),
    "tune": (
        "isolation tune ID:my_heuristic.py:score",
        "isolation tune ID:my_heuristic.py:score --sampler optuna --out tuning.parquet",
    ),
    "sweep": (
        "isolation sweep ID:my_heuristic.py:score --over option.weight=0:2:0.5",
        "isolation sweep ID:territory --over limit=nodes=300,1000,3000 --plot sweep.svg",
    ),
    "match": (
        "isolation match ID:my_heuristic.py:score ID:improved",
        "isolation match ID:territory ID:improved --sprt 0,20",
    ),
    "tournament": (
        "isolation tournament --contender ID:my_heuristic.py:score",
        "isolation tournament tournament.toml --equal-cost",
    ),
    "league": (
        "isolation league submissions --check-only",
        "isolation league submissions --pairs 20 --limit cpu_ms=300 --out runs/class",
    ),
    "lab": (
        "isolation lab",
        "isolation lab --runs elsewhere/runs --no-open",
    ),
    "watch": (
        "isolation watch",
        "isolation watch runs/first",
    ),
    "plan": (
        "isolation plan --effect 3",
        "isolation plan --elo 20 --pilot runs/first",
    ),
    "play": (
        "isolation play",
        "isolation play --against ID:territory@nodes=2000 --side second",
    ),
    "scheduler": (
        "isolation scheduler",
        "isolation scheduler --port 8786",
    ),
    "worker": (
        "isolation worker scheduler.json",
        "isolation worker tcp://lab1:8786 --jobs 4",
    ),
    "compare": (
        "isolation compare",
        "isolation compare runs/first --worth 1 --full",
    ),
    "summary": (
        "isolation summary",
        "isolation summary runs/first --table opponents --format csv",
    ),
    "ratings": (
        "isolation ratings",
        "isolation ratings runs/first runs/second --zero ID_Improved",
    ),
    "sprt": (
        "isolation sprt runs/first",
        "isolation sprt runs/first --elo0 0 --elo1 10",
    ),
    "diff": (
        "isolation diff runs/first runs/second",
        "isolation diff runs/first runs/second --table results",
    ),
    "plot": (
        "isolation plot forest",
        "isolation plot runs/first heatmap --out heatmap.png",
    ),
    "report": (
        "isolation report --open",
        "isolation report runs/first runs/second --out report.html",
    ),
    "runs": (
        "isolation runs",
        "isolation runs experiments --format json",
    ),
    "published": (
        "isolation published",
        "isolation published results.csv --baseline ID_Improved",
    ),
    "games": (
        "isolation games --show upsets",
        "isolation games runs/first --where \"won_by == 'Random' and plies > 30\"",
    ),
    "replay": (
        "isolation replay runs/first 12",
        "isolation replay --moves d3,a2,e5 --gif game.gif",
    ),
    "board": (
        "isolation board",
        "isolation board runs/first --file my_heuristic.py",
    ),
    "show": (
        "isolation show --moves d3,a2",
        "isolation show --fen '7/7/n6/3N3/7/7/7 w - - 0 1' --svg position.svg",
    ),
    "export": (
        "isolation export runs/first --to pgn --out games.pgn",
        "isolation export runs/first --to csv",
    ),
    "sql": (
        "isolation sql 'SELECT agent, avg(won::int) AS share FROM plays GROUP BY agent' runs/first",
        "isolation sql 'SELECT ply, avg(nodes) FROM plies WHERE NOT is_opening GROUP BY ply' runs/first --format csv",
    ),
    "import": (
        "isolation import games.pgn --out runs/imported",
        "isolation summary runs/imported",
    ),
    "engine": (
        "isolation engine ID:territory",
        "isolation engine ID:territory@nodes=2000 --board 9x11",
    ),
    "test-engine": (
        "isolation test-engine ./my_engine",
        "isolation test-engine --protocol uci fairy-stockfish",
    ),
    "solve": (
        "isolation solve --moves d3,a2",
        "isolation solve --all --board 5x5",
    ),
    "label": (
        "isolation label runs/first",
        "isolation label runs/first --sample 200",
    ),
    "accuracy": (
        "isolation accuracy runs/first",
        "isolation accuracy --heuristics improved,territory",
    ),
    "refute": (
        "isolation refute ID:learned --limit nodes=300",
        "isolation refute 'ID:*' --board 6x6 --openings 100 --limit nodes=300 --limit nodes=3000",
    ),
    "perft": (
        "isolation perft",
        "isolation perft --board 6x6 --depth 4",
    ),
    "bench": (
        "isolation bench",
        "isolation bench --format json",
    ),
    "cache": (
        "isolation cache warm",
        "isolation cache --clear",
    ),
    "completion": (
        'eval "$(isolation completion bash)"',
        "isolation completion fish | source",
    ),
    "help": (
        "isolation help play",
        "isolation help all",
    ),
    "analyse": (
        "isolation analyse game_agent.py",
        "isolation analyse game_agent.py:custom_score --html analysis.html",
    ),
    "try": (
        "isolation try my_heuristic.py",
        "isolation try game_agent.py:custom_score_2 --limit nodes=300",
    ),
}

"""Search for a heuristic by changing the weights of a program at random: a plain loop around `evaluate_all`.

    python examples/program_search.py 20

It keeps the best few, mutates them, evaluates their children side by side, and judges the best on held-out positions.
"""

import random
import sys

import knights_isolation as ki

BASELINE = "ID:improved"
TERMS = ("len({moves})", "len(game.reach({moves}))", "len(game.reach(game.reach({moves})))")
PROGRAM = """
def score(game, player):
    own = game.get_legal_moves(player)
    other = game.get_legal_moves(game.get_opponent(player))
    return {own} - ({other})
"""


def text_of(weights):
    """Return the program with a weight for each term; a term without weight costs nothing."""
    used = [(weight, term) for weight, term in zip(weights, TERMS, strict=True) if weight] or [(1.0, TERMS[0])]
    sides = {
        side: " + ".join(f"{weight:g} * {term.format(moves=side)}" for weight, term in used)
        for side in ("own", "other")
    }
    return PROGRAM.format(**sides)


def mutated(weights, generator):
    """Return weights of which one is drawn anew, or taken away."""
    index = generator.randrange(len(weights))
    new = generator.choice([0.0, round(weights[index] + generator.gauss(0, 0.5), 2)])
    return (*weights[:index], new, *weights[index + 1 :])


def search(rounds, generator, size=4):
    """Return the best weights of so many rounds, with their evaluation."""
    best = [((1.0, 0.0, 0.0), ki.evaluate(text_of((1.0, 0.0, 0.0)), budget="suite", baseline=BASELINE))]
    for number in range(1, rounds + 1):
        children = [mutated(generator.choice(best)[0], generator) for _ in range(size)]
        answers = ki.evaluate_all([text_of(child) for child in children], budget="suite", baseline=BASELINE)
        pool = dict([*best, *zip(children, answers, strict=True)])
        best = sorted(pool.items(), key=lambda entry: -entry[1].score)[:size]
        print(f"round {number}: {best[0][1].score:+.2f} points, cost {best[0][1].cost:.2f}, weights {best[0][0]}")
    return best[0]


if __name__ == "__main__":
    weights, _ = search(int(sys.argv[1]), random.Random(1))
    print(text_of(weights), ki.evaluate(text_of(weights), budget="held-out", baseline=BASELINE).feedback)

"""A script in the shape of the third edition's: matches against its sample players, with sides swapped."""
# ruff: noqa - it stands for code that is not ours to tidy

import argparse
import logging
from multiprocessing.pool import ThreadPool as Pool

from isolation import Agent, Isolation, play
from my_custom_player import CustomPlayer
from sample_players import GreedyPlayer, MinimaxPlayer, RandomPlayer

logger = logging.getLogger(__name__)
AGENTS = {
    "RANDOM": Agent(RandomPlayer, "Random Agent"),
    "GREEDY": Agent(GreedyPlayer, "Greedy Agent"),
    "MINIMAX": Agent(MinimaxPlayer, "Minimax Agent"),
    "SELF": Agent(CustomPlayer, "Custom Agent"),
}


def play_matches(custom, opponent, rounds, time_limit, fair):
    matches = []
    for match_id in range(rounds):
        matches += [((custom, opponent), Isolation(), time_limit, match_id)]
        matches += [((opponent, custom), Isolation(), time_limit, match_id)]
    results = []
    with Pool(2) as pool:
        for winner, history, match_id in pool.imap_unordered(play, matches):
            results.append((winner, history))
            print("+" if winner == custom else "-", end="", flush=True)
        if fair:
            replayed = []
            for number, (winner, history) in enumerate(results):
                state = Isolation().result(history[0]).result(history[1])
                replayed.append(((opponent, custom), state, time_limit, number))
            for winner, _, _ in pool.imap_unordered(play, replayed):
                results.append((winner, None))
                print("+" if winner == custom else "-", end="", flush=True)
    return sum(winner == custom for winner, _ in results), len(results)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-f", "--fair_matches", action="store_true")
    parser.add_argument("-r", "--rounds", type=int, default=5)
    parser.add_argument("-o", "--opponent", type=str, default="MINIMAX", choices=list(AGENTS))
    parser.add_argument("-t", "--time_limit", type=int, default=150)
    args = parser.parse_args()
    custom = Agent(CustomPlayer, "My agent")
    wins, total = play_matches(custom, AGENTS[args.opponent], args.rounds, args.time_limit, args.fair_matches)
    print("\nwon {:.0f}% of {} matches against {}".format(100 * wins / total, total, AGENTS[args.opponent].name))


if __name__ == "__main__":
    main()

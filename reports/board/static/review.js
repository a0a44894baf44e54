// A review: solve every position of a game, list its mistakes, and check whether an alternative move keeps the win.

import { cellName } from "./game.js";
import { question } from "./tree.js";

const MOST_NAMED = 4;

/**
 * Solve the positions before each move of a line, starting with the last ones, which are fast.
 *
 * `solve` sends a question to the server; `onProgress` is called with the number done. Returns, by ply of the move, the
 * winner before it, the moves that keep the win, and the unknown ones; without positions that cannot be solved.
 */
export async function solveLine(line, solve, onProgress) {
  const answers = new Map();
  for (let ply = line.length - 1; ply > 0; ply--) {
    try {
      answers.set(ply, await solve(question(line[ply - 1])));
    } catch (error) {
      if (error.name === "AbortError") throw error;
    }
    onProgress(line.length - ply);
  }
  return answers;
}

/** Whether a move throws a win away, given the `answer` for the position before it. */
export function throwsAway(answer, mover, cell) {
  return Boolean(answer) && answer.winner === mover && !answer.moves.includes(cell) && !answer.undecided.includes(cell);
}

/** The plies of a line at which a win was thrown away. */
export function mistakesOf(line, answers) {
  return line.slice(1).filter((node) => throwsAway(answers.get(node.ply), node.parent.position.turn, node.cell))
    .map((node) => node.ply);
}

/** The text about a mistake: the move, and those that kept the win. */
export function describeMistake(node, answer) {
  const { columns } = node.position;
  const names = answer.moves.map((cell) => cellName(cell, columns));
  const better = names.length > MOST_NAMED ? `${names.length} moves, including ${names[0]},` : names.join(" or ");
  return `${node.ply}. ${cellName(node.cell, columns)} lost a winning position; ${better} kept the win.`;
}

/** For each player a sentence about how many of its winning positions it kept. */
export function winsKept(line, answers, mistakes, names) {
  return names.flatMap((name, index) => {
    const won = line.slice(1).filter((node) => node.parent.position.turn === index + 1
      && answers.get(node.ply)?.winner === index + 1);
    const lost = won.filter((node) => mistakes.includes(node.ply)).length;
    return won.length ? [`${name} kept ${won.length - lost} of ${won.length} wins.`] : [];
  });
}

/** The text about a review as a whole. */
export function describeReview(line, answers, mistakes) {
  const unknown = line.length - 1 - [...answers.values()].filter((answer) => answer.winner !== null).length;
  const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
  const told = mistakes.length ? `${plural(mistakes.length, "mistake")} in ${plural(line.length - 1, "move")}.`
    : `${unknown ? "No mistakes" : "Flawless: no mistakes"} in ${plural(line.length - 1, "move")}.`;
  return unknown ? `${told} ${plural(unknown, "position")} could not be solved within the time limit.` : told;
}

// A review: every position of a game solved, its mistakes, and whether a move tried instead of one keeps the win.

import { cellName } from "./game.js";
import { question } from "./tree.js";

const MOST_NAMED = 4;

/**
 * Solve the positions before each move of a line, the last ones first, as they are quick.
 *
 * `solve` answers a question to the server; `onProgress` is told how many are done. Gives, by ply of the move, who wins
 * before it, which moves keep that, and which are not known; nothing of a position that cannot be solved.
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

/** Whether a move, played before which `answer` held, throws a win away. */
export function throwsAway(answer, mover, cell) {
  return Boolean(answer) && answer.winner === mover && !answer.moves.includes(cell) && !answer.undecided.includes(cell);
}

/** The plies of a line at which a win was thrown away. */
export function mistakesOf(line, answers) {
  return line.slice(1).filter((node) => throwsAway(answers.get(node.ply), node.parent.position.turn, node.cell))
    .map((node) => node.ply);
}

/** What is to be said of a mistake: the move, and those that kept the win. */
export function describeMistake(node, answer) {
  const { columns } = node.position;
  const names = answer.moves.map((cell) => cellName(cell, columns));
  const better = names.length > MOST_NAMED ? `${names.length} moves, including ${names[0]},` : names.join(" or ");
  return `${node.ply}. ${cellName(node.cell, columns)} lost a winning position; ${better} kept the win.`;
}

/** What is to be said of a review as a whole. */
export function describeReview(line, answers, mistakes) {
  const unknown = line.length - 1 - [...answers.values()].filter((answer) => answer.winner !== null).length;
  const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
  const told = mistakes.length ? `${plural(mistakes.length, "mistake")} in ${plural(line.length - 1, "move")}.`
    : `No mistakes in ${plural(line.length - 1, "move")}.`;
  return unknown ? `${told} ${plural(unknown, "position")} could not be solved within the time limit.` : told;
}

// The winner under perfect play: in words, on the board, and as a line of moves to the end.

import { cellName, clause } from "./game.js";
import { askedPosition, complain, find, lineButtons, pause, show, state, waiting, whenMoved, whenShown } from "./page.js";
import { isPlaying, playerNames } from "./players.js";
import { ask } from "./server.js";

let known = null, solving = null;

/** The exact result of the current position, if its box is checked and the result is known. */
export function exactHere() {
  return find("show-exact").checked && known?.node === state.node ? known : null;
}

/** The result of a move in the current position: "wins", "loses", or nothing if unknown. */
export function resultOf(cell) {
  if (known?.node !== state.node || known.undecided.includes(cell) || known.winner === null) return "";
  return known.moves.includes(cell) ? "wins" : "loses";
}

/** Request the solution of the current position if it is needed and not known. */
async function refresh() {
  solving?.abort();
  solving = null;
  if (isPlaying()) known = null; // what was known before the game helps nobody in it
  const isShown = find("show-exact").checked, isWanted = isShown || find("explorer-part").open;
  find("exact").textContent = "";
  if (known?.node === state.node && isShown) find("exact").textContent = describe();
  if (!isWanted || state.editing || (known?.node === state.node && !(isShown && isCutShort()))) return show();
  const { node } = state;
  const asking = solving = new AbortController();
  const stop = isShown ? waiting("exact", "Solving", "") : () => {};
  try {
    if (!isShown) await pause(asking.signal);
    const question = { position: askedPosition(), brief: !isShown, is_game: isPlaying() };
    const answer = await ask("/api/solve", question, asking.signal, isShown ? "" : "-explorer");
    if (state.node !== node) return;
    known = question.is_game ? null : { ...answer, node, isBrief: !isShown };
    stop();
    if (find("show-exact").checked) find("exact").textContent = describe();
    show();
  } catch (error) {
    if (solving === asking) find("exact").textContent = "";
    if (isShown) complain(error);
  } finally {
    stop();
  }
}

/** Whether the solver stopped at the short limit; it uses more time if the box is checked. */
function isCutShort() {
  return known.isBrief && (known.winner === null || known.undecided.length > 0);
}

function describe() {
  const { winner, moves, undecided, line, node } = known;
  const names = (cells) => cells.map((cell) => cellName(cell, node.position.columns)).join(" ");
  if (winner === null) return "Not solved within the time limit.";
  return [
    `${clause(playerNames()[winner - 1], "wins")} under perfect play`,
    moves.length ? `, with ${names(moves)}` : "",
    undecided.length ? ` (not solved within the time limit: ${names(undecided)})` : "",
    line.length > 1 ? ", as in the line below." : ".",
  ].join("");
}

/** The line to the end, with a button for each move. */
function showLine() {
  const here = state.editing ? null : exactHere();
  find("exact-line").hidden = !here?.line.length;
  find("exact-line").replaceChildren(...lineButtons(state.node, here?.line ?? []));
}

export function wireExact() {
  whenShown(showLine);
  whenMoved(refresh);
  find("show-exact").onchange = refresh;
  for (const player of [1, 2]) find(`plays-${player}`).addEventListener("change", refresh);
  find("explorer-part").addEventListener("toggle", refresh);
}

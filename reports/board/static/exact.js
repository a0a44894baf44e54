// Who wins under perfect play: said in words, shown on the board, and as a line of moves to the end.

import { make } from "./board.js";
import { cellName } from "./game.js";
import { askedPosition, complain, find, goTo, show, state, waiting, whenMoved, whenShown } from "./page.js";
import { ask } from "./server.js";
import { addMoves } from "./tree.js";

let known = null, solving = null;

/** The exact result of the position shown, if the box asks for it and it is known. */
export function exactHere() {
  return find("show-exact").checked && known?.node === state.node ? known : null;
}

/** What is known of a move of the position shown: "wins", "loses", or nothing. */
export function resultOf(cell) {
  if (known?.node !== state.node || known.undecided.includes(cell) || known.winner === null) return "";
  return known.moves.includes(cell) ? "wins" : "loses";
}

/** Have the position solved, if anybody wants to know and it is not known. */
async function refresh() {
  solving?.abort();
  solving = null;
  const isShown = find("show-exact").checked, isWanted = isShown || find("explorer-part").open;
  find("exact").textContent = "";
  if (known?.node === state.node && isShown) find("exact").textContent = describe();
  if (!isWanted || state.editing || known?.node === state.node) return show();
  const { node } = state;
  const asking = solving = new AbortController();
  const stop = isShown ? waiting("exact", "Solving", "") : () => {};
  try {
    const answer = await ask("/api/solve", { position: askedPosition() }, asking.signal);
    if (state.node !== node) return;
    known = { ...answer, node };
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

function describe() {
  const { winner, moves, undecided, line, node } = known;
  const names = (cells) => cells.map((cell) => cellName(cell, node.position.columns)).join(" ");
  if (winner === null) return "Not solved in the time there is.";
  return [
    `Player ${winner} wins under perfect play`,
    moves.length ? `, with ${names(moves)}` : "",
    undecided.length ? ` (not known in the time there is: ${names(undecided)})` : "",
    line.length > 1 ? ", as in the line below." : ".",
  ].join("");
}

/** The line to the end, each move of it a button. */
function showLine() {
  const here = state.editing ? null : exactHere();
  find("exact-line").hidden = !here?.line.length;
  find("exact-line").replaceChildren(...(here?.line ?? []).map((cell, index) => {
    const button = make("button", { type: "button" }, cellName(cell, here.node.position.columns));
    button.onclick = () => goTo(addMoves(here.node, here.line.slice(0, index + 1)).at(-1));
    return button;
  }));
}

export function wireExact() {
  whenShown(showLine);
  whenMoved(refresh);
  find("show-exact").onchange = refresh;
  find("explorer-part").addEventListener("toggle", refresh);
}

// The clock of a person who plays against an agent: it runs while they are to move, and the game ends with it.

import { legalCells } from "./game.js";
import { agentOf } from "./players.js";
import { find, show, state, whenShown } from "./page.js";

const SECOND = 1000, LOOKS_EVERY = 200; // milliseconds

let left = null, began = null; // milliseconds left when the turn began, null without a clock; and when that was

/** Give the person some minutes for all moves of the game; none for a game without a clock. */
export function setClock(minutes) {
  left = minutes ? 60 * SECOND * minutes : null;
  began = null;
}

/** The time left for a player, such as 2:48; empty without a clock. */
export function clockOf(player) {
  if (left === null || agentOf(player) || !agentOf(3 - player)) return "";
  const seconds = Math.ceil(Math.max(0, remaining()) / SECOND);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

function remaining() {
  return left - (began === null ? 0 : performance.now() - began);
}

/** Let the clock run if it is the person's turn, else stop it. */
function follow() {
  const { turn } = state.node.position, { length } = legalCells(state.node.position);
  const isRunning = left !== null && !state.editing && length > 0 && !agentOf(turn) && Boolean(agentOf(3 - turn));
  if (isRunning === (began !== null)) return;
  if (!isRunning) left = remaining();
  began = isRunning ? performance.now() : null;
}

function look() {
  if (began === null) return;
  if (remaining() <= 0) return end();
  const { turn } = state.node.position, shown = document.querySelector(`[data-seat="${turn}"] .clock`);
  if (shown) shown.textContent = clockOf(turn);
}

/** The agent has won on time: from here on nobody plays for it, and the game can be reviewed. */
function end() {
  setClock(0);
  state.title = "You have lost on time";
  for (const player of [1, 2]) find(`plays-${player}`).checked = false;
  show();
}

export function wireClock() {
  whenShown(follow);
  setInterval(look, LOOKS_EVERY);
}

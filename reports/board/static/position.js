// The board itself: the current position with its marks, the players' sides, and the effect of choosing a cell.

import { drawArrow, knight, make, showBoard } from "./board.js";
import { letDrag } from "./dragging.js";
import { exactHere } from "./exact.js";
import { clockOf } from "./clock.js";
import { cellName, clause, legalCells, standing, winner } from "./game.js";
import { choose, find, state, whenShown } from "./page.js";
import { playerNames } from "./players.js";
import { keptBefore } from "./reviewing.js";
import { editCell, editedPosition } from "./setup.js";
import { pathTo } from "./tree.js";
import { overlayValues } from "./values.js";

/** Redraw the position with everything known about it. */
function drawPosition() {
  const { node, editing } = state;
  find("win-bar").hidden = true;
  if (editing) {
    showBoard(find("board"), editedPosition(), { onCell: editCell, anyCell: true });
    return drawArrow(find("board"), null);
  }
  const numbers = new Map(pathTo(node).slice(1).map((step) => [step.cell, step.ply]));
  const known = exactHere(), values = overlayValues();
  const loses = known?.winner ? legalCells(node.position).filter((cell) => !known.moves.includes(cell)
    && !known.undecided.includes(cell)) : [];
  const wins = known?.moves ?? keptBefore();
  const { turn = 1 } = pathTo(node)[0].setup;
  showBoard(find("board"), node.position, { numbers, first: turn, values, wins, loses, onCell: choose });
  find("view").hidden = !Object.keys(values).length;
  find("view").textContent = `Values for ${playerNames()[node.position.turn - 1]}, to move: the bluer the better, the best underlined.`;
  drawArrow(find("board"), node.position.knights[node.position.turn - 1], known?.line[0]);
  showWinner(known?.winner);
}

/** Give the bar the colour of the knight that wins under perfect play. */
function showWinner(wins) {
  const bar = find("win-bar");
  bar.hidden = !wins;
  bar.dataset.winner = String(wins ?? "");
  bar.textContent = wins ? `${clause(playerNames()[wins - 1], "wins")} under perfect play` : "";
}

function describe(node) {
  if (state.editing) return "Editing: choose cells, then press “Done”.";
  const before = node.cell === null ? "" : `Ply ${node.ply}: ${cellName(node.cell, node.position.columns)}. `;
  return before + standing(node.position, playerNames());
}

function seat(player, name) {
  const { position } = state.node, won = winner(position);
  const doing = won ? (won === player ? "won" : "") : position.turn === player ? "to move" : "";
  const isActive = Boolean(doing) && !state.editing;
  const place = make("p", { className: isActive ? "seat active" : "seat", "data-seat": player },
    knight(player), make("span", {}, name), make("span", { className: "doing" }, isActive ? doing : ""));
  if (clockOf(player)) place.append(make("span", { className: "clock", role: "timer" }, clockOf(player)));
  if (isActive && !won && position.knights[player - 1] === null) place.classList.add("in-hand");
  return place;
}

function showSeats() {
  find("seats").replaceChildren(...playerNames().map((name, index) => seat(index + 1, name)));
  find("standing").textContent = describe(state.node);
}

/** Make the knight of the side to move draggable: on the board, or from its seat while it is not placed. */
function mayDrag(holder) {
  if (state.editing || state.isThinking || !legalCells(state.node.position).length) return false;
  const { knights, turn } = state.node.position;
  return holder.dataset.seat ? Number(holder.dataset.seat) === turn && knights[turn - 1] === null
    : Number(holder.dataset.cell) === knights[turn - 1];
}

export function wirePosition() {
  whenShown(drawPosition);
  whenShown(showSeats);
  letDrag(find("table"), mayDrag, choose);
  window.addEventListener("resize", drawPosition);
}

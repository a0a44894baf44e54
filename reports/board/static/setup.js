// Setting up a position: a click places a knight or a visited cell, until the setup is finished or cancelled.

import { parseSize } from "./game.js";
import { complain, find, goTo, revealBoard, show, state, whenShown } from "./page.js";
import { startNew } from "./starting.js";
import { makeRoot } from "./tree.js";

/** The position that is being set up. */
export function editedPosition() {
  return { ...makeRoot(state.editing).position, last: null };
}

/** Apply the chosen tool to a cell. */
export function editCell(cell) {
  const tool = document.querySelector("input[name=tool]:checked").value;
  const visited = new Set(state.editing.visited), knights = [...state.editing.knights];
  const here = knights.indexOf(cell);
  if (here >= 0) knights[here] = null;
  if (tool !== "visited") {
    if (here !== Number(tool) - 1) knights[Number(tool) - 1] = cell;
    visited.delete(cell);
  } else if (here < 0) {
    if (!visited.delete(cell)) visited.add(cell);
  }
  state.editing = { ...state.editing, visited: [...visited].sort((a, b) => a - b), knights };
  show();
}

function toggle() {
  if (state.editing) {
    return startNew(makeRoot({ ...state.editing, turn: Number(find("turn").value) }), "A position set up here");
  }
  const { position } = state.node;
  const visited = [...position.visited].filter((cell) => !position.knights.includes(cell)).sort((a, b) => a - b);
  goTo(state.node); // stops everything that depends on the position being edited
  state.editing = { size: `${position.rows}x${position.columns}`, visited, knights: [...position.knights] };
  find("turn").value = position.turn;
  find("size").value = state.editing.size;
  show();
  revealBoard();
}

function cancel() {
  state.editing = null;
  goTo(state.node);
}

function emptyBoard() {
  try {
    const { rows, columns } = parseSize(find("size").value);
    const size = `${rows}x${columns}`;
    find("problem").textContent = "";
    if (!state.editing) return startNew(makeRoot({ size }), "A new game");
    state.editing = { size, visited: [], knights: [null, null] };
    show();
  } catch (error) {
    complain(error);
  }
}

function draw() {
  const isEditing = Boolean(state.editing);
  find("done").hidden = find("cancel").hidden = !isEditing;
  find("setup").textContent = isEditing ? "Done" : "Edit the board";
  find("setup").setAttribute("aria-pressed", String(isEditing));
}

export function wireSetup() {
  whenShown(draw);
  find("setup").onclick = find("done").onclick = toggle;
  find("cancel").onclick = cancel;
  find("clear").onclick = emptyBoard;
}

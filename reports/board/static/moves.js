// The list of moves with all variations, stepping through it, and actions on variations.

import { make, oneStop } from "./board.js";
import { cellName } from "./game.js";
import { toLink } from "./link.js";
import { find, goTo, lineButtons, refill, show, state, whenShown } from "./page.js";
import { agentOf } from "./players.js";
import { isMistake } from "./reviewing.js";
import { branching, lineThrough, pathTo, promote, remove, sibling, variationOf } from "./tree.js";

const STEPS = {
  first: () => goTo(pathTo(state.node)[0]),
  back: () => goTo(turnBefore(state.node)),
  forward: () => goTo(state.node.children[state.node.chosen]),
  last: () => goTo(lineThrough(state.node).at(-1)),
  flip: () => { const at = branching(state.node); if (at) goTo(sibling(at, 1)); },
};
const KEYS = { ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last", v: "flip" };
const BESIDE = { ArrowUp: -1, ArrowDown: 1 };

/** The node before this one; against an agent the one where the person was to move, so that a whole turn is taken back. */
function turnBefore(node) {
  const before = node.parent;
  if (!before || state.logged.includes(node) || (agentOf(1) && agentOf(2))) return before;
  let here = before;
  while (here.parent && agentOf(here.position.turn)) here = here.parent;
  return agentOf(here.position.turn) ? node : here;
}

function list() {
  const { node } = state, root = pathTo(node)[0];
  if (!state.editing) history.replaceState(null, "", toLink(node, state.source));
  find("back").disabled = find("first").disabled = !node.parent;
  find("forward").disabled = find("last").disabled = !node.children.length;
  find("flip").disabled = !branching(node);
  find("promote").disabled = !variationOf(node);
  find("delete").disabled = !node.parent || state.logged.includes(node);
  find("undo").hidden = Boolean(state.editing) || !state.undo;
  find("undo").textContent = state.undo?.what ?? "";
  refill("moves", items(root));
  oneStop(find("moves"));
  find("note").textContent = node.note || (root.children.length ? "" : "Click a cell to play, or drag the knight there.");
  find("note-line").hidden = !node.line?.length;
  find("note-line").replaceChildren(...(node.line?.length ? lineButtons(node.parent, node.line) : []));
  const here = find("moves").querySelector("[aria-current]");
  if (here) keepInView(here);
}

/** The moves after a node as list items: the first child's line, with the other children as variations in between. */
function items(node) {
  const found = [];
  for (let here = node; here.children.length; [here] = here.children) {
    const [main, ...others] = here.children;
    found.push(make("li", {}, moveButton(main)));
    for (const other of others) {
      const line = make("ol", { className: "moves" }, make("li", {}, moveButton(other)), ...items(other));
      found.push(make("li", { className: "variation" }, line));
    }
  }
  return found;
}

function moveButton(node) {
  const isBad = isMistake(node);
  const button = make("button", { type: "button", className: isBad ? "move mistake" : "move", title: node.note },
    `${node.ply}. ${cellName(node.cell, node.position.columns)}${isBad ? " ?" : ""}`);
  if (node === state.node) button.setAttribute("aria-current", "step");
  button.onclick = () => goTo(node);
  return button;
}

function keepInView(button) {
  const box = find("moves");
  const above = button.getBoundingClientRect().top - box.getBoundingClientRect().top;
  if (above < 0 || above + button.offsetHeight > box.clientHeight) box.scrollTop += above - box.clientHeight / 2;
}

function promoteVariation() {
  promote(variationOf(state.node));
  show();
}

function deleteFromHere() {
  const { node } = state;
  const putBack = remove(node);
  const act = () => { putBack(); state.undo = null; goTo(node); };
  state.undo = { what: "Undo delete", within: pathTo(node)[0], act };
  goTo(node.parent);
}

/** Whether a field handles a key itself: text fields need all arrows, lists and selects those up and down. */
function isTaken(target, key) {
  const field = target.closest("input, select, textarea");
  if (!field || ["checkbox", "file"].includes(field.type)) return false;
  return field.matches("select, [type=radio]") ? !["ArrowLeft", "ArrowRight"].includes(key) : true;
}

function keyPressed(event) {
  const { key } = event;
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || isTaken(event.target, key)) return;
  const isBranch = key in BESIDE && state.node.parent?.children.length > 1;
  if (!(key in KEYS) && !isBranch) return;
  event.preventDefault();
  if (isBranch) goTo(sibling(state.node, BESIDE[key]));
  else STEPS[KEYS[key]]();
}

export function wireMoves() {
  whenShown(list);
  for (const [id, step] of Object.entries(STEPS)) find(id).onclick = step;
  find("promote").onclick = promoteVariation;
  find("delete").onclick = deleteFromHere;
  find("undo").onclick = () => state.undo.act();
  document.addEventListener("keydown", keyPressed);
}

// What all parts of the page share: what it remembers, who is told when that changes, and small means of showing it.

import { make } from "./board.js";
import { cellName } from "./game.js";
import { addMove, addMoves, lineThrough, makeRoot, question } from "./tree.js";

export const find = (id) => document.getElementById(id);

/**
 * What the page remembers: the node shown; the game that was loaded, where it comes from and its nodes; what is being
 * edited; and how to undo what was done last, `within` the tree of a root if it can be undone nowhere else. What only
 * one part of the page needs, that part keeps.
 */
export const state = {
  node: makeRoot({ size: "7x7" }),
  game: null,
  source: null,
  logged: [],
  editing: null,
  undo: null,
  choices: { heuristics: [], agents: [], runs: [], kinds: [], deepest: 1, longest: 0 },
};

const PAUSE = 150; // milliseconds
const drawn = [], moved = [], chosen = [];

/** Have a function called whenever the page is to be drawn anew. */
export function whenShown(draw) {
  drawn.push(draw);
}

/** Have a function called whenever another node has come to be shown. */
export function whenMoved(refresh) {
  moved.push(refresh);
}

export function show() {
  for (const draw of drawn) draw();
}

/** Show another node. While the board is edited, nothing else is shown. */
export function goTo(node) {
  if (!node || state.editing) return;
  state.node = node;
  for (let here = node; here.parent; here = here.parent) here.parent.chosen = here.parent.children.indexOf(here);
  find("problem").textContent = "";
  show();
  for (const refresh of moved) refresh();
}

/** Have a function called with each move that a person has chosen. */
export function whenChosen(act) {
  chosen.push(act);
}

/** Play a cell for the side to move, as a person's choice. */
export function choose(cell) {
  try {
    const next = addMove(state.node, cell);
    goTo(next);
    for (const act of chosen) act(next);
  } catch (error) {
    complain(error);
  }
}

/** The loaded game while we are in it, else the line through the node shown. */
export function currentLine() {
  return state.logged.includes(state.node) ? state.logged : lineThrough(state.node);
}

/** Tell an error, below the board or at another `place`; that a question was taken back is none. */
export function complain(error, place = "problem") {
  if (error.name !== "AbortError") find(place).replaceChildren(make("span", { className: "problem" }, error.message));
}

/** The node shown, as the server takes it. */
export function askedPosition() {
  return question(state.node);
}

/** Bring the board into view, where a phone has scrolled away from it. */
export function revealBoard() {
  const { top, bottom } = find("board").getBoundingClientRect();
  if (top < 0 || bottom > innerHeight) find("seats").scrollIntoView({ block: "start" });
}

/** Say at `place` what is waited for, and from the first second on for how long. Gives a function that ends it. */
export function waiting(place, word, hint) {
  const began = performance.now();
  const seconds = make("span", { ariaHidden: "true" });
  find(place).replaceChildren(`${word} …`, seconds);
  const timer = setInterval(() => {
    seconds.textContent = ` ${Math.round((performance.now() - began) / 1000)} s${hint}`;
  }, 1000);
  return () => clearInterval(timer);
}

/** The moves of a line from a node, each a button that leads to its end. */
export function lineButtons(node, cells) {
  return cells.map((cell, index) => {
    const button = make("button", { type: "button" }, cellName(cell, node.position.columns));
    button.onclick = () => goTo(addMoves(node, cells.slice(0, index + 1)).at(-1));
    return button;
  });
}

/** Wait until a person has probably stopped stepping; an AbortError if `signal` says that nobody waits any more. */
export function pause(signal) {
  return new Promise((resolve, reject) => {
    setTimeout(resolve, PAUSE);
    signal.addEventListener("abort", () => reject(new DOMException("", "AbortError")));
  });
}

/** Fill a list anew; where the focus was in it, it is on the part that is current. */
export function refill(id, parts) {
  const list = find(id), hadFocus = list.contains(document.activeElement);
  list.replaceChildren(...parts);
  if (hadFocus) list.querySelector("[aria-current]")?.focus();
}

/** Give a select its options: values and texts. */
export function fill(select, options) {
  select.replaceChildren(...options.map(([value, text]) => make("option", { value }, text)));
}

/** `count` things, in words. */
export function counted(count, word) {
  return `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
}

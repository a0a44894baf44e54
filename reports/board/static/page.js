// Shared parts of the page: its state, listeners for changes, and helpers for display.

import { make } from "./board.js";
import { cellName } from "./game.js";
import { addMove, addMoves, lineThrough, makeRoot, question } from "./tree.js";

export const find = (id) => document.getElementById(id);

/**
 * State of the page: the current node; the title; the loaded game, its source and its nodes; the position being edited; and how to
 * undo the last action, `within` the tree of a root if it can only be undone there; and whether an agent thinks about
 * its own move, which nobody else may make. Other parts keep state that only they need.
 */
export const state = {
  node: makeRoot({ size: "7x7" }),
  title: "",
  game: null,
  source: null,
  logged: [],
  editing: null,
  undo: null,
  isThinking: false,
  choices: { heuristics: [], agents: [], runs: [], kinds: [], deepest: 1, longest: 0 },
};

const PAUSE = 150; // milliseconds
const drawn = [], moved = [], chosen = [];

/** Register a function to be called whenever the page is redrawn. */
export function whenShown(draw) {
  drawn.push(draw);
}

/** Register a function to be called whenever the current node changes. */
export function whenMoved(refresh) {
  moved.push(refresh);
}

export function show() {
  for (const draw of drawn) draw();
}

/** Make another node current; ignored while the board is edited. */
export function goTo(node) {
  if (!node || state.editing) return;
  state.node = node;
  for (let here = node; here.parent; here = here.parent) here.parent.chosen = here.parent.children.indexOf(here);
  find("problem").textContent = "";
  show();
  for (const refresh of moved) refresh();
}

/** Register a function to be called with each move that a person has chosen. */
export function whenChosen(act) {
  chosen.push(act);
}

/** Play a cell for the side to move, as a person's choice. */
export function choose(cell) {
  try {
    if (state.isThinking) throw new Error("The agent is thinking about its move. To move instead, take back or end its play.");
    const next = addMove(state.node, cell);
    goTo(next);
    for (const act of chosen) act(next);
  } catch (error) {
    complain(error);
  }
}

/** The loaded game if the current node is in it, else the line through the current node. */
export function currentLine() {
  return state.logged.includes(state.node) ? state.logged : lineThrough(state.node);
}

/** Show an error, below the board or at another `place`; a cancelled question is not an error. */
export function complain(error, place = "problem") {
  if (error.name !== "AbortError") find(place).replaceChildren(make("span", { className: "problem" }, error.message));
}

/** The current node in the server's format. */
export function askedPosition() {
  return question(state.node);
}

/** Scroll the board into view, for phones. */
export function revealBoard() {
  const { top, bottom } = find("board").getBoundingClientRect();
  if (top < 0 || bottom > innerHeight) find("seats").scrollIntoView({ block: "start" });
}

/** Show at `place` what is in progress and, after the first second, its duration. Returns a function that ends it. */
export function waiting(place, word, hint) {
  const began = performance.now();
  const seconds = make("span", { ariaHidden: "true" });
  find(place).replaceChildren(`${word} …`, seconds);
  const timer = setInterval(() => {
    seconds.textContent = ` ${Math.round((performance.now() - began) / 1000)} s${hint}`;
  }, 1000);
  return () => clearInterval(timer);
}

/** The moves of a line from a node, each a button that goes to its end. */
export function lineButtons(node, cells) {
  return cells.map((cell, index) => {
    const button = make("button", { type: "button" }, cellName(cell, node.position.columns));
    button.onclick = () => goTo(addMoves(node, cells.slice(0, index + 1)).at(-1));
    return button;
  });
}

/** Wait until a person has probably stopped stepping; throws an AbortError if `signal` cancels the wait. */
export function pause(signal) {
  return new Promise((resolve, reject) => {
    setTimeout(resolve, PAUSE);
    signal.addEventListener("abort", () => reject(new DOMException("", "AbortError")));
  });
}

/** Refill a list; if the focus was in it, move the focus to the current item, or else the first. */
export function refill(id, parts) {
  const list = find(id), hadFocus = list.contains(document.activeElement);
  list.replaceChildren(...parts);
  if (hadFocus) (list.querySelector("[aria-current]") ?? list.querySelector("button"))?.focus();
}

/** Set the options of a select: values and texts. */
export function fill(select, options) {
  select.replaceChildren(...options.map(([value, text]) => make("option", { value }, text)));
}

/** `count` things, in words. */
export function counted(count, word) {
  return `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
}

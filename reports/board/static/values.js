// Heuristics' values of each legal move: on the board, in a table, and along the line.

import { make, showValue } from "./board.js";
import { cellName, legalCells } from "./game.js";
import { askedPosition, choose, complain, currentLine, fill, find, show, state, waiting, whenMoved } from "./page.js";
import { ask } from "./server.js";
import { question } from "./tree.js";

const MOST_LINES = 4; // of heuristics in the chart

let overlay = "improved", found = null, graph = null, asking = null;

/** The values that colour the cells of the current position, by cell; none if they are disabled or not yet known. */
export function overlayValues() {
  return (find("show-values").checked && found?.node === state.node && found.answers[overlay]?.moves) || {};
}

/** Names and scores along a line of the chosen heuristics, as far as they have been requested. */
export function graphOf(line) {
  return graph?.key === keyOf(line) ? graph.lines : [];
}

function keyOf(line) {
  return JSON.stringify([question(line.at(-1)), chosenNames(), find("depth").value]);
}

function chosenNames() {
  return [...find("heuristics").querySelectorAll("input:checked")].map((box) => box.value);
}

function forget() {
  found = null;
  if (find("strip").hidden) graph = null;
  find("values").hidden = true;
  show();
}

export async function refreshValues() {
  asking?.abort();
  const names = chosenNames();
  if (!find("show-values").checked || !names.length || state.editing) {
    find("values-state").textContent = find("show-values").checked && !names.length ? "Choose a heuristic." : "";
    if (found || (graph && find("strip").hidden)) forget();
    return;
  }
  if (!names.includes(overlay)) overlay = names[0];
  asking = new AbortController();
  const { node } = state, { signal } = asking, depth = Number(find("depth").value);
  const stop = waiting("values-state", "Computing", "; a heuristic is compiled when it is first used");
  find("values").setAttribute("aria-busy", "true");
  try {
    const { values } = await ask("/api/values", { position: askedPosition(), heuristics: names, depth }, signal);
    if (state.node !== node) return;
    found = { node, answers: values };
    stop();
    find("values-state").textContent = stateOfValues(values, depth);
    listValues(names);
    show();
    await refreshGraph(signal);
  } catch (error) {
    if (!signal.aborted) find("values-state").textContent = "";
    complain(error);
  } finally {
    stop();
  }
}

/** Ask for the values of the chosen heuristics along the line, one after another. */
export async function refreshGraph(signal = undefined) {
  const line = currentLine(), key = keyOf(line), position = question(line.at(-1)), depth = Number(find("depth").value);
  if (graph?.key === key) return;
  const lines = [];
  for (const name of chosenNames().slice(0, MOST_LINES)) {
    const { scores } = await ask("/api/graph", { position, heuristic: name, depth }, signal);
    lines.push({ name, scores });
  }
  graph = { key, lines };
  show();
}

/** The text about the answers: what was compiled, how long that took, and the search depth. */
function stateOfValues(answers, depth) {
  if (!legalCells(state.node.position).length) return "The game is over.";
  const compiled = Object.entries(answers).filter(([, answer]) => answer.compiling)
    .map(([name, answer]) => `${name} was compiled in ${answer.compiling.toFixed(1)} s.`);
  const shallow = Object.values(answers).find((answer) => answer.depth < depth);
  return [...compiled, ...(shallow ? [`Depth ${shallow.depth}: deeper takes too long here.`] : [])].join(" ");
}

function listValues(names) {
  const { answers } = found;
  const { columns } = state.node.position;
  const rank = (cell) => {
    const value = answers[overlay].moves?.[cell];
    return value === "win" ? Infinity : value === "loss" ? -Infinity : value ?? -Infinity;
  };
  const cells = legalCells(state.node.position).sort((a, b) => rank(b) - rank(a) || a - b);
  const heads = names.map((name) => {
    const button = make("button", { type: "button", ariaPressed: String(name === overlay) }, name);
    button.title = name === overlay ? "These values colour the board" : "Show these values on the board";
    button.onclick = () => { overlay = name; refreshValues(); };
    return make("th", { scope: "col" }, button);
  });
  const rows = cells.map((cell) => {
    const button = make("button", { type: "button" }, cellName(cell, columns));
    button.onclick = () => choose(cell);
    return make("tr", {}, make("td", {}, button), ...names.map((name) => valueCell(answers[name], cell)));
  });
  find("values").replaceChildren(
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Move"), ...heads)),
    make("tbody", {}, ...rows),
  );
  find("values").hidden = !cells.length;
  find("values").setAttribute("aria-busy", "false");
}

function valueCell(answer, cell) {
  if (answer.error) return make("td", { className: "problem", title: answer.error }, "error");
  return make("td", {}, showValue(answer.moves[cell]));
}

/** Offer the available heuristics, two of them selected, and the depths. */
export function offerHeuristics({ heuristics, deepest }) {
  const chosen = ["improved", "territory"];
  find("heuristics").replaceChildren(...heuristics.map(({ name, meaning }) => {
    const box = make("input", { type: "checkbox", value: name, checked: chosen.includes(name) });
    box.onchange = refreshValues;
    return make("label", { title: meaning }, box, ` ${name}`);
  }));
  fill(find("depth"), Array.from({ length: deepest }, (_, index) => [index + 1, String(index + 1)]));
}

export function wireValues() {
  whenMoved(refreshValues);
  find("show-values").onchange = find("depth").onchange = refreshValues;
}

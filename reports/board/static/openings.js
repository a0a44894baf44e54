// The page of openings: all first placements by perfect play, the refutations of one of them, and what a run played.

import { build, knight, make, makeSvg } from "./board.js";
import { cellName, parseCell } from "./game.js";
import { ask } from "./server.js";

const LEVELS = 3; // shades of blue for the numbers of refutations
const find = (id) => document.getElementById(id);
const { size, rows, columns, refutations } = JSON.parse(find("openings").textContent);
const cells = [...refutations.keys()];
const counts = [...new Set(refutations.map((replies) => replies.length))].sort((one, other) => one - other);
const name = (cell) => cellName(cell, columns);

let first = 0, asking = null;

function inCells(container, fill) {
  build(container, rows, columns);
  for (const button of container.querySelectorAll("[data-cell]")) fill(button, Number(button.dataset.cell));
}

/** All first placements, each with the number of its refutations: the darker, the more. */
function drawFirst() {
  inCells(find("first"), (button, cell) => {
    const { length } = refutations[cell];
    const level = counts.length > 1 ? Math.round((LEVELS * counts.indexOf(length)) / (counts.length - 1)) : 0;
    button.className = `cell amount-${level}`;
    button.setAttribute("aria-label", `${name(cell)}: ${length} refutations`);
    button.append(make("span", { className: "value" }, String(length)));
    button.onclick = () => choose(cell);
    button.onmouseenter = () => drawReplies(cell);
    button.onmouseleave = () => drawReplies(first);
  });
}

/** The replies to a first placement: navy where they refute it. */
function drawReplies(cell) {
  const wins = new Set(refutations[cell]);
  const failing = cells.filter((reply) => differs(cell, reply) && !wins.has(reply));
  const isRule = !failing.length && cells.every((reply) => differs(cell, reply) === wins.has(reply));
  find("replies-title").textContent = `${name(cell)}: ${wins.size} of ${cells.length - 1} replies refute it`;
  find("exceptions").textContent = failing.length
    ? `${failing.map(name).join(" ")} ${failing.length === 1 ? "is" : "are"} on the other colour and fail all the same.`
    : isRule ? "Exactly the replies on the other colour refute it." : "";
  for (const button of find("replies").querySelectorAll("[data-cell]")) {
    const reply = Number(button.dataset.cell);
    button.className = `cell ${reply === cell ? "of-1" : wins.has(reply) ? "refutes" : ""}`;
    const told = reply === cell ? "knight of player 1" : wins.has(reply) ? "navy wins, a refutation" : "ivory wins";
    button.setAttribute("aria-label", `${name(reply)}: ${told}`);
    button.setAttribute("aria-disabled", String(reply === cell));
    button.replaceChildren(...(reply === cell ? [knight(1)] : []));
    button.onclick = () => { if (reply !== cell) location.href = `/board#board=${size}&moves=${name(cell)},${name(reply)}`; };
  }
}

/** Whether two cells have different colours. */
function differs(one, other) {
  return (one % columns + Math.floor(one / columns) + (other % columns) + Math.floor(other / columns)) % 2 === 1;
}

function choose(cell) {
  first = cell;
  history.replaceState(null, "", `${location.search}#${name(cell)}`);
  for (const button of find("first").querySelectorAll("[data-cell]")) {
    button.setAttribute("aria-pressed", String(Number(button.dataset.cell) === cell));
  }
  for (const button of find("kinds").querySelectorAll("button")) {
    button.setAttribute("aria-pressed", String(images(cell).includes(Number(button.dataset.first))));
  }
  drawReplies(cell);
  explore();
}

/** The images of a cell by the symmetries of the board. */
function images(cell) {
  const row = Math.floor(cell / columns), column = cell % columns;
  const turned = [[row, column], [rows - 1 - row, column], [row, columns - 1 - column], [rows - 1 - row, columns - 1 - column]];
  const all = rows === columns ? [...turned, ...turned.map(([one, other]) => [other, one])] : turned;
  return all.map(([one, other]) => one * columns + other);
}

/** A small board for each first placement that is not the image of another. */
function drawKinds() {
  const kinds = cells.filter((cell) => cell === Math.min(...images(cell)));
  find("kinds").replaceChildren(...kinds.map((cell) => {
    const squares = refutations[cell].map((reply) => `M${reply % columns} ${Math.floor(reply / columns)}h1v1h-1z`);
    const picture = makeSvg("svg", { viewBox: `0 0 ${columns} ${rows}`, "aria-hidden": "true" },
      makeSvg("path", { d: squares.join(""), class: "refutes" }),
      makeSvg("path", { d: `M${cell % columns} ${Math.floor(cell / columns)}h1v1h-1z`, class: "first" }));
    const button = make("button", { type: "button", "data-first": cell }, picture,
      make("span", {}, `${name(cell)} ${refutations[cell].length}`));
    button.onclick = () => choose(cell);
    return make("li", {}, button);
  }));
}

/** How the games of the chosen run went on from the first placement. */
async function explore() {
  asking?.abort();
  const run = find("run").value;
  if (!run) return;
  asking = new AbortController();
  find("played-state").textContent = `Reading the games of ${run} …`;
  try {
    const position = { size, moves: [first] };
    const { games, moves } = await ask("/api/explore", { run, position }, asking.signal);
    const played = moves.filter((move) => move.games);
    find("played-state").textContent = games ? `${games.toLocaleString("en")} games of ${run} began with ${name(first)} or its image.`
      : `No game of ${run} began with ${name(first)} on ${size}.`;
    find("played").hidden = !games;
    find("played").tBodies[0].replaceChildren(...played.sort((one, other) => other.won / other.games - one.won / one.games).map(playedRow));
  } catch (error) {
    if (error.name !== "AbortError") find("played-state").textContent = error.message;
  }
}

function playedRow({ cells: [reply, ...others], games, won }) {
  const share = Math.round((100 * won) / games), isRefutation = refutations[first].includes(reply);
  const bar = make("span", { className: "bar" });
  bar.style.setProperty("--w", share);
  return make("tr", {},
    make("td", { className: "text" }, name(reply), make("span", { className: "soft" }, others.length ? ` +${others.length} alike` : "")),
    make("td", { className: "text" }, isRefutation ? "navy" : "ivory"),
    make("td", {}, games.toLocaleString("en")), make("td", { className: "share" }, bar), make("td", {}, `${share} %`));
}

async function offerRuns() {
  const { runs } = await ask("/api/start");
  find("run").replaceChildren(...runs.map((run) => make("option", {}, run)));
  find("run").onchange = explore;
  if (!runs.length) find("played-state").textContent = "There are no runs here yet: isolation tournament plays one.";
  else explore();
}

function begin() {
  try {
    choose(parseCell(location.hash.slice(1), columns, rows));
  } catch {
    choose(refutations.findIndex((replies) => replies.length === counts[0]));
  }
}

inCells(find("replies"), () => {});
drawFirst();
drawKinds();
begin();
window.addEventListener("hashchange", begin);
find("size").onchange = () => { location.href = `/openings?board=${find("size").value}`; };
offerRuns();

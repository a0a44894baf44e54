// Draws a position as a grid of buttons, one per cell, with keyboard navigation by Shift and the arrow keys.

import { cellName, columnName, legalCells } from "./game.js";

export const KNIGHT =
  "M13 41 L37 41 C37 30 36 22 32 16 C29 11 25 9 21 9 L18 5 L16 10 C12 13 9 19 7 25" +
  " C6 28 9 31 12 29 L18 25 C20 24 23 24 25 22 C24 28 15 31 13 41 Z";

/** An element with properties and children. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** An SVG element with attributes and children. */
export function makeSvg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Make the current button of a list that arrow keys walk over, or its first one, its only stop of the Tab key. */
export function oneStop(list) {
  const buttons = [...list.querySelectorAll("button")];
  const stop = buttons.find((button) => button.hasAttribute("aria-current")) ?? buttons[0];
  for (const button of buttons) button.tabIndex = button === stop ? 0 : -1;
  if (list.contains(document.activeElement)) stop.focus();
}

/** A value, formatted to fit a cell. */
export function showValue(value) {
  if (typeof value === "string") return value;
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  const text = size >= 1e5 ? value.toExponential(1) : String(Number(value.toPrecision(size >= 1000 ? 5 : 3)));
  return text.replace("-", "−");
}

/** Colour strength of a value, −1 to 1: by its rank among the values, so that close ones can be distinguished. */
export function strength(value, values) {
  if (value === "win" || value === "loss") return value === "win" ? 1 : -1;
  const ranks = [...new Set(values.filter((other) => typeof other === "number"))].sort((one, other) => one - other);
  return typeof value === "number" && ranks.length > 1 ? 0.85 * (2 * ranks.indexOf(value) / (ranks.length - 1) - 1) : 0;
}

/** The cells of the highest value; none if all are equal. */
export function bestCells(values) {
  const height = (value) => (value === "win" ? Infinity : value === "loss" ? -Infinity : value ?? NaN);
  const known = Object.entries(values).filter(([, value]) => !Number.isNaN(height(value)));
  const highest = Math.max(...known.map(([, value]) => height(value)));
  const best = known.filter(([, value]) => height(value) === highest).map(([cell]) => Number(cell));
  return best.length < known.length ? best : [];
}

/**
 * Show a position in `container`. A knight that has made a move since the last call slides to its cell.
 *
 * `marks.numbers` maps visited cells to the ply of the visit, of which player `marks.first` made the odd ones; `marks.values` cells to values, `marks.wins` has the cells
 * that keep a win, `marks.loses` those that throw it away; `marks.chosen` is the one a heuristic chooses. `marks.onCell` is called with a chosen cell; without it nothing can be chosen. With
 * `marks.anyCell` every cell can be chosen, and legal moves are not shown.
 */
export function showBoard(container, position, marks = {}) {
  const { rows, columns } = position;
  if (container.dataset.size !== `${rows}x${columns}`) build(container, rows, columns);
  container.classList.toggle("placing", position.knights[position.turn - 1] === null);
  container.onclick = (event) => {
    const button = event.target.closest("button[data-cell]");
    if (button && marks.onCell) marks.onCell(Number(button.dataset.cell));
  };
  const legal = new Set(marks.anyCell ? [] : legalCells(position));
  const best = new Set(bestCells(marks.values ?? {}));
  for (const button of container.querySelectorAll("button[data-cell]")) {
    const cell = Number(button.dataset.cell);
    const shown = {
      player: position.knights.indexOf(cell) + 1, legal: legal.has(cell), best: best.has(cell),
      value: marks.values?.[cell], number: marks.numbers?.get(cell), first: marks.first ?? 1, isVisited: position.visited.has(cell),
      chosen: cell === marks.chosen, wins: Boolean(marks.wins?.includes(cell)), loses: Boolean(marks.loses?.includes(cell)),
    };
    const share = shown.value === undefined ? 0 : strength(shown.value, Object.values(marks.values));
    button.className = classes(cell, shown, share, position).join(" ");
    button.style.setProperty("--heat", `${Math.round(8 + 62 * Math.abs(share))}%`);
    button.setAttribute("aria-label", describe(cellName(cell, columns), shown));
    button.setAttribute("aria-disabled", marks.onCell && (marks.anyCell || shown.legal) ? "false" : "true");
    button.replaceChildren(...content(shown));
  }
  slide(container, position);
}

function classes(cell, shown, share, position) {
  const { player, legal, best, chosen, value, number, first, isVisited, wins, loses } = shown;
  return [
    "cell",
    isVisited && !player ? "visited" : "",
    legal ? "legal" : "",
    player ? `of-${player}` : "",
    player === position.turn ? "to-move" : "",
    cell === position.last ? "last" : cell === position.from[0] && position.last !== null ? "left" : "",
    wins ? "keeps" : "",
    loses ? "throws" : "",
    best ? "best" : "",
    chosen ? "chosen" : "",
    typeof value === "string" ? `proven-${value}` : "",
    number ? `by-${number % 2 ? first : 3 - first}` : "",
    value === undefined ? "" : share > 0 ? "good" : share < 0 ? "bad" : "even",
  ];
}

const SLIDE = 150; // milliseconds
const slides = new WeakMap(); // of each board, the knights last shown, and the last slide: its cell, start and beginning

/** Let a knight that has made a move slide to its cell, also if the board is redrawn meanwhile; a dropped one is there. */
function slide(container, { knights, columns }) {
  const known = slides.get(container) ?? { knights, began: -SLIDE };
  const moved = [0, 1].filter((index) => known.knights[index] !== knights[index]);
  const [from, to] = [known.knights[moved[0]], knights[moved[0]]];
  known.knights = [...knights];
  slides.set(container, known);
  if (moved.length) {
    const isMove = moved.length === 1 && isKnightsMove(from, to, columns) && !container.classList.contains("dropped");
    const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
    Object.assign(known, { from, to, began: isMove && !isStill ? performance.now() : -SLIDE });
  }
  container.classList.remove("dropped");
  const passed = performance.now() - known.began;
  if (passed >= SLIDE) return;
  const [start, end] = [known.from, known.to].map((cell) => container.querySelector(`button[data-cell="${cell}"]`));
  const offset = `${start.offsetLeft - end.offsetLeft}px, ${start.offsetTop - end.offsetTop}px`;
  end.classList.add("sliding");
  const sliding = end.firstElementChild.animate([{ transform: `translate(${offset})` }, {}], { duration: SLIDE });
  sliding.currentTime = passed;
  sliding.onfinish = () => end.classList.remove("sliding");
}

function isKnightsMove(from, to, columns) {
  if (from === null || to === null) return false;
  const across = Math.abs(from % columns - to % columns), along = Math.abs(Math.floor(from / columns) - Math.floor(to / columns));
  return across * along === 2;
}

/** Draw an arrow from one cell to another, ending before the cell's text; without `from`, draw none. */
export function drawArrow(container, from, to) {
  container.querySelector(".arrow")?.remove();
  if (from === null || to === undefined) return;
  const centre = (cell) => {
    const button = container.querySelector(`button[data-cell="${cell}"]`);
    return [button.offsetLeft + button.offsetWidth / 2, button.offsetTop + button.offsetHeight / 2];
  };
  const [[x, y], [centreX, centreY]] = [centre(from), centre(to)];
  const length = Math.hypot(centreX - x, centreY - y), tip = container.querySelector("button[data-cell]").offsetWidth / 4;
  const [dx, dy] = [(centreX - x) / length, (centreY - y) / length];
  const [toX, toY] = [centreX - dx * tip, centreY - dy * tip];
  const [baseX, baseY] = [toX - dx * tip, toY - dy * tip];
  const head = [[toX, toY], [baseX - dy * tip / 2, baseY + dx * tip / 2], [baseX + dy * tip / 2, baseY - dx * tip / 2]];
  container.append(makeSvg("svg", { class: "arrow", "aria-hidden": "true" },
    makeSvg("line", { x1: x, y1: y, x2: baseX, y2: baseY }),
    makeSvg("polygon", { points: head.map((point) => point.join()).join(" ") })));
}

/** The knight of a player, as a picture. */
export function knight(player) {
  return makeSvg("svg", { viewBox: "0 0 48 48", class: `knight knight-${player}`, "aria-hidden": "true" },
    makeSvg("path", { d: KNIGHT, transform: "translate(2 0)" }));
}

const PROVEN = { win: "✓ win", loss: "✗ loss" };

function content({ player, value, number }) {
  if (player) return [knight(player)];
  if (value !== undefined) return [make("span", { className: "value" }, PROVEN[value] ?? showValue(value))];
  return number ? [make("span", { className: "ply" }, String(number))] : [];
}

function describe(name, { player, legal, best, chosen, value, number, isVisited, wins, loses }) {
  if (player) return `${name}, knight of player ${player}`;
  if (isVisited) return number ? `${name}, visited at ply ${number}` : `${name}, visited`;
  const told = [name, legal ? "legal move" : "open"];
  if (value !== undefined) told.push(`value ${showValue(value)}`);
  if (best) told.push("the best");
  if (chosen) told.push("chosen");
  if (wins) told.push("keeps the win");
  if (loses) told.push("loses");
  return told.join(", ");
}

/** Fill a container with an empty board: names of columns and rows, and a button for each cell. */
export function build(container, rows, columns) {
  container.dataset.size = `${rows}x${columns}`;
  container.style.setProperty("--rows", rows);
  container.style.setProperty("--columns", columns);
  const label = (text) => make("span", { className: "label", ariaHidden: "true" }, text);
  const parts = [label(""), ...Array.from({ length: columns }, (_, column) => label(columnName(column)))];
  for (let row = 0; row < rows; row++) {
    parts.push(label(String(row)));
    for (let column = 0; column < columns; column++) {
      const cell = row * columns + column;
      const button = make("button", { type: "button", tabIndex: cell === 0 ? 0 : -1, "data-cell": cell });
      button.onfocus = () => rove(container, button);
      parts.push(button);
    }
  }
  container.replaceChildren(...parts);
  container.onkeydown = (event) => walk(event, container, rows, columns);
}

/** Let the Tab key come back to the cell that had the focus last. */
function rove(container, button) {
  container.querySelector("button[tabindex='0']").tabIndex = -1;
  button.tabIndex = 0;
}

/**
 * Shift with an arrow key, or the key alone on boards with `data-arrows`, moves the focus from cell to cell; Enter and
 * the space bar choose, as for any button.
 */
function walk(event, container, rows, columns) {
  const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  const step = steps[event.key];
  const from = event.target.closest("button[data-cell]");
  const isMeant = event.shiftKey || "arrows" in container.dataset;
  if (!step || !from || !isMeant || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  event.stopPropagation();
  const cell = Number(from.dataset.cell);
  const row = Math.floor(cell / columns) + step[0], column = (cell % columns) + step[1];
  if (row < 0 || row >= rows || column < 0 || column >= columns) return;
  container.querySelector(`button[data-cell="${row * columns + column}"]`).focus();
}

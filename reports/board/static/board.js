// Draws a position as a grid of buttons, one a cell, which the arrow keys walk over.

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

/** A value in the little room of a cell. */
export function showValue(value) {
  if (typeof value === "string") return value;
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  const text = size >= 1e5 ? value.toExponential(1) : String(Number(value.toPrecision(size >= 1000 ? 5 : 3)));
  return text.replace("-", "−");
}

/** How strongly a value colours its cell, −1 to 1. */
export function strength(value, values) {
  if (value === "win" || value === "loss") return value === "win" ? 1 : -1;
  const finite = values.filter((other) => typeof other === "number").map(Math.abs);
  const largest = Math.max(0, ...finite);
  return typeof value === "number" && largest ? value / largest : 0;
}

/**
 * Show a position in `container`.
 *
 * `marks.numbers` maps visited cells to the ply of the visit, `marks.values` cells to values, `marks.wins` has the cells
 * that keep a win, and `marks.onCell` is
 * told of a cell that was chosen; without it nothing can be chosen. With `marks.anyCell` every cell can be, and legal
 * moves are not shown.
 */
export function showBoard(container, position, marks = {}) {
  const { rows, columns } = position;
  if (container.dataset.size !== `${rows}x${columns}`) build(container, rows, columns);
  container.onclick = (event) => {
    const button = event.target.closest("button[data-cell]");
    if (button && marks.onCell) marks.onCell(Number(button.dataset.cell));
  };
  const legal = new Set(marks.anyCell ? [] : legalCells(position));
  const values = marks.values ?? {};
  for (const button of container.querySelectorAll("button[data-cell]")) {
    const cell = Number(button.dataset.cell);
    const shown = { player: position.knights.indexOf(cell) + 1, legal: legal.has(cell), value: values[cell] };
    const number = marks.numbers?.get(cell);
    const share = shown.value === undefined ? 0 : strength(shown.value, Object.values(values));
    const isVisited = position.visited.has(cell);
    button.className = [
      "cell",
      isVisited && !shown.player ? "visited" : "",
      shown.legal ? "legal" : "",
      cell === position.last ? "last" : cell === position.from[0] && position.last !== null ? "left" : "",
      marks.wins?.includes(cell) ? "wins" : "",
      number ? `by-${number % 2 ? 1 : 2}` : "",
      shown.value === undefined ? "" : share > 0 ? "good" : share < 0 ? "bad" : "even",
    ].join(" ");
    button.style.setProperty("--heat", `${Math.round(8 + 62 * Math.abs(share))}%`);
    const wins = marks.wins?.includes(cell) ? ", keeps the win" : "";
    button.setAttribute("aria-label", describe(cellName(cell, columns), shown, isVisited, number) + wins);
    button.setAttribute("aria-disabled", marks.onCell && (marks.anyCell || shown.legal) ? "false" : "true");
    button.replaceChildren(...content(shown, number));
  }
}

/** Point from one cell to another; with no `from`, nothing is pointed at. */
export function drawArrow(container, from, to) {
  container.querySelector(".arrow")?.remove();
  if (from === null || to === undefined) return;
  const centre = (cell) => {
    const button = container.querySelector(`button[data-cell="${cell}"]`);
    return [button.offsetLeft + button.offsetWidth / 2, button.offsetTop + button.offsetHeight / 2];
  };
  const [[x, y], [toX, toY]] = [centre(from), centre(to)];
  const length = Math.hypot(toX - x, toY - y), tip = container.querySelector("button[data-cell]").offsetWidth / 4;
  const [dx, dy] = [(toX - x) / length, (toY - y) / length];
  const [baseX, baseY] = [toX - dx * tip, toY - dy * tip];
  const head = [[toX, toY], [baseX - dy * tip / 2, baseY + dx * tip / 2], [baseX + dy * tip / 2, baseY - dx * tip / 2]];
  container.append(makeSvg("svg", { class: "arrow", "aria-hidden": "true" },
    makeSvg("line", { x1: x, y1: y, x2: baseX, y2: baseY }),
    makeSvg("polygon", { points: head.map((point) => point.join()).join(" ") })));
}

function content(shown, number) {
  if (shown.player) return [makeSvg("svg", { viewBox: "0 0 48 48", class: `knight knight-${shown.player}` },
    makeSvg("path", { d: KNIGHT, transform: "translate(2 0)" }))];
  if (shown.value !== undefined) return [make("span", { className: "value" }, showValue(shown.value))];
  return number ? [make("span", { className: "number" }, String(number))] : [];
}

function describe(name, shown, isVisited, number) {
  if (shown.player) return `${name}, knight of player ${shown.player}`;
  if (isVisited) return number ? `${name}, visited at ply ${number}` : `${name}, visited`;
  const value = shown.value !== undefined ? `, value ${showValue(shown.value)}` : "";
  return `${name}, ${shown.legal ? "legal move" : "open"}${value}`;
}

function build(container, rows, columns) {
  const focused = 0;
  container.dataset.size = `${rows}x${columns}`;
  container.style.setProperty("--rows", rows);
  container.style.setProperty("--columns", columns);
  const label = (text) => make("span", { className: "label", ariaHidden: "true" }, text);
  const parts = [label(""), ...Array.from({ length: columns }, (_, column) => label(columnName(column)))];
  for (let row = 0; row < rows; row++) {
    parts.push(label(String(row)));
    for (let column = 0; column < columns; column++) {
      const cell = row * columns + column;
      parts.push(make("button", { type: "button", tabIndex: cell === focused ? 0 : -1, "data-cell": cell }));
    }
  }
  container.replaceChildren(...parts);
  container.onkeydown = (event) => walk(event, container, rows, columns);
}

/** Move the focus from cell to cell; Enter and the space bar choose, as on any button. */
function walk(event, container, rows, columns) {
  const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  const step = steps[event.key];
  const from = event.target.closest("button[data-cell]");
  if (!step || !from || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  event.stopPropagation();
  const cell = Number(from.dataset.cell);
  const row = Math.floor(cell / columns) + step[0], column = (cell % columns) + step[1];
  if (row < 0 || row >= rows || column < 0 || column >= columns) return;
  const to = container.querySelector(`button[data-cell="${row * columns + column}"]`);
  from.tabIndex = -1;
  to.tabIndex = 0;
  to.focus();
}

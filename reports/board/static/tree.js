// The variations of a game: nodes, each a move with the position after it, and the link that leads to one of them.

import { cellName, parseCell, parseSize, play, startPosition } from "./game.js";

/** The root of a tree: a setup of `size`, and optionally `visited`, `knights` and `turn`. */
export function makeRoot(setup) {
  return { setup, cell: null, parent: null, children: [], chosen: 0, ply: 0, position: startPosition(setup), note: "" };
}

/** The node after a move; a move that is there already is not added again. */
export function addMove(node, cell) {
  const position = play(node.position, cell);
  let index = node.children.findIndex((child) => child.cell === cell);
  if (index < 0) {
    node.children.push({ cell, parent: node, children: [], chosen: 0, ply: node.ply + 1, position, note: "" });
    index = node.children.length - 1;
  }
  node.chosen = index;
  return node.children[index];
}

/** The nodes from the root to this one. */
export function pathTo(node) {
  return node.parent ? [...pathTo(node.parent), node] : [node];
}

/** The line a node is on: the path to it, and on along the moves chosen last. */
export function lineThrough(node) {
  const line = pathTo(node);
  while (line.at(-1).children.length) line.push(line.at(-1).children[line.at(-1).chosen]);
  return line;
}

/** The next or previous variation of the move that led to this node. */
export function flip(node, step) {
  if (!node.parent) return node;
  const { children } = node.parent;
  node.parent.chosen = (children.indexOf(node) + step + children.length) % children.length;
  return children[node.parent.chosen];
}

/** The first node before this one, or this one, where the game branches; null if it does not. */
export function branching(node) {
  for (let here = node; here.parent; here = here.parent) if (here.parent.children.length > 1) return here;
  return null;
}

/** A node as the server takes it. */
export function question(node) {
  const [root, ...moves] = pathTo(node);
  return { ...root.setup, moves: moves.map((move) => move.cell) };
}

/** The fragment of a link to a node. */
export function toLink(node) {
  const { size, visited = [], knights = [null, null], turn = 1, moves } = question(node);
  const { columns } = node.position;
  const names = (cells) => cells.map((cell) => (cell === null ? "-" : cellName(cell, columns))).join(",");
  const parts = [["board", size]];
  if (visited.length) parts.push(["visited", names(visited)]);
  if (knights.some((cell) => cell !== null)) parts.push(["knights", names(knights)]);
  if (turn !== 1) parts.push(["turn", turn]);
  if (moves.length) parts.push(["moves", names(moves)]);
  return `#${parts.map(([key, value]) => `${key}=${value}`).join("&")}`;
}

/** The node a link's fragment leads to, in a new tree. */
export function fromLink(fragment) {
  const given = new URLSearchParams(fragment.replace(/^#/, ""));
  const size = given.get("board") ?? "7x7";
  const { rows, columns } = parseSize(size);
  const cells = (key) => (given.get(key) ?? "").split(",").filter(Boolean)
    .map((name) => (name === "-" ? null : parseCell(name, columns, rows)));
  const knights = given.has("knights") ? cells("knights") : [null, null];
  if (knights.length !== 2 || (knights[0] !== null && knights[0] === knights[1])) {
    throw new Error("The link must name two different knights’ cells, like knights=d3,a2.");
  }
  const turn = Number(given.get("turn") ?? 1);
  if (turn !== 1 && turn !== 2) throw new Error("The link’s turn must be 1 or 2.");
  const visited = cells("visited").filter((cell) => cell !== null);
  let node = makeRoot({ size: `${rows}x${columns}`, visited, knights, turn });
  for (const cell of cells("moves")) node = addMove(node, cell);
  return node;
}

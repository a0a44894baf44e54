// Links: the board, the tree of variations, the current node and the game's source, in the fragment of an address.
//
// Moves are separated by commas; alternatives to a move follow it in parentheses, as in d3,a2,c1,(e1,b0),b4.
// `ply` counts along the main line; 3.1.2 goes three plies, into the first variation of the next, and two plies on.

import { cellName, parseCell, parseSize } from "./game.js";
import { addMove, endOf, makeRoot, pathTo } from "./tree.js";

/** The fragment of a link to a node; `source` names the run and the game of the tree, if any. */
export function toLink(node, source) {
  const root = pathTo(node)[0];
  const { size, visited = [], knights = [null, null], turn = 1 } = root.setup;
  const names = (cells) => cells.map((cell) => nameOf(cell, root)).join(",");
  const parts = [["board", size]];
  if (visited.length) parts.push(["visited", names(visited)]);
  if (knights.some((cell) => cell !== null)) parts.push(["knights", names(knights)]);
  if (turn !== 1) parts.push(["turn", turn]);
  if (source) parts.push(["run", encodeURIComponent(source.run)], ["game", source.game]);
  if (root.children.length) parts.push(["moves", treeText(root).join(",")]);
  if (node !== endOf(root)) parts.push(["ply", placeOf(node)]);
  return `#${parts.map(([key, value]) => `${key}=${value}`).join("&")}`;
}

/** Parse a link's fragment: the root of its tree, the current `ply`, and the run and the game, if named. */
export function fromLink(fragment) {
  const given = new URLSearchParams(fragment.replace(/^#/, "").replaceAll("+", "%2B"));
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
  const root = makeRoot({ size: `${rows}x${columns}`, visited, knights, turn });
  readTree(root, given.get("moves") ?? "");
  const source = given.has("run") && given.has("game") ? { run: given.get("run"), game: given.get("game") } : null;
  return { root, ply: given.get("ply"), source };
}

/** The node at `ply` of a link; by default the end of the main line. */
export function nodeAt(root, ply) {
  if (ply === null) return endOf(root);
  if (!/^\d+(\.\d+\.\d+)*$/.test(ply)) throw new Error("The link’s ply is written like 12, or like 3.1.2 in a variation.");
  const [along, ...turns] = ply.split(".").map(Number);
  let node = walk(root, along);
  for (let place = 0; node && place < turns.length; place += 2) node = walk(node.children[turns[place]], turns[place + 1]);
  if (!node) throw new Error(`The link’s ply ${ply} is not among its moves.`);
  return node;
}

function walk(node, plies) {
  let here = node;
  for (let ply = 0; here && ply < plies; ply++) [here] = here.children;
  return here;
}

/** The path by which `nodeAt` finds a node. */
function placeOf(node) {
  let along = 0;
  for (let here = node; here.parent; here = here.parent) {
    const index = here.parent.children.indexOf(here);
    if (index) return `${placeOf(here.parent)}.${index}.${along}`;
    along += 1;
  }
  return String(along);
}

/** The moves after a node, each with its alternatives. */
function treeText(node) {
  const root = pathTo(node)[0], words = [];
  for (let here = node; here.children.length; [here] = here.children) {
    const [main, ...others] = here.children;
    words.push(nameOf(main.cell, root));
    for (const other of others) words.push(`(${[nameOf(other.cell, root), ...treeText(other)].join(",")})`);
  }
  return words;
}

function readTree(root, text) {
  const { columns, rows } = root.position, left = [];
  let node = root;
  for (const word of text.match(/[()]|[^,()\s]+/g) ?? []) {
    if (word === "(" && node.parent) {
      left.push(node);
      node = node.parent;
    } else if (word === ")" && left.length) node = left.pop();
    else if (word === "(" || word === ")") throw new Error("The link’s parentheses do not match.");
    else node = addMove(node, parseCell(word, columns, rows));
  }
  if (left.length) throw new Error("The link’s parentheses do not match.");
}

function nameOf(cell, root) {
  return cell === null ? "-" : cellName(cell, root.position.columns);
}

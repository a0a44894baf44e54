// The variations of a game: nodes, each a move with the position after it. A node's first child continues its line.

import { play, startPosition } from "./game.js";

/** The root of a tree: a setup of `size`, and optionally `visited`, `knights` and `turn`. */
export function makeRoot(setup) {
  return { setup, cell: null, parent: null, children: [], chosen: 0, ply: 0, position: startPosition(setup), note: "" };
}

/** The node after a move; an existing one is not added again. */
export function addMove(node, cell) {
  const position = play(node.position, cell);
  const known = node.children.find((child) => child.cell === cell);
  if (known) return known;
  node.children.push({ cell, parent: node, children: [], chosen: 0, ply: node.ply + 1, position, note: "" });
  return node.children.at(-1);
}

/** The nodes after successive moves, starting from `node`. */
export function addMoves(node, cells) {
  const nodes = [node];
  for (const cell of cells) nodes.push(addMove(nodes.at(-1), cell));
  return nodes;
}

/** The nodes from the root to this one. */
export function pathTo(node) {
  return node.parent ? [...pathTo(node.parent), node] : [node];
}

/** The line of a node: the path to it, continued along the moves chosen last. */
export function lineThrough(node) {
  const line = pathTo(node);
  while (line.at(-1).children.length) line.push(line.at(-1).children[line.at(-1).chosen]);
  return line;
}

/** The last node of the line that continues from here by first children. */
export function endOf(node) {
  let here = node;
  while (here.children.length) [here] = here.children;
  return here;
}

/** The next or previous alternative to this move, cyclically. */
export function sibling(node, step) {
  if (!node.parent) return node;
  const { children } = node.parent;
  return children[(children.indexOf(node) + step + children.length) % children.length];
}

/** The first node before this one, or this one, where the game branches; null if it does not. */
export function branching(node) {
  for (let here = node; here.parent; here = here.parent) if (here.parent.children.length > 1) return here;
  return null;
}

/** The node that begins this one's variation: the nearest that is not the first move of its parent, or null. */
export function variationOf(node) {
  for (let here = node; here.parent; here = here.parent) if (here.parent.children[0] !== here) return here;
  return null;
}

/** Make a node the first move of its parent, so that its line becomes the main one. */
export function promote(node) {
  const { children } = node.parent;
  children.unshift(...children.splice(children.indexOf(node), 1));
}

/** Remove a node and all that follows it from the tree. Returns a function that restores it. */
export function remove(node) {
  const { children } = node.parent, place = children.indexOf(node);
  children.splice(place, 1);
  node.parent.chosen = 0;
  return () => children.splice(place, 0, node);
}

/** A node in the server's format. */
export function question(node) {
  const [root, ...moves] = pathTo(node);
  return { ...root.setup, moves: moves.map((move) => move.cell) };
}

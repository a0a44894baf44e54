// How a game comes to be on the board: new, from a link, from a run, or brought back.

import { fromLink, nodeAt } from "./link.js";
import { complain, find, goTo, revealBoard, show, state } from "./page.js";
import { reviewShown, setReview } from "./reviewing.js";
import { ask } from "./server.js";
import { addMoves, endOf, makeRoot, pathTo } from "./tree.js";

const IMPORTED = "imported"; // the name under which the browser keeps a game until the page is closed

/** Begin with a node of another tree. The game before it can be brought back. */
export function startNew(node, title) {
  const { node: before, game, source, logged } = state, review = reviewShown(), titleBefore = find("title").textContent;
  const root = pathTo(before)[0];
  const { visited = [], knights = [null, null] } = root.setup;
  const isWorthKeeping = root.children.length || visited.length || knights.some((cell) => cell !== null);
  if (state.undo?.within === root) state.undo = null;
  if (isWorthKeeping && root !== pathTo(node)[0]) {
    state.undo = {
      what: "Previous game",
      act: () => {
        startNew(before, titleBefore);
        Object.assign(state, { game, source, logged });
        setReview(review);
        show();
      },
    };
  }
  setReview(null);
  Object.assign(state, { game: null, source: null, logged: [], editing: null });
  find("title").textContent = title;
  goTo(node);
}

/** Begin with an empty board of the size shown. */
export function startEmpty() {
  startNew(makeRoot({ size: pathTo(state.node)[0].setup.size }), "A new game.");
}

/** Begin with a game that the server has told. */
export function startGame(game, source, title) {
  const root = makeRoot({ size: game.size });
  const nodes = attach(root, game);
  startNew(root, title ?? titleOf(game));
  Object.assign(state, { game, source, logged: nodes });
  if (!source) sessionStorage.setItem(IMPORTED, JSON.stringify(game));
  show();
  revealBoard();
}

function attach(root, game) {
  const nodes = addMoves(root, game.moves);
  nodes.forEach((node, ply) => { node.note = game.lines[ply]; });
  return nodes;
}

function titleOf(game) {
  return `${game.title}: ${game.agents[0]} – ${game.agents[1]}. ${game.end}`;
}

/** Begin with what an address's fragment says: the game it names, with the variations that it has. */
export async function openLink(fragment) {
  try {
    const { root, ply, source } = fromLink(fragment);
    const game = source ? await loggedGame(source) : importedBefore(root);
    if (!game) {
      startNew(nodeAt(root, ply), fragment ? "A position from a link." : "A new game.");
    } else {
      const begun = game.size === root.setup.size ? root : makeRoot({ size: game.size });
      const nodes = attach(begun, game);
      const isPast = /^\d+$/.test(ply) && Number(ply) > endOf(begun).ply;
      startNew(nodeAt(begun, isPast ? null : ply), titleOf(game));
      Object.assign(state, { game, source, logged: nodes });
      show();
      if (isPast) complain(new Error(`The link refers to ply ${ply}, but the game ends at ply ${endOf(begun).ply}.`));
    }
    find("size").value = pathTo(state.node)[0].setup.size;
  } catch (error) {
    startNew(makeRoot({ size: "7x7" }), "A new game.");
    complain(new Error(`The link does not contain a valid position. ${error.message}`));
  }
}

/** The game imported last, if it is in the tree: a link has its moves, and this page what else was said of it. */
function importedBefore(root) {
  const game = JSON.parse(sessionStorage.getItem(IMPORTED));
  if (game?.size !== root.setup.size) return null;
  let node = root;
  for (const cell of game.moves) node = node?.children.find((child) => child.cell === cell);
  return node && game.moves.length ? game : null;
}

/** The game of a run that a link names; null where the board has no such run. */
async function loggedGame({ run, game }) {
  const place = state.choices.runs.indexOf(run);
  return place < 0 ? null : ask(`/api/runs/${place}/games/${encodeURIComponent(game)}`);
}

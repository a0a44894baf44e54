// Starting a game on the board: new, from a link, from a run, or restored.

import { fromLink, nodeAt } from "./link.js";
import { complain, find, goTo, revealBoard, show, state } from "./page.js";
import { reviewShown, setReview } from "./reviewing.js";
import { ask } from "./server.js";
import { addMoves, endOf, makeRoot, pathTo } from "./tree.js";

const IMPORTED = "imported"; // the key under which the browser keeps a game until the page is closed

/** Start with a node of another tree. The previous game can be restored. */
export function startNew(node, title) {
  const { node: before, title: titleBefore, game, source, logged } = state, review = reviewShown();
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
  Object.assign(state, { title, game: null, source: null, logged: [], editing: null });
  goTo(node);
}

/** Start with an empty board. */
export function startEmpty(size) {
  startNew(makeRoot({ size }), "A new game");
}

/** Start with a game from the server. */
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

/** Start with the game in an address's fragment, including its variations. */
export async function openLink(fragment) {
  try {
    const { root, ply, source } = fromLink(fragment);
    const game = source ? await loggedGame(source) : importedBefore(root);
    if (!game) {
      startNew(nodeAt(root, ply), fragment ? "A position from a link" : "A new game");
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
    startNew(makeRoot({ size: "7x7" }), "A new game");
    complain(new Error(`The link does not contain a valid position. ${error.message}`));
  }
}

/** The game imported last, if it is in the tree: the link has its moves, and this page its other data. */
function importedBefore(root) {
  const game = JSON.parse(sessionStorage.getItem(IMPORTED));
  if (game?.size !== root.setup.size) return null;
  let node = root;
  for (const cell of game.moves) node = node?.children.find((child) => child.cell === cell);
  return node && game.moves.length ? game : null;
}

/** The game of a run that a link names; null if the board does not have the run. */
async function loggedGame({ run, game }) {
  if (!state.choices.runs.includes(run)) return null;
  return ask(`/api/runs/${encodeURIComponent(run)}/games/${encodeURIComponent(game)}`);
}

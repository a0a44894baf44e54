// The heading of the board: what is going on in the game, or how it ended.

import { winner, YOU } from "./game.js";
import { counted, find, state, whenShown } from "./page.js";
import { playerNames } from "./players.js";
import { reviewShown } from "./reviewing.js";
import { pathTo } from "./tree.js";

function heading() {
  const { node, game, title } = state, names = playerNames();
  if (game) return title;
  if (!names.includes(YOU)) return changes(node) || title || "Board";
  const won = winner(node.position), rival = names.find((name) => name !== YOU);
  if (!won) return names[node.position.turn - 1] === YOU ? `Your move against ${rival}` : `${rival} is to move`;
  const told = names[won - 1] === YOU ? `You beat ${rival}` : `${rival} beat you`;
  return `${told} in ${counted(node.ply, "move")}${reviewed(node)}`;
}

/** How often the win changed hands, if the line has been reviewed. */
function changes(node) {
  const review = reviewShown();
  if (review?.line[0] !== pathTo(node)[0]) return "";
  const { length } = review.mistakes;
  return length ? `The win changed hands ${length === 1 ? "once" : `${length} times`}` : "No win was thrown away";
}

/** What the review of a finished game found, for its heading. */
function reviewed(node) {
  const review = reviewShown();
  if (review?.line.at(-1) !== node) return "";
  const { length } = review.mistakes;
  return length ? `, with ${counted(length, "win")} thrown away` : ", without a mistake";
}

export function wireHeading() {
  whenShown(() => {
    const text = heading();
    if (find("title").textContent !== text) find("title").textContent = text;
  });
}

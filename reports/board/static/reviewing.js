// The review of a game on the page: its progress, its mistakes one by one, and a new try at each.

import { make, oneStop } from "./board.js";
import { cellName, clause } from "./game.js";
import { complain, currentLine, find, goTo, refill, show, state, whenChosen, whenShown } from "./page.js";
import { playerNames } from "./players.js";
import { describeMistake, describeReview, mistakesOf, solveLine, throwsAway, winsKept } from "./review.js";
import { ask } from "./server.js";
import { remove } from "./tree.js";
import { refreshGraph } from "./values.js";

let review = null, trying = null, reviewing = null, said = null;

/** The current review, so that it can be restored with its game. */
export function reviewShown() {
  return review;
}

/** Show another review, or none. Cancels a running one. */
export function setReview(found) {
  stop();
  review = found;
  trying = said = null;
}

/** Whether a move threw a win away, according to the game's labels or the review. */
export function isMistake(node) {
  return Boolean((state.game?.mistakes.includes(node.ply) && state.logged[node.ply] === node)
    || (review?.mistakes.includes(node.ply) && review.line[node.ply] === node));
}

/** At a mistake, the cells that would have kept the win. */
export function keptBefore() {
  const mistake = mistakeShown();
  return mistake ? review.answers.get(mistake.ply).moves : [];
}

/** The mistake that led to the current position, if any. */
function mistakeShown() {
  const { node } = state;
  return review?.mistakes.includes(node.ply) && review.line[node.ply] === node ? node : null;
}

function stop() {
  reviewing?.abort();
  reviewing = null;
  find("review-bar").hidden = true;
  find("review").textContent = "Review this game";
}

async function start() {
  if (reviewing) return stop();
  const line = currentLine();
  if (line.length < 2) return complain(new Error("There is no move to review yet."));
  setReview(null);
  const asking = new AbortController();
  reviewing = asking;
  find("review").textContent = "Stop";
  Object.assign(find("review-bar"), { hidden: false, max: line.length - 1, value: 0 });
  find("review-state").textContent = "Solving position after position …";
  try {
    const solve = (position) => ask("/api/solve", { position }, asking.signal, "-review");
    const answers = await solveLine(line, solve, (done) => { find("review-bar").value = done; });
    const own = line === state.logged ? state.game.opening : 0; // no player chose the plies of the opening
    review = { line, answers, mistakes: mistakesOf(line, answers).filter((ply) => ply > own) };
  } catch (error) {
    complain(error);
  }
  if (reviewing !== asking) return;
  stop();
  show();
  if (review) refreshGraph().catch(complain);
}

/** The strip of exact results: a button for each position that a move was chosen in, in the colour of its winner. */
function drawStrip() {
  const plies = review && !reviewing ? [...review.answers.keys()].sort((one, other) => one - other) : [];
  find("strip").hidden = find("strip-legend").hidden = !plies.length;
  refill("strip", plies.map((ply) => {
    const { winner } = review.answers.get(ply), isTurn = review.mistakes.includes(ply), node = review.line[ply];
    const told = winner ? `${clause(playerNames()[winner - 1], "wins")} under perfect play` : "not solved";
    const button = make("button", { type: "button", className: `wins-${winner ?? "nobody"}${isTurn ? " turn" : ""}` });
    button.title = `Before ply ${ply}: ${told}${isTurn ? "; the move throws the win away" : ""}`;
    button.setAttribute("aria-label", button.title);
    if (node === state.node) button.setAttribute("aria-current", "step");
    button.onclick = () => goTo(node);
    return button;
  }));
  oneStop(find("strip"));
}

function draw() {
  drawStrip();
  for (const id of ["mistake-before", "mistake-after"]) find(id).hidden = !review?.mistakes.length;
  find("retry").hidden = !mistakeShown();
  refill("mistakes", (review?.mistakes ?? []).map((ply) => {
    const node = review.line[ply];
    const button = make("button", { type: "button" }, describeMistake(node, review.answers.get(ply)));
    if (node === state.node) button.setAttribute("aria-current", "step");
    button.onclick = () => goTo(node);
    return make("li", {}, button);
  }));
  if (reviewing) return;
  const told = review ? [describeReview(review.line, review.answers, review.mistakes),
    ...winsKept(review.line, review.answers, review.mistakes, playerNames())].join(" ") : "";
  find("review-state").textContent = said?.node === state.node ? said.text : told;
}

function goToMistake(step) {
  const { mistakes, line } = review;
  const found = step > 0 ? mistakes.find((ply) => ply > state.node.ply) : mistakes.findLast((ply) => ply < state.node.ply);
  goTo(line[found ?? (step > 0 ? mistakes[0] : mistakes.at(-1))]);
}

/** Let the person look for the move that keeps the win. */
function tryAgain() {
  const mistake = mistakeShown();
  trying = mistake;
  const mover = playerNames()[mistake.parent.position.turn - 1];
  say(mistake.parent, `${clause(mover, "has")} a winning position: which move keeps the win?`);
}

/** Show a node with a message about it. */
function say(node, text) {
  said = { node, text };
  goTo(node);
}

function judge(tried) {
  if (!trying || trying.parent !== tried.parent) return;
  const mistake = trying, name = cellName(tried.cell, tried.position.columns);
  if (throwsAway(review.answers.get(mistake.ply), mistake.parent.position.turn, tried.cell)) {
    if (!review.line.includes(tried)) remove(tried);
    mistake.parent.chosen = mistake.parent.children.indexOf(mistake);
    return say(mistake.parent, tried === mistake ? `${name} is the mistake itself; try another move.`
      : `${name} also loses; try another move.`);
  }
  trying = null;
  say(tried, `${name} keeps the win.`);
}

/** Whether a person is looking for a better move, so that no agent may answer. */
export function isTrying() {
  return Boolean(trying) && trying.parent === state.node;
}

export function wireReview() {
  whenShown(draw);
  whenChosen(judge);
  find("review").onclick = start;
  find("mistake-before").onclick = () => goToMistake(-1);
  find("mistake-after").onclick = () => goToMistake(1);
  find("retry").onclick = tryAgain;
}

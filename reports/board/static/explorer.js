// The explorer: how the games of a run continued from the current position, one row per group of symmetric moves.

import { make } from "./board.js";
import { resultOf } from "./exact.js";
import { cellName } from "./game.js";
import { isPlaying } from "./players.js";
import { askedPosition, choose, complain, counted, find, pause, state, whenMoved, whenShown } from "./page.js";
import { ask } from "./server.js";

const MOST_SHOWN = 2; // per group of symmetric moves

let found = null, asking = null, reading = "";

/** Ask again, if the explorer is open. */
async function refresh() {
  asking?.abort();
  if (!find("explorer-part").open || !state.choices.runs.length || state.editing) return;
  asking = new AbortController();
  const { node } = state, { signal } = asking, run = find("explorer-run").value;
  find("explorer").setAttribute("aria-busy", "true");
  found = null;
  reading = `Reading the games of ${run} …`;
  list();
  try {
    await pause(signal);
    const answer = await ask("/api/explore", { run, position: askedPosition() }, signal, "-explorer");
    if (state.node !== node) return;
    found = { ...answer, node };
    list();
  } catch (error) {
    if (!signal.aborted) find("explorer-state").textContent = reading = "";
    complain(error);
  }
}

function list() {
  const isHere = found?.node === state.node && !state.editing;
  find("explorer").hidden = !isHere || !found.moves.length;
  if (!isHere) {
    find("explorer-state").textContent = state.editing ? "" : reading;
    return;
  }
  find("explorer").setAttribute("aria-busy", "false");
  const hidden = isPlaying() ? " Perfect play is hidden while you play; “Exact result” shows it." : "";
  find("explorer-state").textContent = `${describe()}${hidden}`;
  const heads = ["Move", found.drawn ? "Drawn" : "Chosen", "Won", "Perfect"];
  find("explorer").replaceChildren(
    make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { scope: "col" }, head)))),
    make("tbody", {}, ...found.moves.map(row)),
  );
}

function describe() {
  const { games, drawn, plies, moves, node } = found;
  if (!moves.length) return "The game is over.";
  if (!games && node.position.visited.size >= plies) return `The explorer covers the first ${plies} plies of each game.`;
  if (!games) return "No game of the run continued from here.";
  const came = `${counted(games, "game")} of the run continued from here or from a symmetric position. Won: by the player to move.`;
  return drawn ? `${came} These moves were drawn at random for openings, not chosen by an agent.` : came;
}

function row({ cells, games, won }) {
  const { columns } = state.node.position;
  const names = cells.map((cell) => cellName(cell, columns));
  const parts = cells.slice(0, MOST_SHOWN).map((cell, index) => {
    const button = make("button", { type: "button" }, names[index]);
    button.onclick = () => choose(cell);
    return button;
  });
  const others = names.slice(MOST_SHOWN);
  if (others.length) parts.push(make("span", { className: "soft", title: others.join(" ") }, ` +${others.length} alike`));
  const result = resultOf(cells[0]);
  return make("tr", {},
    make("td", { className: "replies" }, ...parts),
    make("td", {}, games ? `${games.toLocaleString("en")} (${percent(games, found.games)})` : "–"),
    make("td", {}, games ? `${percent(won, games)} (${won.toLocaleString("en")})` : "–"),
    make("td", { className: result && `result-${result}` }, result ? `${result === "wins" ? "✓ win" : "✗ loss"}` : ""));
}

function percent(part, whole) {
  return `${Math.round((100 * part) / whole)} %`;
}

export function wireExplorer() {
  whenMoved(refresh);
  whenShown(list);
  find("explorer-part").addEventListener("toggle", refresh);
  find("explorer-run").onchange = refresh;
}

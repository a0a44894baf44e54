// Games of a run: the list of them, and loading one onto the board.

import { make } from "./board.js";
import { complain, counted, fill, find, state } from "./page.js";
import { ask } from "./server.js";
import { startGame } from "./starting.js";

const WORDS = ["text", "text", "text"];

/** List the selected games, if the list is open. */
export async function listGames() {
  if (!find("games-part").open || !state.choices.runs.length) return;
  const query = new URLSearchParams({ kind: find("kind").value, agent: find("of-agent").value });
  find("games-state").textContent = "Reading …";
  try {
    const { agents, games, total, advice } = await ask(`/api/runs/${encodeURIComponent(find("run").value)}/games?${query}`);
    const chosen = find("of-agent").value;
    fill(find("of-agent"), [["", "all agents"], ...agents.map((name) => [name, name])]);
    find("of-agent").value = agents.includes(chosen) ? chosen : "";
    const heads = ["Game", "Player 1", "Player 2", "Won by", "Plies", ...(advice ? [] : ["Mistakes"])];
    find("games").replaceChildren(
      make("thead", {}, make("tr", {}, ...heads.map(
        (head, index) => make("th", { scope: "col", className: WORDS[index - 1] ?? "" }, head)))),
      make("tbody", {}, ...games.map((game) => row(game, !advice))),
    );
    find("games-state").textContent = `${games.length} of ${counted(total, "game")}.`;
    find("games-advice").textContent = advice ? `To see mistakes in won games, run ${advice}.` : "";
  } catch (error) {
    if (error.name !== "AbortError") find("games-state").textContent = "";
    complain(error);
  }
}

function row(game, hasMistakes) {
  const button = make("button", { type: "button" }, String(game.game_id));
  button.onclick = () => load(game.game_id);
  const text = (word) => make("td", { className: "text" }, word);
  const reason = game.reason === "no_moves" ? "" : ` (${game.reason.replace("_", " ")})`;
  return make("tr", {}, make("td", {}, button), text(game.agent_1), text(game.agent_2),
    text(`${game[`agent_${game.winner}`]}${reason}`), make("td", {}, String(game.plies)),
    ...(hasMistakes ? [make("td", {}, String(game.mistakes ?? "–"))] : []));
}

async function load(id) {
  try {
    const run = find("run").value;
    const game = await ask(`/api/runs/${encodeURIComponent(run)}/games/${id}`);
    find("explorer-run").value = run;
    startGame(game, { run, game: String(id) });
  } catch (error) {
    complain(error);
  }
}

/** Offer the available runs, and the kinds of games. */
export function offerRuns({ runs, kinds }) {
  for (const id of ["run", "explorer-run"]) fill(find(id), runs.map((name) => [name, name]));
  fill(find("kind"), kinds.map((kind) => [kind, kind]));
  fill(find("of-agent"), [["", "all agents"]]);
  const none = runs.length ? "" : "There are no runs here yet: isolation tournament plays one.";
  find("games-state").textContent = find("explorer-none").textContent = none;
  find("explorer-choice").hidden = runs.length < 2;
}

export function wireRuns() {
  find("games-part").ontoggle = find("run").onchange = find("kind").onchange = find("of-agent").onchange = listGames;
}

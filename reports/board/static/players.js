// Who plays: the agent chosen for each side, and the names of the players.

import { legalCells, YOU } from "./game.js";
import { find, state } from "./page.js";

/** The spec of the agent that plays for a player; empty if a person does. */
export function agentOf(player) {
  return find(`plays-${player}`).checked ? spec() : "";
}

/** The name of the agent that plays for a player, as in runs; empty if a person does. */
function agentName(player) {
  if (!agentOf(player)) return "";
  const kind = find("agent-kind").value, heuristic = find("agent-heuristic").value;
  if (kind.startsWith("own:")) return kind.slice(4);
  const words = searches(kind) ? [kind, ...(heuristic === "playouts" ? [] : heuristic.split("_"))] : [kind];
  return words.map((word) => word[0].toUpperCase() + word.slice(1)).join("_");
}

/** Whether a person plays against an agent, and has not asked for values or exact results. */
export function isPlaying() {
  const isGame = Boolean(agentOf(1)) !== Boolean(agentOf(2)) && legalCells(state.node.position).length > 0;
  return isGame && !find("show-exact").checked && !find("show-values").checked;
}

/** The spec of the chosen agent. */
export function spec() {
  const kind = find("agent-kind").value;
  if (kind.startsWith("own:")) return kind.slice(4);
  if (!searches(kind)) return kind;
  const heuristic = find("agent-heuristic").value;
  const target = heuristic === "playouts" ? kind : `${kind}:${heuristic}`;
  return `${target}@${find("agent-unit").value}=${find("agent-limit").value}`;
}

/** Whether a kind of agent searches, so that it has a heuristic and a limit. */
export const searches = (kind) => ["ID", "AB", "MM", "BF", "MCTS"].includes(kind);

/** Names of the players: from the loaded game, those of agents and of the person against them, or their numbers. */
export function playerNames() {
  const nameOf = (player) => agentName(player) || (agentOf(3 - player) ? YOU : `Player ${player}`);
  return [1, 2].map((player) => state.game?.agents[player - 1] ?? nameOf(player));
}

// Agents that play: for either side, for both, or for one move on request.

import { showValue } from "./board.js";
import { cellName, legalCells } from "./game.js";
import {
  askedPosition, complain, fill, find, goTo, show, state, waiting, whenChosen, whenMoved, whenShown,
} from "./page.js";
import { agentOf, isPlaying, searches, spec } from "./players.js";
import { isTrying } from "./reviewing.js";
import { ask } from "./server.js";
import { addMove } from "./tree.js";

const KINDS = [
  ["ID", "iterative deepening"], ["AB", "alpha-beta"], ["MM", "minimax"], ["BF", "best-first"], ["MCTS", "MCTS"],
  ["greedy", "greedy"], ["random", "random"], ["perfect", "perfect"],
];

let thinking = null;

/** Choose an agent; a kind that searches has a heuristic and a limit. */
export function setAgent(kind, heuristic, unit, limit) {
  const chosen = { "agent-kind": kind, "agent-heuristic": heuristic, "agent-unit": unit, "agent-limit": limit };
  for (const [id, value] of Object.entries(chosen)) if (value) find(id).value = value;
  shape();
}

function shape() {
  const kind = find("agent-kind").value;
  find("agent-heuristic-part").hidden = find("agent-limit-part").hidden = !searches(kind);
  find("agent-heuristic").querySelector("[value=playouts]").hidden = kind !== "MCTS";
  if (kind !== "MCTS" && find("agent-heuristic").value === "playouts") find("agent-heuristic").value = "improved";
  show();
}

function stop() {
  thinking?.abort();
  thinking = null;
  state.isThinking = false;
  find("agent-state").textContent = "";
}

/** Let the agents move as long as it is their turn. */
export async function letPlay() {
  show();
  while (agentOf(state.node.position.turn) && legalCells(state.node.position).length) {
    if (state.editing || !(await letMove())) return;
  }
}

async function letMove() {
  stop();
  const { node } = state, asking = new AbortController();
  thinking = asking;
  state.isThinking = Boolean(agentOf(node.position.turn));
  const ended = waiting("agent-state", "Thinking", "; new agents are compiled first");
  try {
    const answer = await ask("/api/move", { position: askedPosition(), agent: spec(), is_game: isPlaying() }, asking.signal);
    if (thinking !== asking) return false;
    const next = addMove(node, answer.move);
    next.note = noteOf(answer, node.position.columns);
    next.line = answer.line?.length > 1 ? answer.line : [];
    goTo(next);
    find("agent-state").textContent = `${answer.agent} played ${cellName(answer.move, node.position.columns)}.`;
    return true;
  } catch (error) {
    if (thinking === asking) stop();
    complain(error);
    return false;
  } finally {
    ended();
  }
}

function noteOf(answer, columns) {
  const prepared = answer.preparing ? `, compiled or loaded in ${answer.preparing.toFixed(1)} s` : "";
  const played = `${answer.agent} played ${cellName(answer.move, columns)}`;
  if (!answer.line) return `${played}${prepared}`;
  const searched = answer.depth ? `, score ${showValue(answer.score)}, depth ${answer.depth}` : "";
  const known = typeof answer.score === "string" ? `, a proven ${answer.score}` : searched;
  const line = answer.line.length > 1 ? ", expecting the line below" : "";
  return `${played}${known}, ` +
    `${answer.nodes.toLocaleString("en")} nodes in ${answer.ms} ms${line}${prepared}`;
}

/** Offer the kinds of agents, those added when the board was started, and their possible heuristics. */
export function offerAgents({ heuristics, agents }) {
  fill(find("agent-kind"), [...KINDS, ...agents.map((name) => [`own:${name}`, name])]);
  const names = heuristics.map(({ name }) => [name, name]);
  fill(find("agent-heuristic"), [["playouts", "random playouts"], ...names]);
  find("agent-heuristic").value = "territory";
  shape();
}

export function wireOpponent() {
  whenMoved(stop);
  whenChosen(() => { if (!isTrying()) letPlay(); });
  whenShown(() => { find("move-now").disabled = Boolean(state.editing) || !legalCells(state.node.position).length; });
  find("agent-kind").onchange = find("agent-heuristic").onchange = shape;
  find("agent-unit").onchange = find("agent-limit").onchange = show;
  find("plays-1").onchange = find("plays-2").onchange = () => { stop(); letPlay(); };
  find("move-now").onclick = async () => { if (await letMove()) letPlay(); };
}

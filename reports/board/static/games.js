// A page that shows one of many finished games, embedded in it as JSON; the address selects it: #12 is game 12.

import { make, oneStop, showBoard } from "./board.js";
import { cellName, play, startPosition } from "./game.js";

const find = (id) => document.getElementById(id);

const games = JSON.parse(find("games").textContent);
let game = null;
let positions = [];
let ply = 0;

function choose(wanted) {
  game = games.find((one) => one.id === wanted) ?? games[0];
  if (!game) return;
  positions = [startPosition({ size: game.size })];
  for (const cell of game.moves) positions.push(play(positions.at(-1), cell));
  find("game").value = String(game.id);
  find("slider").max = game.moves.length;
  game.agents.forEach((name, index) => { find(`player-${index + 1}`).textContent = name; });
  listMoves();
  const first = game.mistakes.length ? game.mistakes[0] : game.moves.length;
  show(first);
}

function show(wanted) {
  const last = game.moves.length;
  ply = Math.min(last, Math.max(0, wanted));
  const numbers = new Map(game.moves.slice(0, ply).map((cell, index) => [cell, index + 1]));
  showBoard(find("board"), positions[ply], { numbers });
  find("slider").value = ply;
  const line = lineOf();
  find("slider").setAttribute("aria-valuetext", line);
  find("line").textContent = line;
  for (const id of ["first", "back"]) find(id).disabled = ply === 0;
  for (const id of ["forward", "last"]) find(id).disabled = ply === last;
  for (const button of find("moves").querySelectorAll("button")) {
    if (Number(button.dataset.ply) === ply) button.setAttribute("aria-current", "step");
    else button.removeAttribute("aria-current");
  }
  oneStop(find("moves"));
}

function lineOf() {
  if (ply === 0) return `${game.agents[0]} against ${game.agents[1]} on ${game.size}`;
  const cell = cellName(game.moves[ply - 1], positions[0].columns);
  const parts = [`ply ${ply}: ${game.agents[(ply - 1) % 2]} ${ply <= 2 ? "placed" : "played"} ${cell}`];
  if (ply <= game.opening) parts.push("of the opening");
  if (game.mistakes.includes(ply)) parts.push("mistake: gave the win away");
  return ply === game.moves.length ? `${parts.join(", ")}. ${game.end}` : parts.join(", ");
}

function listMoves() {
  const { columns } = positions[0];
  find("moves").replaceChildren(...game.moves.map((cell, index) => {
    const isMistake = game.mistakes.includes(index + 1);
    const button = make("button", { type: "button", className: isMistake ? "move mistake" : "move", "data-ply": index + 1 },
      `${index + 1}. ${cellName(cell, columns)}${isMistake ? " ?" : ""}`);
    button.onclick = () => show(index + 1);
    return make("li", {}, button);
  }));
}

const steps = {
  first: () => show(0), back: () => show(ply - 1), forward: () => show(ply + 1), last: () => show(game.moves.length),
};
for (const [id, step] of Object.entries(steps)) find(id).onclick = step;
find("slider").oninput = (event) => show(Number(event.target.value));
document.addEventListener("keydown", (event) => {
  const step = { ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last" }[event.key];
  if (!step || event.altKey || event.ctrlKey || event.metaKey || event.target === find("game")) return;
  event.preventDefault();
  steps[step]();
});
find("game").append(...games.map((one) => make("option", { value: String(one.id) }, one.label)));
find("game").onchange = (event) => { location.hash = event.target.value; };
const chosen = () => choose(Number(location.hash.slice(1)));
window.addEventListener("hashchange", chosen);
chosen();

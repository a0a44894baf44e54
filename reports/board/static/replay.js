// A page that shows one finished game, embedded in it as JSON.

import { make, oneStop, showBoard } from "./board.js";
import { drawChart, hasChart, loggedSeries } from "./chart.js";
import { cellName, play, startPosition } from "./game.js";

const PACE = 700; // milliseconds per ply
const find = (id) => document.getElementById(id);

const game = JSON.parse(find("game").textContent);
const last = game.moves.length;
const series = loggedSeries(game);
const positions = [startPosition({ size: game.size })];
for (const cell of game.moves) positions.push(play(positions.at(-1), cell));

let ply = 0;
let timer = null;

function show(wanted) {
  ply = Math.min(last, Math.max(0, wanted));
  const numbers = new Map(game.moves.slice(0, ply).map((cell, index) => [cell, index + 1]));
  showBoard(find("board"), positions[ply], { numbers });
  find("slider").value = ply;
  find("slider").setAttribute("aria-valuetext", game.lines[ply]);
  find("line").textContent = ply === last ? `${game.lines[ply]}. ${game.end}` : game.lines[ply];
  for (const id of ["first", "back"]) find(id).disabled = ply === 0;
  for (const id of ["forward", "last"]) find(id).disabled = ply === last;
  for (const button of find("moves").querySelectorAll("button")) {
    const isHere = Number(button.dataset.ply) === ply;
    if (isHere) button.setAttribute("aria-current", "step");
    else button.removeAttribute("aria-current");
    if (isHere) keepInView(button);
  }
  oneStop(find("moves"));
  if (ply === last) stop();
  chart();
}

function keepInView(button) {
  const list = find("moves");
  const above = button.offsetTop - list.offsetTop;
  if (above < list.scrollTop || above + button.offsetHeight > list.scrollTop + list.clientHeight) {
    list.scrollTop = above - list.clientHeight / 2;
  }
}

function chart() {
  if (!hasChart(series, game.depth)) return;
  drawChart(find("chart"), {
    plies: last, series, depths: game.depth, mistakes: game.mistakes, ply, onPly: show,
  });
}

function stop() {
  clearInterval(timer);
  timer = null;
  find("autoplay").textContent = "Play";
  find("autoplay").setAttribute("aria-pressed", "false");
}

function toggle() {
  if (timer) return stop();
  if (ply === last) show(0);
  timer = setInterval(() => show(ply + 1), PACE);
  find("autoplay").textContent = "Pause";
  find("autoplay").setAttribute("aria-pressed", "true");
}

function listMoves() {
  const { columns } = positions[0];
  game.moves.forEach((cell, index) => {
    const isMistake = game.mistakes.includes(index + 1);
    const button = make("button", { type: "button", className: isMistake ? "move mistake" : "move", "data-ply": index + 1,
      title: game.lines[index + 1] }, `${index + 1}. ${cellName(cell, columns)}${isMistake ? " ?" : ""}`);
    button.onclick = () => show(index + 1);
    find("moves").append(make("li", {}, button));
  });
}

const steps = { first: () => show(0), back: () => show(ply - 1), forward: () => show(ply + 1), last: () => show(last) };
for (const [id, step] of Object.entries(steps)) find(id).onclick = () => { stop(); step(); };
find("autoplay").onclick = toggle;
find("slider").oninput = (event) => { stop(); show(Number(event.target.value)); };
document.addEventListener("keydown", (event) => {
  const step = { ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last" }[event.key];
  if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  stop();
  steps[step]();
});
window.addEventListener("resize", chart);
find("chart-part").hidden = !hasChart(series, game.depth);
listMoves();
show(0);

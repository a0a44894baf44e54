// Puzzles: positions in which reference players threw a win away; the server keeps the solution until it is asked for.

import { showBoard } from "./board.js";
import { cellName, play, startPosition } from "./game.js";
import { ask } from "./server.js";

const find = (id) => document.getElementById(id);
const FIRST_DAY = Date.UTC(2026, 0, 1), DAY = 86_400_000; // milliseconds
const START = 1500, STEP = 32; // Elo
const KEPT = "puzzles"; // the key under which the browser keeps the rating and the puzzles that counted for it

let puzzle = null, position = null, tried = new Set(), solution = null;

const kept = () => JSON.parse(localStorage.getItem(KEPT)) ?? { rating: START, counted: [] };
const today = () => {
  const now = new Date();
  return Math.floor((Date.UTC(now.getFullYear(), now.getMonth(), now.getDate()) - FIRST_DAY) / DAY);
};

/** Count the first answer to a puzzle as a game against it. */
function count(isSolved) {
  const { rating, counted } = kept();
  if (tried.size || counted.includes(puzzle.number)) return;
  const expected = 1 / (1 + 10 ** ((puzzle.rating - rating) / 400));
  const fresh = Math.round(rating + STEP * (Number(isSolved) - expected));
  localStorage.setItem(KEPT, JSON.stringify({ rating: fresh, counted: [...counted, puzzle.number] }));
}

async function open(number) {
  try {
    puzzle = await ask(`/api/puzzles/${number}`);
    tried = new Set();
    solution = null;
    position = puzzle.moves.reduce(play, startPosition({ size: puzzle.size }));
    const side = position.turn === 1 ? "Ivory" : "Navy";
    find("puzzle-task").textContent = `${side} moves. ${puzzle.keeping} of ${puzzle.legal} moves ${puzzle.keeping === 1 ? "keeps" : "keep"} the win.`;
    find("puzzle-note").textContent = `${puzzle.missed} of ${puzzle.asked} reference players threw it away here.`;
    show();
  } catch (error) {
    say(error.message);
  }
}

function say(text) {
  find("puzzle-said").textContent = text;
}

function show() {
  const isToday = puzzle.number === today() % puzzle.count;
  find("puzzle-title").textContent = isToday ? "Today’s puzzle" : `Puzzle ${puzzle.number}`;
  find("puzzle-rating").textContent = `rated ${puzzle.rating.toLocaleString("en")} · you ${kept().rating.toLocaleString("en")}`;
  const numbers = new Map(puzzle.moves.map((cell, index) => [cell, index + 1]));
  const marks = { numbers, loses: [...tried], wins: solution ?? [] };
  showBoard(find("puzzle"), position, solution ? marks : { ...marks, onCell: judge });
  const names = puzzle.moves.map((cell) => cellName(cell, position.columns));
  find("puzzle-board").href = `/board#board=${puzzle.size}&moves=${names.join(",")}`;
  find("puzzle-solution").disabled = Boolean(solution);
}

async function judge(cell) {
  if (tried.has(cell)) return;
  try {
    const { keeps, moves } = await ask("/api/puzzles", { number: puzzle.number, move: cell });
    count(keeps);
    const name = cellName(cell, position.columns);
    if (keeps) solution = moves;
    else tried.add(cell);
    say(keeps ? `${name} keeps the win.` : `${name} throws the win away: try another move.`);
    show();
  } catch (error) {
    if (error.message) say(error.message);
  }
}

async function solve() {
  const { moves } = await ask("/api/puzzles", { number: puzzle.number });
  count(false);
  solution = moves;
  say(`The win is kept by ${moves.map((cell) => cellName(cell, position.columns)).join(" ")}.`);
  show();
}

function another() {
  const number = Math.floor(Math.random() * puzzle.count);
  history.pushState(null, "", `?${new URLSearchParams({ puzzle: number })}${location.hash}`);
  begin();
}

function begin() {
  say("");
  open(Number(new URLSearchParams(location.search).get("puzzle") ?? today()));
}

find("puzzle-solution").onclick = solve;
find("puzzle-another").onclick = another;
window.addEventListener("popstate", begin);
begin();

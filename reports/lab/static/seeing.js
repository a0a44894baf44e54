// What two heuristics see: the values of the moves on two boards, their choices, and the truth.

import { showBoard } from "/static/board.js";
import { cellName, legalCells, play, startPosition } from "/static/game.js";

const find = (id) => document.getElementById(id);
const own = find("main").dataset.heuristic;
let row = -1;

async function see(question) {
  find("seen").textContent = "Looking …";
  const body = JSON.stringify({ first: own, second: find("other").value, ...question });
  const response = await fetch("/api/see", { method: "POST", headers: { "content-type": "application/json" }, body });
  const answer = await response.json();
  if (!response.ok) {
    find("seen").textContent = answer.error;
    return;
  }
  show(answer);
}

function show({ size, moves, choices, values, kept, row: found }) {
  if (found >= 0) row = found;
  const position = moves.reduce(play, startPosition({ size }));
  const numbers = new Map(moves.map((cell, index) => [cell, index + 1]));
  const name = (cell) => cellName(cell, position.columns);
  const isWon = Boolean(kept?.length);
  const loses = isWon ? legalCells(position).filter((cell) => !kept.includes(cell)) : [];
  const words = choices.map((cell) => (isWon ? `, which ${kept.includes(cell) ? "keeps the win" : "throws it away"}` : ""));
  const names = [own, find("other").value];
  names.forEach((heuristic, index) => {
    showBoard(find(`sees-${index}`), position, { numbers, values: values[index], wins: kept ?? [], loses, chosen: choices[index] });
    find(`title-${index}`).textContent = `${heuristic} chooses ${name(choices[index])}${words[index]}`;
  });
  const truth = kept === null ? "The position is not solved in time." : isWon ? `${kept.map(name).join(" ")} ${
    kept.length === 1 ? "keeps" : "keep"} the win.` : "The position is lost, whatever is played.";
  find("seen").textContent = `${truth} Values one ply ahead: the bluer the better.`;
  find("moves").value = moves.map(name).join(",");
  find("on-board").href = `/board#board=${size}&moves=${moves.map(name).join(",")}`;
}

find("other").onchange = () => { row = -1; see({ after: row }); };
find("next-difference").onclick = () => see({ after: row });
find("position").onsubmit = (event) => {
  event.preventDefault();
  see({ moves: find("moves").value });
};
see({ after: row });

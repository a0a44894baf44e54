// A player of knight's Isolation in one file: alpha-beta by mobility, spoken to over UGI. Run it with: node player.js
"use strict";
const readline = require("readline");

const WIN = 100000;
const JUMPS = [[-2, -1], [-2, 1], [-1, -2], [-1, 2], [1, -2], [1, 2], [2, -1], [2, 1]];

// A position: its size, closed cells row by row from the top, the cell of each player or null, and who is to move.
function empty(rows, columns) {
  return { rows, columns, closed: new Array(rows * columns).fill(false), at: [null, null], turn: 0 };
}

function readFen(text) {
  const [board, side] = text.split(" ");
  const inFull = (rank) => rank.replace(/\d+/g, (count) => ".".repeat(Number(count)));
  const ranks = board.split("[")[0].split("/").map(inFull);
  const position = empty(ranks.length, ranks[0].length);
  [...ranks.join("")].forEach((sign, cell) => {
    position.closed[cell] = sign !== ".";
    if (sign === "N" || sign === "n") position.at[Number(sign === "n")] = cell;
  });
  return { ...position, turn: Number(side === "b") };
}

function moves(position, player) {
  const { rows, columns, closed, at } = position;
  if (at[player] === null) return [...closed.keys()].filter((cell) => !closed[cell]);
  const [row, column] = [Math.floor(at[player] / columns), at[player] % columns];
  const found = [];
  for (const [down, right] of JUMPS) {
    const [r, c] = [row + down, column + right];
    if (r >= 0 && r < rows && c >= 0 && c < columns && !closed[r * columns + c]) found.push(r * columns + c);
  }
  return found;
}

// Calls a function at the position after a move, and takes the move back.
function trying(position, cell, look) {
  const [turn, before] = [position.turn, position.at[position.turn]];
  position.closed[cell] = true;
  position.at[turn] = cell;
  position.turn = 1 - turn;
  const result = look();
  position.closed[cell] = false;
  position.at[turn] = before;
  position.turn = turn;
  return result;
}

function name(position, cell) {
  const { rows, columns } = position;
  const file = (at) => (at < 26 ? "" : file(Math.floor(at / 26) - 1)) + String.fromCharCode(97 + (at % 26));
  const square = (at) => file(at % columns) + (rows - Math.floor(at / columns));
  const from = position.at[position.turn];
  return (from === null ? "N@" : square(from)) + square(cell);
}

function isOver(search) {
  search.stopped ||= search.nodes >= search.mostNodes || (search.nodes % 64 === 0 && Date.now() >= search.end);
  return search.stopped;
}

function value(position, depth, alpha, beta, search) {
  search.nodes++;
  const own = moves(position, position.turn);
  if (own.length === 0) return -WIN;
  if (depth === 0) return own.length - moves(position, 1 - position.turn).length;
  for (const cell of own) {
    if (isOver(search)) return 0;
    alpha = Math.max(alpha, -trying(position, cell, () => value(position, depth - 1, -beta, -alpha, search)));
    if (alpha >= beta) break;
  }
  return alpha;
}

// The best move at a depth; null if the search was stopped.
function best(position, depth, search) {
  let [chosen, highest] = [null, -2 * WIN];
  for (const cell of moves(position, position.turn)) {
    const score = -trying(position, cell, () => value(position, depth - 1, -2 * WIN, -highest, search));
    if (search.stopped) return null;
    if (score > highest) [chosen, highest] = [cell, score];
  }
  const isDecided = Math.abs(highest) >= WIN;
  const score = isDecided ? `mate ${Math.sign(highest) * depth}` : `cp ${100 * highest}`;
  console.log(`info depth ${depth} nodes ${search.nodes} score ${score} pv ${name(position, chosen)}`);
  return { cell: chosen, isDecided };
}

let position = empty(7, 7);
let searching = null; // the search under way, which lines are heard between the depths of

function answer() {
  const { position, cell } = searching || {};
  if (searching) console.log(`bestmove ${cell === null ? "(none)" : name(position, cell)}`);
  searching = null;
}

function deepen(search, depth) {
  if (searching !== search) return;
  const isDone = search.cell === null || depth > search.mostDepth || isOver(search);
  const found = isDone || search.isDecided ? null : best(search.position, depth, search);
  if (found) {
    [search.cell, search.isDecided] = [found.cell, found.isDecided];
    setImmediate(deepen, search, depth + 1);
  } else if (!search.isInfinite) answer();
}

function go(words) {
  const said = (word) => (words.includes(word) ? Number(words[words.indexOf(word) + 1]) : 0);
  const mine = position.turn ? "p2" : "p1";
  const isInfinite = words.includes("infinite");
  let milliseconds = said(`${mine}time`) / 20 + said(`${mine}inc`) / 2;
  if (said("movetime")) milliseconds = Math.max(1, said("movetime") - 10);
  if (isInfinite) milliseconds = 500; // nothing is heard while a depth is searched: then it rests
  const first = moves(position, position.turn)[0];
  searching = {
    position, isInfinite, nodes: 0, stopped: false, isDecided: false, cell: first === undefined ? null : first,
    mostNodes: said("nodes") || Infinity, mostDepth: said("depth") || 1000,
    end: milliseconds ? Date.now() + milliseconds : Infinity,
  };
  setImmediate(deepen, searching, 1);
}

function setPosition(words) {
  const there = words.includes("moves") ? words.indexOf("moves") : words.length;
  position = words[0] === "fen" ? readFen(words.slice(1, there).join(" ")) : empty(7, 7);
  for (const word of words.slice(there + 1)) {
    const cell = moves(position, position.turn).find((one) => name(position, one) === word);
    trying(position, cell, () => { position = { ...position, closed: [...position.closed], at: [...position.at] }; });
  }
}

function respond(what) {
  const isOverNow = moves(position, position.turn).length === 0;
  const result = isOverNow ? (position.turn ? "p1win" : "p2win") : "none";
  console.log(`response ${{ p1turn: position.turn === 0, gameover: isOverNow, result }[what]}`);
}

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const [first, ...words] = line.trim().split(/\s+/);
  if (first === "ugi") console.log("id name player.js\nid author nobody\nugiok");
  if (first === "isready") console.log("readyok");
  if (first === "position") setPosition(words);
  if (first === "query") respond(words[0]);
  if (first === "go") go(words);
  if (first === "stop") answer();
  if (first === "quit") process.exit();
});

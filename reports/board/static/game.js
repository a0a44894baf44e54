// The rules of knight's Isolation, and names of cells. Positions are plain immutable objects.

const STEPS = [[-2, -1], [-2, 1], [-1, -2], [-1, 2], [1, -2], [1, 2], [2, -1], [2, 1]];
const MOST_CELLS = 128;

/** Rows and columns of a board written ROWSxCOLUMNS. */
export function parseSize(text) {
  const match = /^\s*(\d{1,3})\s*[xX×]\s*(\d{1,3})\s*$/.exec(text);
  const [rows, columns] = match ? [Number(match[1]), Number(match[2])] : [0, 0];
  if (!rows || !columns) throw new Error(`“${text}” is not a board size; expected ROWSxCOLUMNS, such as 7x7.`);
  if (rows * columns > MOST_CELLS) throw new Error(`A board here has at most ${MOST_CELLS} cells.`);
  return { rows, columns };
}

/** A starting position: `knights` are cells or null, `turn` is 1 or 2. */
export function startPosition({ size, visited = [], knights = [null, null], turn = 1 }) {
  const { rows, columns } = parseSize(size);
  const taken = new Set([...visited, ...knights.filter((cell) => cell !== null)]);
  return { rows, columns, visited: taken, knights: [...knights], turn, from: [null, null], last: null };
}

/** The legal moves of the side to move. */
export function legalCells(position) {
  const { rows, columns, visited, knights, turn } = position;
  const here = knights[turn - 1];
  if (here === null) return [...Array(rows * columns).keys()].filter((cell) => !visited.has(cell));
  const row = Math.floor(here / columns), column = here % columns;
  return STEPS.map(([down, right]) => [row + down, column + right])
    .filter(([r, c]) => r >= 0 && r < rows && c >= 0 && c < columns)
    .map(([r, c]) => r * columns + c)
    .filter((cell) => !visited.has(cell));
}

/** The position after the side to move has gone to a cell. */
export function play(position, cell) {
  if (!legalCells(position).includes(cell)) {
    throw new Error(`${cellName(cell, position.columns)} is not a legal move for player ${position.turn}.`);
  }
  const mover = position.turn - 1;
  const knights = position.knights.with(mover, cell);
  const visited = new Set([...position.visited, cell]);
  return { ...position, visited, knights, turn: 2 - mover, from: [position.knights[mover], cell], last: cell };
}

/** The winner: 1, 2, or null while the side to move has a move. */
export function winner(position) {
  return legalCells(position).length ? null : 3 - position.turn;
}

/** The name of the person who plays against an agent. */
export const YOU = "You";

/** A name and its verb; the person at the board is “You”. */
export function clause(name, verb) {
  return name === YOU ? `${name} ${verb === "has" ? "have" : verb.slice(0, -1)}` : `${name} ${verb}`;
}

/** The side to move or the winner, in a sentence. */
export function standing(position, names) {
  const won = winner(position);
  if (!won) return `${names[position.turn - 1]} to move.`;
  const loser = clause(names[2 - won], "has");
  return `${clause(names[won - 1], "has")} won: ${names[2 - won] === YOU ? loser.toLowerCase() : loser} no move.`;
}

/** The letters of a column: a, b, …, z, aa, … */
export function columnName(column) {
  const letter = String.fromCharCode(97 + (column % 26));
  return column < 26 ? letter : columnName(Math.floor(column / 26) - 1) + letter;
}

/** The name of a cell: its column's letters and its row's number, counted from 0 at the top. */
export function cellName(cell, columns) {
  return columnName(cell % columns) + Math.floor(cell / columns);
}

/** The cell with a name. */
export function parseCell(name, columns, rows) {
  const match = /^([a-z]{1,2})(\d{1,3})$/.exec(name.trim().toLowerCase());
  const column = match ? [...match[1]].reduce((sum, letter) => 26 * sum + letter.charCodeAt(0) - 96, 0) - 1 : -1;
  const row = match ? Number(match[2]) : -1;
  if (!match || column >= columns || row >= rows) throw new Error(`“${name}” is not a cell of the ${rows}x${columns} board.`);
  return row * columns + column;
}

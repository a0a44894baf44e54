// The dialog of a new game: opponent, side, board and time in one place.

import { setClock } from "./clock.js";
import { fill, find, state } from "./page.js";
import { letPlay, setAgent } from "./opponent.js";
import { startEmpty } from "./starting.js";
import { pathTo } from "./tree.js";

const OPPONENTS = [
  ["", "nobody: I play both sides"],
  ["ID improved nodes 300", "an easy one: improved, 300 nodes a move"],
  ["ID improved nodes 10000", "the baseline: improved, 10,000 nodes"],
  ["ID territory nodes 100000", "a strong one: territory, 100,000 nodes"],
  ["perfect", "perfect play, on boards that are solved"],
  ["chosen", "the agent chosen under Opponent"],
];
const SIZES = ["5x5", "6x6", "7x7", "8x8", "9x11"];
const MINUTES = [["", "without a clock"], ["1", "1 minute for all my moves"], ...["3", "5", "10"].map((many) => [many, `${many} minutes for all my moves`])];

function open() {
  const { size } = pathTo(state.node)[0].setup;
  fill(find("new-size"), [...new Set([size, ...SIZES])].map((name) => [name, name]));
  find("new-size").value = size;
  find("new-game").showModal();
}

function start() {
  const opponent = find("new-opponent").value, side = Number(find("new-side").value);
  find("new-game").close();
  if (opponent && opponent !== "chosen") setAgent(...opponent.split(" "));
  for (const player of [1, 2]) find(`plays-${player}`).checked = Boolean(opponent) && player !== side;
  setClock(opponent ? Number(find("new-time").value) : 0);
  startEmpty(find("new-size").value);
  letPlay();
}

/** Against nobody there are neither sides nor a clock. */
function shape() {
  for (const id of ["new-side", "new-time"]) find(id).disabled = !find("new-opponent").value;
}

export function wireNewGame() {
  fill(find("new-opponent"), OPPONENTS);
  find("new").onclick = open;
  find("new-start").onclick = start;
  find("new-cancel").onclick = () => find("new-game").close();
  fill(find("new-time"), MINUTES);
  find("new-opponent").onchange = shape;
  shape();
}

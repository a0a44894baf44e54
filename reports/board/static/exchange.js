// Import and export of games and positions: by pasting, from files, to the clipboard, and to files.

import { complain, counted, currentLine, fill, find, revealBoard, show, state, whenMoved } from "./page.js";
import { playerNames } from "./players.js";
import { ask } from "./server.js";
import { startGame, startNew } from "./starting.js";
import { addMoves, makeRoot, pathTo, question } from "./tree.js";

const FORMS = [
  ["moves", "moves"], ["fen", "FEN of the position"], ["json", "JSON"], ["csv", "row of a log (CSV)"], ["pgn", "PGN"],
  ["png", "picture of the position (PNG)"], ["gif", "animation (GIF)"], ["html", "page (HTML)"],
];
const TEXTS = ["moves", "fen", "json", "csv", "pgn"];
const OF_POSITION = ["fen", "png"];

let taken = [], heading = "";

async function takeIn() {
  const text = find("import-text").value, { size } = pathTo(state.node)[0].setup;
  find("import-state").textContent = "Reading …";
  try {
    if (new Blob([text]).size > 0.9 * state.choices.longest) throw new Error(tooLong());
    ({ games: taken } = await ask("/api/import", { text, size }));
    fill(find("imported"), taken.map((one, index) => [index, `${index + 1}. ${nameOf(one)}`]));
    find("imported-part").hidden = taken.length < 2;
    find("import-state").textContent = taken.length > 1 ? `${counted(taken.length, "game")} read; this is the first.` : "";
    open(taken[0]);
  } catch (error) {
    refuse(error);
  }
}

/** Report what could not be parsed. The board keeps its game, without the note that it was imported. */
function refuse(error) {
  find("imported-part").hidden = true;
  if (state.title === heading) state.title = "";
  show();
  complain(error, "import-state");
}

function tooLong() {
  return `The board reads at most ${(0.9 * state.choices.longest / 1e6).toFixed(1)} MB at once: paste fewer games.`;
}

function nameOf({ title, game }) {
  return game ? `${game.agents[0]} – ${game.agents[1]}` : title;
}

function open({ title, setup, moves, game }) {
  if (game) return startGame(game, null);
  heading = title;
  startNew(addMoves(makeRoot(setup), moves).at(-1), heading);
  revealBoard();
}

async function readFile() {
  const [file] = find("import-file").files;
  if (!file) return;
  if (file.size > 0.9 * state.choices.longest) return refuse(new Error(tooLong()));
  find("import-text").value = await file.text();
  takeIn();
}

/** The current line, or the position, in the chosen format. */
async function written() {
  const kind = find("form").value, line = currentLine();
  const node = OF_POSITION.includes(kind) ? state.node : line.at(-1);
  const isOfRun = state.choices.runs.includes(state.source?.run) && line === state.logged;
  const origin = isOfRun ? { run: state.source.run, game: state.source.game } : {};
  return ask("/api/export", { kind, position: question(node), names: playerNames(), ...origin });
}

async function copy() {
  try {
    const { text } = await written();
    find("export-text").value = text;
    find("export-text").hidden = false;
    await navigator.clipboard.writeText(text).then(
      () => { find("export-state").textContent = "Copied."; },
      () => { find("export-state").textContent = "The browser does not allow copying; here is the text."; });
  } catch (error) {
    find("export-text").hidden = true;
    complain(error, "export-state");
  }
}

async function save() {
  find("export-state").textContent = "Writing …";
  try {
    const { name, type, text, base64 } = await written();
    const bytes = base64 === undefined ? text : Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([bytes], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    find("export-state").textContent = `Saved as ${name}.`;
  } catch (error) {
    complain(error, "export-state");
  }
}

export function wireExchange() {
  fill(find("form"), FORMS);
  find("import").onclick = takeIn;
  find("import-file").onchange = readFile;
  find("imported").onchange = () => open(taken[Number(find("imported").value)]);
  find("form").onchange = () => {
    find("copy-out").disabled = !TEXTS.includes(find("form").value);
    find("export-text").hidden = true;
    find("export-state").textContent = "";
  };
  whenMoved(() => { find("export-state").textContent = ""; });
  find("copy-out").onclick = copy;
  find("save-out").onclick = save;
}

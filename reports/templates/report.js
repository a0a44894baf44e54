// Sort tables by a click on a heading, and filter longer ones by the text typed above them.
const value = (cell) => {
  const text = cell.textContent.trim().replaceAll("−", "-").replaceAll(",", "");
  const number = parseFloat(text.replace(/^[<>]\s*/, ""));
  return Number.isNaN(number) ? text.toLowerCase() : number;
};
const order = (a, b) => (typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1);

for (const table of document.querySelectorAll("table.rows")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  if (body.rows.length < 3) continue;
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const falling = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", falling ? "descending" : "ascending");
      const rows = [...body.rows].sort((a, b) => order(value(a.cells[column]), value(b.cells[column])));
      body.append(...(falling ? rows.reverse() : rows));
    });
  });
  if (body.rows.length < 9) continue;
  const field = document.createElement("input");
  field.type = "search";
  field.placeholder = "filter rows";
  field.className = "filter";
  field.setAttribute("aria-label", `Filter rows: ${table.parentElement.getAttribute("aria-label")}`);
  field.addEventListener("input", () => {
    const wanted = field.value.toLowerCase();
    for (const row of body.rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
  });
  table.parentElement.before(field);
}

// A coloured table is one stop of the Tab key: the arrow keys walk over its links.
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** The link of the next cell that has one, in a direction. */
function linkBeyond(table, cell, [down, right]) {
  let row = cell.parentElement.rowIndex, column = cell.cellIndex, next = null;
  do {
    row += down;
    column += right;
    next = table.rows[row]?.cells[column];
  } while (next && !next.querySelector("a"));
  return next?.querySelector("a");
}

for (const table of document.querySelectorAll(".heatmap, .map table")) {
  [...table.querySelectorAll("a")].forEach((link, place) => { link.tabIndex = place ? -1 : 0; });
  table.addEventListener("keydown", (event) => {
    const cell = event.target.closest("td"), step = STEPS[event.key];
    if (!cell || !step || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const link = linkBeyond(table, cell, step);
    if (!link) return;
    event.target.tabIndex = -1;
    link.tabIndex = 0;
    link.focus();
  });
}

// A link to a game opens it on a board. Cells are visited at most once, so the plies of the visits describe the game.
const viewer = document.getElementById("viewer");
const part = (name) => document.getElementById(`viewer-${name}`);
let moves = [];

function draw(ply) {
  part("at").textContent = `${ply} of ${moves.length}`;
  for (const cell of part("board").tBodies[0].querySelectorAll("td")) {
    const at = moves.indexOf(cell.dataset.cell) + 1;
    const isPlayed = at > 0 && at <= ply;
    cell.textContent = isPlayed ? at : "";
    cell.dataset.sign = isPlayed ? (at % 2 ? "+" : "-") : "0";
    cell.className = !isPlayed ? "" : at > ply - 2 ? "heat now" : "heat";
  }
}

function filled(name, texts, start) {
  const row = document.createElement("tr");
  row.append(start, ...texts.map((text) => {
    const cell = document.createElement(name);
    if (name === "th") cell.textContent = text;
    else cell.dataset.cell = text;
    cell.style.setProperty("--s", 70);
    return cell;
  }));
  return row;
}

/** In the lab, a game can also be opened on the board. */
function linkToBoard(row) {
  const run = /^\/runs\/([^/]+)/.exec(location.pathname)?.[1];
  part("board-link").hidden = !run || !location.host;
  part("board-link").href = `/board#run=${run}&game=${row.cells[4].textContent.split(" ").at(-1)}`;
}

function open(row) {
  const [height, width] = row.dataset.size.split("x").map(Number);
  const letter = (number) => String.fromCharCode(97 + number);
  const columns = [...Array(width).keys()].map((at) => (at < 26 ? "" : letter(Math.floor(at / 26) - 1)) + letter(at % 26));
  moves = row.dataset.moves.split(",");
  part("title").textContent = row.cells[0].textContent;
  part("players").textContent = `${row.cells[1].textContent} places first (odd), ${row.cells[2].textContent} second (even).`;
  part("command").textContent = row.cells[4].textContent;
  linkToBoard(row);
  part("board").tHead.replaceChildren(filled("th", columns, document.createElement("td")));
  part("board").tBodies[0].replaceChildren(...[...Array(height).keys()].map((number) => {
    const head = document.createElement("th");
    head.textContent = number;
    return filled("td", columns.map((column) => `${column}${number}`), head);
  }));
  part("ply").max = moves.length;
  part("ply").value = moves.length;
  draw(moves.length);
  viewer.showModal();
}

if (viewer) {
  part("ply").addEventListener("input", () => draw(Number(part("ply").value)));
  part("close").addEventListener("click", () => viewer.close());
  document.addEventListener("click", (event) => {
    const row = document.getElementById(event.target.closest?.("a[href^='#game-']")?.getAttribute("href").slice(1) ?? "");
    if (!row) return;
    event.preventDefault();
    open(row);
  });
  for (const row of document.querySelectorAll("tr[data-moves]")) {
    const link = document.createElement("a");
    link.href = `#${row.id}`;
    link.append(...row.cells[0].childNodes);
    row.cells[0].append(link);
  }
}

// An agent that is pointed at or focused lights up in all tables and plots.
const light = (event) => {
  const name = event.target.closest?.("[data-agent]")?.dataset.agent;
  for (const part of document.querySelectorAll("[data-agent]")) {
    part.classList.toggle("lit", Boolean(name) && part.dataset.agent === name);
    if (part.matches("g")) part.classList.toggle("unlit", Boolean(name) && part.dataset.agent !== name);
  }
};
for (const kind of ["mouseover", "focusin"]) document.addEventListener(kind, light);

// A link to a folded part unfolds it.
const unfold = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  target?.closest("details")?.setAttribute("open", "");
};
window.addEventListener("hashchange", unfold);
document.addEventListener("click", (event) => {
  const link = event.target.closest?.(".sections a");
  if (link) document.querySelector(link.hash)?.closest("details")?.setAttribute("open", "");
});
unfold();

window.addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll(".part")) part.open = true;
});

// In the lab, a next step can be started.
const run = /^\/runs\/([^/]+)/.exec(location.pathname)?.[1];
for (const button of document.querySelectorAll("button[data-pairs]")) {
  button.hidden = !run || !location.host;
  button.addEventListener("click", async () => {
    const say = button.nextElementSibling, { contender, pairs } = button.dataset;
    button.disabled = true;
    say.textContent = "Starting …";
    const body = JSON.stringify({ run: decodeURIComponent(run), contender, pairs: Number(pairs) });
    const response = await fetch("/api/extend", { method: "POST", headers: { "content-type": "application/json" }, body });
    const answer = await response.json();
    if (response.ok) location.href = answer.address;
    else say.textContent = answer.error;
    button.disabled = false;
  });
}

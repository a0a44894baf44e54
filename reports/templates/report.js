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

function open(row) {
  const [height, width] = row.dataset.size.split("x").map(Number);
  const letter = (number) => String.fromCharCode(97 + number);
  const columns = [...Array(width).keys()].map((at) => (at < 26 ? "" : letter(Math.floor(at / 26) - 1)) + letter(at % 26));
  moves = row.dataset.moves.split(",");
  part("title").textContent = row.cells[0].textContent;
  part("players").textContent = `${row.cells[1].textContent} places first (odd), ${row.cells[2].textContent} second (even).`;
  part("command").textContent = row.cells[4].textContent;
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

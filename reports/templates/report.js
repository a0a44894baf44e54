// Tables are sorted by a click on a heading, and longer ones filtered by what is typed above them.
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

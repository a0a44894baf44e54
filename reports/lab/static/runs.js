// The list of runs: filter, select, compare and pool; runs that are played move.

const find = (id) => document.getElementById(id);
const EVERY = 3000; // milliseconds between two looks
const list = find("runs");
const isArchive = new URLSearchParams(location.search).has("archive");

function rows() {
  return [...list.querySelectorAll(".run")];
}

/** Show the rows that contain all words of the filter, which is kept in the address. */
function filter() {
  const words = find("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const row of rows()) row.hidden = !words.every((word) => row.dataset.text.toLowerCase().includes(word));
  find("none").hidden = rows().some((row) => !row.hidden);
  const query = new URLSearchParams({ ...(isArchive && { archive: "" }), ...(words.length && { filter: find("filter").value }) });
  history.replaceState(null, "", query.size ? `?${query}` : location.pathname);
}

/** Offer what can be done with the selected runs: the earlier of two is the one before. */
function select() {
  const names = rows().map((row) => row.querySelector("input")).filter((box) => box.checked).map((box) => box.value);
  find("selected").hidden = !names.length;
  find("chosen").textContent = `${names.length} selected`;
  const link = (id, isOffered, address) => {
    if (isOffered) find(id).href = address;
    else find(id).removeAttribute("href");
    find(id).hidden = !isOffered;
  };
  const [after, before] = names;
  link("compare", names.length === 2, `/diff?${new URLSearchParams({ before, after })}`);
  link("pool", names.length > 1, `/report?${new URLSearchParams(names.map((name) => ["run", name]))}`);
  find("advice").textContent = names.length < 2 ? "Select another run to compare or pool them." : "";
}

/** Put the selected runs into the archive, or bring them back. */
async function archive() {
  const runs = rows().map((row) => row.querySelector("input")).filter((box) => box.checked).map((box) => box.value);
  const body = JSON.stringify({ runs, is_archived: find("archive").dataset.archived === "true" });
  const response = await fetch("/api/archive", { method: "POST", headers: { "content-type": "application/json" }, body });
  if (response.ok) location.reload();
  else find("advice").textContent = (await response.json()).error;
}

/** Replace the rows that have changed by those of the page as it is now. */
async function look() {
  if (!document.hidden) {
    try {
      const text = await (await fetch(isArchive ? "/?archive" : "/")).text();
      const page = new DOMParser().parseFromString(text, "text/html");
      const before = new Map(rows().map((row) => [row.dataset.name, row]));
      const fresh = page.getElementById("runs");
      if (fresh) {
        list.replaceChildren(...[...fresh.children].map((row) => merged(before.get(row.dataset.name), row)));
        list.dataset.moving = fresh.dataset.moving;
        find("count").textContent = page.getElementById("count").textContent;
        filter();
        select();
      }
    } catch {
      find("count").textContent = "The lab does not answer. Is it still running?";
    }
  }
  setTimeout(look, list.dataset.moving === "true" ? EVERY : 5 * EVERY);
}

/** The row as it was if nothing has changed, else the new one with its box as it was. */
function merged(known, row) {
  if (!known) return row;
  const box = known.querySelector("input"), own = row.querySelector("input");
  if (known.dataset.text === row.dataset.text && known.textContent === row.textContent) return known;
  own.checked = box.checked;
  return row;
}

if (list) {
  find("filter").value = new URLSearchParams(location.search).get("filter") ?? "";
  find("filter").addEventListener("input", filter);
  list.addEventListener("change", select);
  find("archive").addEventListener("click", archive);
  filter();
  select();
  setTimeout(look, list.dataset.moving === "true" ? 1000 : 5 * EVERY);
} else {
  setTimeout(() => location.reload(), 5 * EVERY);
}

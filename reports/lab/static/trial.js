// Trying a heuristic: the gallery's by name, or the source in the text field; and a match with the latter.

const find = (id) => document.getElementById(id);
const { heuristic } = find("main").dataset;
const KEPT = "source"; // the key under which the browser keeps what was written, until the page is closed

async function post(path, question) {
  const body = JSON.stringify(question);
  const response = await fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body });
  const answer = await response.json().catch(() => ({ error: `The server failed (${response.status}).` }));
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

function say(text, isProblem = false) {
  find("state").textContent = text;
  find("state").classList.toggle("problem", isProblem);
}

function show(trial) {
  for (const place of document.querySelectorAll("[data-figure]")) place.textContent = trial[place.dataset.figure];
  find("lines").replaceChildren(...trial.lines.map((line) => {
    const item = document.createElement("li");
    item.textContent = line;
    return item;
  }));
  for (const id of ["figures", "figures-note", "lines-part"]) find(id).hidden = false;
  find("before")?.remove();
  find("lines-part").open ||= trial.compiles === "no" || !trial.isSound;
}

async function measure() {
  find("measure").disabled = true;
  say("Compiling, measuring, screening and playing …");
  try {
    show(await post("/api/trial", heuristic ? { heuristic } : { source: find("source").value }));
    say("");
  } catch (error) {
    say(error.message, true);
  }
  find("measure").disabled = false;
}

async function match() {
  find("match").disabled = true;
  say("Starting the match …");
  try {
    const { address } = await post("/api/match", { source: find("source").value });
    location.href = address;
  } catch (error) {
    say(error.message, true);
    find("match").disabled = false;
  }
}

find("measure").addEventListener("click", measure);
if (!heuristic) {
  const isCopy = new URLSearchParams(location.search).has("copy");
  if (!isCopy) find("source").value = sessionStorage.getItem(KEPT) ?? find("source").value;
  find("source").addEventListener("input", () => sessionStorage.setItem(KEPT, find("source").value));
  find("match").addEventListener("click", match);
}

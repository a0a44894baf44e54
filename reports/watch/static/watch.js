// The page of a run: data from the server is shown as text, never as markup.
const $ = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";

function element(name, text = "", className = "") {
  const made = document.createElement(name);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

function interval(standing) {
  const picture = document.createElementNS(SVG, "svg");
  picture.setAttribute("viewBox", "0 0 100 10");
  picture.setAttribute("preserveAspectRatio", "none");
  picture.setAttribute("role", "img");
  picture.setAttribute("aria-label", standing.interval);
  const lines = [["half", "M50 0V10"], ["band", `M${100 * standing.low} 5H${100 * standing.high}`]];
  if (standing.rate !== null) lines.push(["rate", `M${100 * standing.rate} 5h0`]);
  for (const [kind, path] of lines) {
    const line = document.createElementNS(SVG, "path");
    line.setAttribute("class", kind);
    line.setAttribute("d", path);
    picture.append(line);
  }
  return picture;
}

function standingRow(standing) {
  const row = element("tr", "", standing.role.includes("baseline") ? "baseline" : "");
  const band = element("td", "", "interval");
  band.append(interval(standing));
  row.append(element("td", standing.name, "agent"), element("td", `${standing.openings}`, "openings"), element("td", standing.shown), band);
  return row;
}

function gameRow(game) {
  const row = element("tr");
  const players = element("td", "", "players");
  const name = (number) => element("span", game[`agent_${number}`], game.winner === number ? "winner" : "");
  players.append(name(1), " – ", name(2), game.reason === "no_moves" ? "" : ` (${game.reason})`);
  row.append(element("td", `${game.id}`), players, element("td", `${game.plies}`));
  return row;
}

function show(state) {
  document.title = `${state.line} · ${state.run}`;
  $("title").textContent = state.run;
  $("line").textContent = state.line;
  $("bar").max = Math.max(state.total, 1);
  $("bar").value = state.played;
  $("problem").textContent = state.problem ?? "";
  $("end").hidden = !state.finished;
  $("standings").tBodies[0].replaceChildren(...state.standings.map(standingRow));
  $("games").tBodies[0].replaceChildren(...state.games.map(gameRow));
  const forfeits = state.forfeits.length ? state.forfeits : ["None so far."];
  $("forfeits").replaceChildren(...forfeits.map((sentence) => element("li", sentence)));
}

const source = new EventSource("/events");
source.addEventListener("message", (event) => {
  show(JSON.parse(event.data));
});
source.addEventListener("error", () => {
  $("problem").textContent = "The server does not answer; this is its last known state.";
});

// The page of a run: data from the server is shown as text, never as markup.
const $ = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const { run, address } = $("main").dataset;

function element(name, text = "", className = "") {
  const made = document.createElement(name);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

function picture(label, ...paths) {
  const made = document.createElementNS(SVG, "svg");
  made.setAttribute("viewBox", "0 0 100 10");
  made.setAttribute("preserveAspectRatio", "none");
  if (label) {
    made.setAttribute("role", "img");
    made.setAttribute("aria-label", label);
  } else made.setAttribute("aria-hidden", "true");
  for (const [kind, path] of paths) {
    const line = document.createElementNS(SVG, "path");
    line.setAttribute("class", kind);
    line.setAttribute("d", path);
    made.append(line);
  }
  return made;
}

const points = (line) => line.map((value, place) => `${(100 * place) / Math.max(line.length - 1, 1)} ${10 - value / 10}`);

function course(row, level) {
  const [low, mean, high] = row.course.map(points);
  const zero = ["zero", `M0 ${10 - level / 10}H100`];
  return picture("", ["within", `M${low.join("L")}L${high.reverse().join("L")}Z`], zero, ["mean", `M${mean.join("L")}`]);
}

const VERDICTS = { better: "better", worse: "worse", "": "no significant difference yet" };

function racer(row, race) {
  const made = element("tr", "", row.role);
  const name = element("th", row.name);
  name.scope = "row";
  const [low, value, high] = row.at;
  const bars = element("td", "", "bars");
  const grid = race.ticks.map(([at]) => ["grid", `M${at} 0V10`]);
  bars.append(picture("", ...grid, ["zero", `M${race.zero} 0V10`], ["own", `M${low} 5H${high}`], ["dot", `M${value} 5h0`]));
  const way = element("td", "", "course");
  way.append(course(row, race.level));
  const verdict = element("td", "", "counted");
  if (race.is_judged) verdict.append(element("span", VERDICTS[row.role], `chip ${row.role && `is-${row.role}`}`), " ");
  verdict.append(`${row.units.toLocaleString("en")} ${race.unit}`);
  made.append(name, bars, element("td", row.text, "number"), way, verdict);
  return made;
}

function showRace(race) {
  $("waiting").hidden = Boolean(race);
  $("race").hidden = !race;
  if (!race) return;
  const ticks = race.ticks.map(([at, text]) => {
    const tick = element("span", text);
    tick.style.left = `${at}%`;
    return tick;
  });
  $("axis").replaceChildren(element("span", "interval", "unseen"), ...ticks);
  $("counted").textContent = race.is_judged ? "verdict so far" : "played";
  $("race").tBodies[0].replaceChildren(...race.rows.map((row) => racer(row, race)));
  $("label").textContent = `${race.label[0].toUpperCase()}${race.label.slice(1)}, with 95 % intervals that are valid at any time, ${race.is_judged ? "for all contenders at once" : "each by itself"}.`;
}

function standingRow(standing) {
  const row = element("tr", "", standing.role.includes("baseline") ? "baseline" : "");
  row.append(element("td", standing.name, "agent"), element("td", `${standing.openings}`, "openings"), element("td", standing.shown), element("td", standing.interval, "interval"));
  return row;
}

function gameRow(game) {
  const row = element("tr");
  const players = element("td", "", "players");
  const name = (number) => element("span", game[`agent_${number}`], game.winner === number ? "winner" : "");
  players.append(name(1), " – ", name(2), game.reason === "no_moves" ? "" : ` (${game.reason})`);
  const link = element("a", `${game.id}`);
  link.href = `/board#run=${encodeURIComponent(run)}&game=${game.id}`;
  const id = element("td");
  id.append(link);
  row.append(id, players, element("td", `${game.plies}`));
  return row;
}

function show(state) {
  document.title = `${state.line} · ${state.run}`;
  $("line").textContent = state.line;
  $("pace").textContent = state.pace && `· ${state.pace}`;
  $("bar").max = Math.max(state.total, 1);
  $("bar").value = state.played;
  $("problem").textContent = state.problem ?? "";
  $("caveat").textContent = state.caveat;
  $("end").hidden = state.state !== "finished";
  showRace(state.race);
  $("standings").tBodies[0].replaceChildren(...state.standings.map(standingRow));
  $("games").tBodies[0].replaceChildren(...state.games.map(gameRow));
  const forfeits = state.forfeits.length ? state.forfeits : ["None so far."];
  $("forfeits").replaceChildren(...forfeits.map((sentence) => element("li", sentence)));
}

const source = new EventSource(`/runs/${address}/events`);
source.addEventListener("message", (event) => {
  show(JSON.parse(event.data));
});
source.addEventListener("error", () => {
  $("problem").textContent = "The server does not answer; this is its last known state.";
});

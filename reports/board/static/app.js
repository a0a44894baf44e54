// The analysis board: what is shown, and what happens when something is chosen.

import { drawArrow, make, showBoard, showValue } from "./board.js";
import { drawChart, heuristicSeries, loggedSeries } from "./chart.js";
import { cellName, legalCells, parseSize, standing } from "./game.js";
import { describeMistake, describeReview, mistakesOf, solveLine, throwsAway } from "./review.js";
import { ask } from "./server.js";
import { addMove, branching, flip, fromLink, lineThrough, makeRoot, pathTo, question, toLink } from "./tree.js";

const find = (id) => document.getElementById(id);

/** Everything the page remembers: the node shown, the logged game loaded, the values found, what is being edited. */
const state = {
  node: makeRoot({ size: "7x7" }),
  game: null,
  logged: [],
  values: null,
  exact: null,
  overlay: "improved",
  graph: null,
  editing: null,
  thinking: null,
  review: null,
  trying: null,
  before: null,
  choices: { heuristics: [], agents: [], runs: [], kinds: [], deepest: 1 },
};

// --- showing ---

function show() {
  const { node } = state;
  if (!state.editing) history.replaceState(null, "", toLink(node));
  drawPosition();
  find("standing").textContent = state.editing ? "Editing: choose cells, then press “Done”." : describe(node);
  find("back").disabled = find("first").disabled = !node.parent;
  find("forward").disabled = find("last").disabled = !node.children.length;
  find("flip").disabled = !branching(node);
  find("done").hidden = find("cancel").hidden = !state.editing;
  find("undo").hidden = Boolean(state.editing) || !state.before;
  find("move-now").disabled = Boolean(state.editing) || !legalCells(node.position).length;
  listMoves();
  showReview();
  drawScores();
}

function drawPosition() {
  if (state.editing) {
    showBoard(find("board"), { ...makeRoot(state.editing).position, last: null }, { onCell: editCell, anyCell: true });
    find("win-bar").hidden = true;
    return drawArrow(find("board"), null);
  }
  const numbers = new Map(pathTo(state.node).slice(1).map((step) => [step.cell, step.ply]));
  const wins = state.exact?.node === state.node ? state.exact.moves : keptBefore();
  showBoard(find("board"), state.node.position, { numbers, values: overlayValues(), wins, onCell: choose });
  showResult();
}

/** The exact result, where it is asked for and known: an arrow for the best move, and a bar for who wins. */
function showResult() {
  const { node } = state, known = state.exact?.node === node ? state.exact : null;
  drawArrow(find("board"), node.position.knights[node.position.turn - 1], known?.line[0]);
  const bar = find("win-bar");
  bar.hidden = !known?.winner;
  bar.dataset.winner = String(known?.winner ?? "");
  bar.setAttribute("aria-label", known?.winner ? `Player ${known.winner} wins under perfect play` : "");
  find("exact-line").hidden = !known?.line.length;
  find("exact-line").replaceChildren(...(known?.line ?? []).map((cell, index) => {
    const button = make("button", { type: "button" }, cellName(cell, node.position.columns));
    button.onclick = () => goTo(known.line.slice(0, index + 1).reduce(addMove, node));
    return button;
  }));
}

function overlayValues() {
  const found = find("show-values").checked && state.values?.node === state.node && state.values.answers[state.overlay];
  return found?.moves ?? {};
}

function describe(node) {
  const before = node.cell === null ? "" : `Ply ${node.ply}: ${cellName(node.cell, node.position.columns)}. `;
  return before + standing(node.position);
}

function listMoves() {
  const root = pathTo(state.node)[0];
  find("moves").replaceChildren(...moveItems(root));
  find("note").textContent = state.node.note || (root.children.length ? "" : "Click a cell to play.");
  const here = find("moves").querySelector("[aria-current]");
  if (here) keepInView(here);
}

/** The moves after a node as list items: the first child's line, with the other children as variations in between. */
function moveItems(node) {
  const items = [];
  for (let here = node; here.children.length; here = here.children[0]) {
    const [main, ...others] = here.children;
    items.push(make("li", {}, moveButton(main)));
    for (const other of others) {
      const line = make("ol", { className: "moves" }, make("li", {}, moveButton(other)), ...moveItems(other));
      items.push(make("li", { className: "variation" }, line));
    }
  }
  return items;
}

function moveButton(node) {
  const isMistake = (state.game?.mistakes.includes(node.ply) && state.logged[node.ply] === node)
    || (state.review?.mistakes.includes(node.ply) && state.review.line[node.ply] === node);
  const button = make("button", { type: "button", className: isMistake ? "move mistake" : "move", title: node.note },
    `${node.ply}. ${cellName(node.cell, node.position.columns)}${isMistake ? " ?" : ""}`);
  if (node === state.node) button.setAttribute("aria-current", "step");
  button.onclick = () => goTo(node);
  return button;
}

function keepInView(button) {
  const list = find("moves");
  const above = button.getBoundingClientRect().top - list.getBoundingClientRect().top;
  if (above < 0 || above + button.offsetHeight > list.clientHeight) list.scrollTop += above - list.clientHeight / 2;
}

function drawScores() {
  const line = currentLine(), isLogged = line === state.logged && state.game.score.length > 0;
  const series = isLogged ? loggedSeries(state.game) : [];
  if (state.graph?.key === keyOf(line)) series.push(heuristicSeries(state.graph.name, state.graph.scores));
  find("chart-part").hidden = !series.length;
  find("legend").replaceChildren(...series.map((one) => make("span", { className: one.kind }, one.name)));
  if (!series.length) return;
  drawChart(find("chart"), {
    plies: line.length - 1, series, depths: isLogged ? state.game.depth : [], mistakes: isLogged ? state.game.mistakes : [],
    ply: state.node.ply, onPly: (ply) => goTo(line[ply]),
  });
}

/** The loaded game while we are in it, else the line through the node shown. */
function currentLine() {
  return state.logged.includes(state.node) ? state.logged : lineThrough(state.node);
}

function keyOf(line) {
  return `${toLink(line.at(-1))} ${state.overlay} ${find("depth").value}`;
}

function complain(error) {
  if (error.name !== "AbortError") find("problem").textContent = error.message;
}

// --- moving about ---

function goTo(node) {
  stopThinking();
  if (!node || state.editing) return;
  state.node = node;
  if (node.parent) node.parent.chosen = node.parent.children.indexOf(node);
  find("problem").textContent = "";
  show();
  refreshValues();
  refreshExact();
}

function choose(cell) {
  try {
    const { trying } = state;
    const next = addMove(state.node, cell);
    goTo(next);
    if (trying?.parent === next.parent) return judgeTry(trying, next);
    letAgentsPlay();
  } catch (error) {
    complain(error);
  }
}

const steps = {
  first: () => goTo(pathTo(state.node)[0]),
  back: () => goTo(state.node.parent),
  forward: () => goTo(state.node.children[state.node.chosen]),
  last: () => goTo(lineThrough(state.node).at(-1)),
  flip: () => { const at = branching(state.node); if (at) goTo(flip(at, 1)); },
};

function startNew(root, title) {
  const { node, game, logged, review } = state;
  const isWorthKeeping = pathTo(node)[0].children.length > 0 && pathTo(node)[0] !== pathTo(root)[0];
  if (isWorthKeeping) state.before = { node, game, logged, review, title: find("title").textContent };
  stopReviewing();
  Object.assign(state, { game: null, logged: [], editing: null, review: null, trying: null });
  find("title").textContent = title;
  endEditing();
  goTo(root);
}

/** Back to the game that a new one, or an edited position, took the place of; that one is kept in turn. */
function bringBack() {
  const { node, game, logged, review, title } = state.before;
  startNew(node, title);
  Object.assign(state, { game, logged, review });
  show();
}

function cancelEditing() {
  endEditing();
  goTo(state.node);
}

function endEditing() {
  state.editing = null;
  find("setup").textContent = "Edit the board";
  find("setup").setAttribute("aria-pressed", "false");
}

function openLink() {
  try {
    const node = fromLink(location.hash);
    startNew(node, location.hash ? "A position from a link." : "A new game.");
    find("size").value = pathTo(node)[0].setup.size;
  } catch (error) {
    startNew(makeRoot({ size: "7x7" }), "A new game.");
    complain(new Error(`The link does not lead to a position. ${error.message}`));
  }
}

// --- values ---

let asking = null;

async function refreshValues() {
  asking?.abort();
  const names = [...find("heuristics").querySelectorAll("input:checked")].map((box) => box.value);
  if (!find("show-values").checked || !names.length || state.editing) {
    find("values").hidden = true;
    find("values-state").textContent = find("show-values").checked && !names.length ? "Choose a heuristic." : "";
    Object.assign(state, { values: null, graph: null });
    return show();
  }
  if (!names.includes(state.overlay)) state.overlay = names[0];
  asking = new AbortController();
  const { node } = state, { signal } = asking, depth = Number(find("depth").value);
  find("values-state").textContent = "Computing …";
  find("values").setAttribute("aria-busy", "true");
  try {
    const { values } = await ask("/api/values", { position: question(node), heuristics: names, depth }, signal);
    if (state.node !== node) return;
    state.values = { node, answers: values };
    find("values-state").textContent = stateOfValues(values, depth);
    listValues(names);
    drawPosition();
    const line = currentLine(), key = keyOf(line), name = state.overlay;
    if (state.graph?.key === key) return;
    const { scores } = await ask("/api/graph", { position: question(line.at(-1)), heuristic: name, depth }, signal);
    state.graph = { key, name, scores };
    drawScores();
  } catch (error) {
    if (error.name !== "AbortError") find("values-state").textContent = "";
    complain(error);
  }
}

function stateOfValues(answers, depth) {
  const shallow = Object.values(answers).filter((answer) => answer.depth < depth);
  const over = legalCells(state.node.position).length ? "" : "The game is over.";
  return over || (shallow.length ? `Depth ${shallow[0].depth}: deeper takes too long here.` : "");
}

function listValues(names) {
  const { columns } = state.node.position, { answers } = state.values;
  const rank = (cell) => {
    const value = answers[state.overlay].moves?.[cell];
    return value === "win" ? Infinity : value === "loss" ? -Infinity : value ?? 0;
  };
  const cells = legalCells(state.node.position).sort((a, b) => rank(b) - rank(a));
  const heads = names.map((name) => {
    const button = make("button", { type: "button", title: `Show ${name} on the board` }, name);
    button.setAttribute("aria-pressed", String(name === state.overlay));
    button.onclick = () => { state.overlay = name; refreshValues(); };
    return make("th", { scope: "col" }, button);
  });
  const rows = cells.map((cell) => {
    const button = make("button", { type: "button" }, cellName(cell, columns));
    button.onclick = () => choose(cell);
    return make("tr", {}, make("td", {}, button), ...names.map((name) => valueCell(answers[name], cell)));
  });
  find("values").replaceChildren(
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Move"), ...heads)),
    make("tbody", {}, ...rows),
  );
  find("values").hidden = !cells.length;
  find("values").setAttribute("aria-busy", "false");
}

function valueCell(answer, cell) {
  if (answer.error) return make("td", { className: "problem", title: answer.error }, "error");
  return make("td", {}, showValue(answer.moves[cell]));
}

// --- the exact result ---

let solving = null;

async function refreshExact() {
  solving?.abort();
  solving = null;
  state.exact = null;
  find("exact").textContent = "";
  if (!find("show-exact").checked || state.editing) return drawPosition();
  const { node } = state;
  solving = new AbortController();
  find("exact").textContent = "Solving …";
  try {
    const answer = await ask("/api/solve", { position: question(node) }, solving.signal);
    if (state.node !== node) return;
    state.exact = { node, moves: answer.moves, winner: answer.winner, line: answer.line };
    find("exact").textContent = describeExact(answer, node.position);
    drawPosition();
  } catch (error) {
    if (error.name !== "AbortError") find("exact").textContent = "";
    complain(error);
  }
}

function describeExact({ winner, moves, undecided, line }, position) {
  const names = (cells) => cells.map((cell) => cellName(cell, position.columns)).join(" ");
  if (winner === null) return "Not solved in the time there is.";
  return [
    `Player ${winner} wins under perfect play`,
    moves.length ? `, with ${names(moves)}` : "",
    undecided.length ? ` (not known in the time there is: ${names(undecided)})` : "",
    line.length > 1 ? ", as in the line below." : ".",
  ].join("");
}

// --- reviewing ---

let reviewing = null;

function stopReviewing() {
  reviewing?.abort();
  reviewing = null;
  find("review-bar").hidden = true;
  find("review").textContent = "Review this game";
}

async function review() {
  if (reviewing) return stopReviewing();
  const line = currentLine();
  if (line.length < 2) return complain(new Error("There is no move to review yet."));
  const asking = new AbortController();
  reviewing = asking;
  Object.assign(state, { review: null, trying: null });
  find("review").textContent = "Stop";
  Object.assign(find("review-bar"), { hidden: false, max: line.length - 1, value: 0 });
  find("review-state").textContent = "Solving position after position …";
  try {
    const solve = (position) => ask("/api/solve", { position }, asking.signal, "-review");
    const answers = await solveLine(line, solve, (done) => { find("review-bar").value = done; });
    const own = line === state.logged ? state.game.opening : 0; // nobody chose the plies of the opening
    state.review = { line, answers, mistakes: mistakesOf(line, answers).filter((ply) => ply > own) };
  } catch (error) {
    complain(error);
  }
  if (reviewing !== asking) return;
  stopReviewing();
  show();
}

/** What a review found, and which of its mistakes is shown. */
function showReview() {
  const found = state.review;
  for (const id of ["mistake-before", "mistake-after"]) find(id).hidden = !found?.mistakes.length;
  find("retry").hidden = !mistakeShown();
  find("mistakes").replaceChildren(...(found?.mistakes ?? []).map((ply) => {
    const node = found.line[ply];
    const button = make("button", { type: "button" }, describeMistake(node, found.answers.get(ply)));
    if (node === state.node) button.setAttribute("aria-current", "step");
    button.onclick = () => goTo(node);
    return make("li", {}, button);
  }));
  if (state.trying?.parent !== state.node && !reviewing) {
    find("review-state").textContent = found ? describeReview(found.line, found.answers, found.mistakes) : "";
  }
}

/** The mistake that led to the position shown, if one did. */
function mistakeShown() {
  const { review: found, node } = state;
  return found?.mistakes.includes(node.ply) && found.line[node.ply] === node ? node : null;
}

/** At a mistake, the cells that would have kept the win. */
function keptBefore() {
  const mistake = mistakeShown();
  return mistake ? state.review.answers.get(mistake.ply).moves : [];
}

function goToMistake(step) {
  const { mistakes, line } = state.review;
  const found = step > 0 ? mistakes.find((ply) => ply > state.node.ply) : mistakes.findLast((ply) => ply < state.node.ply);
  goTo(line[found ?? (step > 0 ? mistakes[0] : mistakes.at(-1))]);
}

/** Have somebody look for the move that keeps the win. */
function tryAgain() {
  const mistake = mistakeShown();
  goTo(mistake.parent);
  state.trying = mistake;
  find("review-state").textContent = `Player ${mistake.parent.position.turn} has a won game: which move keeps it?`;
}

function judgeTry(mistake, tried) {
  const { answers, line } = state.review;
  const name = cellName(tried.cell, tried.position.columns);
  if (throwsAway(answers.get(mistake.ply), mistake.parent.position.turn, tried.cell)) {
    const { children } = mistake.parent;
    if (!line.includes(tried)) children.splice(children.indexOf(tried), 1);
    mistake.parent.chosen = children.indexOf(mistake);
    goTo(mistake.parent);
    state.trying = mistake;
    find("review-state").textContent = `${name} loses it as well; try another.`;
    return;
  }
  state.trying = null;
  find("review-state").textContent = `${name} keeps the win.`;
}

// --- agents ---

function agentSpec() {
  const kind = find("agent-kind").value;
  if (kind.startsWith("own:")) return kind.slice(4);
  if (!searches(kind)) return kind;
  const heuristic = find("agent-heuristic").value;
  const target = heuristic === "playouts" ? kind : `${kind}:${heuristic}`;
  return `${target}@${find("agent-unit").value}=${find("agent-limit").value}`;
}

const searches = (kind) => ["ID", "AB", "MM", "MCTS"].includes(kind);

function shapeAgent() {
  const kind = find("agent-kind").value;
  find("agent-heuristic-part").hidden = find("agent-limit-part").hidden = !searches(kind);
  find("agent-heuristic").querySelector("[value=playouts]").hidden = kind !== "MCTS";
  if (kind !== "MCTS" && find("agent-heuristic").value === "playouts") find("agent-heuristic").value = "improved";
}

function stopThinking() {
  state.thinking?.abort();
  state.thinking = null;
  find("agent-state").textContent = "";
}

async function letAgentsPlay() {
  while (find(`plays-${state.node.position.turn}`).checked && legalCells(state.node.position).length) {
    if (!(await letAgentMove())) return;
  }
}

async function letAgentMove() {
  stopThinking();
  const { node } = state, thinking = new AbortController();
  state.thinking = thinking;
  find("agent-state").textContent = "Thinking …";
  try {
    const answer = await ask("/api/move", { position: question(node), agent: agentSpec() }, thinking.signal);
    if (state.thinking !== thinking) return false;
    const next = addMove(node, answer.move);
    next.note = noteOf(answer, node.position.columns);
    goTo(next);
    find("agent-state").textContent = next.note;
    return true;
  } catch (error) {
    if (state.thinking === thinking) stopThinking();
    complain(error);
    return false;
  }
}

function noteOf(answer, columns) {
  const searched = answer.depth ? `, score ${showValue(answer.score)}, depth ${answer.depth}` : "";
  const known = typeof answer.score === "string" ? `, a proven ${answer.score}` : searched;
  const line = answer.line.length > 1 ? `, expecting ${answer.line.map((cell) => cellName(cell, columns)).join(" ")}` : "";
  return `${answer.agent} played ${cellName(answer.move, columns)}${known}, ` +
    `${answer.nodes.toLocaleString("en")} nodes in ${answer.ms} ms${line}`;
}

// --- games of a run ---

async function listGames() {
  if (!find("games-part").open || !state.choices.runs.length) return;
  const query = new URLSearchParams({ kind: find("kind").value, agent: find("of-agent").value });
  find("games-state").textContent = "Reading …";
  try {
    const { agents, games, total } = await ask(`/api/runs/${find("run").value}/games?${query}`);
    const chosen = find("of-agent").value;
    fill(find("of-agent"), [["", "all agents"], ...agents.map((name) => [name, name])]);
    find("of-agent").value = agents.includes(chosen) ? chosen : "";
    find("games").replaceChildren(
      make("thead", {}, make("tr", {}, ...["Game", "Player 1", "Player 2", "Won by", "Plies"].map(
        (head, index) => make("th", { scope: "col", className: index && index < 4 ? "text" : "" }, head)))),
      make("tbody", {}, ...games.map(gameRow)),
    );
    find("games-state").textContent = `${games.length} of ${total.toLocaleString("en")} games.`;
  } catch (error) {
    if (error.name !== "AbortError") find("games-state").textContent = "";
    complain(error);
  }
}

function gameRow(game) {
  const button = make("button", { type: "button" }, String(game.game_id));
  button.onclick = () => loadGame(game.game_id);
  const text = (word) => make("td", { className: "text" }, word);
  const reason = game.reason === "no_moves" ? "" : ` (${game.reason.replace("_", " ")})`;
  return make("tr", {}, make("td", {}, button), text(game.agent_1), text(game.agent_2),
    text(`${game.winner}${reason}`), make("td", {}, String(game.plies)));
}

async function loadGame(id) {
  try {
    const game = await ask(`/api/runs/${find("run").value}/games/${id}`);
    const root = makeRoot({ size: game.size });
    const nodes = [root];
    for (const cell of game.moves) nodes.push(addMove(nodes.at(-1), cell));
    nodes.forEach((node, ply) => { node.note = game.lines[ply]; });
    startNew(root, `${game.title}: ${game.agents[0]} – ${game.agents[1]}. ${game.end}`);
    Object.assign(state, { game, logged: nodes });
    show();
  } catch (error) {
    complain(error);
  }
}

// --- setting up ---

function editCell(cell) {
  const tool = document.querySelector("input[name=tool]:checked").value;
  const visited = new Set(state.editing.visited), knights = [...state.editing.knights];
  const here = knights.indexOf(cell);
  if (here >= 0) knights[here] = null;
  if (tool !== "visited") {
    if (here !== Number(tool) - 1) knights[Number(tool) - 1] = cell;
    visited.delete(cell);
  } else if (here < 0) {
    if (!visited.delete(cell)) visited.add(cell);
  }
  state.editing = { ...state.editing, visited: [...visited].sort((a, b) => a - b), knights };
  show();
}

function toggleEditing() {
  if (!state.editing) {
    stopThinking();
    const { position } = state.node;
    const visited = [...position.visited].filter((cell) => !position.knights.includes(cell)).sort((a, b) => a - b);
    state.editing = { size: `${position.rows}x${position.columns}`, visited, knights: [...position.knights] };
    find("turn").value = position.turn;
    find("size").value = state.editing.size;
    find("setup").textContent = "Done";
    find("setup").setAttribute("aria-pressed", "true");
    return show();
  }
  startNew(makeRoot({ ...state.editing, turn: Number(find("turn").value) }), "A position set up here.");
}

function emptyBoard() {
  try {
    const { rows, columns } = parseSize(find("size").value);
    const size = `${rows}x${columns}`;
    find("problem").textContent = "";
    if (!state.editing) return startNew(makeRoot({ size }), "A new game.");
    state.editing = { size, visited: [], knights: [null, null] };
    show();
  } catch (error) {
    complain(error);
  }
}

// --- the beginning ---

function fill(select, options) {
  select.replaceChildren(...options.map(([value, text]) => make("option", { value }, text)));
}

function fillChoices() {
  const { heuristics, agents, runs, kinds, deepest } = state.choices;
  const names = heuristics.map(({ name }) => name);
  const chosen = ["improved", "territory"];
  find("heuristics").replaceChildren(...heuristics.map(({ name, meaning }) => {
    const box = make("input", { type: "checkbox", value: name, checked: chosen.includes(name) });
    box.onchange = refreshValues;
    return make("label", { title: meaning }, box, ` ${name}`);
  }));
  fill(find("depth"), Array.from({ length: deepest }, (_, index) => [index + 1, String(index + 1)]));
  fill(find("agent-kind"), [
    ["ID", "iterative deepening"], ["AB", "alpha-beta"], ["MM", "minimax"], ["MCTS", "MCTS"], ["greedy", "greedy"],
    ["random", "random"], ["perfect", "perfect"], ...agents.map((name) => [`own:${name}`, name]),
  ]);
  fill(find("agent-heuristic"), [["playouts", "random playouts"], ...names.map((name) => [name, name])]);
  find("agent-heuristic").value = "territory";
  fill(find("run"), runs.map((name, index) => [index, name]));
  fill(find("kind"), kinds.map((kind) => [kind, kind]));
  fill(find("of-agent"), [["", "all agents"]]);
  find("games-state").textContent = runs.length ? "" : "The board was started without a run: isolation board RUN.";
  shapeAgent();
}

function wire() {
  for (const [id, step] of Object.entries(steps)) find(id).onclick = step;
  find("new").onclick = () => startNew(makeRoot({ size: pathTo(state.node)[0].setup.size }), "A new game.");
  find("undo").onclick = bringBack;
  find("cancel").onclick = cancelEditing;
  find("review").onclick = review;
  find("mistake-before").onclick = () => goToMistake(-1);
  find("mistake-after").onclick = () => goToMistake(1);
  find("retry").onclick = tryAgain;
  find("copy").onclick = copyLink;
  find("show-values").onchange = find("depth").onchange = refreshValues;
  find("show-exact").onchange = refreshExact;
  find("agent-kind").onchange = shapeAgent;
  find("plays-1").onchange = find("plays-2").onchange = () => letAgentsPlay();
  find("move-now").onclick = async () => { if (await letAgentMove()) letAgentsPlay(); };
  find("games-part").ontoggle = find("run").onchange = find("kind").onchange = find("of-agent").onchange = listGames;
  find("setup").onclick = find("done").onclick = toggleEditing;
  find("clear").onclick = emptyBoard;
  document.addEventListener("keydown", keyPressed);
  window.addEventListener("hashchange", openLink);
  window.addEventListener("resize", () => { drawScores(); showResult(); });
}

async function copyLink() {
  try {
    await navigator.clipboard.writeText(location.href);
    find("copy").textContent = "Copied";
    setTimeout(() => { find("copy").textContent = "Copy link"; }, 1500);
  } catch {
    complain(new Error(`The browser does not allow copying; the address is the link: ${location.href}`));
  }
}

function keyPressed(event) {
  if (event.target.closest("input, select, textarea") || event.altKey || event.ctrlKey || event.metaKey) return;
  const step = { ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last", v: "flip" }[event.key];
  if (!step) return;
  event.preventDefault();
  steps[step]();
}

wire();
ask("/api/start").then((choices) => {
  state.choices = choices;
  fillChoices();
  openLink();
  listGames();
}).catch(complain);

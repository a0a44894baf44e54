// A small chart of a game: the players' scores, from player 1's view, and the depths they reached.

import { makeSvg, showValue } from "./board.js";

const LEFT = 44, RIGHT = 8, TOP = 8, SCORE = 108, GAP = 20, DEPTH = 56, BOTTOM = 20;
const FULL = 0.86; // of half the height, for the largest finite score; a proven result uses the full height

/**
 * The scores of a logged game as a line for each player that has any, in units of its largest finite score; higher
 * values are better for player 1.
 */
export function loggedSeries(game) {
  const lines = [1, 2].map((player) => ({
    name: game.agents[player - 1],
    kind: `player-${player}`,
    points: game.score
      .map((score, index) => ({ ply: index + 1, shown: score, value: fromFirst(score, player, game.isShare[player - 1]) }))
      .filter((point) => (point.ply % 2 ? 1 : 2) === player && point.shown !== null),
  }));
  return lines.filter((line) => line.points.length);
}

/** Whether there is anything to draw: the classic players, for example, report neither scores nor depths. */
export function hasChart(series, depths) {
  return series.length > 0 || depths.some((depth) => depth > 0);
}

/** The `index`-th heuristic's values of the positions of a line, from player 1's view, as a line of the chart. */
export function heuristicSeries(name, scores, index) {
  const points = scores
    .map((shown, ply) => ({ ply, shown, value: fromFirst(shown, 1, false) }))
    .filter((point) => point.shown !== null);
  return { name, kind: `heuristic-${index}`, points };
}

/** Draw into `svg`, as wide as its container allows. `onPly` is called with the ply that was chosen. */
export function drawChart(svg, { plies, series, depths = [], mistakes = [], ply, onPly }) {
  const width = Math.max(240, svg.parentElement.clientWidth);
  const hasDepths = depths.some((depth) => depth > 0);
  const height = TOP + SCORE + (hasDepths ? GAP + DEPTH : 0) + BOTTOM;
  const x = (p) => LEFT + ((width - LEFT - RIGHT) * p) / Math.max(1, plies);
  const y = (value) => TOP + (SCORE / 2) * (1 - value);
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("height", height);
  svg.replaceChildren(
    makeSvg("title", {}, titleOf(series)),
    ...scoreAxis(width, y),
    ...mistakes.map((p) => makeSvg("rect", { class: "mistake", x: x(p) - 3, y: TOP, width: 6, height: SCORE })),
    ...series.flatMap((line) => scoreLine(line, x, y)),
    ...(hasDepths ? depthPanel(depths, x, width) : []),
    makeSvg("line", { class: "now", x1: x(ply), x2: x(ply), y1: TOP, y2: height - BOTTOM }),
    ...plyAxis(plies, x, height),
  );
  svg.onclick = (event) => {
    const at = event.clientX - svg.getBoundingClientRect().left;
    onPly(Math.min(plies, Math.max(0, Math.round(((at - LEFT) / (width - LEFT - RIGHT)) * plies))));
  };
}

function fromFirst(score, player, isShare) {
  const own = score === "win" ? Infinity : score === "loss" ? -Infinity : isShare ? 2 * score - 1 : score;
  return player === 1 ? own : -own;
}

function scoreAxis(width, y) {
  const words = [[1, "ivory"], [0, "even"], [-1, "navy"]];
  return words.flatMap(([value, word]) => [
    makeSvg("line", { class: "axis", x1: LEFT, x2: width - RIGHT, y1: y(value), y2: y(value) }),
    makeSvg("text", { x: LEFT - 5, y: y(value), class: "tick end" }, word),
  ]);
}

function scoreLine({ kind, points, name }, x, y) {
  const largest = Math.max(1e-12, ...points.map((p) => Math.abs(p.value)).filter(Number.isFinite));
  const height = (value) => y(Number.isFinite(value) ? (FULL * value) / largest : Math.sign(value));
  const corners = points.map((p) => `${x(p.ply).toFixed(1)},${height(p.value).toFixed(1)}`);
  return [
    makeSvg("polyline", { class: `line ${kind}`, points: corners.join(" ") }),
    ...points.map((p) =>
      makeSvg("circle", { class: `dot ${kind}`, cx: x(p.ply), cy: height(p.value), r: 2.5 },
        makeSvg("title", {}, `ply ${p.ply}, ${name}: ${showValue(p.shown)}`))),
  ];
}

function depthPanel(depths, x, width) {
  const top = TOP + SCORE + GAP, deepest = Math.max(...depths);
  const wide = Math.max(1.5, (x(1) - x(0)) * 0.7);
  const bars = depths.map((depth, index) => {
    const height = (DEPTH * depth) / deepest;
    return makeSvg("rect", { class: `bar player-${index % 2 ? 2 : 1}`, x: x(index + 1) - wide / 2,
      y: top + DEPTH - height, width: wide, height },
      makeSvg("title", {}, `ply ${index + 1}: depth ${depth}`));
  });
  return [
    makeSvg("line", { class: "axis", x1: LEFT, x2: width - RIGHT, y1: top + DEPTH, y2: top + DEPTH }),
    makeSvg("text", { x: LEFT - 5, y: top + 5, class: "tick end" }, String(deepest)),
    makeSvg("text", { x: LEFT - 5, y: top + DEPTH / 2, class: "tick end" }, "depth"),
    ...bars,
  ];
}

function plyAxis(plies, x, height) {
  const step = [1, 2, 5, 10, 20, 50].find((size) => plies / size <= 8) ?? 100;
  const marks = Array.from({ length: Math.floor(plies / step) + 1 }, (_, index) => index * step);
  return marks.map((p) => makeSvg("text", { x: x(p), y: height - 6, class: "tick middle" }, p ? String(p) : "ply 0"));
}

function titleOf(series) {
  const names = series.map((line) => line.name).join(" and ");
  return names ? `Scores of ${names} over the plies of the game, from player 1's view` : "No scores yet";
}

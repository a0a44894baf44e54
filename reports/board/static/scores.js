// The chart of scores below the board: scores of a logged game's players, and a heuristic's values along the line.

import { make } from "./board.js";
import { drawChart, hasChart, heuristicSeries, loggedSeries } from "./chart.js";
import { currentLine, find, goTo, state, whenShown } from "./page.js";
import { isMistake } from "./reviewing.js";
import { graphOf } from "./values.js";

function drawScores() {
  const line = currentLine(), isLogged = line === state.logged;
  const series = isLogged ? loggedSeries(state.game) : [], depths = isLogged ? state.game.depth : [];
  const graph = graphOf(line);
  graph.forEach(({ name, scores }, index) => series.push(heuristicSeries(name, scores, index)));
  find("chart-part").hidden = !hasChart(series, depths);
  find("legend").replaceChildren(...series.map((one) => make("span", { className: one.kind }, one.name)));
  if (find("chart-part").hidden) return;
  drawChart(find("chart"), {
    plies: line.length - 1, series, depths, mistakes: line.filter(isMistake).map((node) => node.ply),
    ply: state.node.ply, onPly: (ply) => goTo(line[ply]),
  });
}

export function wireScores() {
  whenShown(drawScores);
  window.addEventListener("resize", drawScores);
}

// The chart of scores below the board: those of a logged game's players, and a heuristic's values along the line.

import { make } from "./board.js";
import { drawChart, heuristicSeries, loggedSeries } from "./chart.js";
import { currentLine, find, goTo, state, whenShown } from "./page.js";
import { isMistake } from "./reviewing.js";
import { graphOf } from "./values.js";

function drawScores() {
  const line = currentLine(), isLogged = line === state.logged && state.game.score.length > 0;
  const series = isLogged ? loggedSeries(state.game) : [];
  const graph = graphOf(line);
  if (graph) series.push(heuristicSeries(graph.name, graph.scores));
  find("chart-part").hidden = !series.length;
  find("legend").replaceChildren(...series.map((one) => make("span", { className: one.kind }, one.name)));
  if (!series.length) return;
  drawChart(find("chart"), {
    plies: line.length - 1, series, depths: isLogged ? state.game.depth : [], mistakes: line.filter(isMistake).map((node) => node.ply),
    ply: state.node.ply, onPly: (ply) => goTo(line[ply]),
  });
}

export function wireScores() {
  whenShown(drawScores);
  window.addEventListener("resize", drawScores);
}

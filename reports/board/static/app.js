// The analysis board: connects its parts, and starts with the game in its address.

import { wireClock } from "./clock.js";
import { wireExact } from "./exact.js";
import { wireExchange } from "./exchange.js";
import { wireExplorer } from "./explorer.js";
import { wireHeading } from "./heading.js";
import { wireMoves } from "./moves.js";
import { wireNewGame } from "./newgame.js";
import { offerAgents, wireOpponent } from "./opponent.js";
import { complain, find, state } from "./page.js";
import { wirePosition } from "./position.js";
import { wireReview } from "./reviewing.js";
import { listGames, offerRuns, wireRuns } from "./runs.js";
import { wireScores } from "./scores.js";
import { ask } from "./server.js";
import { wireSetup } from "./setup.js";
import { openLink } from "./starting.js";
import { offerHeuristics, wireValues } from "./values.js";

async function copyLink() {
  try {
    await navigator.clipboard.writeText(location.href);
    find("copy").textContent = "Copied";
    setTimeout(() => { find("copy").textContent = "Copy link"; }, 1500);
  } catch {
    complain(new Error(`The browser does not allow copying; the address is the link: ${location.href}`));
  }
}

const PARTS = [
  wirePosition, wireMoves, wireReview, wireValues, wireExact, wireExplorer, wireOpponent, wireRuns, wireSetup,
  wireExchange, wireScores, wireNewGame, wireClock, wireHeading,
];
const fragment = location.hash; // read before anything is shown, which replaces the address by its own link
for (const wire of PARTS) wire();
find("copy").onclick = copyLink;

try {
  state.choices = await ask("/api/start");
  offerHeuristics(state.choices);
  offerAgents(state.choices);
  offerRuns(state.choices);
  await openLink(fragment);
  window.addEventListener("hashchange", () => openLink(location.hash));
  listGames();
} catch (error) {
  complain(error);
}

// Ratings of the gallery's heuristics, computed from all runs of the folder when the page is opened.

const games = (count) => `${count.toLocaleString("en")} games`;
const runs = (count) => (count === 1 ? "one run" : `${count} runs`);

const response = await fetch("/api/ratings");
const { ratings = {} } = response.ok ? await response.json() : {};
for (const item of document.querySelectorAll("[data-heuristic]")) {
  const rating = ratings[item.dataset.heuristic];
  if (!rating) continue;
  const text = item.querySelector(".rating");
  const value = document.createElement("strong");
  value.textContent = `${rating.elo} Elo`;
  text.append(value, `, ${rating.zero}, in ${runs(rating.runs)}, ${games(rating.games)} (${rating.where})`);
  text.hidden = false;
}
document.getElementById("rated").textContent = Object.keys(ratings).length
  ? "Ratings: Bradley–Terry over all runs of the folder with one board and limit, with individual 95 % intervals."
  : "No run of the folder has rated games of these heuristics yet.";

// Measures the heuristics of the gallery that have not been measured yet, one after another.

const SECONDS = 8; // that a trial takes, roughly
const button = document.getElementById("measure-all"), state = document.getElementById("measuring");

const waiting = () => [...document.querySelectorAll("[data-heuristic]")].filter((item) => !item.querySelector(".chip"));

function offer() {
  const { length } = waiting();
  button.hidden = !length;
  button.textContent = `Measure ${length === 1 ? "one" : `all ${length}`} · ${Math.ceil((SECONDS * length) / 60)} min`;
}

/** Measure a heuristic, and show what the server then says about it. */
async function measure(item) {
  const { heuristic } = item.dataset, body = JSON.stringify({ heuristic });
  const response = await fetch("/api/trial", { method: "POST", headers: { "content-type": "application/json" }, body });
  if (!response.ok) throw new Error(`${heuristic}: ${(await response.json()).error}`);
  const page = new DOMParser().parseFromString(await (await fetch(location.href)).text(), "text/html");
  item.querySelector(".trial").replaceWith(page.querySelector(`[data-heuristic="${CSS.escape(heuristic)}"] .trial`));
}

async function measureAll() {
  button.disabled = true;
  const problems = [];
  for (const item of waiting()) {
    state.textContent = `Measuring ${item.dataset.heuristic} …`;
    try {
      await measure(item);
    } catch (error) {
      problems.push(error.message);
    }
  }
  state.textContent = problems.join(" ");
  button.disabled = false;
  offer();
}

button.addEventListener("click", measureAll);
offer();

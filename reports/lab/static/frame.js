// The frame of all pages: the switch between the system's theme, light and dark, kept in a cookie for all ports.

const THEMES = ["", "light", "dark"], WORDS = { "": "Theme: system", light: "Theme: light", dark: "Theme: dark" };
const root = document.documentElement, button = document.getElementById("theme");

function label() {
  button.textContent = WORDS[root.dataset.theme ?? ""];
}

button.addEventListener("click", () => {
  const next = THEMES[(THEMES.indexOf(root.dataset.theme ?? "") + 1) % THEMES.length];
  if (next) root.dataset.theme = next;
  else delete root.dataset.theme;
  document.cookie = `theme=${next}; path=/; max-age=31536000; samesite=strict`;
  label();
});
label();

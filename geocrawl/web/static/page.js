// What every page of geocrawl needs of script: copying snippets, and a whole page where a part cannot be had.
"use strict";

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const text = document.getElementById(button.dataset.copy).textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const range = document.createRange();
    range.selectNodeContents(document.getElementById(button.dataset.copy));
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    document.execCommand("copy");
  }
  const former = button.textContent;
  button.textContent = button.dataset.done;
  setTimeout(() => {
    button.textContent = former;
  }, 1500);
});

// On a narrow screen the filters would push the results out of sight.
function foldFilters() {
  if (!matchMedia("(max-width: 45rem)").matches) return;
  for (const facet of document.querySelectorAll(".facet[open]")) {
    if (!facet.querySelector(".is-chosen")) facet.removeAttribute("open");
  }
}
foldFilters();
document.addEventListener("htmx:afterSwap", foldFilters);

document.addEventListener("htmx:responseError", (event) => {
  const path = event.detail.pathInfo?.finalRequestPath;
  if (path && event.target.id === "search") location.assign(path);
});

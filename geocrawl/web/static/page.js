// What every page of geocrawl needs of script: copying snippets, pictures of layers, and a whole page where a part cannot be had.
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

// A layer's own picture is drawn by its service when a visitor asks for it; of tiles the first one is shown.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-picture]");
  if (!button) return;
  button.disabled = true;
  const url = new URL(button.dataset.picture, document.baseURI);
  const answer = await fetch(url, { headers: { Accept: "image/*,application/json" } });
  const type = answer.headers.get("Content-Type") || "";
  const picture = document.createElement("img");
  Object.assign(picture, { className: "thumb", width: 72, height: 72, alt: "" });
  picture.addEventListener("load", () => button.replaceWith(picture));
  picture.addEventListener("error", () => (button.textContent = button.dataset.failed));
  const tiles = type.startsWith("application/json") && answer.ok ? (await answer.json()).tiles : [];
  picture.src = tiles.length ? new URL(tiles[0].href, url) : url;
});

// On a narrow screen the filters would push the results out of sight; the style hides those that are not `ready`.
function foldFilters() {
  const isNarrow = matchMedia("(max-width: 45rem)").matches;
  for (const facet of document.querySelectorAll(".facet:not(.ready)")) {
    if (isNarrow) facet.removeAttribute("open");
    facet.classList.add("ready");
  }
}
foldFilters();
document.addEventListener("htmx:afterSwap", foldFilters);

document.addEventListener("htmx:responseError", (event) => {
  const path = event.detail.pathInfo?.finalRequestPath;
  if (path && event.target.id === "search") location.assign(path);
});

"use strict";
for (const form of document.querySelectorAll("form[data-filter]")) {
  const items = [...document.querySelectorAll(`[data-row="${form.dataset.filter}"]`)];
  const counted = items.filter((item) => item.tagName === "TR");
  const closed = form.parentElement.querySelector("details.rows");
  const apply = () => {
    const wanted = new FormData(form);
    const words = wanted.get("text").toLowerCase().split(/\s+/).filter(Boolean);
    const exact = [...wanted].filter(([name, value]) => name !== "text" && value);
    for (const item of items) {
      const text = item.dataset.text;
      item.hidden = !(exact.every(([name, value]) => item.dataset[name] === value) && words.every((word) => text.includes(word)));
    }
    const shown = counted.filter((item) => !item.hidden).length;
    form.querySelector("output").textContent = `${shown} of ${counted.length} shown`;
    if (closed && (words.length || exact.length)) closed.open = true;
  };
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(apply));
  form.hidden = false;
  apply();
}
const reveal = () => {
  const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const details = target && target.tagName === "ARTICLE" && target.querySelector("details");
  if (details) details.open = true;
};
addEventListener("hashchange", reveal);
reveal();
let opened = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("article > details:not([open])")];
  for (const details of opened) details.open = true;
});
addEventListener("afterprint", () => {
  for (const details of opened) details.open = false;
  opened = [];
});

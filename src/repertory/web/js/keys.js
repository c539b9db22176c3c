// What can be done without a mouse?

import {h} from "./dom.js";
import {focusQuestion, stopAnswer} from "./ask.js";
import {focusBox} from "./search.js";

const KEYS = [
  ["/", "Search"],
  ["a", "Ask"],
  ["↓ ↑", "Next and previous result"],
  ["Enter", "Open; in the box for questions: ask"],
  ["Esc", "Back; in the search box: clear it; while an answer comes: stop it"],
  ["?", "This help"],
];

/** Listen for the keys, everywhere on the page. */
export function listen() {
  const help = dialog();
  document.body.append(help);
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
    const typing = event.target.matches("input, textarea, select");
    const act = (typing ? TYPING : READING)[event.key];
    if (act?.(event, help)) event.preventDefault();
  });
  return () => help.showModal();
}

const TYPING = {
  ArrowDown: event => (event.target.id === "query" ? step(1) : false),
  Escape: event => stopAnswer() || leave(event.target),
};

const READING = {
  "/": () => {
    focusBox();
    return true;
  },
  a: () => {
    focusQuestion();
    return true;
  },
  "?": (event, help) => {
    help.showModal();
    return true;
  },
  ArrowDown: () => step(1),
  ArrowUp: () => step(-1),
  Escape: () => stopAnswer() || back(),
};

/** To the next result; before the first one is the search box. */
function step(by) {
  const links = [...document.querySelectorAll(".card-link")];
  if (!links.length) return false;
  const here = links.findIndex(link => link.closest(".card").contains(document.activeElement));
  if (here < 0 && document.activeElement !== document.body && document.activeElement?.id !== "query") return false;
  const next = here < 0 ? (by > 0 ? 0 : -1) : here + by;
  if (next < 0) document.getElementById("query")?.focus();
  else links[Math.min(next, links.length - 1)].focus();
  document.activeElement.closest(".card")?.scrollIntoView({block: "nearest"});
  return true;
}

function leave(input) {
  if (input.id === "query" && input.value) return false; // the browser clears a search box by itself
  input.blur();
  return true;
}

function back() {
  if (!document.querySelector(".search")) {
    if (history.length > 1) history.back();
    else location.hash = "#/";
    return true;
  }
  focusBox();
  return true;
}

function dialog() {
  const box = h(
    "dialog",
    {class: "help", "aria-label": "Keys"},
    h("h2", {}, "Keys"),
    h(
      "dl",
      {class: "keys"},
      KEYS.map(([name, meaning]) =>
        h(
          "div",
          {},
          h(
            "dt",
            {},
            name.split(" ").map(one => h("kbd", {}, one)),
          ),
          h("dd", {}, meaning),
        ),
      ),
    ),
    h("form", {method: "dialog"}, h("button", {}, "Close")),
  );
  return box;
}

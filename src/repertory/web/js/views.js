// Which room shows what?
//
// One view at a time: opening another aborts what the last one still waits for.

import {Problem} from "./api.js";
import {show} from "./dom.js";
import {read} from "./router.js";
import {trouble} from "./states.js";

let flight = null,
  rooms = {},
  container = null;

/** Show the view that the address names, now and whenever it changes. */
export function follow(place, table) {
  [container, rooms] = [place, table];
  addEventListener("hashchange", open);
  open();
}

/** Show the open view again, as the service knows it now. */
export const reopen = () => open();

async function open() {
  const route = read();
  const view = rooms[route.room] ?? rooms[""];
  flight?.abort();
  flight = new AbortController();
  const {signal} = flight;
  mark(rooms[route.room] ? route.room : "");
  container.dataset.room = route.room || "search";
  if (view !== rooms[""]) scrollTo(0, 0);
  try {
    const waiting = view(container, route, signal);
    settle();
    await waiting;
  } catch (error) {
    if (error.name === "AbortError" || signal.aborted) return;
    show(container, trouble(error instanceof Problem ? error : new Problem(-1, "page", `The page failed: ${error.message}`), open));
    if (!(error instanceof Problem)) throw error;
  } finally {
    if (!signal.aborted) settle();
  }
}

/** A reader of the screen hears where it is now. */
function settle() {
  const heading = container.querySelector("h1[tabindex]");
  if (heading && !container.contains(document.activeElement)) heading.focus({preventScroll: true});
}

const HOMES = {entry: "", graph: ""}; // rooms that a person reaches from the search

function mark(room) {
  for (const link of document.querySelectorAll("nav a")) {
    const on = read(link.hash).room === (HOMES[room] ?? room);
    if (on) link.setAttribute("aria-current", room in HOMES ? "true" : "page");
    else link.removeAttribute("aria-current");
  }
}

// How does a person search?
//
// Every keystroke asks, after a short rest; a newer question aborts the older. The address holds the state, and only the state.

import {about, abstained, nothing, overview, summary} from "./answer.js";
import {api, Problem} from "./api.js";
import {fromAddress, isAsking, MOST, PAGE, toAddress, toBody} from "./asked.js";
import {h, icon, show} from "./dom.js";
import {filters} from "./filters.js";
import {card, mostOf} from "./result.js";
import {replace} from "./router.js";
import {firstVisit, skeleton, trouble} from "./states.js";

const REST = 140; // ms: shorter than a pause between words, longer than one between letters
const SLOW = 200; // ms after which an older answer gives way to grey shapes
const NEAREST = 3;
const KEPT = 30; // answers: as many as a person goes back

let view = null; // kept between visits: going back shows what was there

export function search(container, route) {
  view ??= build();
  if (!view.root.isConnected) show(container, view.root);
  if (document.activeElement === document.body && matchMedia("(hover: hover)").matches) view.box.focus(); // a phone would open its keyboard
  view.open(fromAddress(route.values));
}

/** For the keys: into the box, whatever view is open. */
export function focusBox() {
  if (!view?.root.isConnected) location.hash = "#/";
  requestAnimationFrame(() => {
    view?.box.focus();
    view?.box.select();
  });
}

/** After somebody signed in or out, or changed something, what was shown before may not be true any more. */
export function forgetAnswers() {
  if (view) {
    view.known.clear();
    view.reset();
  }
}

function build() {
  const known = new Map(); // answers by question, for facets and the way back; cleared with every new revision
  let state = fromAddress(new URLSearchParams());
  let flight = null,
    timer,
    drawn = "";

  const box = h("input", {
    id: "query",
    type: "search",
    "aria-label": "What are you looking for?",
    placeholder: "Try “schedule a meeting”",
    autocomplete: "off",
    spellcheck: "false",
    maxlength: "4096",
    enterkeyhint: "search",
    oninput: () => {
      clearTimeout(timer);
      timer = setTimeout(() => change({}), REST);
    },
  });
  const controls = filters(part => change(part));
  const status = h("p", {id: "state", role: "status", "aria-live": "polite"});
  const results = h("div", {id: "results"});
  const beside = h("aside", {id: "beside", "aria-label": "About this answer"});
  const form = h(
    "form",
    {
      role: "search",
      class: "search-form",
      onsubmit: event => {
        event.preventDefault();
        change({});
      },
    },
    h("div", {class: "search-box"}, icon("search"), box, h("kbd", {"aria-hidden": "true"}, "/")),
    controls.element,
  );
  const root = h(
    "div",
    {class: "search"},
    h("h1", {class: "search-title"}, "Find the tool, agent, skill or note you need"),
    form,
    status,
    h("div", {class: "search-columns"}, results, beside),
  );

  function change(part) {
    clearTimeout(timer);
    open(Object.freeze({...state, q: box.value, any: false, limit: PAGE, ...part})); // what was typed a moment ago counts, too
    replace(toAddress(state));
  }

  function open(next) {
    const again = JSON.stringify(next) === drawn;
    state = next;
    if (box.value.trim() !== state.q.trim()) box.value = state.q;
    document.title = state.q.trim() ? `${state.q.trim()} · Repertory` : "Repertory";
    root.classList.toggle("is-home", !isAsking(state));
    if (!again) return run();
    flight?.abort(); // the way back: everything is still there
    controls.update(state, known.get(overall(state))?.totals);
  }

  async function run() {
    flight?.abort();
    flight = new AbortController();
    const {signal} = flight;
    const asked = state;
    const later = setTimeout(() => {
      drawn = "";
      say("Searching…");
      show(results, skeleton());
      show(beside);
    }, SLOW);
    controls.update(asked, known.get(overall(asked))?.totals);
    try {
      await (isAsking(asked) ? answer : home)(asked, signal, () => {
        clearTimeout(later);
        drawn = JSON.stringify(asked);
      });
    } catch (error) {
      if (error.name === "AbortError") return;
      fail(error);
    } finally {
      clearTimeout(later);
    }
  }

  async function find(body, signal) {
    const question = JSON.stringify(body);
    const held = known.get(question);
    if (held) return held;
    const found = await api.search(body, signal);
    if ([...known.values()].some(one => one.revision !== found.revision)) known.clear();
    known.set(question, found);
    if (known.size > KEPT) known.delete(known.keys().next().value);
    return found;
  }

  async function answer(asked, signal, settled) {
    const found = await find(toBody(asked), signal);
    const nearest = found.abstained ? await find({...toBody(asked), min_confidence: 0, limit: NEAREST}, signal) : null;
    settled();
    say(summary(found));
    if (nearest)
      show(
        results,
        abstained(found, nearest, () => change({any: true})),
      );
    else drawResults(asked, found);
    show(beside, about(found, asked));
    controls.update(asked, known.get(overall(asked))?.totals);
    if (asked.kind.length && !nearest) controls.update(asked, (await find(JSON.parse(overall(asked)), signal)).totals);
  }

  function drawResults(asked, found) {
    if (!found.results.length) {
      show(
        results,
        nothing(asked, () => change({kind: [], tag: []})),
      );
      return;
    }
    const most = mostOf(found.results);
    const scored = Boolean(asked.q.trim());
    const more =
      found.results.length === asked.limit && asked.limit < MOST
        ? h(
            "button",
            {type: "button", class: "wide", onclick: () => change({any: asked.any, limit: Math.min(MOST, asked.limit + PAGE)})},
            "Show more",
          )
        : null;
    const held = results.contains(document.activeElement) ? (document.activeElement.closest(".card")?.dataset.id ?? "") : null;
    show(
      results,
      h(
        "ol",
        {class: "cards", "aria-label": "Results"},
        found.results.map(one => card(one, {most, scored})),
      ),
      more,
    );
    if (held !== null) (results.querySelector(`[data-id="${CSS.escape(held)}"] .card-link`) ?? results.querySelector(".card-link")).focus(); // who reads is not thrown out
  }

  async function home(asked, signal, settled) {
    const [held, tags] = await Promise.all([api.health(signal), api.tags({limit: 24}, signal).catch(() => ({tags: []}))]);
    settled();
    say("");
    show(beside);
    show(results, held.documents ? overview(held, tags.tags) : firstVisit());
  }

  function fail(error) {
    drawn = "";
    show(beside);
    const problem = error instanceof Problem ? error : new Problem(-1, "page", `The page failed: ${error.message}`);
    say("");
    show(results, trouble(problem, run));
    if (!(error instanceof Problem)) throw error;
  }

  function say(text) {
    status.textContent = text;
  }

  return {
    root,
    box,
    open,
    known,
    reset: () => {
      drawn = "";
    },
  };
}

/** The same question about every kind: what the facets count. */
const overall = state => JSON.stringify(toBody({...state, kind: [], limit: PAGE}));

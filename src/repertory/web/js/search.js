// How does a person search?
//
// Every keystroke asks, after a short rest; a newer question aborts the older. The address holds the state, and only the state.

import {api, Problem} from "./api.js";
import {fromAddress, isAsking, isNarrowed, MOST, PAGE, toAddress, toBody} from "./asked.js";
import {facts, h, icon, show} from "./dom.js";
import {filters} from "./filters.js";
import {card, mostOf, tag} from "./result.js";
import {entryLink, link, replace, searchLink} from "./router.js";
import {firstVisit, notice, skeleton, trouble} from "./states.js";
import {count, figure, kind, KINDS, LANES, percent, took} from "./words.js";

const REST = 140; // ms: shorter than a pause between words, longer than one between letters
const SLOW = 200; // ms after which an older answer gives way to grey shapes
const NEAREST = 3;

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
  requestAnimationFrame(() => { view?.box.focus(); view?.box.select(); });
}

/** After somebody signed in or out, nothing that was shown before is true any more. */
export function forgetAnswers() {
  if (view) { view.known.clear(); view.reset(); }
}

function build() {
  const known = new Map(); // answers by question, for facets and the way back; cleared with every new revision
  let state = fromAddress(new URLSearchParams());
  let flight = null, timer, drawn = "";

  const box = h("input", {
    id: "query", type: "search", "aria-label": "What are you looking for?", placeholder: "Try “schedule a meeting”",
    autocomplete: "off", spellcheck: "false", maxlength: "4096", enterkeyhint: "search",
    oninput: () => { clearTimeout(timer); timer = setTimeout(() => change({}), REST); },
  });
  const controls = filters(part => change(part));
  const status = h("p", {id: "state", role: "status", "aria-live": "polite"});
  const results = h("div", {id: "results"});
  const beside = h("aside", {id: "beside", "aria-label": "About this answer"});
  const form = h("form", {role: "search", class: "search-form", onsubmit: event => { event.preventDefault(); change({}); }},
    h("div", {class: "search-box"}, icon("search"), box, h("kbd", {"aria-hidden": "true"}, "/")), controls.element);
  const root = h("div", {class: "search"}, h("h1", {class: "search-title"}, "Find the tool, agent, skill or note you need"), form, status, h("div", {class: "search-columns"}, results, beside));

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
    if (again) return; // the way back: everything is still there
    run();
  }

  async function run() {
    flight?.abort();
    flight = new AbortController();
    const {signal} = flight, asked = state;
    const later = setTimeout(() => { say("Searching…"); show(results, skeleton()); show(beside); }, SLOW);
    controls.update(asked, known.get(overall(asked))?.totals);
    try {
      if (isAsking(asked)) await answer(asked, signal, () => clearTimeout(later));
      else await home(signal, () => clearTimeout(later));
      drawn = JSON.stringify(asked);
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
    if (known.size > 30) known.delete(known.keys().next().value);
    return found;
  }

  async function answer(asked, signal, settled) {
    const found = await find(toBody(asked), signal);
    settled();
    say(summary(found));
    drawResults(asked, found);
    show(beside, about(found, asked));
    controls.update(asked, known.get(overall(asked))?.totals);
    if (found.abstained) show(results, abstained(found, await find({...toBody(asked), min_confidence: 0, limit: NEAREST}, signal)));
    if (asked.kind.length && !found.abstained) controls.update(asked, (await find(JSON.parse(overall(asked)), signal)).totals);
  }

  function drawResults(asked, found) {
    if (!found.results.length) { show(results, found.abstained ? skeleton(2) : nothing(asked)); return; }
    const most = mostOf(found.results);
    const scored = Boolean(asked.q.trim());
    const more = found.results.length === asked.limit && asked.limit < MOST
      ? h("button", {type: "button", class: "wide", onclick: () => change({any: asked.any, limit: Math.min(MOST, asked.limit + PAGE)})}, "Show more") : null;
    const held = results.contains(document.activeElement) ? document.activeElement.closest(".card")?.dataset.id ?? "" : null;
    show(results, h("ol", {class: "cards", "aria-label": "Results"}, found.results.map(one => card(one, {most, scored}))), more);
    if (held !== null) (results.querySelector(`[data-id="${CSS.escape(held)}"] .card-link`) ?? results.querySelector(".card-link")).focus(); // who reads is not thrown out
  }

  function abstained(found, nearest) {
    const most = mostOf(nearest.results);
    return [
      notice("nothing", "Nothing here answers this",
        h("p", {}, found.diagnostics.find(one => one.code === "abstained")?.message ?? "No entry seems to be about what you ask."),
        h("p", {class: "quiet"}, "Other words may help, or a name. What is nearest is below, though it is unlikely to be what you need."),
        h("button", {type: "button", onclick: () => change({any: true})}, "Show results anyway")),
      nearest.results.length ? h("section", {class: "faded"}, h("h2", {}, "Nearest"), h("ol", {class: "cards", "aria-label": "Nearest"}, nearest.results.map(one => card(one, {most, level: 3})))) : null,
    ];
  }

  function nothing(asked) {
    const words = asked.q.trim();
    const narrowed = isNarrowed(asked);
    return notice("nothing", words ? `No results for “${words.length > 60 ? `${words.slice(0, 60)}…` : words}”` : "No entries like that",
      h("p", {}, narrowed ? "With these filters there is nothing to show." : "Other words may help, or another strategy under Options."),
      narrowed ? h("button", {type: "button", onclick: () => change({kind: [], tag: []})}, "Remove the filters") : null);
  }

  async function home(signal, settled) {
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

  function say(text) { status.textContent = text; }

  return {root, box, open, known, reset: () => { drawn = ""; }};
}

/** The same question about every kind: what the facets count. */
const overall = state => JSON.stringify(toBody({...state, kind: [], limit: PAGE}));

function summary(found) {
  const parts = [count(found.results.length, "result"), found.search_mode, took(found.took_ms)];
  for (const [typed, word] of Object.entries(found.corrected ?? {})) parts.push(`${word} instead of ${typed}`);
  if (found.rewritten) parts.push(`asked as “${found.rewritten}”`);
  parts.push(...found.diagnostics.filter(one => one.code !== "abstained").map(one => one.message));
  return parts.join(" · ");
}

function overview(held, tags) {
  const kinds = Object.entries(KINDS).filter(([name]) => held.by_kind[name]);
  return h("div", {class: "overview"},
    h("ul", {class: "holdings", id: "held"}, kinds.map(([name, words]) => h("li", {}, h("a", {href: searchLink({kind: name})},
      icon(words.icon), h("b", {}, figure(held.by_kind[name])), h("span", {}, name === "document" ? "passages" : words.many))))),
    tags.length ? h("section", {}, h("h2", {}, "By tag"), h("div", {class: "tags"}, tags.map(one => tag(one.tag)))) : null);
}

function about(found, asked) {
  const suggested = (title, list) => list?.length ? h("section", {}, h("h2", {}, title), h("ul", {class: "plain"}, list.map(one => h("li", {},
    h("a", {href: entryLink(one.id), title: one.description}, icon(kind(one.kind ?? "tool").icon), one.name), h("span", {class: "quiet"}, ` ${one.reason}`))))) : null;
  const lifted = (found.tools ?? []).map(one => ({...one, reason: `of ${one.server}`}));
  const withheld = Object.entries(found.withheld ?? {});
  return [
    suggested("Tools of these servers", lifted),
    suggested("Goes with it", found.related),
    suggested("Next steps", found.next_steps),
    asked.q.trim() ? h("section", {class: "fine"}, h("h2", {}, "This answer"),
      facts(
        ["Looked at", Object.entries(found.lanes ?? {}).map(([lane, hits]) => `${LANES[lane]?.[0] ?? lane} ${figure(hits)}`).join(", ") || "nothing"],
        found.confidence === null ? null : ["Answered at all?", `${percent(found.confidence)} likely`],
        ["Identifiers", found.anchors?.join(", ")],
        ["Also", found.concepts?.join(", ")],
        ["Not shown", withheld.map(([why, number]) => `${number} ${why}`).join(", ")]),
      h("p", {}, h("a", {href: link("compare", "", {q: asked.q.trim()})}, "Compare strategies on this"))) : null,
  ];
}

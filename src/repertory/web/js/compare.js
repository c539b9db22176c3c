// What does another strategy make of the same question?

import {api} from "./api.js";
import {field, h, icon, s, show} from "./dom.js";
import {entryLink, link, replace} from "./router.js";
import {notice, skeleton, trouble} from "./states.js";
import {count, kind, PRESETS, STRATEGIES, took} from "./words.js";

const REST = 200; // ms
const LIMIT = 10;
const ROW = 64; // px, as in the style sheet: the lines between the lists are drawn by it

export function compare(container, route, signal) {
  const state = {
    q: route.values.get("q") ?? "",
    a: way(route.values.get("a"), "preset:default"),
    b: way(route.values.get("b"), "strategy:bm25"),
  };
  let timer, flight;
  document.title = "Compare strategies · Repertory";
  const box = h("input", {
    type: "search",
    id: "compare-query",
    value: state.q,
    "aria-label": "What are you looking for?",
    placeholder: "A question for both",
    autocomplete: "off",
    maxlength: "4096",
    oninput: () => {
      clearTimeout(timer);
      timer = setTimeout(run, REST);
    },
  });
  const choices = ["a", "b"].map((side, at) =>
    chooser(side, at ? "Right" : "Left", state[side], value => {
      state[side] = value;
      run();
    }),
  );
  const body = h("div", {class: "compare-body"});
  const status = h("p", {role: "status", "aria-live": "polite", id: "state"});
  show(
    container,
    h("h1", {tabindex: "-1"}, "Compare strategies"),
    h(
      "form",
      {
        role: "search",
        class: "compare-form",
        onsubmit: event => {
          event.preventDefault();
          run();
        },
      },
      h("div", {class: "search-box"}, icon("search"), box),
      h("div", {class: "compare-choices"}, choices),
    ),
    status,
    body,
  );

  async function run() {
    clearTimeout(timer);
    flight?.abort();
    flight = new AbortController();
    const mine = flight;
    signal.addEventListener("abort", () => mine.abort(), {once: true});
    state.q = box.value.trim();
    replace(link("compare", "", state));
    if (!state.q) {
      status.textContent = "";
      show(
        body,
        notice(
          "compare",
          "Two answers, side by side",
          h("p", {}, "Ask something: each side answers in its own way, and lines show where the same entry stands in both."),
        ),
      );
      return;
    }
    if (!body.childElementCount) show(body, skeleton(5));
    try {
      const [left, right] = await Promise.all(
        [state.a, state.b].map(one => api.search({query: state.q, limit: LIMIT, ...bodyOf(one)}, mine.signal)),
      );
      status.textContent = `${count(shared(left, right), "entry", "entries")} in both`;
      show(body, drawn(left, right, state));
    } catch (problem) {
      if (problem.name === "AbortError") return;
      status.textContent = problem.message;
      show(body, trouble(problem, run));
    }
  }
  run();
}

const ways = Object.entries({preset: PRESETS, strategy: STRATEGIES});
const way = (given, fallback) =>
  ways.some(([field, options]) => Object.keys(options).some(name => given === `${field}:${name}`)) ? given : fallback;
const bodyOf = one => {
  const [field, name] = one.split(":");
  return {[field]: name};
};
const shared = (left, right) => left.results.filter(one => right.results.some(other => other.id === one.id)).length;

function chooser(side, label, value, onchange) {
  return field(
    label,
    h(
      "select",
      {id: `way-${side}`, onchange: event => onchange(event.target.value)},
      ways.map(([field, options]) =>
        h(
          "optgroup",
          {label: `${field === "preset" ? "Presets" : "Strategies"}`},
          Object.keys(options).map(name => h("option", {value: `${field}:${name}`, selected: value === `${field}:${name}`}, name)),
        ),
      ),
    ),
  );
}

function drawn(left, right, state) {
  const places = [left, right].map(answer => new Map(answer.results.map((one, at) => [one.id, at])));
  const rows = Math.max(left.results.length, right.results.length, 1);
  const lines = left.results.flatMap((one, at) => (places[1].has(one.id) ? [[at, places[1].get(one.id), one.id]] : []));
  return h(
    "div",
    {class: "compare"},
    column(left, state.a, places[1]),
    s(
      "svg",
      {class: "compare-lines", viewBox: `0 0 100 ${rows * ROW}`, preserveAspectRatio: "none", "aria-hidden": "true", height: rows * ROW},
      lines.map(([from, to, id]) =>
        s("path", {
          d: `M0 ${(from + 0.5) * ROW} C 50 ${(from + 0.5) * ROW} 50 ${(to + 0.5) * ROW} 100 ${(to + 0.5) * ROW}`,
          class: from === to ? "same" : "moved",
          data: {id},
        }),
      ),
    ),
    column(right, state.b, places[0]),
  );
}

function column(answer, chosen, others) {
  const [field, name] = chosen.split(":");
  return h(
    "section",
    {class: "compare-side", "aria-label": `${field} ${name}`},
    h(
      "header",
      {},
      h("h2", {}, name, h("span", {class: "quiet"}, ` ${field}`)),
      h(
        "p",
        {class: "quiet"},
        `${answer.search_mode} · ${count(answer.results.length, "result")} · `,
        h("span", {class: "number"}, took(answer.took_ms)),
      ),
    ),
    answer.abstained ? h("p", {class: "compare-none"}, "Nothing here answers this, it says.") : null,
    !answer.results.length && !answer.abstained ? h("p", {class: "compare-none"}, "No results.") : null,
    h(
      "ol",
      {},
      answer.results.map((one, at) =>
        h(
          "li",
          {data: {id: one.id}},
          h("span", {class: "rank"}, at + 1),
          h(
            "span",
            {class: "compare-name"},
            h("a", {href: entryLink(one.id)}, icon(kind(one.kind).icon), one.name),
            h("span", {class: "quiet"}, one.path),
          ),
          moved(at, others.get(one.id)),
        ),
      ),
    ),
  );
}

/** Where it stands on the other side, seen from there. */
function moved(here, there) {
  if (there === undefined) return h("span", {class: "moved only"}, "only here");
  const by = there - here;
  if (!by) return h("span", {class: "moved", title: "The same place on the other side"}, "=");
  const words = `${Math.abs(by)} ${by > 0 ? "higher" : "lower"} than on the other side`;
  return h(
    "span",
    {class: `moved ${by > 0 ? "up" : "down"}`, title: words},
    h("span", {"aria-hidden": "true"}, `${by > 0 ? "▲" : "▼"} ${Math.abs(by)}`),
    h("span", {class: "unseen"}, words),
  );
}

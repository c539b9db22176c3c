// How is a search narrowed?

import {api} from "./api.js";
import {TOGGLES} from "./asked.js";
import {field, h, icon, show} from "./dom.js";
import {capital, figure, KINDS, PRESETS, STRATEGIES} from "./words.js";

const SUGGESTIONS = 30;

/** The controls under the search box. `change(part)` is told what the person wants differently. */
export function filters(change) {
  const facets = h("div", {class: "facets", role: "group", "aria-label": "Kinds"});
  const chips = h("div", {class: "chips"});
  const known = h("datalist", {id: "known-tags"});
  const box = h("input", {
    id: "tag",
    type: "text",
    list: "known-tags",
    placeholder: "Add a tag",
    "aria-label": "Add a tag",
    autocomplete: "off",
    maxlength: "100",
    onfocus: () => suggest(""),
    oninput: event => (event.inputType ? suggest(box.value) : add()), // no inputType: chosen from the list
    onkeydown: event => {
      if (event.key === "Enter") {
        event.preventDefault();
        add();
      }
    },
  });
  const preset = choice("preset", "Preset", "as the service is set", PRESETS, value => change({preset: value}));
  const strategy = choice("strategy", "Strategy", "as the preset says", STRATEGIES, value => change({strategy: value}));
  const toggles = Object.keys(TOGGLES).map(name =>
    h("label", {class: "toggle"}, h("input", {type: "checkbox", name, onchange: event => change({[name]: event.target.checked})}), name),
  );
  const more = h(
    "details",
    {class: "more"},
    h("summary", {}, icon("sliders"), h("span", {}, "Options"), h("span", {class: "more-set"})),
    h(
      "div",
      {class: "more-body"},
      h("fieldset", {}, h("legend", {}, "Also find"), h("div", {class: "toggles"}, toggles)),
      preset.field,
      strategy.field,
    ),
  );
  let current = null,
    asked = 0;

  function add() {
    const name = box.value.trim();
    box.value = "";
    if (name && !current.tag.includes(name)) change({tag: [...current.tag, name]});
  }

  async function suggest(prefix) {
    const mine = ++asked;
    const answer = await api.tags({prefix: prefix.trim(), limit: SUGGESTIONS}).catch(() => ({tags: []})); // suggestions are a courtesy
    if (mine === asked)
      show(
        known,
        answer.tags.map(one => h("option", {value: one.tag, label: `${one.tag} (${one.count})`})),
      );
  }

  function facet(name, label, number) {
    const on = name ? current.kind.includes(name) : !current.kind.length;
    const kinds = name ? (on ? current.kind.filter(one => one !== name) : [...current.kind, name]) : [];
    return h(
      "button",
      {type: "button", class: "facet", "aria-pressed": String(on), data: {kind: name}, onclick: () => change({kind: kinds})},
      name ? icon(KINDS[name].icon) : null,
      label,
      number === undefined ? null : h("span", {class: "number"}, figure(number)),
    );
  }

  return {
    element: h("div", {class: "filters"}, facets, h("div", {class: "filter-row"}, h("div", {class: "tag-box"}, chips, box, known), more)),

    /** Show this state, with how many results each kind has in the answer to the same question about every kind. */
    update(state, totals) {
      current = state;
      const focused = facets.contains(document.activeElement) ? document.activeElement.dataset.kind : undefined;
      const all = totals ? Object.values(totals).reduce((sum, one) => sum + one, 0) : undefined;
      facets.hidden = all === 0 && !state.kind.length;
      show(
        facets,
        facet("", "All", all),
        Object.entries(KINDS)
          .filter(([name]) => !totals || totals[name] || state.kind.includes(name))
          .map(([name, words]) => facet(name, capital(words.many), totals ? (totals[name] ?? 0) : undefined)),
      );
      if (focused !== undefined) facets.querySelector(`[data-kind="${focused}"]`)?.focus();
      show(
        chips,
        state.tag.map(name =>
          h(
            "button",
            {
              type: "button",
              class: "chip",
              "aria-label": `Remove the tag ${name}`,
              onclick: () => change({tag: state.tag.filter(one => one !== name)}),
            },
            name,
            icon("close"),
          ),
        ),
      );
      for (const toggle of toggles) toggle.firstChild.checked = state[toggle.firstChild.name];
      preset.select.value = state.preset;
      strategy.select.value = state.strategy;
      const set = [...Object.keys(TOGGLES).filter(name => state[name]), state.preset, state.strategy].filter(Boolean);
      more.querySelector(".more-set").textContent = set.join(", ");
    },
  };
}

function choice(id, label, none, options, onchange) {
  const select = h(
    "select",
    {id, onchange: event => onchange(event.target.value)},
    h("option", {value: ""}, none),
    Object.entries(options).map(([value, meaning]) => h("option", {value}, `${value} – ${meaning}`)),
  );
  return {select, field: field(label, select)};
}

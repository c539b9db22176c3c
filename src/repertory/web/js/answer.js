// What is told about an answer, besides its results?

import {isNarrowed} from "./asked.js";
import {facts, h, icon} from "./dom.js";
import {card, mostOf, tag} from "./result.js";
import {entryLink, link, searchLink} from "./router.js";
import {notice} from "./states.js";
import {count, figure, kind, KINDS, LANES, percent, took} from "./words.js";

/** Nothing seems to answer: why, what is nearest, and how to see it all the same. */
export function abstained(found, nearest, anyway) {
  const most = mostOf(nearest.results);
  return [
    notice(
      "nothing",
      "Nothing here answers this",
      h("p", {}, found.diagnostics.find(one => one.code === "abstained")?.message ?? "No entry seems to be about what you ask."),
      h("p", {class: "quiet"}, "Other words may help, or a name. What is nearest is below, though it is unlikely to be what you need."),
      h("button", {type: "button", onclick: anyway}, "Show results anyway"),
    ),
    nearest.results.length
      ? h(
          "section",
          {class: "faded"},
          h("h2", {}, "Nearest"),
          h(
            "ol",
            {class: "cards", "aria-label": "Nearest"},
            nearest.results.map(one => card(one, {most, level: 3})),
          ),
        )
      : null,
  ];
}

/** No results at all. */
export function nothing(asked, widen) {
  const words = asked.q.trim();
  const narrowed = isNarrowed(asked);
  return notice(
    "nothing",
    words ? `No results for “${words.length > 60 ? `${words.slice(0, 60)}…` : words}”` : "No entries like that",
    h("p", {}, narrowed ? "With these filters there is nothing to show." : "Other words may help, or another strategy under Options."),
    narrowed ? h("button", {type: "button", onclick: widen}, "Remove the filters") : null,
  );
}

/** One line: how many, how, how fast, and what was understood differently. */
export function summary(found) {
  const parts = [count(found.results.length, "result"), found.search_mode, took(found.took_ms)];
  for (const [typed, word] of Object.entries(found.corrected ?? {})) parts.push(`${word} instead of ${typed}`);
  if (found.rewritten) parts.push(`asked as “${found.rewritten}”`);
  parts.push(...found.diagnostics.filter(one => one.code !== "abstained").map(one => one.message));
  return parts.join(" · ");
}

/** What the catalog holds, before anything is asked. */
export function overview(held, tags) {
  const kinds = Object.entries(KINDS).filter(([name]) => held.by_kind[name]);
  return h(
    "div",
    {class: "overview"},
    h(
      "ul",
      {class: "holdings", id: "held"},
      kinds.map(([name, words]) =>
        h(
          "li",
          {},
          h(
            "a",
            {href: searchLink({kind: name})},
            icon(words.icon),
            h("b", {}, figure(held.by_kind[name])),
            h("span", {}, name === "document" ? "passages" : words.many),
          ),
        ),
      ),
    ),
    tags.length
      ? h(
          "section",
          {},
          h("h2", {}, "By tag"),
          h(
            "div",
            {class: "tags"},
            tags.map(one => tag(one.tag)),
          ),
        )
      : null,
  );
}

/** What goes with the results, and how they were found. */
export function about(found, asked) {
  const suggested = (title, list) =>
    list?.length
      ? h(
          "section",
          {},
          h("h2", {}, title),
          h(
            "ul",
            {class: "plain"},
            list.map(one =>
              h(
                "li",
                {},
                h("a", {href: entryLink(one.id), title: one.description}, icon(kind(one.kind ?? "tool").icon), one.name),
                h("span", {class: "quiet"}, ` ${one.reason}`),
              ),
            ),
          ),
        )
      : null;
  const lifted = (found.tools ?? []).map(one => ({...one, reason: `of ${one.server}`}));
  const withheld = Object.entries(found.withheld ?? {});
  return [
    suggested("Tools of these servers", lifted),
    suggested("Goes with it", found.related),
    suggested("Next steps", found.next_steps),
    asked.q.trim()
      ? h(
          "section",
          {class: "fine"},
          h("h2", {}, "This answer"),
          facts(
            [
              "Looked at",
              Object.entries(found.lanes ?? {})
                .map(([lane, hits]) => `${LANES[lane]?.[0] ?? lane} ${figure(hits)}`)
                .join(", ") || "nothing",
            ],
            found.confidence === null ? null : ["Answered at all?", `${percent(found.confidence)} likely`],
            ["Identifiers", found.anchors?.join(", ")],
            ["Also", found.concepts?.join(", ")],
            ["Not shown", withheld.map(([why, number]) => `${number} ${why}`).join(", ")],
          ),
          h("p", {}, h("a", {href: link("compare", "", {q: asked.q.trim()})}, "Compare strategies on this")),
        )
      : null,
  ];
}

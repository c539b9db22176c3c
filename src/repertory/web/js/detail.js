// What is one entry?
//
// What every entry has, then what its kind has: a table of functions instead of a chain of questions.

import {api} from "./api.js";
import {lifecycle} from "./lifecycle.js";
import {connect} from "./connect.js";
import {facts, h, icon, outward, show} from "./dom.js";
import {around} from "./graph.js";
import {markdown} from "./markdown.js";
import {badges, tag} from "./result.js";
import {entryLink, link} from "./router.js";
import {schemaTable} from "./schema.js";
import {session} from "./session.js";
import {skeleton} from "./states.js";
import {capital, kind, named, spaced, when} from "./words.js";

const ALREADY_TOLD = new Set(["has_tool", "part_of"]); // by the list of tools, and by the line under the name

export async function detail(container, route, signal) {
  show(container, skeleton(3));
  const entry = await api.entry(route.rest, signal);
  document.title = `${entry.name} · Repertory`;
  const side = h("aside", {class: "entry-side", "aria-label": "Facts"}, overview(entry));
  const main = h("div", {class: "entry-main"});
  show(container, h("article", {class: "entry", data: {id: entry.id}}, head(entry), h("div", {class: "entry-columns"}, main, side)));
  show(main, SECTIONS[entry.kind]?.(entry) ?? [], linked(entry));
  const cited = openAt(main, route.values.get("at"));
  if ((await session()).admin && !signal.aborted) main.prepend(lifecycle(entry));
  await Promise.all([takeAlong(main, entry, signal), goesWith(side, entry, signal)]);
  if (!signal.aborted) cited?.scrollIntoView({block: "start"}); // what came after it may have moved it
}

function head(entry) {
  const words = kind(entry.kind);
  const title = entry.details?.title;
  return h(
    "header",
    {class: "entry-head"},
    h(
      "p",
      {class: "entry-kind"},
      icon(words.icon),
      words.one,
      entry.details?.server ? [" of ", h("a", {href: entryLink(`server:${entry.details.server}`)}, entry.details.server)] : null,
      badges(entry),
    ),
    h("h1", {tabindex: "-1"}, entry.name),
    title && title !== entry.name ? h("p", {class: "entry-title"}, title) : null,
    entry.details?.sections?.length ? null : h("p", {class: "entry-text"}, entry.description),
  ); // a file opens with what would stand here
}

function overview(entry) {
  const {details = {}, metadata = {}} = entry;
  return [
    entry.tags.length ? h("section", {}, h("h2", {}, "Tags"), h("div", {class: "tags"}, entry.tags.map(tag))) : null,
    h(
      "section",
      {},
      h("h2", {}, "Facts"),
      facts(
        ["Id", h("code", {}, entry.id)],
        ["Status", entry.enabled ? entry.status : `${entry.status}, disabled`],
        ["Version", details.version],
        ["Address", details.url ? outward(details.url) : null],
        ["Provider", details.provider?.organization ?? details.author],
        ["Licence", details.license],
        ["Changed", entry.modified ? when(entry.modified) : null],
        ["Seen by", entry.audience?.join(", ")],
        ["Read from", entry.provenance],
        ...Object.entries(metadata).map(([name, value]) => [
          capital(spaced(name)),
          typeof value === "object" ? JSON.stringify(value) : String(value),
        ]),
      ),
    ),
    h("section", {class: "links"}, h("a", {href: link("graph", entry.id)}, icon("graph"), "Show as a graph")),
  ];
}

const section = (title, ...body) => (body.flat().some(Boolean) ? h("section", {}, h("h2", {}, title), ...body) : null);

const SECTIONS = {
  tool: entry => [
    hints(entry.details.annotations),
    section("Takes", schemaTable(entry.details.input_schema, "Parameters")),
    section("Gives", schemaTable(entry.details.output_schema, "Answer")),
  ],
  mcp_server: entry => [section("Tools", tools(entry)), section("Instructions", prose(entry.details.instructions))],
  virtual_server: entry => [section("Tools", tools(entry))],
  a2a_agent: entry => [section("Skills", abilities(entry.details.skills)), section("Capabilities", capabilities(entry.details))],
  skill: entry => [prose(entry.details.body, 2)],
  document: entry => [
    h(
      "section",
      {class: "prose"},
      (entry.details.sections ?? []).map((one, at) => passage(one, entry, at)),
    ),
  ],
};

const HINTS = {
  // what yes and what no means, each with how it is coloured
  readOnlyHint: [
    ["reads only", "ok"],
    ["may write", ""],
  ],
  destructiveHint: [
    ["may destroy", "broken"],
    ["destroys nothing", ""],
  ],
  idempotentHint: [["safe to repeat", "ok"], null],
  openWorldHint: [["reaches the outside world", ""], null],
};

function hints(annotations) {
  const told = Object.entries(HINTS)
    .filter(([name]) => typeof annotations?.[name] === "boolean")
    .map(([name, [yes, no]]) => [name, annotations[name] ? yes : no]);
  const shown = told.filter(([, words]) => words);
  return shown.length
    ? h(
        "p",
        {class: "hints"},
        shown.map(([name, [words, tone]]) => h("span", {class: `badge badge-${tone}`, title: `${name}, as the server says`}, words)),
      )
    : null;
}

function tools(entry) {
  const list = entry.details.tools ?? [];
  if (!list.length) return null;
  return h(
    "ul",
    {class: "rows"},
    list.map(one => {
      const id = `tool:${one.from ?? `${entry.path}/${one.name}`}`; // a virtual server's tool says whose it is
      return h(
        "li",
        {},
        h("a", {href: entryLink(id)}, one.name),
        one.from ? h("span", {class: "quiet"}, ` from ${one.from}`) : null,
        h("p", {}, one.description ?? ""),
      );
    }),
  );
}

function abilities(list = []) {
  return list.length
    ? h(
        "ul",
        {class: "rows"},
        list.map(one =>
          h(
            "li",
            {},
            h("b", {}, one.name ?? ""),
            h("p", {}, one.description ?? ""),
            one.examples?.length
              ? h(
                  "ul",
                  {class: "examples"},
                  one.examples.map(text => h("li", {}, `“${text}”`)),
                )
              : null,
            one.tags?.length ? h("div", {class: "tags"}, one.tags.map(tag)) : null,
          ),
        ),
      )
    : null;
}

function capabilities(details) {
  const on = Object.entries(details.capabilities ?? {})
    .filter(([, value]) => value === true)
    .map(([name]) => name);
  return [
    on.length
      ? h(
          "p",
          {class: "hints"},
          on.map(name => h("span", {class: "badge"}, name)),
        )
      : null,
    facts(
      ["Reads", details.input_modes?.join(", ")],
      ["Writes", details.output_modes?.join(", ")],
      ["Protocol", details.protocol_version],
      ...(details.interfaces ?? []).map(one => [one.protocolBinding ?? one.transport ?? "Interface", outward(one.url ?? "")]),
    ),
  ];
}

const prose = (text, top = 3) => (text ? h("div", {class: "prose"}, markdown(text, top)) : null);

/** Whoever comes by a citation sees its passage, and a reader of the screen hears it. */
function openAt(main, at) {
  const place = /^\d+$/.test(at ?? "") ? main.querySelector(`[data-at="${at}"]`) : null;
  if (!place) return null;
  place.classList.add("cited");
  place.setAttribute("aria-label", "The passage that was cited");
  place.focus({preventScroll: true});
  place.scrollIntoView({block: "start"});
  return place;
}

/** A section of a file under its own heading; the file's title is the heading of the page already. */
function passage(one, entry, at) {
  const path = one.path ?? [];
  const title = path.at(-1);
  const own = title && !(path.length === 1 && title === entry.name) ? h(`h${Math.min(6, Math.max(2, path.length))}`, {}, title) : null;
  return h("div", {class: "passage", tabindex: "-1", role: "group", data: {at}}, own, markdown(one.text ?? "", 1)); // its own headings count from the top of the file
}

function linked(entry) {
  const groups = new Map();
  for (const [origin, relation, target] of entry.edges ?? []) {
    const outgoing = origin === entry.id;
    const other = outgoing ? target : origin;
    if (other === entry.id || ALREADY_TOLD.has(relation) || !named(other).kind) continue;
    const words = outgoing ? spaced(relation) : `${spaced(relation)} this`;
    groups.set(words, [...(groups.get(words) ?? []), other]);
  }
  return groups.size
    ? section(
        "Linked",
        facts(
          ...[...groups].map(([words, ids]) => [
            words,
            ids.map((id, at) => [at ? ", " : "", h("a", {href: entryLink(id)}, named(id).name)]),
          ]),
        ),
      )
    : null;
}

async function takeAlong(main, entry, signal) {
  const answer = await api.connect(entry.id, signal).catch(quietly);
  const shown = answer?.snippets?.length ? section("Connect", connect(answer.snippets)) : null;
  if (shown) main.append(shown);
}

/** Asked by its own name, the search knows what goes with an entry and what comes after it. */
async function goesWith(side, entry, signal) {
  const found = await api.search({query: entry.name, preset: "auto", kinds: [entry.kind], limit: 1}, signal).catch(quietly);
  if (found?.results[0]?.id !== entry.id) return;
  for (const [title, list] of [
    ["Goes with it", found.related],
    ["Next steps", found.next_steps],
  ]) {
    if (list?.length)
      side.append(
        h(
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
                h("a", {href: entryLink(one.id), title: one.description}, icon(kind(one.kind).icon), one.name),
                h("span", {class: "quiet"}, ` ${one.reason}`),
              ),
            ),
          ),
        ),
      );
  }
}

/** What only adds to a view must not take it away; that the person went elsewhere is no failure either. */
const quietly = () => null;

/** The graph around an entry, on a page of its own. */
export async function graph(container, route, signal) {
  show(container, skeleton(3));
  await around(container, route, signal);
}

// What is around an entry?
//
// The entry in the middle, its neighbours on a ring, theirs on the next: drawn the same way every time, so that a picture can be
// recognised. Every node is a link, reached by Tab like any other; the same is told as a list below.

import {api} from "./api.js";
import {h, icon, s, show} from "./dom.js";
import {entryLink, link} from "./router.js";
import {count, kind, named, spaced} from "./words.js";

const RINGS = [0, 215, 330]; // radii, in the units of the drawing
const MARGIN = {wide: [200, 50], narrow: [90, 60]}; // around the outermost nodes, for their labels
const MOST = 48; // nodes: beyond, labels run into each other
const TEXT = {wide: 24, narrow: 16}; // characters of a label
const NARROW = "(max-width: 40rem)"; // where labels stand below their nodes, not beside them

export async function around(container, route, signal) {
  const id = route.rest;
  const shared = route.values.has("shared");
  const {
    graph: {edges},
    cut,
  } = await api.graph({entry: id, nodes: shared || ""}, signal);
  document.title = `Around ${named(id).name} · Repertory`;
  const narrow = matchMedia(NARROW).matches;
  const {placed, left} = layout(id, edges, narrow ? 0.85 : 1.25);
  show(
    container,
    h(
      "article",
      {class: "entry"},
      h(
        "header",
        {class: "entry-head"},
        h("p", {class: "entry-kind"}, icon("graph"), "Graph"),
        h("h1", {tabindex: "-1"}, "Around ", h("a", {href: entryLink(id)}, named(id).name)),
        h(
          "p",
          {class: "quiet"},
          [count(placed.size - 1, "neighbour"), left ? `${left} more in the list` : "", cut ? "there are more than are shown" : ""]
            .filter(Boolean)
            .join(" · "),
          " · ",
          h("a", {href: link("graph", id, {shared: !shared})}, shared ? "Entries only" : "Also words, categories and values they share"),
        ),
      ),
      edges.length ? drawing(id, edges, placed, narrow) : h("p", {}, "Nothing is linked to this entry yet."),
      edges.length ? list(id, edges) : null,
    ),
  );
}

/** Where each node is: by its distance from the centre, in a fixed order around the circle. */
export function layout(centre, edges, stretch = 1) {
  const next = new Map();
  for (const {origin, target} of edges) {
    next.set(origin, new Set([...(next.get(origin) ?? []), target]));
    next.set(target, new Set([...(next.get(target) ?? []), origin]));
  }
  const placed = new Map([[centre, {x: 0, y: 0, ring: 0, angle: 0}]]);
  let inner = [centre];
  for (let ring = 1; ring < RINGS.length; ring += 1) {
    const outer = [];
    for (const one of inner)
      for (const other of [...(next.get(one) ?? [])].sort(byName)) if (!placed.has(other) && !outer.includes(other)) outer.push(other);
    const fit = outer.slice(0, Math.max(0, MOST - placed.size));
    fit.forEach((id, at) => {
      const angle = (2 * Math.PI * (at + (ring - 1) / 2)) / fit.length - Math.PI / 2;
      placed.set(id, {x: stretch * RINGS[ring] * Math.cos(angle), y: RINGS[ring] * Math.sin(angle), ring, angle});
    });
    inner = fit;
  }
  return {placed, left: Math.max(0, next.size - placed.size)};
}

const byName = (one, other) => (one < other ? -1 : one > other ? 1 : 0);

function drawing(centre, edges, placed, narrow) {
  const [beside, above] = MARGIN[narrow ? "narrow" : "wide"];
  const [width, height] = [
    [beside, "x"],
    [above, "y"],
  ].map(([margin, axis]) => 2 * (margin + Math.max(...[...placed.values()].map(at => Math.abs(at[axis])))));
  const lines = [
    ...new Map(
      edges
        .filter(edge => placed.has(edge.origin) && placed.has(edge.target))
        .map(edge => [[edge.origin, edge.target].sort().join("\n"), edge]),
    ).values(),
  ];
  return h(
    "div",
    {class: "graph"},
    s(
      "svg",
      {viewBox: `${-width / 2} ${-height / 2} ${width} ${height}`, role: "group", "aria-label": `What is linked to ${named(centre).name}`},
      lines.map(edge => {
        const [from, to] = [placed.get(edge.origin), placed.get(edge.target)];
        return s("line", {x1: from.x, y1: from.y, x2: to.x, y2: to.y}, s("title", {}, spaced(edge.relation)));
      }),
      [...placed].map(([id, at]) => node(id, at, id === centre, narrow)),
    ),
  );
}

function node(id, {x, y, angle, ring}, central, narrow) {
  const {kind: what, name} = named(id);
  const most = TEXT[narrow && !central ? "narrow" : "wide"];
  const full = what ? name : `${id.slice(0, id.indexOf(":"))} “${name}”`; // what entries share is no entry: a word, a category, a value
  const label = full.length > most ? `${full.slice(0, most - 1)}…` : full;
  const right = Math.cos(angle) >= -0.01;
  const shape = [
    s("circle", {r: central ? 26 : what ? 15 : 6, class: what ? `node node-${what}` : "node node-shared"}),
    what
      ? s("use", {
          href: `#i-${kind(what).icon}`,
          x: central ? -13 : -8,
          y: central ? -13 : -8,
          width: central ? 26 : 16,
          height: central ? 26 : 16,
        })
      : null,
    s(
      "text",
      central || narrow
        ? {y: central ? 46 : 32, "text-anchor": "middle"}
        : {x: right ? 22 : -22, y: 5, "text-anchor": right ? "start" : "end"},
      label,
    ),
    s("title", {}, id),
  ];
  const place = {transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`, class: `at ring-${ring}${central ? " central" : ""}`};
  return what
    ? s("a", {...place, href: central ? entryLink(id) : link("graph", id), "aria-label": `${kind(what).one} ${name}`}, shape)
    : s("g", place, shape);
}

function list(centre, edges) {
  const groups = new Map();
  for (const {origin, relation, target} of edges) {
    if (origin !== centre && target !== centre) continue;
    const words = origin === centre ? spaced(relation) : `${spaced(relation)} this`;
    groups.set(words, new Set([...(groups.get(words) ?? []), origin === centre ? target : origin]));
  }
  return h(
    "section",
    {},
    h("h2", {}, "As a list"),
    h(
      "div",
      {class: "edge-lists"},
      [...groups].map(([words, ids]) =>
        h(
          "div",
          {},
          h("h3", {}, words),
          h(
            "ul",
            {class: "plain"},
            [...ids]
              .sort(byName)
              .map(id => h("li", {}, named(id).kind ? h("a", {href: entryLink(id)}, icon(kind(named(id).kind).icon), named(id).name) : id)),
          ),
        ),
      ),
    ),
  );
}

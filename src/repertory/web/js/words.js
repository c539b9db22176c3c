// Which words and figures does a person read?

export const KINDS = {
  tool: {one: "tool", many: "tools", icon: "tool"},
  mcp_server: {one: "server", many: "servers", icon: "server"},
  a2a_agent: {one: "agent", many: "agents", icon: "agent"},
  skill: {one: "skill", many: "skills", icon: "skill"},
  virtual_server: {one: "virtual server", many: "virtual servers", icon: "virtual"},
  document: {one: "document", many: "documents", icon: "document"},
};

const PREFIXES = {server: "mcp_server", tool: "tool", agent: "a2a_agent", skill: "skill", virtual: "virtual_server", doc: "document"};

/** A lane by what it goes by, not by how it is built. */
export const LANES = {
  bm25: ["words", "the query's words, rare ones first (BM25)"],
  keyword: ["keywords", "whole words and beginnings of words, by field"],
  grams: ["spelling", "groups of three letters, so that a typing error does no harm"],
  vector: ["meaning", "what the sentences mean (embeddings)"],
  graph: ["links", "names, tags and links between entries"],
  regex: ["pattern", "the regular expression"],
};

export const PRESETS = {
  default: "words, letters and meaning, weighed for each query",
  registry: "every kind gets its share of the answer",
  notes: "linked and recent files come up",
  tools: "rank fusion for large catalogs of tools",
  anchored: "identifiers in the query decide",
  auto: "meaning first; the graph adds what goes with it",
};

export const STRATEGIES = {
  hybrid: "words, letters and meaning together",
  auto: "meaning orders, the graph adds",
  bm25: "weighted words",
  keyword: "whole words and their beginnings",
  embedding: "meaning alone",
  graph: "names, tags and links, no model",
  regex: "a regular expression over names and texts",
};

export const STATUSES = ["active", "beta", "deprecated", "draft"];

export const kind = value => KINDS[value] ?? {one: value, many: value, icon: "document"};

/** What an id says of itself: its kind and its path. */
export function named(id) {
  const at = id.indexOf(":");
  return {kind: PREFIXES[id.slice(0, at)] ?? null, path: id.slice(at + 1), name: id.slice(id.lastIndexOf("/") + 1).replace(/^[a-z]+:/, "")};
}

const grouped = new Intl.NumberFormat("en");
export const figure = value => grouped.format(value);
export const count = (number, one, many = `${one}s`) => `${figure(number)} ${number === 1 ? one : many}`;
export const capital = word => word[0].toUpperCase() + word.slice(1);

/** A share as a person may trust it: a calibrated figure is never quite 0 or 100 %. */
export const percent = share => (share > 0.99 ? "over 99 %" : share < 0.01 ? "under 1 %" : `${Math.round(100 * share)} %`);
export const spaced = relation => relation.replaceAll("_", " ");
export const took = ms => (ms < 10 ? `${ms.toFixed(1)} ms` : `${Math.round(ms)} ms`);

const moment = new Intl.DateTimeFormat("en-GB", {dateStyle: "medium", timeStyle: "short"});
const near = new Intl.RelativeTimeFormat("en", {numeric: "auto"});
const STEPS = [
  ["day", 86400],
  ["hour", 3600],
  ["minute", 60],
  ["second", 1],
];

/** A moment in words: near ones by their distance, far ones by their date. */
export function when(value, now = Date.now()) {
  const then = new Date(typeof value === "number" && value < 1e12 ? value * 1000 : value);
  if (value === null || value === undefined || Number.isNaN(then.getTime())) return "";
  const seconds = (then - now) / 1000;
  if (Math.abs(seconds) > 7 * 86400) return moment.format(then);
  const [unit, length] = STEPS.find(([, size]) => Math.abs(seconds) >= size) ?? ["second", 1];
  return near.format(Math.round(seconds / length), unit);
}

// How is Markdown shown?
//
// A small part of it, made of elements and text nodes: headings, paragraphs, lists, quotes, tables, code, emphasis, links. HTML in it is
// text like any other; pictures become their description, because the page fetches nothing from elsewhere.

import {address, h, outward} from "./dom.js";
import {searchLink} from "./router.js";

const DEEP = 8; // lists and quotes nested further are shown as text: nobody writes them, except to do harm

/** A text as elements. `top` is the level its highest headings get, so that they fit under the heading of the page; none gets its. */
export function markdown(text, top = 2) {
  return blocks(text.replaceAll("\r\n", "\n").replaceAll("\t", "    ").split("\n"), top, 0);
}

const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([\w+-]*)/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const ITEM = /^( *)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const QUOTE = /^ {0,3}> ?(.*)$/;
const DIVIDER = /^ {0,3}\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;

function blocks(lines, top, depth) {
  const made = [];
  for (let at = 0; at < lines.length;) {
    const line = lines[at];
    const [found, take] =
      SHAPES.map(([shape, read]) => [shape.exec(line), read]).find(([match, read]) => match && (read !== table || isTable(lines, at))) ??
      [];
    if (!line.trim()) at += 1;
    else if (found && (depth < DEEP || (take !== list && take !== quote))) at = take(found, lines, at, made, top, depth);
    else at = paragraph(lines, at, made);
  }
  return made;
}

const SHAPES = [
  [FENCE, fence],
  [HEADING, heading],
  [RULE, rule],
  [QUOTE, quote],
  [ITEM, list],
  [/\|/, table],
];
const opens = (lines, at) =>
  [FENCE, HEADING, RULE, QUOTE].some(shape => shape.test(lines[at])) ||
  (ITEM.test(lines[at]) && /^ {0,3}\S/.test(lines[at])) ||
  isTable(lines, at);
const isTable = (lines, at) =>
  lines[at].includes("|") && at + 1 < lines.length && lines[at + 1].includes("-") && DIVIDER.test(lines[at + 1]);

function heading(found, lines, at, made, top) {
  made.push(h(`h${Math.min(6, Math.max(2, top + found[1].length - 1))}`, {}, inline(found[2])));
  return at + 1;
}

function rule(found, lines, at, made) {
  made.push(h("hr"));
  return at + 1;
}

function fence(found, lines, at, made) {
  const end = lines.findIndex((line, row) => row > at && line.trim().startsWith(found[1]) && /^[`~]+\s*$/.test(line.trim()));
  const stop = end < 0 ? lines.length : end;
  made.push(h("pre", {tabindex: "0"}, h("code", {data: {language: found[2]}}, lines.slice(at + 1, stop).join("\n"))));
  return stop + 1;
}

function quote(found, lines, at, made, top, depth) {
  const inner = [];
  for (; at < lines.length && QUOTE.test(lines[at]); at += 1) inner.push(QUOTE.exec(lines[at])[1]);
  made.push(h("blockquote", {}, blocks(inner, top, depth + 1)));
  return at;
}

function list(found, lines, at, made, top, depth) {
  const indent = found[1].length,
    ordered = /\d/.test(found[2]);
  const items = [];
  while (at < lines.length) {
    const item = ITEM.exec(lines[at]);
    if (!item || item[1].length !== indent || /\d/.test(item[2]) !== ordered) break;
    const inner = [item[3]];
    const inside = lines[at].length - item[3].length;
    for (at += 1; at < lines.length; at += 1) {
      const line = lines[at];
      const spaces = line.length - line.trimStart().length;
      const blank = !line.trim();
      if (blank && !(lines[at + 1] ?? "").startsWith(" ".repeat(indent + 2))) break;
      if (!blank && spaces <= indent && (opens(lines, at) || !lines[at - 1].trim())) break;
      inner.push(line.slice(Math.min(spaces, inside)));
    }
    items.push(inner);
    while (at + 1 < lines.length && !lines[at].trim() && ITEM.test(lines[at + 1]) && ITEM.exec(lines[at + 1])[1].length === indent) at += 1;
  }
  const start = ordered ? parseInt(found[2], 10) : 1;
  made.push(
    h(
      ordered ? "ol" : "ul",
      {start: start === 1 ? null : start},
      items.map(inner => h("li", {}, tight(blocks(inner, top, depth + 1)))),
    ),
  );
  return at;
}

/** One paragraph in an item is the item's text. */
const tight = made => made.flatMap((block, at) => (at === 0 && block.localName === "p" ? [...block.childNodes] : [block]));

function table(found, lines, at, made) {
  const cells = line =>
    line
      .trim()
      .replace(/^\||\|$/g, "")
      .split(/(?<!\\)\|/)
      .map(cell => inline(cell.trim().replaceAll("\\|", "|")));
  const head = cells(lines[at]);
  const rows = [];
  for (at += 2; at < lines.length && lines[at].includes("|"); at += 1) rows.push(cells(lines[at]));
  made.push(
    h(
      "div",
      {class: "scroll", tabindex: "0", role: "group", "aria-label": "Table"},
      h(
        "table",
        {},
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            head.map(cell => h("th", {scope: "col"}, cell)),
          ),
        ),
        h(
          "tbody",
          {},
          rows.map(row =>
            h(
              "tr",
              {},
              head.map((_, column) => h("td", {}, row[column] ?? "")),
            ),
          ),
        ),
      ),
    ),
  );
  return at;
}

function paragraph(lines, at, made) {
  const held = [lines[at]];
  for (at += 1; at < lines.length && lines[at].trim() && !opens(lines, at); at += 1) held.push(lines[at]);
  made.push(h("p", {}, inline(held.map(line => line.trim()).join("\n"))));
  return at;
}

// Each piece is found by one pattern without nested repetition, so that no text takes long.
const PIECES = new RegExp(
  [
    /(?<code>(?<tick>`{1,3})(?<raw>[^`]+)\k<tick>)/,
    /(?<image>!\[(?<alt>[^\]]*)\]\([^)\s]*(?:\s[^)]*)?\))/,
    /(?<wiki>\[\[(?<target>[^\]|#]+)(?:#[^\]|]*)?(?:\|(?<alias>[^\]]*))?\]\])/,
    /(?<link>\[(?<label>[^\]]+)\]\(\s*<?(?<to>[^)\s>]*)>?(?:\s[^)]*)?\))/,
    /(?<auto><?(?<url>https?:\/\/[^\s<>()]+[^\s<>().,;:!?])>?)/,
    /(?<bold>\*\*(?<strong>[^*\n]+)\*\*|__(?<strong2>[^_\n]+)__)/,
    /(?<slant>\*(?<em>[^*\s][^*\n]*)\*|(?<![\p{L}\p{N}])_(?<em2>[^_\s][^_\n]*)_(?![\p{L}\p{N}]))/,
  ]
    .map(one => one.source)
    .join("|"),
  "gu",
);

function inline(text) {
  const made = [];
  let from = 0;
  for (const found of text.matchAll(PIECES)) {
    made.push(text.slice(from, found.index), piece(found.groups));
    from = found.index + found[0].length;
  }
  made.push(text.slice(from));
  return made;
}

function piece(one) {
  if (one.code) return h("code", {}, one.raw);
  if (one.image) return h("span", {class: "quiet"}, one.alt || "picture");
  if (one.wiki) return h("a", {href: searchLink({q: one.target.trim()})}, one.alias || one.target);
  if (one.auto) return outward(one.url);
  if (one.bold) return h("strong", {}, inline(one.strong ?? one.strong2));
  if (one.slant) return h("em", {}, inline(one.em ?? one.em2));
  const label = inline(one.label);
  if (address(one.to)) return outward(one.to, ...label);
  const file = /^(?![a-z][a-z0-9+.-]*:)([^#?]+\.md)(?:#.*)?$/i.exec(one.to); // a file beside this one is another entry
  return file ? h("a", {href: searchLink({q: file[1].split("/").pop().replace(/\.md$/i, "")})}, label) : h("span", {}, label);
}

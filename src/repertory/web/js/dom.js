// How does anything get onto the page?
//
// Only through here. Entries are written by strangers: their text becomes text nodes, never markup, and their addresses become links only
// when they lead to the web. No module uses innerHTML; the policy of the page (Trusted Types) would refuse it.

const SVG = "http://www.w3.org/2000/svg";
const WEB = new Set(["http:", "https:", "mailto:"]);

/** An HTML element. Functions named on... listen, `data` becomes data attributes, true and false set and leave out. */
export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same for a drawing. */
export function s(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** One of our own pictures, from the symbols in index.html. It says nothing that is not in words beside it. */
export function icon(name) {
  return s("svg", {class: "icon", "aria-hidden": "true", focusable: "false"}, s("use", {href: `#i-${name}`}));
}

/** Put these in place of what is there. */
export function show(container, ...children) {
  container.replaceChildren(...nodes(children));
  return container;
}

/** The address as a link may have it, or null: javascript:, data: and the like are no places to go. */
export function address(text) {
  const written = String(text).trim();
  if (/^#\//.test(written)) return written; // a view of this page
  try {
    const url = new URL(written);
    return WEB.has(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

/** A link to the web, or the plain text where the address is not fit for one. */
export function outward(text, ...label) {
  const href = address(text);
  const words = label.length ? label : [text];
  return href
    ? h("a", {href, rel: "noopener noreferrer", target: href.startsWith("#") ? null : "_blank"}, ...words)
    : h("span", {}, ...words);
}

/** Names with what they are: rows of [name, value]; rows without a value are left out. */
export function facts(...rows) {
  const given = rows.filter(row => row && row[1] !== null && row[1] !== undefined && row[1] !== "" && row[1]?.length !== 0);
  return given.length
    ? h(
        "dl",
        {class: "facts"},
        given.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
      )
    : null;
}

/** An input under its label. A note is read out after the name, not as part of it. */
export function field(label, input, note) {
  if (note) input.setAttribute("aria-describedby", `${input.id}-note`);
  return h("div", {class: "field"}, h("label", {for: input.id}, label), input, note ? h("small", {id: `${input.id}-note`}, note) : null);
}

/** What was typed between commas. */
export const listed = input =>
  input.value
    .split(",")
    .map(one => one.trim())
    .filter(Boolean);

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "data") Object.assign(element.dataset, value);
    else if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (name === "href" && element.localName === "a") setLink(element, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...nodes(children));
  return element;
}

function setLink(element, value) {
  const href = address(value);
  if (href) element.setAttribute("href", href);
}

function nodes(children) {
  return children.flat(4).filter(child => child !== null && child !== undefined && child !== false && child !== "");
}

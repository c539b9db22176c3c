// What does a tool take, and what does it give?
//
// A JSON Schema as a table a person can read: one row per parameter, nested ones indented below theirs.

import {h} from "./dom.js";

const DEEP = 6; // a schema may refer to itself

/** The table of an object's properties, or a line for any other schema. */
export function schemaTable(schema, caption) {
  if (!schema || typeof schema !== "object") return null;
  const rows = [...properties(schema, schema, 0)];
  if (!rows.length) return h("p", {class: "quiet"}, plainly(schema));
  return h(
    "div",
    {class: "scroll", tabindex: "0", role: "region", "aria-label": caption},
    h(
      "table",
      {class: "schema"},
      h("caption", {class: "unseen"}, caption),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          ["Name", "Type", "Description"].map(title => h("th", {scope: "col"}, title)),
        ),
      ),
      h("tbody", {}, rows.map(row)),
    ),
  );
}

function* properties(schema, root, depth) {
  const here = resolve(schema, root);
  const required = new Set(Array.isArray(here.required) ? here.required : []);
  for (const [name, given] of Object.entries(here.properties ?? {})) {
    const one = resolve(given, root);
    yield {name, one, root, depth, required: required.has(name)};
    const inner = one.properties ? one : resolve(one.items, root);
    if (depth < DEEP && inner?.properties) yield* properties(inner, root, depth + 1);
  }
}

function row({name, one, root, depth, required}) {
  const title = h(
    "th",
    {scope: "row", class: "parameter", data: {depth}},
    h("code", {}, name),
    required ? h("span", {class: "badge badge-required"}, "required") : null,
  );
  const line = h(
    "tr",
    {},
    title,
    h("td", {class: "type"}, typeOf(one, root)),
    h("td", {}, h("div", {}, text(one.description)), limits(one, root)),
  );
  line.style.setProperty("--depth", depth);
  return line;
}

function limits(one, root) {
  const allowed = one.enum ?? resolve(one.items, root)?.enum;
  const lines = [];
  if (Array.isArray(allowed)) lines.push(["one of ", allowed.flatMap((value, at) => [at ? " " : "", h("code", {}, written(value))])]);
  if (one.const !== undefined) lines.push(["always ", h("code", {}, written(one.const))]);
  if (one.default !== undefined) lines.push(["default ", h("code", {}, written(one.default))]);
  const bounds = BOUNDS.filter(([field]) => one[field] !== undefined).map(([field, words]) => `${words} ${written(one[field])}`);
  if (bounds.length) lines.push([bounds.join(", ")]);
  return lines.map(line => h("div", {class: "limits"}, ...line));
}

const BOUNDS = [
  ["minimum", "at least"],
  ["maximum", "at most"],
  ["exclusiveMinimum", "more than"],
  ["exclusiveMaximum", "less than"],
  ["minLength", "min. length"],
  ["maxLength", "max. length"],
  ["minItems", "min. items"],
  ["maxItems", "max. items"],
  ["pattern", "like"],
];

function typeOf(one, root, depth = 0) {
  const either = one.anyOf ?? one.oneOf;
  if (Array.isArray(either) && depth < DEEP) return either.map(option => typeOf(resolve(option, root), root, depth + 1)).join(" or ");
  const word = Array.isArray(one.type) ? one.type.join(" or ") : (one.type ?? (one.properties ? "object" : "any"));
  if (word === "array" && one.items && depth < DEEP) return `list of ${typeOf(resolve(one.items, root), root, depth + 1)}`;
  return one.format ? `${word} (${one.format})` : String(word);
}

const plainly = schema =>
  schema.type === "object" || schema.properties ? "Nothing to fill in." : `A value of type ${typeOf(schema, schema)}.`;
const written = value => (typeof value === "string" ? value : JSON.stringify(value));
const text = value => (typeof value === "string" ? value : "");

/** What a reference inside the same schema points to; one that leads elsewhere stays what it is. */
function resolve(schema, root, steps = 0) {
  const pointer = schema?.$ref;
  if (typeof pointer !== "string" || !pointer.startsWith("#/") || steps > DEEP) return schema && typeof schema === "object" ? schema : {};
  const target = pointer
    .slice(2)
    .split("/")
    .reduce((at, part) => at?.[part.replaceAll("~1", "/").replaceAll("~0", "~")], root);
  return resolve(target, root, steps + 1);
}

// How is an entry registered by hand?
//
// What every kind has is asked of all; the rest of a definition, as a file would hold it, is asked by kind.

import {api} from "./api.js";
import {field, h, listed, show} from "./dom.js";
import {entryLink} from "./router.js";
import {KINDS, STATUSES} from "./words.js";

export function registerForm() {
  const kind = h(
    "select",
    {id: "new-kind", onchange: ask},
    Object.entries(KINDS).map(([value, words]) => h("option", {value}, words.one)),
  );
  const status = h(
    "select",
    {id: "new-status"},
    STATUSES.map(one => h("option", {value: one}, one)),
  );
  const [name, tags, audience, scopes] = [
    line("new-name", true),
    line("new-tags"),
    line("new-audience", false, "public"),
    line("new-scopes", false, "none"),
  ];
  const description = h("textarea", {id: "new-description", rows: "3", required: true});
  const special = h("div", {class: "special"});
  const said = h("div", {role: "status", class: "said"});
  let inputs = [];

  function ask() {
    inputs = SPECIAL[kind.value].map(([id, label, make, define]) => ({label, input: make(id), define}));
    show(
      special,
      inputs.map(one => field(one.label, one.input)),
    );
  }

  async function submit(event) {
    event.preventDefault();
    show(said, "Registering…");
    try {
      const definition = Object.assign({}, ...inputs.map(one => (one.input.value.trim() ? one.define(one.input.value) : {})));
      const made = await api.register({
        kind: kind.value,
        definition,
        name: name.value.trim(),
        description: description.value.trim(),
        tags: listed(tags),
        status: status.value,
        ...given("audience", listed(audience)),
        ...given("scopes", listed(scopes)),
      });
      show(said, h("p", {class: "good"}, "Registered: ", h("a", {href: entryLink(made.id)}, made.id)));
      event.target.reset();
      ask();
    } catch (problem) {
      show(said, h("p", {}, problem.status === 409 ? `${problem.message} Choose another name.` : problem.message));
    }
  }

  ask();
  return [
    h(
      "section",
      {},
      h("h2", {}, "Register an entry"),
      h(
        "form",
        {class: "grid-form", id: "register", onsubmit: submit},
        field("Kind", kind),
        field("Name", name, "Its id is made of it: unique among its kind"),
        field("Description", description, "Search goes by this: say what it does, and when to use it"),
        special,
        field("Tags", tags, "Separated by commas"),
        field("Status", status),
        field("Groups that see it", audience),
        field("Scopes needed besides", scopes),
        h("button", {}, "Register"),
      ),
      said,
    ),
    h(
      "section",
      {},
      h("h2", {}, "Register by address"),
      h(
        "p",
        {},
        "A running server, an agent, a registry or a folder is read as a source, and read again later: ",
        h("a", {href: "#/sources"}, "Sources and health"),
        ".",
      ),
    ),
  ];
}

const line = (id, required = false, placeholder = null) => h("input", {id, required, placeholder, autocomplete: "off"});
const area =
  (rows, placeholder = null) =>
  id =>
    h("textarea", {id, rows, placeholder, class: "code", spellcheck: "false"});
const needed = id => line(id, true);
const given = (name, list) => (list.length ? {[name]: list} : {});

/** "name: description", one a line. */
const lines = text =>
  text
    .split("\n")
    .map(one => one.trim())
    .filter(Boolean)
    .map(one => {
      const [name, ...rest] = one.split(":");
      return {name: name.trim(), description: rest.join(":").trim()};
    });

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`The schema is no JSON: ${error.message}`);
  }
}

const SPECIAL = {
  // [id, label, which input, what it adds to the definition]
  tool: [["new-schema", "Input schema (JSON)", area(5, '{"type": "object", "properties": {}}'), text => ({inputSchema: parsed(text)})]],
  mcp_server: [
    ["new-tools", "Tools, one a line (name: description)", area(4), text => ({tools: lines(text)})],
    ["new-url", "Or its address", line, text => ({version: "1.0.0", remotes: [{type: "streamable-http", url: text.trim()}]})],
  ],
  a2a_agent: [
    ["new-url", "Address", line, text => ({url: text.trim()})],
    ["new-skills", "Skills, one a line (name: description)", area(4), text => ({skills: lines(text)})],
  ],
  virtual_server: [
    [
      "new-tools",
      "Tools, one a line (server/tool: description)",
      area(4),
      text => ({tools: lines(text).map(({name, description}) => ({from: name, ...(description ? {description} : {})}))}),
    ],
  ],
  skill: [["new-body", "Text (Markdown)", area(8), text => ({body: text})]],
  document: [
    ["new-path", "Path", needed, text => ({path: text.trim()})],
    ["new-body", "Text (Markdown)", area(8), text => ({markdown: text})],
  ],
};

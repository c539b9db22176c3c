// How is an entry registered by hand?

import {api} from "./api.js";
import {h, show} from "./dom.js";
import {entryLink} from "./router.js";
import {KINDS, STATUSES} from "./words.js";

/** The form; what it asks for depends on the kind. */
export function registerForm() {
  const kind = h("select", {id: "new-kind", onchange: ask}, Object.entries(KINDS).map(([value, words]) => h("option", {value}, words.one)));
  const status = h("select", {id: "new-status"}, STATUSES.map(one => h("option", {value: one}, one)));
  const inputs = {
    path: text("new-path", true), name: text("new-name", true), description: h("textarea", {id: "new-description", rows: "3", required: true}),
    tags: text("new-tags"), audience: text("new-audience", false, "public"), scopes: text("new-scopes", false, "none"),
  };
  const special = h("div", {class: "special"});
  const said = h("div", {role: "status", class: "said"});
  let asked = [];

  function ask() {
    asked = SPECIAL[kind.value] ?? [];
    show(special, asked.map(one => { one.input = one.make(); return field(one.id, one.label, one.input); }));
  }

  async function submit(event) {
    event.preventDefault();
    show(said, "Registering…");
    try {
      const details = Object.fromEntries(asked.map(one => [one.into, one.read(one.input.value)]).filter(([, value]) => value !== undefined));
      const made = await api.register({
        kind: kind.value, path: inputs.path.value.trim(), name: inputs.name.value.trim(), description: inputs.description.value.trim(),
        tags: words(inputs.tags), details, status: status.value,
        ...given("audience", words(inputs.audience)), ...given("scopes", words(inputs.scopes)),
      });
      show(said, h("p", {}, "Registered: ", h("a", {href: entryLink(made.id)}, made.id)));
      event.target.reset();
      ask();
    } catch (problem) {
      show(said, h("p", {class: "problem"}, problem.status === 409 ? `${problem.message} Choose another path.` : problem.message));
    }
  }

  ask();
  return [
    h("section", {}, h("h2", {}, "Register an entry"), h("form", {class: "grid-form", id: "register", onsubmit: submit},
      field("new-kind", "Kind", kind), field("new-path", "Path", inputs.path, "Unique among its kind: server/tool for a tool"), field("new-name", "Name", inputs.name),
      field("new-description", "Description", inputs.description, "Search goes by this: say what it does, and when to use it"), special, field("new-tags", "Tags", inputs.tags, "Separated by commas"),
      field("new-status", "Status", status), field("new-audience", "Groups that see it", inputs.audience), field("new-scopes", "Scopes needed to call it", inputs.scopes),
      h("button", {}, "Register")), said),
    h("section", {}, h("h2", {}, "Register by address"), h("p", {}, "A server, an agent card, a registry or a folder is read as a source: ", h("a", {href: "#/sources"}, "Sources and health"), ".")),
  ];
}

const area = (id, rows, holder) => () => h("textarea", {id, rows, placeholder: holder ?? null, class: "code", spellcheck: "false"});
const plain = value => value.trim() || undefined;
const parsed = value => {
  if (!value.trim()) return undefined;
  try { return JSON.parse(value); } catch (error) { throw new Error(`The schema is no JSON: ${error.message}`); }
};
const lines = value => value.split("\n").map(line => line.trim()).filter(Boolean).map(line => {
  const [, name, description] = /^([^:]+):?\s*(.*)$/.exec(line);
  return {name: name.trim(), description};
});

const SPECIAL = {
  tool: [
    {id: "new-server", label: "Server", into: "server", make: () => text("new-server"), read: plain},
    {id: "new-schema", label: "Input schema (JSON)", into: "input_schema", make: area("new-schema", "5", "{\"type\": \"object\", \"properties\": {}}"), read: parsed},
  ],
  mcp_server: [
    {id: "new-url", label: "Address", into: "url", make: () => text("new-url", false, "https://"), read: plain},
    {id: "new-tools", label: "Tools, one a line (name: description)", into: "tools", make: area("new-tools", "4"), read: value => lines(value)},
  ],
  virtual_server: [
    {id: "new-tools", label: "Tools, one a line (server/tool: description)", into: "tools", make: area("new-tools", "4"),
      read: value => lines(value).map(one => ({name: one.name.split("/").pop(), description: one.description, from: one.name}))},
  ],
  a2a_agent: [
    {id: "new-url", label: "Address", into: "url", make: () => text("new-url", false, "https://"), read: plain},
    {id: "new-skills", label: "Skills, one a line (name: description)", into: "skills", make: area("new-skills", "4"), read: value => lines(value)},
  ],
  skill: [{id: "new-body", label: "Text (Markdown)", into: "body", make: area("new-body", "8"), read: plain}],
  document: [{id: "new-body", label: "Text (Markdown)", into: "sections", make: area("new-body", "8"), read: value => (value.trim() ? [{path: [], text: value}] : undefined)}],
};

const text = (id, required = false, placeholder = null) => h("input", {id, required, placeholder, autocomplete: "off"});
const field = (id, label, input, note) => h("label", {class: "field", for: id}, h("span", {}, label), input, note ? h("small", {}, note) : null);
const words = input => input.value.split(",").map(one => one.trim()).filter(Boolean);
const given = (name, list) => (list.length ? {[name]: list} : {});

// What does an administrator look after?

import {api, Problem} from "./api.js";
import {copyable} from "./connect.js";
import {field, h, listed, show} from "./dom.js";
import {confirmed} from "./lifecycle.js";
import {registerForm} from "./register.js";
import {review} from "./review.js";
import {entryLink, link} from "./router.js";
import {session} from "./session.js";
import {closed, notice, skeleton} from "./states.js";
import {named, spaced, when} from "./words.js";

const PAGE = 50; // events of the audit at a time
const TABS = {"": ["Register", registering], keys: ["Keys", keys], audit: ["Audit", audit], approvals: ["Approvals", review]};

export async function admin(container, route, signal) {
  const who = await session();
  const tab = TABS[route.rest] ? route.rest : "";
  document.title = `${TABS[tab][0]} · Admin · Repertory`;
  const head = h("h1", {tabindex: "-1"}, "Admin");
  if (!who.admin) {
    show(
      container,
      head,
      closed(
        new Problem(
          who.name === "anyone" ? 401 : 403,
          "closed",
          who.name === "anyone"
            ? "Only administrators change what is in the catalog. An API key with the admin scope opens this room; so does the owner's token."
            : `You are ${who.name}. This room needs a key with the admin scope.`,
        ),
      ),
    );
    return;
  }
  const body = h("div", {class: "tab-body"});
  show(
    container,
    head,
    h(
      "nav",
      {class: "tabs", "aria-label": "Admin"},
      Object.entries(TABS).map(([name, [title]]) =>
        h("a", {href: link("admin", name), "aria-current": name === tab ? "page" : null}, title),
      ),
    ),
    body,
  );
  show(body, skeleton(2));
  await TABS[tab][1](body, signal);
}

function registering(body) {
  show(body, registerForm());
}

async function keys(body, signal) {
  const name = h("input", {id: "key-name", required: true, maxlength: "100", autocomplete: "off"});
  const groups = h("input", {id: "key-groups", placeholder: "public"});
  const scopes = h("input", {id: "key-scopes", placeholder: "none; admin for administrators"});
  const made = h("div", {role: "status"});
  const list = h("div");

  async function make(event) {
    event.preventDefault();
    try {
      const key = await api.makeKey({name: name.value.trim(), groups: listed(groups), scopes: listed(scopes)});
      show(
        made,
        h(
          "div",
          {class: "once"},
          h("p", {}, h("b", {}, "This is shown once. "), "Copy it now: the service keeps no copy."),
          copyable(key.token),
        ),
      );
      event.target.reset();
      await draw();
    } catch (problem) {
      show(made, h("p", {class: "said"}, problem.message));
    }
  }

  async function draw() {
    const {keys: all} = await api.keys(signal);
    show(
      list,
      all.length
        ? keyTable(all, async id => {
            await api.revoke(id);
            await draw();
          })
        : notice("lock", "No keys yet", h("p", {}, "Who has none sees what is public.")),
    );
  }

  await draw();
  show(
    body,
    h(
      "section",
      {},
      h("h2", {}, "Make a key"),
      h(
        "form",
        {class: "grid-form", onsubmit: make},
        field("Name", name),
        field("Groups", groups),
        field("Scopes", scopes),
        h("button", {}, "Make the key"),
      ),
      made,
    ),
    h("section", {}, h("h2", {}, "Keys"), list),
  );
}

function keyTable(all, revoke) {
  return h(
    "div",
    {class: "scroll", tabindex: "0", role: "region", "aria-label": "Keys"},
    h(
      "table",
      {},
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          ["Name", "Groups", "Scopes", "Made", "Expires", "Last used", "Actions"].map(title => h("th", {scope: "col"}, title)),
        ),
      ),
      h(
        "tbody",
        {},
        all.map(one =>
          h(
            "tr",
            {},
            h("th", {scope: "row"}, one.name),
            h("td", {}, one.groups.join(", ")),
            h("td", {}, one.scopes.join(", ")),
            h("td", {}, when(one.created)),
            h("td", {}, when(one.expires) || "never"),
            h("td", {}, when(one.last_used) || "never"),
            h(
              "td",
              {},
              one.revoked ? h("span", {class: "badge"}, "revoked") : confirmed("Revoke", "Revoke for good", () => revoke(one.id)),
            ),
          ),
        ),
      ),
    ),
  );
}

async function audit(body, signal) {
  const table = h("tbody");
  const more = h("button", {type: "button", class: "wide", hidden: true, onclick: next}, "Older");
  let before;
  async function next() {
    const {events} = await api.audit({limit: PAGE, before}, signal);
    before = events.at(-1)?.id;
    more.hidden = events.length < PAGE;
    table.append(
      ...events.map(one =>
        h(
          "tr",
          {},
          h("td", {title: String(one.at)}, when(one.at)),
          h("td", {}, one.who),
          h("td", {}, h("span", {class: "badge"}, one.action)),
          h("td", {}, named(one.target ?? "").kind ? h("a", {href: entryLink(one.target)}, one.target) : (one.target ?? "")),
          h("td", {class: "quiet"}, told(one.detail)),
        ),
      ),
    );
    return events.length;
  }
  const found = await next();
  show(
    body,
    found
      ? [
          h(
            "div",
            {class: "scroll", tabindex: "0", role: "region", "aria-label": "Audit"},
            h(
              "table",
              {},
              h(
                "thead",
                {},
                h(
                  "tr",
                  {},
                  ["When", "Who", "Did", "To", "Detail"].map(title => h("th", {scope: "col"}, title)),
                ),
              ),
              table,
            ),
          ),
          more,
        ]
      : notice(
          "document",
          "Nothing has happened yet",
          h("p", {}, "Every change to entries, sources and keys will be listed here, with who made it."),
        ),
  );
}

/** What an event tells besides, in words: what is empty is left out. */
function told(detail) {
  if (detail === null || typeof detail !== "object") return detail ?? "";
  const said = Object.entries(detail).filter(([, value]) => value !== null && value !== "" && value?.length !== 0);
  return said
    .map(
      ([name, value]) =>
        `${spaced(name)} ${
          typeof value === "object"
            ? [value]
                .flat()
                .map(one => (typeof one === "object" ? JSON.stringify(one) : one))
                .join(" ")
            : value
        }`,
    )
    .join(", ");
}

// How does an administrator change one entry?

import {api} from "./api.js";
import {field, h, icon, listed, show} from "./dom.js";
import {STATUSES} from "./words.js";
import {reopen} from "./views.js";

/** What may be done with this entry: on or off, its status, who sees it; removed only where it was registered here. */
export function lifecycle(entry) {
  const said = h("p", {role: "status", class: "said"});
  const status = h(
    "select",
    {id: "entry-status"},
    STATUSES.map(one => h("option", {value: one, selected: one === entry.status}, one)),
  );
  const audience = h("input", {id: "entry-audience", value: (entry.audience ?? []).join(", "), placeholder: "public"});
  const scopes = h("input", {id: "entry-scopes", value: (entry.scopes ?? []).join(", "), placeholder: "none"});

  async function doing(work, done) {
    said.textContent = "Saving…";
    try {
      await work();
      said.textContent = done;
      return true;
    } catch (problem) {
      said.textContent = problem.status === 412 ? "Somebody else changed it meanwhile: load the page again." : problem.message;
      return false;
    }
  }

  async function save(changes, done) {
    if (await doing(() => api.change(entry.id, changes, entry.etag), done)) reopen();
  }

  return h(
    "details",
    {class: "manage"},
    h("summary", {}, icon("sliders"), h("span", {}, "Manage this entry")),
    h(
      "form",
      {
        class: "manage-body",
        onsubmit: event => {
          event.preventDefault();
          save({status: status.value, audience: listed(audience), scopes: listed(scopes)}, "Saved.");
        },
      },
      field("Status", status),
      field("Groups that see it", audience),
      field("Scopes needed besides", scopes),
      h(
        "div",
        {class: "actions"},
        h("button", {}, "Save"),
        h(
          "button",
          {type: "button", class: "plain-button", onclick: () => save({enabled: !entry.enabled}, entry.enabled ? "Disabled." : "Enabled.")},
          entry.enabled ? "Disable" : "Enable",
        ),
        confirmed("Delete", "Delete for good", async () => {
          if (await doing(() => api.remove(entry.id), "Deleted.")) location.hash = "#/";
        }),
      ),
      said,
    ),
  );
}

/** A button that asks once more before it does what cannot be undone. */
export function confirmed(label, question, work) {
  const place = h("span", {class: "confirm"});
  const ask = () => {
    show(
      place,
      h(
        "button",
        {
          type: "button",
          class: "danger",
          onclick: () => {
            rest();
            work();
          },
        },
        question,
      ),
      h("button", {type: "button", class: "plain-button", onclick: rest}, "Keep"),
    );
    place.lastChild.focus();
  };
  const rest = () => show(place, h("button", {type: "button", class: "plain-button", onclick: ask}, label));
  rest();
  return place;
}

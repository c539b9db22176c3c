// What is held back, and what changed in it?
//
// The service compares; here the parts are only shown: what went struck out, what came underlined, both said in words for who hears the page.

import {api, Problem} from "./api.js";
import {h, show} from "./dom.js";
import {confirmed} from "./lifecycle.js";
import {notice} from "./states.js";
import {named, spaced} from "./words.js";

const TAGS = {same: "span", removed: "del", added: "ins"};
const REASONS = {
  changed: "changed since it was accepted",
  new: "new, and not looked at yet",
  rejected: "rejected; it stays out until it changes again",
};

export async function review(body, signal) {
  const {held} = await api.review(signal);
  if (!held.length) {
    show(
      body,
      notice(
        "check",
        "Changed tools awaiting approval",
        h("p", {}, "None. When a server changes what a tool says or takes after it was accepted, it waits here until you have looked at it."),
      ),
    );
    return;
  }
  const said = h("p", {class: "quiet", role: "status"});
  const decide = async (verb, id) => {
    try {
      await api.decide(verb, id);
      await review(body, signal);
    } catch (error) {
      said.textContent = error instanceof Problem ? error.message : String(error);
    }
  };
  show(
    body,
    h("h2", {}, "Changed tools awaiting approval"),
    h("p", {class: "quiet"}, "Nobody finds or calls these until you let them in."),
    said,
    h(
      "ul",
      {class: "review"},
      held.map(one => h("li", {}, entry(one, decide))),
    ),
  );
}

function entry(one, decide) {
  const id = `held-${one.id}`;
  return h(
    "article",
    {"aria-labelledby": id},
    h("h3", {id}, named(one.id).path ?? one.id, " ", h("span", {class: "badge badge-stale"}, REASONS[one.reason] ?? spaced(one.reason))),
    h("p", {class: "quiet"}, `from ${one.source}`),
    one.findings.length
      ? h(
          "ul",
          {class: "findings"},
          one.findings.map(finding =>
            h("li", {}, h("span", {class: "badge badge-broken"}, finding.level), ` ${spaced(finding.code)} in ${finding.where}: `, h("q", {}, finding.excerpt)),
          ),
        )
      : null,
    one.changes.map(change =>
      h(
        "div",
        {class: "difference"},
        h("h4", {}, spaced(change.where)),
        h(
          "p",
          {},
          change.parts.map(part => h(TAGS[part.kind] ?? "span", {}, part.text)),
        ),
      ),
    ),
    h(
      "p",
      {class: "actions"},
      h("button", {type: "button", onclick: () => decide("approve", one.id)}, "Approve"),
      " ",
      one.reason === "rejected" ? null : confirmed("Reject", "Keep it out", () => decide("reject", one.id)),
    ),
  );
}

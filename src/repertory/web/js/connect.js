// How does a person take something along?

import {h, icon, show} from "./dom.js";

/** Snippets, one shown at a time, each with a button that copies it. */
export function connect(snippets) {
  const body = h("div", {class: "snippet"});
  const buttons = snippets.map((one, at) =>
    h("button", {type: "button", class: "facet", "aria-pressed": String(at === 0), onclick: () => pick(at)}, one.title || one.client),
  );
  function pick(at) {
    buttons.forEach((button, other) => button.setAttribute("aria-pressed", String(other === at)));
    show(body, copyable(snippets[at].text));
  }
  pick(0);
  return [h("div", {class: "facets", role: "group", "aria-label": "Client"}, buttons), body];
}

/** A text in a box, with a button that copies it. */
export function copyable(text) {
  const said = h("span", {role: "status", class: "unseen"});
  const button = h("button", {type: "button", class: "copy", onclick: copy}, icon("copy"), h("span", {}, "Copy"));
  async function copy() {
    const done = await toClipboard(text);
    button.lastChild.textContent = done ? "Copied" : "Select and copy by hand";
    said.textContent = done ? "Copied" : "";
    setTimeout(() => {
      button.lastChild.textContent = "Copy";
    }, 2000);
  }
  return h(
    "div",
    {class: text.includes("\n") ? "copyable" : "copyable short"},
    h("pre", {tabindex: "0"}, h("code", {}, text)),
    button,
    said,
  );
}

async function toClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false; // no permission, or no secure origin
  }
}

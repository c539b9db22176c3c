// What does a view show when it has nothing to show yet, or never will?

import {h, icon} from "./dom.js";

/** Grey shapes where results will be: the page does not jump when they come. */
export function skeleton(rows = 4) {
  return h(
    "div",
    {class: "skeleton", "aria-hidden": "true"},
    Array.from({length: rows}, () =>
      h("div", {class: "bone"}, h("span", {class: "bone-title"}), h("span", {class: "bone-line"}), h("span", {class: "bone-line short"})),
    ),
  );
}

/** A designed nothing: a picture, what is the case, and what to do about it. */
export function notice(picture, title, ...body) {
  return h("section", {class: "notice"}, icon(picture), h("h2", {}, title), ...body);
}

/** What went wrong, with a way to try again. `retry` is left out where trying again cannot help. */
export function trouble(problem, retry) {
  if (problem.unauthorised) return closed(problem);
  const title = problem.status === 0 ? "Out of reach" : problem.status === 404 ? "Not here" : "That did not work";
  const again = retry && problem.status !== 404 ? h("button", {type: "button", onclick: retry}, "Try again") : null;
  const box = notice(problem.status === 0 ? "offline" : "warning", title, h("p", {}, problem.message), again);
  box.setAttribute("role", "alert");
  return box;
}

/** A door that needs a key, or another one. */
export function closed(problem) {
  const unknown = problem.status === 401;
  const box = notice(
    "lock",
    unknown ? "Please sign in" : "Not for this key",
    h("p", {}, problem.message),
    h("a", {class: "button", href: "#/sign-in"}, unknown ? "Sign in with an API key" : "Use another key"),
  );
  box.setAttribute("role", "alert");
  return box;
}

/** A catalog that holds nothing yet: how the first entries get in. */
export function firstVisit() {
  return notice(
    "logo",
    "Nothing in the catalog yet",
    h(
      "p",
      {},
      "Repertory finds tools, agents, skills and notes once it knows them. In a terminal, point it at a folder, a config or an address:",
    ),
    h(
      "pre",
      {tabindex: "0"},
      h(
        "code",
        {},
        "repertory add PATH\nrepertory import        # the MCP servers that this machine's programs use\nrepertory add https://registry.example/v0.1/servers",
      ),
    ),
    h(
      "p",
      {class: "quiet"},
      "A command finds the running service by itself. Administrators can also register entries ",
      h("a", {href: "#/admin"}, "here"),
      ".",
    ),
  );
}

// How does a person show a key?

import {field, h, icon, show} from "./dom.js";
import {session, signedIn, signIn, signOut} from "./session.js";

export async function signInView(container) {
  document.title = "Sign in · Repertory";
  const said = h("p", {role: "alert", class: "said"});
  const input = h("input", {id: "api-key", type: "password", autocomplete: "off", required: true, spellcheck: "false"});
  const who = signedIn() ? await session() : null;
  show(
    container,
    h(
      "section",
      {class: "narrow"},
      h("h1", {tabindex: "-1"}, icon("lock"), "Sign in"),
      who
        ? h(
            "p",
            {},
            "Signed in as ",
            h("b", {}, who.name),
            who.admin ? ", an administrator. " : ". ",
            h(
              "button",
              {
                type: "button",
                class: "plain-button",
                onclick: () => {
                  signOut();
                  signInView(container);
                },
              },
              "Sign out",
            ),
          )
        : null,
      h(
        "form",
        {
          onsubmit: event => {
            event.preventDefault();
            submit();
          },
        },
        field("API key", input),
        h("button", {}, who ? "Use this key instead" : "Sign in"),
      ),
      said,
      h(
        "p",
        {class: "quiet"},
        "The key stays in this tab and is forgotten when it closes. An administrator makes keys, here under Admin or in a terminal.",
      ),
    ),
  );

  async function submit() {
    said.textContent = "";
    try {
      const found = await signIn(input.value.trim());
      if (found.name === "anyone") {
        signOut();
        said.textContent = "The service does not know this key.";
        return;
      }
      location.hash = found.admin ? "#/admin" : "#/";
    } catch (problem) {
      said.textContent = problem.status === 401 ? "The service does not know this key." : problem.message;
    }
  }
}

// How does the page come to life?

import {admin} from "./admin.js";
import {ask, forgetConversation} from "./ask.js";
import {compare} from "./compare.js";
import {detail, graph} from "./detail.js";
import {icon, show} from "./dom.js";
import {listen} from "./keys.js";
import {forgetAnswers, search} from "./search.js";
import {session, signedIn} from "./session.js";
import {signInView} from "./signin.js";
import {sources} from "./sources.js";
import {chosen, next} from "./theme.js";
import {follow} from "./views.js";

const at = id => document.getElementById(id);

function showTheme(choice) {
  show(at("theme"), icon(choice === "system" ? "system" : choice === "light" ? "sun" : "moon"));
  at("theme").setAttribute("aria-label", `Theme: ${choice}`);
  at("theme").title = `Theme: ${choice}`;
}

async function showPerson() {
  const who = await session();
  at("person").textContent = signedIn() ? who.name : "Sign in";
  at("admin-link").hidden = !who.admin;
}

at("theme").addEventListener("click", () => showTheme(next()));
at("help").addEventListener("click", listen());
document.querySelector(".skip").addEventListener("click", event => {
  event.preventDefault();
  at("view").focus();
}); // the fragment is the router's
addEventListener("changed", forgetAnswers);
addEventListener("session", () => {
  forgetAnswers();
  forgetConversation();
  showPerson();
});
showTheme(chosen());
showPerson();
follow(at("view"), {"": search, ask, entry: detail, graph, compare, sources, admin, "sign-in": signInView});

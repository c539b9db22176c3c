// Where do the entries come from, and is everything well?

import {api, Problem} from "./api.js";
import {bars} from "./charts.js";
import {confirmed} from "./lifecycle.js";
import {field, h, icon, show} from "./dom.js";
import {searchLink} from "./router.js";
import {session} from "./session.js";
import {closed, firstVisit, notice, skeleton} from "./states.js";
import {count, figure, kind, when} from "./words.js";

const TAGS = 12;

export async function sources(container, route, signal) {
  document.title = "Sources and health · Repertory";
  show(container, h("h1", {tabindex: "-1"}, "Sources and health"), skeleton(3));
  const [held, status, tags, who, list] = await Promise.all([
    api.health(signal),
    api.status(signal).catch(missing),
    api.tags({limit: TAGS}, signal).catch(missing),
    session(),
    api.sources(signal).catch(asProblem),
  ]);
  const known = list instanceof Problem ? [] : (list.sources ?? []);
  show(
    container,
    h("h1", {tabindex: "-1"}, "Sources and health"),
    h("section", {"aria-label": "Health"}, tiles(held, status, known)),
    h("section", {}, h("h2", {}, "Sources"), list instanceof Problem ? closed(list) : table(known, who.admin, signal)),
    who.admin ? h("section", {class: "runs"}) : null,
    held.documents
      ? h(
          "section",
          {},
          h("h2", {}, "What the index holds"),
          h(
            "div",
            {class: "charts"},
            bars(
              "Documents by kind",
              Object.entries(held.by_kind).map(([name, value]) => ({label: kind(name).many, value, href: searchLink({kind: name})})),
            ),
            bars(
              "Entries by status",
              Object.entries(status?.by_status ?? {}).map(([label, value]) => ({label, value})),
            ),
            bars(
              "Most used tags",
              (tags?.tags ?? []).map(one => ({label: one.tag, value: one.count, href: searchLink({tag: one.tag})})),
            ),
            bars(
              "Entries per source",
              known.map(one => ({label: short(one.name), value: one.entries ?? 0})),
            ),
          ),
        )
      : firstVisit(),
  );
  const place = container.querySelector(".runs");
  if (place) await runs(place, signal);
}

const missing = () => null; // a figure that the service does not give is not shown
const asProblem = error => {
  if (error instanceof Problem) return error;
  throw error;
};
const short = text => (text.length > 28 ? `…${text.slice(-27)}` : text);

function tiles(held, status, known) {
  const fresh = !status || status.indexed_revision === status.revision;
  const broken = status?.sources_broken ?? known.filter(one => one.state === "broken").length;
  const tile = (label, value, note, state) =>
    h("div", {class: `tile ${state ?? ""}`}, h("dt", {}, label), h("dd", {}, h("b", {}, value), note ? h("span", {}, note) : null));
  return h(
    "dl",
    {class: "tiles"},
    tile("Documents", figure(held.documents), `revision ${held.revision}`),
    tile("Index", fresh ? "up to date" : "behind", status ? `at revision ${status.indexed_revision}` : "", fresh ? "good" : "warn"),
    status
      ? tile(
          "Waiting for vectors",
          figure(status.waiting),
          status.waiting ? "found by words meanwhile" : "none",
          status.waiting ? "warn" : "good",
        )
      : null,
    tile("Sources broken", figure(broken), broken ? "their entries are kept" : "none", broken ? "bad" : "good"),
    tile(
      "Model",
      (held.model ?? "none").split("/")[0],
      held.model ? held.model.split("/").slice(1).join("/") : "searching by words",
      held.model ? "" : "warn",
    ),
    tile("Version", held.version, status?.started_at ? `started ${when(status.started_at)}` : ""),
  );
}

function table(list, admin, signal) {
  if (!list.length) return notice("source", "No sources", h("p", {}, "What was registered by hand has none."));
  return h(
    "div",
    {class: "scroll", tabindex: "0", role: "region", "aria-label": "Sources"},
    h(
      "table",
      {class: "sources"},
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          ["Source", "State", "Entries", "Last success", admin ? "Actions" : null]
            .filter(Boolean)
            .map(title => h("th", {scope: "col"}, title)),
        ),
      ),
      h(
        "tbody",
        {},
        list.map(one => row(one, admin, signal)),
      ),
    ),
  );
}

function row(one, admin, signal) {
  const said = h("span", {role: "status", class: "quiet"});
  const doing = (work, done) => async () => {
    said.textContent = "…";
    try {
      await work();
      if (done) said.textContent = done;
    } catch (problem) {
      if (problem.name !== "AbortError") said.textContent = problem.message;
    }
  };
  return h(
    "tr",
    {data: {source: one.name}},
    h("th", {scope: "row"}, one.name, one.location !== one.name ? h("div", {class: "quiet"}, one.location) : null),
    h(
      "td",
      {},
      h("span", {class: `badge badge-${one.state}`}, one.state),
      one.live ? h("span", {class: "quiet"}, " live") : null,
      one.error ? h("div", {class: "source-error"}, one.error) : null,
    ),
    h("td", {class: "number"}, figure(one.entries ?? 0)),
    h("td", {}, when(one.succeeded) || "never"),
    admin
      ? h(
          "td",
          {},
          h(
            "div",
            {class: "actions"},
            h(
              "button",
              {type: "button", class: "plain-button", onclick: doing(async () => follow(await api.refresh(one.name), said, signal))},
              icon("refresh"),
              "Refresh",
            ),
            confirmed(
              "Forget",
              "Forget it and its entries",
              doing(() => api.forget(one.name), "forgotten"),
            ),
            said,
          ),
        )
      : null,
  );
}

/** Runs of this process, and a way to start one. */
async function runs(place, signal) {
  const list = await api.runs(signal).catch(missing);
  const location = h("input", {id: "source-location", placeholder: "An address, or a path on the serving machine", required: true});
  const said = h("div", {class: "run-progress"});
  show(
    place,
    h("h2", {}, "Add a source"),
    h(
      "form",
      {
        class: "one-line",
        onsubmit: async event => {
          event.preventDefault();
          try {
            await follow(await api.addSource({location: location.value.trim()}), said, signal);
          } catch (problem) {
            if (problem.name !== "AbortError") show(said, h("p", {role: "alert"}, problem.message));
          }
        },
      },
      field("Location", location),
      h("button", {}, "Read it"),
    ),
    said,
    list?.runs?.length
      ? [
          h("h2", {}, "Runs"),
          h(
            "ul",
            {class: "plain"},
            list.runs.map(one =>
              h(
                "li",
                {},
                h("span", {class: `badge badge-${one.state}`}, one.state),
                ` ${one.location} `,
                h("span", {class: "quiet"}, when(one.started_at)),
              ),
            ),
          ),
        ]
      : null,
  );
}

/** Show how a run goes on, until it is over. */
async function follow(started, place, signal) {
  const bar = h("progress", {max: 1, "aria-label": "Progress"});
  const words = h("span", {}, "Starting…");
  show(place, bar, words);
  for await (const {event, data} of api.runEvents(started.run.id, signal)) {
    if (event === "progress") {
      bar.max = data.total || 1;
      bar.value = data.done;
      words.textContent = `${data.stage}: ${figure(data.done)} of ${figure(data.total)}`;
    }
    if (event === "report") {
      show(place, report(data));
      dispatchEvent(new Event("changed"));
    }
    if (event === "problem") show(place, h("p", {role: "alert"}, data.message));
  }
}

function report(data) {
  const parts = ["added", "changed", "removed", "unchanged"].filter(name => data[name]).map(name => `${figure(data[name])} ${name}`);
  return h(
    "div",
    {role: "status"},
    h("p", {}, parts.join(", ") || "Nothing has changed."),
    data.problems?.length
      ? h(
          "details",
          {},
          h("summary", {}, count(data.problems.length, "problem")),
          h(
            "ul",
            {},
            data.problems.map(one => h("li", {}, one.message ?? String(one))),
          ),
        )
      : null,
  );
}

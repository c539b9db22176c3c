// What does one result look like?

import {h, icon} from "./dom.js";
import {highlight} from "./highlight.js";
import {entryLink, searchLink} from "./router.js";
import {kind, LANES, percent} from "./words.js";

const TAGS_SHOWN = 5;
const TOOLS_SHOWN = 4;

/** A card. `most` is the largest contribution of any lane in this answer: bars can be compared between cards. `level` is that of its heading. */
export function card(result, {most = 0, scored = true, level = 2} = {}) {
  const words = kind(result.kind);
  return h(
    "li",
    {class: "card", data: {id: result.id, kind: result.kind}},
    h("div", {class: "card-kind"}, icon(words.icon), h("span", {}, words.one)),
    h(
      "div",
      {class: "card-body"},
      h(
        "div",
        {class: "card-top"},
        h(
          `h${level}`,
          {class: "card-name"},
          h("a", {class: "card-link", href: entryLink(result.id)}, highlight(result.name, result.matched)),
        ),
        badges(result),
        scored ? figures(result) : null,
      ),
      where(result),
      h("p", {class: "card-text"}, highlight(plainly(result), result.matched)),
      offers(result),
      h("div", {class: "card-foot"}, why(result, most), tags(result.tags)),
    ),
  );
}

/** How the entry stands: nothing for one that is simply in use. */
export function badges(entry) {
  const shown = [];
  if (entry.status && entry.status !== "active") shown.push([entry.status, entry.status]);
  if (entry.enabled === false) shown.push(["disabled", "disabled"]);
  if (entry.stale) shown.push(["stale", "stale: its source did not answer last time"]);
  return shown.map(([word, title]) => h("span", {class: `badge badge-${word}`, title}, word));
}

/** The largest contribution of a lane in an answer. */
export const mostOf = results => Math.max(0, ...results.flatMap(result => (result.evidence ?? []).map(one => one.contribution)));

export const tag = name => h("a", {class: "tag", href: searchLink({tag: name})}, name);

/** The excerpt without the marks of Markdown, where it was written in it. */
export function plainly({kind: what, excerpt, description}) {
  const text = excerpt || description || "";
  if (what !== "document" && what !== "skill") return text;
  return text
    .replace(/\[\[(?:[^\]|]*\|)?([^\]|]+)\]\]/g, "$1")
    .replace(/\[([^\]]+)\]\([^)]*\)/g, "$1")
    .replace(/\*\*|`/g, "");
}

function figures(result) {
  const sure =
    result.confidence === null || result.confidence === undefined
      ? null
      : h(
          "span",
          {class: "sure", title: "How likely this entry is relevant, calibrated on labelled queries; comparable between answers"},
          `${percent(result.confidence)} likely relevant`,
        );
  return h(
    "span",
    {class: "figures"},
    sure,
    h("span", {class: "score", title: "Score, relative to the best result of this answer"}, result.score.toFixed(2)),
  );
}

function where(result) {
  const server = result.kind === "tool" && result.path.includes("/") ? result.path.slice(0, result.path.lastIndexOf("/")) : null;
  const place = server ?? (result.path === result.name ? "" : result.path);
  if (!place && !result.anchor) return null;
  return h(
    "p",
    {class: "card-where"},
    server ? [h("span", {class: "quiet"}, "of "), h("a", {href: entryLink(`server:${server}`)}, server)] : place,
    result.anchor ? [place ? " › " : "", result.anchor] : null,
  );
}

function offers(result) {
  const tools = result.matching_tools ?? [];
  if (!tools.length) return null;
  const rest = tools.length - TOOLS_SHOWN;
  return h(
    "p",
    {class: "offers"},
    h("span", {class: "quiet"}, "with "),
    tools
      .slice(0, TOOLS_SHOWN)
      .map((tool, at) => [
        at ? ", " : "",
        h("a", {href: entryLink(`tool:${result.path}/${tool.name}`), title: tool.description}, tool.name),
      ]),
    rest > 0 ? h("span", {class: "quiet"}, ` and ${rest} more`) : null,
  );
}

function why(result, most) {
  const lanes = (result.evidence ?? []).map(one => {
    const [word, meaning] = LANES[one.lane] ?? [one.lane, one.lane];
    const share = most > 0 ? Math.max(0, one.contribution) / most : 0;
    const bar = h("span", {class: "lane-bar", "aria-hidden": "true"}, h("i"));
    bar.firstChild.style.inlineSize = `${Math.round(100 * share)}%`;
    const title = `${one.lane}: ${meaning}; score ${one.score}, contributes ${one.contribution}`;
    return h("span", {class: "lane", title}, word, one.rank ? h("span", {class: "quiet"}, ` #${one.rank}`) : null, bar);
  });
  const boosts = (result.boosts ?? []).map(boost =>
    h("span", {class: "lane"}, boost.reason, h("span", {class: "quiet"}, ` ×${boost.factor.toFixed(2)}`)),
  );
  return lanes.length + boosts.length ? h("div", {class: "why", "aria-label": "Why it is here", role: "group"}, lanes, boosts) : null;
}

function tags(names = []) {
  const rest = names.length - TAGS_SHOWN;
  return names.length
    ? h("div", {class: "tags"}, names.slice(0, TAGS_SHOWN).map(tag), rest > 0 ? h("span", {class: "quiet"}, `+${rest}`) : null)
    : null;
}

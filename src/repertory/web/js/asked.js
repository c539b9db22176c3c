// What is asked, and how does the address say it?
//
// The state of the search view as one frozen object; to and from the address; to the body of a request.

import {link} from "./router.js";
import {KINDS, PRESETS, STRATEGIES} from "./words.js";

export const PAGE = 20; // results at first, and with each "show more"; rule A08 allows 50
export const MOST = 50;
export const TOGGLES = {deprecated: "include_deprecated", draft: "include_draft", disabled: "include_disabled"};

export function fromAddress(values) {
  const limit = Number(values.get("limit")) || PAGE;
  return Object.freeze({
    q: values.get("q") ?? "",
    kind: values.getAll("kind").filter(one => one in KINDS),
    tag: [
      ...new Set(
        values
          .getAll("tag")
          .map(one => one.trim())
          .filter(Boolean),
      ),
    ],
    preset: values.get("preset") in PRESETS ? values.get("preset") : "",
    strategy: values.get("strategy") in STRATEGIES ? values.get("strategy") : "",
    deprecated: values.has("deprecated"),
    draft: values.has("draft"),
    disabled: values.has("disabled"),
    any: values.has("any"), // show what was found even where it seems to answer nothing
    limit: Math.min(MOST, Math.max(1, limit)),
  });
}

export const toAddress = state => link("", "", {...state, limit: state.limit === PAGE ? "" : state.limit});

export function toBody(state) {
  const body = {query: state.q.trim(), limit: state.limit, explain: true};
  if (state.kind.length) body.kinds = state.kind;
  if (state.tag.length) body.tags = state.tag;
  if (state.preset) body.preset = state.preset;
  if (state.strategy) body.strategy = state.strategy;
  if (state.any) body.min_confidence = 0;
  for (const [name, field] of Object.entries(TOGGLES)) if (state[name]) body[field] = true;
  return body;
}

/** Whether there is a question at all: words, a tag or a kind. Without one the view shows what the catalog holds. */
export const isAsking = state => Boolean(state.q.trim() || state.tag.length || state.kind.length);

/** Whether anything narrows the answer besides the words. */
export const isNarrowed = state => Boolean(state.kind.length || state.tag.length);

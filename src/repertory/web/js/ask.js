// How does a person ask?
//
// A conversation: each question with its answer while it comes, what it cites, and what was retrieved for it. It is kept until the page is
// left or somebody else signs in, and nowhere else: not in the address, not on the service.

import {api, Problem} from "./api.js";
import {answerText, place} from "./cited.js";
import {h, icon, show} from "./dom.js";
import {plainly} from "./result.js";
import {passageLink} from "./router.js";
import {notice, trouble} from "./states.js";
import {count, kind, percent, took} from "./words.js";

const KEPT = 6; // turns that are sent along: as many as the service reads
const LONGEST = 100_000; // characters of an earlier answer that the service takes
const STOPPED = "stopped";

let view = null; // kept between visits: a citation leads away, and one comes back

export function ask(container, route) {
  view ??= build();
  document.title = "Ask · Repertory";
  if (!view.root.isConnected) show(container, view.root);
  if (document.activeElement === document.body && matchMedia("(hover: hover)").matches) view.box.focus();
  const asked = route.values.get("q")?.trim();
  if (asked && !view.turns.length) view.put(asked);
}

/** For the keys: into the box, whatever view is open. */
export function focusQuestion() {
  if (!view?.root.isConnected) location.hash = "#/ask";
  requestAnimationFrame(() => view?.box.focus());
}

/** For the keys: stop the answer that is coming; false where none is. */
export const stopAnswer = () => Boolean(view?.root.isConnected && view.stop());

/** What one person may see, another may not. */
export function forgetConversation() {
  view?.clear();
  view = null;
}

function build() {
  const turns = [];
  let flight = null;
  const box = h("textarea", {
    id: "question",
    rows: "2",
    maxlength: "4096",
    "aria-label": "Your question",
    placeholder: "Ask about what is in the catalog",
    enterkeyhint: "send",
    onkeydown: event => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      submit();
    },
  });
  const button = h("button", {type: "submit"}, "Ask");
  const again = h("button", {type: "button", class: "plain-button", hidden: true, onclick: clear}, "New conversation");
  const status = h("p", {class: "unseen", role: "status", "aria-live": "polite"});
  const list = h("ol", {class: "turns", "aria-label": "Conversation"});
  const intro = h(
    "p",
    {class: "quiet"},
    "Answers come from the catalog and say where from: a number leads to its passage. What is not in it is not made up.",
  );
  const form = h(
    "form",
    {
      class: "ask-form",
      onsubmit: event => {
        event.preventDefault();
        if (!stop()) submit();
      },
    },
    box,
    h("div", {class: "actions"}, button, again),
  );
  const root = h("div", {class: "ask is-new"}, h("h1", {}, "Ask"), intro, list, form, status);

  /** Whether there was something to stop. */
  function stop() {
    flight?.abort(STOPPED);
    return Boolean(flight);
  }

  function submit() {
    const text = box.value.trim();
    if (!text || flight) return;
    box.value = "";
    put(text);
  }

  async function put(question) {
    flight = new AbortController();
    const turn = {question, text: "", passages: [], done: null, problem: null, stopped: false};
    const drawn = drawing(turn, () => retry(turn));
    turns.push(turn);
    list.append(drawn.element);
    root.classList.remove("is-new");
    again.hidden = false;
    show(button, "Stop");
    status.textContent = "Looking…";
    drawn.element.scrollIntoView({block: "start"});
    try {
      for await (const {event, data} of api.chat({question, turns: before(turn)}, flight.signal)) HEARD[event]?.(turn, data, drawn.draw);
      if (!turn.done && !turn.problem) turn.problem = new Problem(0, "cut", "The answer broke off.");
    } catch (error) {
      if (flight.signal.aborted) turn.stopped = true;
      else turn.problem = error instanceof Problem ? error : new Problem(0, "cut", "The answer broke off.");
    } finally {
      flight = null;
      drawn.draw();
      show(button, "Ask");
      status.textContent = summary(turn);
    }
  }

  /** The same question once more, in place of what failed. */
  function retry(turn) {
    if (flight) return;
    list.children[turns.indexOf(turn)].remove();
    turns.splice(turns.indexOf(turn), 1);
    put(turn.question);
  }

  const before = turn =>
    turns
      .filter(one => one !== turn && one.text && one.done)
      .slice(-KEPT)
      .map(one => ({question: one.question, answer: one.text.slice(0, LONGEST)}));

  function clear() {
    stop();
    turns.length = 0;
    show(list);
    again.hidden = true;
    root.classList.add("is-new");
    status.textContent = "";
    box.focus();
  }

  return {root, box, turns, put, stop, clear};
}

const HEARD = {
  retrieved: (turn, data, draw) => {
    turn.passages = data.passages;
    draw();
  },
  delta: (turn, data, draw) => {
    turn.text += data.text;
    draw();
  },
  done: (turn, data) => {
    turn.done = data;
  },
  problem: (turn, data) => {
    turn.problem = new Problem(-1, data.code, data.detail);
  },
};

/** One question with its answer; `draw` shows it as it is now, once for each picture of the screen. */
function drawing(turn, retry) {
  const answer = h("div", {class: "answer", "aria-busy": "true"});
  const found = h("details", {class: "retrieved", hidden: true, open: true});
  const element = h("li", {class: "turn"}, h("h2", {class: "question"}, turn.question), answer, found);
  let waiting = false;
  const now = () => {
    waiting = false;
    const over = Boolean(turn.done || turn.problem || turn.stopped);
    answer.setAttribute("aria-busy", String(!over));
    show(answer, over ? ended(turn, retry) : turn.text ? answerText(turn.text, turn.passages) : h("p", {class: "thinking"}, "Looking…"));
    if (!turn.passages.length || (!found.hidden && !over)) return; // what somebody opened stays open
    found.hidden = false;
    if (turn.done?.state === "passages") found.open = false; // they are all there is to read already
    show(found, retrieved(turn));
  };
  now();
  return {
    element,
    draw: () => {
      if (!waiting) requestAnimationFrame(now);
      waiting = true;
    },
  };
}

const STATES = {
  answered: turn => answerText(turn.text, turn.passages),
  small_talk: turn => answerText(turn.text, turn.passages),
  passages: turn => [
    turn.done.diagnostics.some(one => one.code.startsWith("chat_"))
      ? null
      : h("p", {class: "quiet"}, "No model is configured: these passages are nearest to the question."),
    answerText(turn.text, turn.passages),
  ],
  abstained: turn =>
    notice(
      "nothing",
      "Not in the documents",
      h("p", {}, "Nothing in the catalog seems to answer this, so nothing was made up."),
      turn.done.nearest.length
        ? [
            h("h3", {}, "The nearest topics"),
            h(
              "ul",
              {class: "plain"},
              turn.done.nearest.map(one => h("li", {}, h("a", {href: passageLink(one)}, icon(kind(one.kind).icon), place(one)))),
            ),
          ]
        : null,
    ),
};

function ended(turn, retry) {
  const said = turn.text && !turn.done ? answerText(turn.text, turn.passages) : null;
  if (turn.problem) return [said, trouble(turn.problem, retry)];
  if (turn.stopped)
    return [said, h("p", {class: "remark"}, "Stopped. ", h("button", {type: "button", class: "plain-button", onclick: retry}, "Ask again"))];
  return [STATES[turn.done.state](turn), remarks(turn.done)];
}

const TOLD_OTHERWISE = new Set(["abstained", "uncited"]);

function remarks(done) {
  const said = done.diagnostics.filter(one => !TOLD_OTHERWISE.has(one.code)).map(one => one.message);
  if (done.state === "answered" && !done.cited) said.unshift("This answer cites nothing: it may not be from the documents.");
  return said.map(text => h("p", {class: "remark"}, icon("warning"), text));
}

function retrieved(turn) {
  const cited = new Set(turn.done?.citations.map(one => one.number));
  const used = turn.done?.state === "answered" ? `, ${cited.size} cited` : "";
  return [
    h("summary", {}, `Retrieved: ${count(turn.passages.length, "passage")}${used}`),
    h(
      "ol",
      {class: "sources", "aria-label": "Retrieved passages"},
      turn.passages.map(one =>
        h(
          "li",
          {class: cited.has(one.number) ? "is-cited" : null},
          h("span", {class: "cite-number", "aria-hidden": "true"}, one.number),
          h(
            "div",
            {},
            h("a", {href: passageLink(one)}, place(one)),
            h("p", {class: "quiet"}, one.path, one.confidence === null ? null : ` · ${percent(one.confidence)} likely relevant`),
            h("p", {class: "source-text"}, plainly(one)),
          ),
        ),
      ),
    ),
    turn.done
      ? h("p", {class: "fine"}, [turn.done.model, turn.done.search_mode, took(turn.done.took_ms)].filter(Boolean).join(" · "))
      : null,
  ];
}

function summary(turn) {
  if (turn.problem) return "";
  if (turn.stopped) return "Stopped.";
  if (turn.done.state === "abstained") return "Not in the documents.";
  return `Answered, with ${count(turn.done.citations.length, "source")}.`;
}

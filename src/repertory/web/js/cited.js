// How does an answer say where it comes from?
//
// The text of a model is shown as Markdown, like any other text of strangers. [1] becomes a link to the passage where there is one of that
// number; addresses become text, because a model can be talked into any.

import {h} from "./dom.js";
import {markdown} from "./markdown.js";
import {passageLink} from "./router.js";

const CITED = /\[(\d{1,3})\]/g;

/** A text as elements, with its citations as links. */
export function answerText(text, passages) {
  const body = h("div", {class: "prose answer-text"}, markdown(text, 3));
  for (const link of body.querySelectorAll("a")) {
    const [words, address] = [link.textContent, link.target ? link.getAttribute("href") : ""]; // one that leads elsewhere has a target
    link.replaceWith(address && address.replace(/\/$/, "") !== words.replace(/\/$/, "") ? `${words} (${address})` : words);
  }
  body.normalize();
  const walker = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) if (!walker.currentNode.parentElement.closest("code")) texts.push(walker.currentNode);
  for (const node of texts) cite(node, passages);
  return body;
}

/** Where a passage stands, in words. */
export const place = ({name, anchor}) => (!anchor ? name : anchor.startsWith(name) ? anchor : `${name} › ${anchor}`).replaceAll(" > ", " › ");

function cite(node, passages) {
  const made = [];
  let from = 0;
  for (const found of node.data.matchAll(CITED)) {
    const passage = passages[Number(found[1]) - 1];
    if (!passage) continue;
    const label = `Source ${passage.number}: ${place(passage)}`;
    made.push(
      node.data.slice(from, found.index),
      h("a", {class: "cite", href: passageLink(passage), "aria-label": label, title: label}, passage.number),
    );
    from = found.index + found[0].length;
  }
  if (made.length) node.replaceWith(...made.filter(one => one !== ""), node.data.slice(from));
}

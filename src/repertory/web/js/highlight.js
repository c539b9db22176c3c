// Which words of a text did the query ask for?

import {h} from "./dom.js";

const WORD = /[\p{L}\p{N}_]+/gu;
const ENDING = /(?:ations?|ings?|ies|ed|es|ly|s|e|y)$/;

/** The text in pieces, with the matched words marked. `matched` is what `explain` answers: the query's words by field. */
export function highlight(text, matched) {
  const words = [...new Set(Object.values(matched ?? {}).flat())];
  if (!words.length) return [text];
  const roots = words.map(root);
  const pieces = [];
  let from = 0;
  for (const found of text.matchAll(WORD)) {
    const parts = fold(found[0]).split("_");
    if (!parts.some(part => roots.some(one => alike(part, one)))) continue;
    pieces.push(text.slice(from, found.index), h("mark", {}, found[0]));
    from = found.index + found[0].length;
  }
  pieces.push(text.slice(from));
  return pieces;
}

// The service matches stems; which ones, it does not say. Cutting the usual endings finds the same words in nearly every sentence.
const root = word => {
  const folded = fold(word);
  const cut = folded.replace(ENDING, "");
  return cut.length >= 3 ? cut : folded;
};
const alike = (word, one) => word === one || (one.length >= 3 && word.startsWith(one) && word.length <= one.length + 5);
const fold = word => word.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

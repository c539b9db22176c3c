// How are figures drawn?

import {h, s} from "./dom.js";
import {figure} from "./words.js";

/** Bars, longest first unless told otherwise: [{label, value, href}]. The figures stand beside them, so nothing is told by length alone. */
export function bars(title, rows, {sorted = true, most = 12} = {}) {
  const given = (sorted ? [...rows].sort((one, other) => other.value - one.value) : rows).filter(row => row.value).slice(0, most);
  if (!given.length) return null;
  const longest = Math.max(...given.map(row => row.value));
  return h(
    "figure",
    {class: "chart"},
    h("figcaption", {}, title),
    h(
      "ul",
      {},
      given.map(row =>
        h(
          "li",
          {},
          h("span", {class: "chart-label"}, row.href ? h("a", {href: row.href}, row.label) : row.label),
          s(
            "svg",
            {class: "chart-bar", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true"},
            s("rect", {x: 0, y: 0, width: Math.max(0.8, (100 * row.value) / longest), height: 8, rx: 1}),
          ),
          h("span", {class: "chart-value"}, figure(row.value)),
        ),
      ),
    ),
  );
}

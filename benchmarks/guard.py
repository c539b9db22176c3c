"""How much poison does the guard find, how many honest tools does it hold back, and how long does it take?

python -m benchmarks.guard poisoned_tools.json              a labelled file: entries with label, category, server, tool, peers
python -m benchmarks.guard poisoned_tools.json --honest DIR ... besides, sets of real tools (see docs/evaluation.md): nothing may be blocked
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from repertory.evaluate import sets
from repertory.guard.company import Company, look_of, named_in
from repertory.guard.inspect import inspect, worst_first
from repertory.model import Entity, Finding, Kind, Level


def entity(server: str, tool: dict[str, Any]) -> Entity:
    """A tool of a labelled file."""
    details = {"server": server, "input_schema": tool.get("inputSchema") or {}, "output_schema": tool.get("outputSchema") or {}}
    return Entity(Kind.TOOL, f"{server}/{tool['name']}", tool["name"], tool.get("description", ""), details=details)


def findings(entry: dict[str, Any]) -> tuple[Finding, ...]:
    """What the guard says of a labelled entry among its peers."""
    looked_at = entity(entry["server"], entry["tool"])
    company = Company()
    company.meet(look_of(entity(peer["server"], peer["tool"])) for peer in entry.get("peers", ()))
    return worst_first([*inspect(looked_at), *company.check(look_of(looked_at), named_in(looked_at))])


def labelled(file: Path) -> None:
    """Flagged is a warning or more; blocked is held back."""
    rows: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    wrong = []
    for entry in json.loads(file.read_text("utf-8"))["entries"]:
        found = findings(entry)
        level = found[0].level if found else Level.NOTE
        for key in ((entry["label"], entry["category"]), (entry["label"], "all")):
            rows[key].update(entries=1, flagged=level is not Level.NOTE, blocked=level is Level.BLOCK)
        if (entry["label"] == "malicious") == (level is Level.NOTE) and (entry["label"] == "malicious" or level is Level.BLOCK):
            wrong.append(entry["id"])
    print(f"{'label':<10} {'category':<22} {'entries':>7} {'flagged':>8} {'blocked':>8}")
    for (label, category), row in sorted(rows.items(), key=lambda pair: (pair[0][0], pair[0][1] == "all", pair[0][1])):
        shares = "".join(f" {row[name] / row['entries']:>8.1%}" for name in ("flagged", "blocked"))
        print(f"{label:<10} {category:<22} {row['entries']:>7}{shares}")
    print("missed or wrongly blocked:", ", ".join(wrong) or "none")


def honest(folders: Iterable[Path]) -> None:
    """Real tools, agents, skills and servers: whoever is blocked is lost."""
    levels: Counter[Level] = Counter()
    seen: set[str] = set()
    blocked: list[str] = []
    took = 0.0
    for folder in folders:
        for path in sets.find(folder):
            for one in sets.load(path).entities:
                text = json.dumps([one.name, one.description, dict(one.details)], default=str, sort_keys=True)
                if one.kind is Kind.DOCUMENT or text in seen:
                    continue
                seen.add(text)
                started = time.process_time()
                found = inspect(one)
                took += time.process_time() - started
                if found:
                    levels[found[0].level] += 1
                    blocked += [one.id] if found[0].level is Level.BLOCK else []
    counts = ", ".join(f"{levels[level]} {level}" for level in reversed(Level))
    print(f"\n{len(seen)} different honest entries: {counts}; {took / max(1, len(seen)) * 10_000:.2f} s of CPU for 10,000")
    if blocked:
        print("blocked:", ", ".join(blocked))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--honest", type=Path, nargs="+", default=[])
    asked = parser.parse_args()
    labelled(asked.file)
    if asked.honest:
        honest(asked.honest)


if __name__ == "__main__":
    main()

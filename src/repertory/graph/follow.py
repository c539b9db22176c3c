"""What is near the chosen entries, and what comes next?

Pure functions over the edges of a window (E02): nothing from outside the window is ever answered, and nothing that is chosen already. What
nearly everything in the window shares says little, so a shared node weighs less the more of the window leads to it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from repertory.graph.derive import CATEGORY, MAY_USE, NAMED, NEEDS, ON_SERVER, PRODUCES, VALUE, WORD, is_node
from repertory.graph.names import VERBS, Step, step_of
from repertory.model import Edge, Kind
from repertory.text.tokens import stem

LINKED = 2.0  # somebody said so
FEEDING = 1.5  # one gives what the other needs
GROUPED = 1.0  # one category or server, if the window has others
WORDED = 0.5  # each word
RARE = 4  # a word is rare when at most one in so many of the window has it

_STEP_WORDS = frozenset(WORD + stem(verb) for verb in VERBS)  # that two tools list something does not relate them
_TOOL = f"{Kind.TOOL.prefix}:"
PART_OF = "part_of"


@dataclass(frozen=True, slots=True)
class Relation:
    """Why an entry of the window is worth a look."""

    entity_id: str
    reason: str
    weight: float
    chosen: str  # which of the chosen entries it belongs to


def related(chosen: Sequence[str], window: Sequence[str], edges: Iterable[Edge], limit: int) -> list[Relation]:
    """Entries of the window that are connected with chosen ones, the closest first."""
    meetings = _meetings(chosen, window, edges)
    found = [*_links(chosen, meetings), *_givers(chosen, meetings), *_shares(chosen, meetings)]
    return _best(found, chosen, window, limit)


def next_steps(chosen: Sequence[str], window: Sequence[str], edges: Iterable[Edge], limit: int) -> list[Relation]:
    """Tools of the window to use after the chosen ones: what they feed first, then the next step on the same things (E03)."""
    meetings = _meetings(chosen, window, edges)
    first = _best(_takers(chosen, meetings), chosen, window, limit)
    fed = {one.entity_id for one in first}
    return first + _best(
        (step for step in _steps(_shares(chosen, meetings)) if step.entity_id not in fed), chosen, window, limit - len(first)
    )


@dataclass(frozen=True, slots=True)
class _Meetings:
    size: int  # of the window, with what is chosen
    links: Sequence[Edge]  # between its entities
    owners: Mapping[str, Mapping[str, frozenset[str]]]  # of each node: the entities that lead to it, each with its relations

    def rarity(self, node: str) -> float:
        return 1 / math.log2(1 + len(self.owners[node]))


def _meetings(chosen: Sequence[str], window: Sequence[str], edges: Iterable[Edge]) -> _Meetings:
    inside = {*chosen, *window}
    links: dict[Edge, None] = {}
    owners: dict[str, dict[str, frozenset[str]]] = defaultdict(dict)
    for edge in edges:
        if edge.origin not in inside:
            continue
        if edge.target in inside:
            links[edge] = None
        if is_node(edge.target) or edge.relation == PART_OF:
            owners[edge.target][edge.origin] = owners[edge.target].get(edge.origin, frozenset()) | {edge.relation}
    for node in owners:
        for skill in _with(owners[node], MAY_USE):
            links.update((Edge(skill, MAY_USE, tool), None) for tool in _with(owners[node], NAMED))
    return _Meetings(len(inside), sorted(links), owners)


def _with(owners: Mapping[str, frozenset[str]], relation: str) -> list[str]:
    return [entity_id for entity_id, relations in owners.items() if relation in relations]


# What connects two entries


def _links(chosen: Sequence[str], meetings: _Meetings) -> Iterable[Relation]:
    """One for each pair, also where both sides declare it."""
    picked = set(chosen)
    found: dict[tuple[str, str], Relation] = {}
    for origin, relation, target in meetings.links:
        words = relation.replace("_", " ")
        if origin in picked:
            found.setdefault((target, origin), Relation(target, f"{_name(origin)}: {words}", LINKED, origin))
        if target in picked:
            found[origin, target] = Relation(origin, f"{words} {_name(target)}", LINKED, target)
    return found.values()


def _takers(chosen: Sequence[str], meetings: _Meetings) -> Iterator[Relation]:
    return _flow(chosen, meetings, PRODUCES, NEEDS, "needs")


def _givers(chosen: Sequence[str], meetings: _Meetings) -> Iterator[Relation]:
    return _flow(chosen, meetings, NEEDS, PRODUCES, "gives")


def _flow(chosen: Sequence[str], meetings: _Meetings, mine: str, theirs: str, word: str) -> Iterator[Relation]:
    picked = set(chosen)
    for node, owners in meetings.owners.items():
        if node.startswith(VALUE):
            ours = [entity_id for entity_id in _with(owners, mine) if entity_id in picked]
            others = _with(owners, theirs)
            weight = FEEDING * meetings.rarity(node)
            yield from (Relation(other, f"{word} {node.removeprefix(VALUE)}", weight, one) for one in ours for other in others)


def _shares(chosen: Sequence[str], meetings: _Meetings) -> Iterable[Relation]:
    """Categories, servers and rare words that a chosen entry has in common with another."""
    picked = set(chosen)
    found: dict[tuple[str, str, str], Relation] = {}  # one server may be shared by its entry and by its name
    for node, owners in meetings.owners.items():
        about = _SHARED.get(node.partition(":")[0])
        if about is None or len(owners) < 2 or node in _STEP_WORDS or (node.startswith(WORD) and not _is_rare(node, meetings)):
            continue
        reason, weight = about(node, owners), (WORDED if node.startswith(WORD) else GROUPED) * meetings.rarity(node)
        for one in picked & owners.keys():
            found.update({(one, other, reason): Relation(other, reason, weight, one) for other in owners if other != one})
    return found.values()


def _is_rare(node: str, meetings: _Meetings) -> bool:
    return len(meetings.owners[node]) <= max(2, meetings.size // RARE)


def _category(node: str, owners: Mapping[str, frozenset[str]]) -> str:
    declared = any(ON_SERVER not in relations for relations in owners.values())
    return f"same category {node.removeprefix(CATEGORY)}" if declared else "same server"


_SHARED: dict[str, Callable[[str, Mapping[str, frozenset[str]]], str]] = {
    WORD.rstrip(":"): lambda node, _: f'both about "{node.removeprefix(WORD)}"',
    CATEGORY.rstrip(":"): _category,
    Kind.MCP_SERVER.prefix: lambda *_: "same server",
}


def _steps(shares: Iterable[Relation]) -> Iterator[Relation]:
    """Of what has something in common, the tools whose verb is of a later step."""
    steps: dict[str, Step | None] = {}
    for share in shares:
        before, after = (steps.setdefault(one, _step(one)) for one in (share.chosen, share.entity_id))
        if before is not None and after is not None and after > before:
            reason = f"{after.name.lower()} after {before.name.lower()}"
            yield Relation(share.entity_id, reason, share.weight / (after - before), share.chosen)


def _step(entity_id: str) -> Step | None:
    return step_of(_name(entity_id)) if entity_id.startswith(_TOOL) else None


def _name(entity_id: str) -> str:
    return entity_id.partition(":")[2].rpartition("/")[2]


def _best(found: Iterable[Relation], chosen: Sequence[str], window: Sequence[str], limit: int) -> list[Relation]:
    """One line for each entry: the sum of what connects it with its closest chosen entry, and the strongest reason."""
    place = {entity_id: position for position, entity_id in reversed([*enumerate(window)])}
    order = {entity_id: position for position, entity_id in reversed([*enumerate(chosen)])}
    pairs: dict[tuple[str, str], list[Relation]] = defaultdict(list)
    for one in found:
        if one.entity_id in place and one.entity_id not in order:
            pairs[one.entity_id, one.chosen].append(one)
    best: dict[str, Relation] = {}
    for (entity_id, near), several in sorted(pairs.items(), key=lambda item: order[item[0][1]]):
        strongest = min(several, key=lambda one: (-one.weight, one.reason))
        weight = round(math.fsum(one.weight for one in several), 6)
        if entity_id not in best or weight > best[entity_id].weight:
            best[entity_id] = Relation(entity_id, strongest.reason, weight, near)
    return sorted(best.values(), key=lambda one: (-one.weight, place[one.entity_id]))[: max(0, limit)]

"""How is the graph read?

Whatever a principal may not see is in no answer: neither end of an edge, nor the file that states it. Nodes are nobody's, but only what
leads to them from a visible entity is told. Who sees what is decided here, once the rows are there: as a condition of the statements it
makes SQLite start from every visible entity, up to a thousand times slower.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, not_, or_, select

from repertory.graph.derive import NODES, OFFERING, PAIRS, WORD, is_node
from repertory.model import Edge
from repertory.store.rows import chunks
from repertory.store.schema import edges, entities, statements

_EDGES = select(edges.c.origin, edges.c.relation, edges.c.target).where(edges.c.relation != OFFERING)
_STATEMENTS = select(statements.c.origin, statements.c.relation, statements.c.target, statements.c.owner)


def around(connection: Connection, visible: Sequence[str], ids: Sequence[str], pairs: Sequence[str] = ()) -> list[Edge]:
    """The edges out of and into these entities, to nodes too, with these of the `PAIRS` that meet in a node."""
    outward = [Edge(*row) for row in _among(connection, _EDGES, edges.c.origin, ids)]
    inward = [Edge(*row) for row in _among(connection, _EDGES, edges.c.target, ids)]
    ends = (statements.c.origin, statements.c.target)
    stated = [row for end in ends for row in _among(connection, _STATEMENTS, end, ids)]
    meeting = _meeting(connection, outward, pairs)
    named = chain(outward, inward, meeting)
    seen = _seen(connection, visible, {end for row in chain(named, stated) for end in (row[0], *row[2:]) if not is_node(end)})
    found = _admitted(chain(outward, inward), stated, seen)
    return sorted({*found, *_met((edge for edge in meeting if edge.origin in seen), pairs, set(ids))})


def everywhere(connection: Connection, visible: Sequence[str], nodes: bool, limit: int) -> list[Edge]:
    """The edges of the whole catalog: to the nodes where these are wanted, else with the `PAIRS` that meet in them."""
    seen = set(connection.execute(select(entities.c.id).where(entities.c.bucket.in_(visible))).scalars())
    wanted = _EDGES if nodes else _EDGES.where(not_(or_(*map(_under, NODES))))
    declared = (Edge(*row) for row in connection.execute(wanted.order_by(edges.c.origin, edges.c.target)))
    stated = connection.execute(_STATEMENTS.order_by(statements.c.owner))
    found: Iterator[Edge] = _admitted(declared, stated, seen)
    if not nodes:
        relations = {relation for pair in PAIRS.values() for relation in pair}
        meeting = connection.execute(_EDGES.where(edges.c.relation.in_(relations)).order_by(edges.c.target, edges.c.origin))
        found = chain(found, _met((Edge(*row) for row in meeting if row.origin in seen), tuple(PAIRS)))
    kept: set[Edge] = set()
    for edge in found:  # one by one: what meets in a popular node could be millions
        kept.add(edge)
        if len(kept) == limit:
            break
    return sorted(kept)


def owners(connection: Connection, visible: Sequence[str], nodes: Sequence[str], tags: frozenset[str]) -> list[Edge]:
    """Which visible entities lead to these nodes, in a stable order."""
    found = [Edge(*row) for row in _among(connection, _EDGES, edges.c.target, nodes)]
    seen = _seen(connection, visible, {edge.origin for edge in found})
    if tags:
        rows = _among(connection, select(entities.c.id, entities.c.data), entities.c.id, sorted(seen))
        seen = {row.id for row in rows if tags <= set(json.loads(row.data)["tags"])}
    return sorted(edge for edge in found if edge.origin in seen)


def words(connection: Connection) -> list[str]:
    """Every word that some entity leads to."""
    found = connection.execute(select(edges.c.target).where(_under(WORD)).distinct().order_by(edges.c.target)).scalars()
    return [target.removeprefix(WORD) for target in found]


def _admitted(declared: Iterable[Edge], stated: Iterable[Any], seen: Collection[str]) -> Iterator[Edge]:
    for edge in declared:
        if edge.origin in seen and (edge.target in seen or is_node(edge.target)):
            yield edge
    for origin, relation, target, owner in stated:
        if origin in seen and target in seen and owner in seen:
            yield Edge(origin, relation, target)


def _meeting(connection: Connection, outward: Iterable[Edge], pairs: Sequence[str]) -> list[Edge]:
    """Everything that leads to the nodes in which these edges can meet others."""
    relations = {relation for pair in pairs for relation in PAIRS[pair]}
    nodes = sorted({edge.target for edge in outward if edge.relation in relations})
    return [Edge(*row) for row in _among(connection, _EDGES, edges.c.target, nodes) if row.relation in relations]


def _met(meeting: Iterable[Edge], pairs: Sequence[str], near: Collection[str] | None = None) -> Iterator[Edge]:
    """Two edges that meet in a node, as one; with `near`, only those that touch it."""
    by_node: dict[tuple[str, str], list[str]] = defaultdict(list)
    for origin, relation, node in meeting:
        by_node[node, relation].append(origin)
    for pair in pairs:
        outward, inward = PAIRS[pair]
        for node, relation in list(by_node):
            if relation == outward:
                for origin in by_node[node, outward]:
                    for target in by_node.get((node, inward), ()):
                        if origin != target and (near is None or origin in near or target in near):
                            yield Edge(origin, pair, target)


def _seen(connection: Connection, visible: Sequence[str], ids: Collection[str]) -> set[str]:
    """Which of these ids are of visible entities."""
    rows = _among(connection, select(entities.c.id, entities.c.bucket), entities.c.id, sorted(ids))
    return {row.id for row in rows if row.bucket in visible}


def _among(connection: Connection, wanted: Select[Any], column: ColumnElement[str], values: Sequence[str]) -> list[Any]:
    return [row for chunk in chunks(values) for row in connection.execute(wanted.where(column.in_(chunk)))]


def _under(prefix: str) -> ColumnElement[bool]:
    """A range rather than LIKE, so that the index serves."""
    return and_(edges.c.target >= prefix, edges.c.target <= f"{prefix}\U0010ffff")

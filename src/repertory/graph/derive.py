"""Which edges does one entity have?

Every edge is owned by one entity and follows from that entity alone: the graph is written with the entry, is replaced with it, and leaves
with it (E03). Two entities that declare nothing of each other meet in *nodes* that are no entities: a capability word, a category, a value
that one tool gives and another needs, a spelling by which tools are called.

    word:parcel        about (name, title), tagged, offers (its tools or skills), mentions (headings)
    category:shipping  in_category, or on_server where only the server of a tool says where it belongs
    value:order_id     produces (output schema), needs (a required argument)
    name:trackparcel   named (tools, servers), may_use (`allowed-tools` of a skill)

Descriptions give no edges: nearly every one shares a word with nearly every other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any

from repertory.graph.names import noun_of, parts, singular
from repertory.model import Edge, Entity, Kind, Link, is_guarded, offers_of, tool_of
from repertory.text.fold import fold
from repertory.text.tokens import STOPWORDS, WHOLE, compact, stem, tokens

WORD, CATEGORY, VALUE, NAME = "word:", "category:", "value:", "name:"
NODES = (WORD, CATEGORY, VALUE, NAME)  # none of them opens an entity's id

ABOUT, TAGGED, OFFERS, MENTIONS = "about", "tagged", "offers", "mentions"
IN_CATEGORY, ON_SERVER = "in_category", "on_server"
PRODUCES, NEEDS = "produces", "needs"
NAMED, MAY_USE = "named", "may_use"
FEEDS = "feeds"
OFFERING = "_offering"  # told to nobody: from a server to a tool that it offers, where no other edge says so
OFFERED = ("has_tool", "composes", OFFERING)  # how a server leads to the tools that it offers
# Two edges that meet in a node and together are one between entities: what that one is called.
PAIRS = {MAY_USE: (MAY_USE, NAMED), FEEDS: (PRODUCES, NEEDS)}

MAX_WORDS = 24  # of one entity: a server of a hundred tools is still about something
MAX_CATEGORIES = 3
MAX_VALUES = 8  # each way; schemas beyond that list settings, not things
MAX_NAMES = 100  # `allowed-tools` of one skill
MAX_LEVELS = 4  # {orders: [{id}]} has three
MAX_NODE = 80  # characters; longer is prose

_QUALIFIED = frozenset("id ids uuid guid key name number no code slug ref reference path url uri token email address handle".split())
_GENERAL = frozenset(
    """
    query q limit offset page cursor next_cursor page_size per_page page_token next_page_token count total size text content body message
    description title type kind status state format language locale result results item items data value values error errors success ok
    response output input options filter filters sort order order_by fields created_at updated_at date time timestamp start end from to
    include exclude verbose timeout args arguments params metadata tags label labels note notes comment reason mode version
    """.split()
)


def derive(entity: Entity) -> tuple[Link, ...]:
    """The edges to nodes of one entity, each once; what it declares itself (`entity.links`) is not among them."""
    return tuple(dict.fromkeys((*_words(entity), *_categories(entity), *_OF_KIND.get(entity.kind, _none)(entity))))


def owned(entity: Entity) -> tuple[Link, ...]:
    """Every edge that an entity owns, each once: those that it declares, and those that follow from it."""
    return tuple(dict.fromkeys((*declared(entity), *derive(entity))))


def statements(entity: Entity) -> tuple[Edge, ...]:
    """The edges between entries that a Markdown-LD file states."""
    stated = entity.details.get("statements")
    if not isinstance(stated, list | tuple):
        return ()
    found = (Edge(*map(str, one)) for one in stated if isinstance(one, list | tuple) and len(one) == 3)
    return tuple(dict.fromkeys(edge for edge in found if edge.origin != edge.target))


def declared(entity: Entity) -> tuple[Link, ...]:
    """The links of an entry. A server's to a tool that not everybody sees in it is told to nobody: an edge has no audience of its own."""
    offers = {tool_of(entity, offer): is_guarded(entity, offer) for offer in offers_of(entity)}
    told = [link for link in entity.links if link.relation not in OFFERED or not offers.get(link.target)]
    linked = {link.target for link in told if link.relation in OFFERED}
    return (*told, *(Link(tool, OFFERING) for tool in offers if tool not in linked))


def is_node(target: str) -> bool:
    """Whether an edge leads to a node rather than to an entity."""
    return target.startswith(NODES)


# Words


def _words(entity: Entity) -> Iterator[Link]:
    """Each word by the strongest relation it has."""
    found: dict[str, str] = {}
    details = entity.details
    texts = (
        (ABOUT, (entity.name, details.get("title"))),
        (TAGGED, entity.tags),
        (OFFERS, _offered(entity)),
        (MENTIONS, _headings(details)),
    )
    for relation, several in texts:
        for text in several:
            if text and isinstance(text, str):
                for word in capability_words(text):
                    found.setdefault(word, relation)
            if len(found) >= MAX_WORDS:
                break
    return (Link(WORD + word, relation) for word, relation in islice(found.items(), MAX_WORDS))


def capability_words(text: str) -> list[str]:
    """The stems that say what something is for: no stopwords, no numbers, no identifiers beside their parts."""
    return [
        stem(token) for token, form in tokens(text) if form != WHOLE and len(token) > 1 and token not in STOPWORDS and not token.isnumeric()
    ]


def _offered(entity: Entity) -> Iterator[str]:
    """Of its tools only those that everybody sees who sees the entry: a node has no audience of its own (A18)."""
    yield from (str(offer.get("name", "")) for offer in offers_of(entity) if not is_guarded(entity, offer))
    skills = entity.details.get("skills")
    if isinstance(skills, list | tuple):
        yield from (str(skill.get("name", "")) for skill in skills if isinstance(skill, Mapping))


def _headings(details: Mapping[str, Any]) -> Iterator[str]:
    sections = details.get("sections")
    if isinstance(sections, list | tuple):
        yield from dict.fromkeys(section["path"][-1] for section in sections if isinstance(section, Mapping) and section.get("path"))


# Categories


def _categories(entity: Entity) -> Iterator[Link]:
    """E11: what the entry calls its category or domain; else the server of a tool, and a server itself; else its first tags."""
    declared = [
        label
        for about in (entity.metadata, entity.details)
        for key in ("category", "categories", "domain")
        for label in _labels(about.get(key))
    ]
    if declared:
        return (Link(CATEGORY + label, IN_CATEGORY) for label in declared[:MAX_CATEGORIES])
    servers = (Kind.MCP_SERVER, Kind.VIRTUAL_SERVER)
    server = entity.name if entity.kind in servers else entity.details.get("server") if entity.kind is Kind.TOOL else None
    if server:
        return (Link(CATEGORY + label, ON_SERVER) for label in _labels(server))
    return (Link(CATEGORY + label, IN_CATEGORY) for tag in entity.tags[:MAX_CATEGORIES] for label in _labels(tag))


def _labels(value: Any) -> Iterator[str]:
    """A label, or several, as one word each: "Office Tools" is "office-tools"."""
    for one in value if isinstance(value, list | tuple) else (value,):
        label = "-".join(fold(one).split()) if isinstance(one, str) else ""
        if label:
            yield label[:MAX_NODE]


# Tools, servers, skills


def _tool(entity: Entity) -> Iterator[Link]:
    if spelling := compact(entity.name):
        yield Link(NAME + spelling, NAMED)
        yield Link(NAME + _spelling(str(entity.details.get("server") or "")) + spelling, NAMED)
    about = noun_of(entity.name)
    needed = dict.fromkeys(_required(entity.details.get("input_schema"), about))
    yield from (Link(VALUE + value, NEEDS) for value in islice(needed, MAX_VALUES))
    produced = dict.fromkeys(value for value in _produced(entity.details.get("output_schema"), about) if value not in needed)  # no echoes
    yield from (Link(VALUE + value, PRODUCES) for value in islice(produced, MAX_VALUES))


def _server(entity: Entity) -> Iterator[Link]:
    if spelling := compact(entity.name):
        yield Link(NAME + spelling, NAMED)


def _skill(entity: Entity) -> Iterator[Link]:
    allowed = entity.details.get("allowed_tools")
    for written in allowed[:MAX_NAMES] if isinstance(allowed, list | tuple) else ():
        # "mcp__github__create_issue" is github/create_issue to Claude Code, "mcp__github__*" all of github, "Bash(git:*)" some of Bash
        if spelling := compact(str(written).partition("(")[0].removeprefix("mcp__")):
            yield Link(NAME + spelling, MAY_USE)


_spelling = lru_cache(maxsize=4096)(compact)  # the server's is the same for all its tools


def _none(_: Entity) -> Iterator[Link]:
    return iter(())


_OF_KIND: dict[Kind, Callable[[Entity], Iterator[Link]]] = {
    Kind.TOOL: _tool,
    Kind.MCP_SERVER: _server,
    Kind.VIRTUAL_SERVER: _server,
    Kind.SKILL: _skill,
}


# Values


def _required(schema: Any, about: str) -> Iterator[str]:
    required = schema.get("required") if isinstance(schema, Mapping) else None
    if isinstance(required, list | tuple):
        yield from _values(required, about)


def _produced(schema: Any, about: str) -> Iterator[str]:
    """The names of all properties, the outermost first: what lies in `orders` is about an order."""
    level = [(schema, about)]
    for _ in range(MAX_LEVELS):
        below: list[tuple[Any, str]] = []
        for one, noun in level:
            if not isinstance(one, Mapping):
                continue
            properties = one.get("properties")
            if isinstance(properties, Mapping):
                yield from _values(properties, noun)
                below += ((inner, _inside(str(name), noun)) for name, inner in properties.items())
            below.append((one.get("items"), noun))
        level = below


def _inside(name: str, about: str) -> str:
    """ "results" and "items" are still about what the tool is about."""
    written = "_".join(parts(name))
    return about if written in _GENERAL else singular(written)


def _values(names: Iterable[Any], about: str) -> Iterator[str]:
    for name in names:
        if isinstance(name, str) and (value := value_name(name, about)):
            yield value


@lru_cache(maxsize=65536)  # schemas repeat themselves
def value_name(name: str, about: str) -> str:
    """A property as the value it carries: the `id` of an order is an "order_id"; empty where it is too general to mean anything."""
    written = "_".join(parts(name))
    if written in _GENERAL or len(written) > MAX_NODE:
        return ""
    value = singular(written)
    return value if written not in _QUALIFIED else f"{about}_{value}" if about else ""

"""Which tables hold the truth?

Documents are immutable: a changed document gets a new number, so whoever holds a number never sees two texts behind it. Numbers come from a
counter and are never used twice. Texts are compared by their code points, whatever language a database was made for: as SQLite does it.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Float, Index, Integer, LargeBinary, MetaData, String, Table, Text

FORMAT = 7  # raise it with a migration (see `migrate`): a catalog of another format is refused, not guessed at

_STRING = String().with_variant(String(collation="C"), "postgresql")
_TEXT = Text().with_variant(Text(collation="C"), "postgresql")

metadata = MetaData()

facts = Table(  # format, counters, which model answers
    "facts",
    metadata,
    Column("name", _STRING, primary_key=True),
    Column("value", _STRING, nullable=False),
)

sources = Table(
    "sources",
    metadata,
    Column("name", _STRING, primary_key=True),
    Column("location", _TEXT, nullable=False, unique=True),
    Column("live", Boolean, nullable=False, server_default="0"),  # a running server, asked again from time to time
    Column("state", _STRING, nullable=False, server_default="new"),  # new, ok, broken
    Column("error", _TEXT, nullable=False, server_default=""),  # why it is broken
    Column("attempted", _STRING),  # when it was last read, and when that last went well: ISO 8601
    Column("succeeded", _STRING),
    Column("problems", Integer, nullable=False, default=0),
)

marks = Table(  # what a source left us with, to come back with: a time, an ETag
    "marks",
    metadata,
    Column("source", _STRING, primary_key=True),
    Column("mark", _TEXT, nullable=False),
)

entities = Table(
    "entities",
    metadata,
    Column("id", _STRING, primary_key=True),
    Column("position", Integer, nullable=False),  # registration order
    Column("kind", _STRING, nullable=False),
    Column("name", _STRING, nullable=False),
    Column("bucket", _STRING, nullable=False),
    Column("source", _STRING, nullable=False),
    Column("provenance", _TEXT, nullable=False),
    Column("digest", _STRING, nullable=False),
    Column("data", _TEXT, nullable=False),  # the entity as JSON
    Column("modified", _STRING),  # ISO 8601
    Index("entities_by_source", "source"),
    Index("entities_by_position", "position"),
    Index("entities_by_bucket", "bucket"),
)

documents = Table(
    "documents",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("id", _STRING, nullable=False, unique=True),
    Column("entity_id", _STRING, nullable=False),
    Column("bucket", _STRING, nullable=False),
    Column("digest", _STRING, nullable=False),  # of the embedded text
    Column("signature", _STRING, nullable=False),  # of everything
    Column("name", _STRING, nullable=False),
    Column("title", _TEXT, nullable=False),
    Column("anchor", _TEXT, nullable=False),
    Column("tags", _TEXT, nullable=False),
    Column("fields", _TEXT, nullable=False),
    Column("text", _TEXT, nullable=False),
    Column("length", Float, nullable=False),
    Column("short_names", _TEXT, nullable=False),
    Column("terms", LargeBinary, nullable=False),  # the dimensions of its terms, uint32
    Column("grams", LargeBinary, nullable=False, server_default=""),  # those of its grams
    Column("words", _TEXT, nullable=False, server_default=""),  # its plain words, as people write them
    Index("documents_by_entity", "entity_id"),
    Index("documents_by_digest", "digest"),
    Index("documents_by_bucket", "bucket"),
)

tallies = Table(  # how many documents each bucket has, and how long they are together
    "tallies",
    metadata,
    Column("bucket", _STRING, primary_key=True),
    Column("documents", Integer, nullable=False),
    Column("length", Float, nullable=False),  # a sum of halves, so adding and subtracting lose nothing
    sqlite_with_rowid=False,
)

short_names = Table(  # how many documents have each name of one or two letters
    "short_names",
    metadata,
    Column("name", _STRING, primary_key=True),
    Column("documents", Integer, nullable=False),
    sqlite_with_rowid=False,
)

terms = Table(  # how many documents have each term
    "terms",
    metadata,
    Column("dimension", BigInteger, primary_key=True, autoincrement=False),
    Column("documents", Integer, nullable=False),
    sqlite_with_rowid=False,
)

grams = Table(  # how many documents have each gram
    "grams",
    metadata,
    Column("dimension", BigInteger, primary_key=True, autoincrement=False),
    Column("documents", Integer, nullable=False),
    sqlite_with_rowid=False,
)

words = Table(  # the vocabulary: how many documents have each plain word
    "words",
    metadata,
    Column("word", _STRING, primary_key=True),
    Column("documents", Integer, nullable=False),
    sqlite_with_rowid=False,
)

embeddings = Table(
    "embeddings",
    metadata,
    Column("model", _STRING, primary_key=True),
    Column("digest", _STRING, primary_key=True),
    Column("vector", LargeBinary, nullable=False),  # float32, little endian
)

edges = Table(  # every edge is owned by its origin; the target is an entity, or a node (see `graph/derive`)
    "edges",
    metadata,
    Column("origin", _STRING, primary_key=True),
    Column("target", _STRING, primary_key=True),
    Column("relation", _STRING, primary_key=True),
    Index("edges_by_target", "target"),
    sqlite_with_rowid=False,
)

statements = Table(  # edges between entities that a third one brings: a Markdown-LD file
    "statements",
    metadata,
    Column("owner", _STRING, primary_key=True),
    Column("origin", _STRING, primary_key=True),
    Column("target", _STRING, primary_key=True),
    Column("relation", _STRING, primary_key=True),
    Index("statements_by_origin", "origin"),
    Index("statements_by_target", "target"),
)

pins = Table(  # what was accepted of entries that others can change (F06); a pin outlives its entry
    "pins",
    metadata,
    Column("entity_id", _STRING, primary_key=True),
    Column("source", _STRING, nullable=False),
    Column("digest", _STRING, nullable=False),  # of what was accepted; empty where nothing was
    Column("body", _STRING, nullable=False),  # of the same without its name
    Column("content", _TEXT, nullable=False),  # what was accepted, as JSON
    Column("approved_by", _STRING, nullable=False),  # empty: by first use
    Column("rejected", _STRING, nullable=False),  # the digest of what somebody did not want
    Column("at", _STRING, nullable=False),  # ISO 8601, UTC
    Index("pins_by_body", "body"),
)

looks = Table(  # by what tools of different servers are compared (see `guard/company`)
    "looks",
    metadata,
    Column("entity_id", _STRING, primary_key=True),
    Column("server", _STRING, nullable=False),
    Column("name", _STRING, nullable=False),
    Column("likeness", _STRING, nullable=False),
    Column("words", _TEXT, nullable=False),
    Index("looks_by_name", "name"),
    Index("looks_by_likeness", "likeness"),
)

audit = Table(  # who did what
    "audit",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("at", _STRING, nullable=False),  # ISO 8601, UTC
    Column("who", _STRING, nullable=False),
    Column("action", _STRING, nullable=False),
    Column("target", _TEXT, nullable=False),
    Column("detail", _TEXT, nullable=False),  # JSON
    Index("audit_by_time", "at"),
)

calls = Table(  # who used what, never with which arguments; searches of agents too, with how much they were shown
    "calls",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("at", _STRING, nullable=False),  # when it began: ISO 8601, UTC, to the millisecond
    Column("who", _STRING, nullable=False),
    Column("tool", _STRING, nullable=False),  # an id; empty where there was none of that name
    Column("ms", Float, nullable=False),
    Column("outcome", _STRING, nullable=False),
    Column("exposed", Integer),  # of a search: results that were shown, and documents that were withheld from whoever asked
    Column("withheld", Integer),
    Index("calls_by_time", "at"),
)

usage = Table(  # which tool was called after which search (F07)
    "usage",
    metadata,
    Column("key", _STRING, primary_key=True),  # of terms and tool together
    Column("terms", LargeBinary, nullable=False),  # the dimensions of the query's terms, uint32: hashes, no text
    Column("entity_id", _STRING, nullable=False),
    Column("weight", Float, nullable=False),  # calls, each worth less with time, as of
    Column("at", Float, nullable=False),  # seconds since 1970
)

overrides = Table(  # what an administrator decided about an entry, whatever its source says
    "overrides",
    metadata,
    Column("entity_id", _STRING, primary_key=True),
    Column("changes", _TEXT, nullable=False),  # JSON; {} where it only follows its server
    Column("original", _TEXT, nullable=False),  # the entity as its source brought it, as JSON; empty where it is the same
)

keys = Table(  # API keys; of the secret only its hash
    "keys",
    metadata,
    Column("id", _STRING, primary_key=True),
    Column("name", _STRING, nullable=False),
    Column("hash", _STRING, nullable=False),
    Column("groups", _TEXT, nullable=False),  # JSON
    Column("scopes", _TEXT, nullable=False),
    Column("created", _STRING, nullable=False),  # ISO 8601
    Column("expires", _STRING),
    Column("last_used", _STRING),
    Column("revoked", _STRING),
)

revisions = Table(
    "revisions",
    metadata,
    Column("revision", Integer, primary_key=True, autoincrement=False),
    Column("at", _STRING, nullable=False),
    Column("note", _TEXT, nullable=False),
)

outbox = Table(
    "outbox",
    metadata,
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("number", Integer, nullable=False),
    Column("removed", Boolean, nullable=False),
)

"""Which tables hold the truth?

Documents are immutable: a changed document gets a new number, so whoever holds a number never sees two texts behind it. Numbers come from a
counter and are never used twice.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Float, Index, Integer, LargeBinary, MetaData, String, Table, Text

FORMAT = 5  # raise it with a migration (see `migrate`): a catalog of another format is refused, not guessed at

metadata = MetaData()

facts = Table(  # format, counters, which model answers
    "facts",
    metadata,
    Column("name", String, primary_key=True),
    Column("value", String, nullable=False),
)

sources = Table(
    "sources",
    metadata,
    Column("name", String, primary_key=True),
    Column("location", Text, nullable=False, unique=True),
    Column("live", Boolean, nullable=False, server_default="0"),  # a running server, asked again from time to time
    Column("state", String, nullable=False, server_default="new"),  # new, ok, broken
    Column("error", Text, nullable=False, server_default=""),  # why it is broken
    Column("attempted", String),  # when it was last read, and when that last went well: ISO 8601
    Column("succeeded", String),
    Column("problems", Integer, nullable=False, default=0),
)

marks = Table(  # what a source left us with, to come back with: a time, an ETag
    "marks",
    metadata,
    Column("source", String, primary_key=True),
    Column("mark", Text, nullable=False),
)

entities = Table(
    "entities",
    metadata,
    Column("id", String, primary_key=True),
    Column("position", Integer, nullable=False),  # registration order
    Column("kind", String, nullable=False),
    Column("name", String, nullable=False),
    Column("bucket", String, nullable=False),
    Column("source", String, nullable=False),
    Column("provenance", Text, nullable=False),
    Column("digest", String, nullable=False),
    Column("data", Text, nullable=False),  # the entity as JSON
    Column("modified", String),  # ISO 8601
    Index("entities_by_source", "source"),
    Index("entities_by_position", "position"),
    Index("entities_by_bucket", "bucket"),
)

documents = Table(
    "documents",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("id", String, nullable=False, unique=True),
    Column("entity_id", String, nullable=False),
    Column("bucket", String, nullable=False),
    Column("digest", String, nullable=False),  # of the embedded text
    Column("signature", String, nullable=False),  # of everything
    Column("name", String, nullable=False),
    Column("title", Text, nullable=False),
    Column("anchor", Text, nullable=False),
    Column("tags", Text, nullable=False),
    Column("fields", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("length", Float, nullable=False),
    Column("short_names", Text, nullable=False),
    Column("terms", LargeBinary, nullable=False),  # the dimensions of its terms, uint32
    Column("grams", LargeBinary, nullable=False, server_default=""),  # those of its character trigrams
    Column("words", Text, nullable=False, server_default=""),  # its plain words, as people write them
    Index("documents_by_entity", "entity_id"),
    Index("documents_by_digest", "digest"),
    Index("documents_by_bucket", "bucket", "length"),  # covers the statistics
    Index("documents_by_short_names", "short_names"),
)

terms = Table(  # how many documents have each term
    "terms",
    metadata,
    Column("dimension", BigInteger, primary_key=True, autoincrement=False),
    Column("documents", Integer, nullable=False),
    sqlite_with_rowid=False,
)

grams = Table(  # how many documents have each character trigram
    "grams",
    metadata,
    Column("dimension", BigInteger, primary_key=True, autoincrement=False),
    Column("documents", Integer, nullable=False),
    sqlite_with_rowid=False,
)

words = Table(  # the vocabulary: how many documents have each plain word
    "words",
    metadata,
    Column("word", String, primary_key=True),
    Column("documents", Integer, nullable=False),
    sqlite_with_rowid=False,
)

embeddings = Table(
    "embeddings",
    metadata,
    Column("model", String, primary_key=True),
    Column("digest", String, primary_key=True),
    Column("vector", LargeBinary, nullable=False),  # float32, little endian
)

edges = Table(  # every edge is owned by its origin; the target is an entity, or a node (see `graph/derive`)
    "edges",
    metadata,
    Column("origin", String, primary_key=True),
    Column("target", String, primary_key=True),
    Column("relation", String, primary_key=True),
    Index("edges_by_target", "target"),
    sqlite_with_rowid=False,
)

statements = Table(  # edges between entities that a third one brings: a Markdown-LD file
    "statements",
    metadata,
    Column("owner", String, primary_key=True),
    Column("origin", String, primary_key=True),
    Column("target", String, primary_key=True),
    Column("relation", String, primary_key=True),
    Index("statements_by_origin", "origin"),
    Index("statements_by_target", "target"),
)

pins = Table(  # what was accepted of entries that others can change (F06); a pin outlives its entry
    "pins",
    metadata,
    Column("entity_id", String, primary_key=True),
    Column("source", String, nullable=False),
    Column("digest", String, nullable=False),  # of what was accepted; empty where nothing was
    Column("body", String, nullable=False),  # of the same without its name
    Column("content", Text, nullable=False),  # what was accepted, as JSON
    Column("approved_by", String, nullable=False),  # empty: by first use
    Column("rejected", String, nullable=False),  # the digest of what somebody did not want
    Column("at", String, nullable=False),  # ISO 8601, UTC
    Index("pins_by_body", "body"),
)

looks = Table(  # by what tools of different servers are compared (see `guard/company`)
    "looks",
    metadata,
    Column("entity_id", String, primary_key=True),
    Column("server", String, nullable=False),
    Column("name", String, nullable=False),
    Column("likeness", String, nullable=False),
    Column("words", Text, nullable=False),
    Index("looks_by_name", "name"),
    Index("looks_by_likeness", "likeness"),
)

audit = Table(  # who did what
    "audit",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("at", String, nullable=False),  # ISO 8601, UTC
    Column("who", String, nullable=False),
    Column("action", String, nullable=False),
    Column("target", Text, nullable=False),
    Column("detail", Text, nullable=False),  # JSON
    Index("audit_by_time", "at"),
)

calls = Table(  # who used what, never with which arguments; searches of agents too, with how much they were shown
    "calls",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("at", String, nullable=False),  # when it began: ISO 8601, UTC, to the millisecond
    Column("who", String, nullable=False),
    Column("tool", String, nullable=False),  # an id; empty where there was none of that name
    Column("ms", Float, nullable=False),
    Column("outcome", String, nullable=False),
    Column("exposed", Integer),  # of a search: results that were shown, and documents that were withheld from whoever asked
    Column("withheld", Integer),
    Index("calls_by_time", "at"),
)

usage = Table(  # which tool was called after which search (F07)
    "usage",
    metadata,
    Column("key", String, primary_key=True),  # of terms and tool together
    Column("terms", LargeBinary, nullable=False),  # the dimensions of the query's terms, uint32: hashes, no text
    Column("entity_id", String, nullable=False),
    Column("weight", Float, nullable=False),  # calls, each worth less with time, as of
    Column("at", Float, nullable=False),  # seconds since 1970
)

overrides = Table(  # what an administrator decided about an entry, whatever its source says
    "overrides",
    metadata,
    Column("entity_id", String, primary_key=True),
    Column("changes", Text, nullable=False),  # JSON; {} where it only follows its server
    Column("original", Text, nullable=False),  # the entity as its source brought it, as JSON; empty where it is the same
)

keys = Table(  # API keys; of the secret only its hash
    "keys",
    metadata,
    Column("id", String, primary_key=True),
    Column("name", String, nullable=False),
    Column("hash", String, nullable=False),
    Column("groups", Text, nullable=False),  # JSON
    Column("scopes", Text, nullable=False),
    Column("created", String, nullable=False),  # ISO 8601
    Column("expires", String),
    Column("last_used", String),
    Column("revoked", String),
)

revisions = Table(
    "revisions",
    metadata,
    Column("revision", Integer, primary_key=True, autoincrement=False),
    Column("at", String, nullable=False),
    Column("note", Text, nullable=False),
)

outbox = Table(
    "outbox",
    metadata,
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("number", Integer, nullable=False),
    Column("removed", Boolean, nullable=False),
)

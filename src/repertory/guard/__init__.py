"""Is an entry what it says it is?

Tool descriptions are written by strangers and read by models, which do what they read. `inspect` looks at every text of an entry that a
model may see and answers with findings; `pins` says what an entry was when it was accepted and what has changed since. Pure functions over
entities, without a model and without a network; `ingest/screen` applies them. What is caught and what is not: docs/guard.md.
"""

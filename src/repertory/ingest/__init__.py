"""How do entries get in?

`project` cuts an entity into documents, `run` compares a source with the store and writes the difference, `embed` gives vectors to
documents that have none yet. `indexfile` is the way in and out for catalogs in one JSON file.
"""

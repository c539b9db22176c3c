"""Who is calling, and what may they see and do?

The one place for it (A18). `sight` makes a filter of a principal and strips an entry for whoever it is shown to; `callers` makes a
principal of a credential: an API key (`keys`), or a token of an identity provider (`tokens`).
"""

from repertory.access.callers import Callers
from repertory.access.denials import Denial, Denials
from repertory.access.sight import callable_by, everything_for, filter_for, held_for, narrow, offered, reveal, shown

__all__ = [
    "Callers",
    "Denial",
    "Denials",
    "callable_by",
    "everything_for",
    "filter_for",
    "held_for",
    "narrow",
    "offered",
    "reveal",
    "shown",
]

"""What would this query be in English?

E06. The stage asks the rewriter and says so when it failed; which lanes look for the rewrite is the plan's affair.
"""

from __future__ import annotations

from repertory.errors import RemoteModelError
from repertory.model import Diagnostic
from repertory.remote.base import Rewriter


async def rewritten(rewriter: Rewriter | None, text: str) -> tuple[str | None, Diagnostic | None]:
    """The rewrite; None where there is none to search for, with the reason where one was wanted and failed."""
    if rewriter is None or not text.strip():
        return None, None
    try:
        rewrite = await rewriter.rewrite(text)
    except RemoteModelError as error:
        return None, Diagnostic("rewrite_failed", f"The query was searched as it stands: {error}")
    if rewrite is None:
        return None, Diagnostic("rewrite_empty", "The query was searched as it stands: the rewriter made nothing of it.")
    return (None if rewrite.casefold() == " ".join(text.split()).casefold() else rewrite), None

"""What could a request not find, and why?

F03: counts only. What nobody told the caller about stays unnamed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from repertory.model import Bucket, Filter, Kind

OTHER_KIND = "of another kind"  # the only reason that a request gives itself


def withheld(counts: Mapping[Bucket, int], filter: Filter) -> dict[str, int]:
    """How many documents the filter keeps out, each counted under the first reason that holds."""
    found: Counter[str] = Counter()
    for bucket, count in counts.items():
        if not filter.admits(bucket):
            found[_reason(bucket, filter)] += count
    return dict(sorted(found.items()))


def _reason(bucket: Bucket, filter: Filter) -> str:
    if not filter.is_open_to(bucket):
        return "not visible to you"
    if bucket.held:
        return "held back"
    if filter.kinds is not None and bucket.kind not in filter.kinds:
        return OTHER_KIND
    if not bucket.enabled and not filter.include_disabled:
        return "disabled"
    return bucket.status.value if bucket.kind is not Kind.VIRTUAL_SERVER else "withheld"

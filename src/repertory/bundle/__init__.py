"""How does a catalog go elsewhere, with everything that answers for it?

A bundle (D08) is a directory: the catalog, the model where it is not the bundled one, the settings, and the program as wheels with all that
it needs, so that `make serve` answers there as it is answered here, without a network. `write` makes it; `ingest` reads one in.
"""

from repertory.bundle.form import CATALOG, Manifest, manifest_at
from repertory.bundle.write import Order, begin, finish

__all__ = ["CATALOG", "Manifest", "Order", "begin", "finish", "manifest_at"]

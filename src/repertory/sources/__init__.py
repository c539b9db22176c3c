"""Where do entries come from?

One file per format behind the protocol in `base`; `folder` finds the files and picks the reader. A reader turns files
into entities and reports what it could not read; it never writes.
"""

from repertory.sources.base import Problem, Reader
from repertory.sources.folder import files, read_file, read_path, readers

__all__ = ["Problem", "Reader", "files", "read_file", "read_path", "readers"]

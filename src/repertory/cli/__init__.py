"""How is Repertory reached from a terminal?

Answers go to stdout, everything else (progress, logs, errors) to stderr.
"""

from repertory.cli.commands import main

__all__ = ["main"]

"""What can go wrong?

    RepertoryError
      InvalidRequest        the caller asked for something that cannot be asked
        InvalidPattern      a regular expression that does not compile
        InvalidArguments    a tool that cannot be called like that
      NotFound              no such entry
      Unauthorized          the caller showed no credential, or one that does not count (any more)
      Forbidden             the caller may not do this
      Conflict              it stands against what is there
      Changed               it is no longer in the state that the caller means
      SourceError           a file or folder that cannot be read as what it should be
      CatalogError          the catalog directory cannot be used
        CatalogBusy         another process owns it
        CatalogFormat       written by another version
        CatalogUnavailable  its database is elsewhere and did not answer
      IndexUnavailable      the search index is elsewhere and did not answer
      EmbedderError         the model did not answer
        VectorsUnavailable  the caller insisted on vectors, and there are none
      UpstreamError         a server or agent did not do what it was called for
        LoginRequired       it does not know who asks
      RemoteModelError      a rewriter or re-ranker did not answer
      IdentityError         the identity provider did not answer, so nobody can be recognised
      SettingsError         a setting that is unknown or has a bad value

Every class has a stable `code` for machines and says whether trying again can help. Surfaces map codes to HTTP statuses and exit codes,
each in one place.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar


class RepertoryError(Exception):
    """The root. `str(error)` says what happened, shows the value, and says what to do next."""

    code: ClassVar[str] = "error"
    retryable: ClassVar[bool] = False


class InvalidRequest(RepertoryError):
    code = "invalid_request"


class InvalidPattern(InvalidRequest):
    code = "invalid_pattern"


class InvalidArguments(InvalidRequest):
    """`schema` is the one to follow: whoever called wrongly can mend the call with it."""

    code = "invalid_arguments"

    def __init__(self, message: str, schema: Mapping[str, Any] = MappingProxyType({})) -> None:
        super().__init__(message)
        self.schema = schema


class NotFound(RepertoryError):
    code = "not_found"


class Unauthorized(RepertoryError):
    code = "unauthorized"


class Forbidden(RepertoryError):
    code = "forbidden"


class Conflict(RepertoryError):
    code = "conflict"


class Changed(RepertoryError):
    code = "changed"


class SourceError(RepertoryError):
    """`absent`: an address where nothing is that was looked for; what is there may be something else."""

    code = "source_error"

    def __init__(self, message: str, *, absent: bool = False) -> None:
        super().__init__(message)
        self.absent = absent


class CatalogError(RepertoryError):
    code = "catalog_error"


class CatalogBusy(CatalogError):
    code = "catalog_busy"
    retryable = True


class CatalogFormat(CatalogError):
    code = "catalog_format"


class CatalogUnavailable(CatalogError):
    code = "catalog_unavailable"
    retryable = True


class IndexUnavailable(RepertoryError):
    """`gone`: whoever answered there does not have it any more."""

    code = "index_unavailable"
    retryable = True

    def __init__(self, message: str, *, gone: bool = False) -> None:
        super().__init__(message)
        self.gone = gone


class EmbedderError(RepertoryError):
    code = "embedder_error"
    retryable = True


class VectorsUnavailable(EmbedderError):
    code = "vectors_unavailable"


class UpstreamError(RepertoryError):
    """`answer` is what a server said when it refused, as it said it: code, message, data."""

    code = "upstream_error"
    retryable = True

    def __init__(self, message: str, answer: tuple[int, str, Any] | None = None) -> None:
        super().__init__(message)
        self.answer = answer


class LoginRequired(UpstreamError):
    code = "login_required"
    retryable = False


class RemoteModelError(RepertoryError):
    code = "remote_model_error"
    retryable = True


class IdentityError(RepertoryError):
    code = "identity_unavailable"
    retryable = True


class SettingsError(RepertoryError):
    code = "settings_error"


def every_error() -> list[type[RepertoryError]]:
    """The whole tree, for the surfaces' tables."""
    found: list[type[RepertoryError]] = [RepertoryError]
    for error in found:
        found += error.__subclasses__()
    return found

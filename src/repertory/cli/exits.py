"""Which exit code does an error have?"""

from __future__ import annotations

from repertory.errors import (
    CatalogBusy,
    CatalogError,
    CatalogFormat,
    CatalogUnavailable,
    Changed,
    Conflict,
    EmbedderError,
    Forbidden,
    IdentityError,
    IndexUnavailable,
    InvalidArguments,
    InvalidPattern,
    InvalidRequest,
    LoginRequired,
    NotFound,
    RemoteModelError,
    RepertoryError,
    SettingsError,
    SourceError,
    Unauthorized,
    UpstreamError,
    VectorsUnavailable,
)

EXITS: dict[type[RepertoryError], int] = {  # 2 is what a wrong option gives, too
    RepertoryError: 1,
    InvalidRequest: 2,
    InvalidPattern: 2,
    InvalidArguments: 2,
    SettingsError: 2,
    Conflict: 2,
    Changed: 2,
    SourceError: 3,
    NotFound: 4,
    Unauthorized: 9,
    Forbidden: 8,
    CatalogError: 5,
    CatalogBusy: 6,
    CatalogFormat: 5,
    CatalogUnavailable: 7,
    IndexUnavailable: 7,
    EmbedderError: 7,
    VectorsUnavailable: 7,
    RemoteModelError: 7,
    IdentityError: 7,
    UpstreamError: 10,
    LoginRequired: 10,
}


def exit_code(error: RepertoryError) -> int:
    """The exit code of an error."""
    return EXITS[type(error)]

"""Which choices does an operator have?

Argument over environment (`REPERTORY_*`) over file (`repertory.toml`) over default. Unknown keys are errors, and every value knows where it
came from.
"""

from __future__ import annotations

import ipaddress
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from platformdirs import user_data_path
from pydantic import Field, SecretStr, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from repertory.errors import SettingsError
from repertory.model import Fusion, Preset, Strategy

PREFIX = "REPERTORY_"
LANES = ("bm25", "keyword", "vector")  # whose weight can be set
FILE = "repertory.toml"
ALIASES = {"SEARCH_FUSION_METHOD": "fusion", "VECTOR_SEARCH_EF_SEARCH": "ef_search"}  # names that other registries use
EMBEDDED = "embedded"
PLAIN, SECURE = "qdrant://", "qdrants://"
QDRANT_PORT = 6333
POSTGRES = "postgresql+psycopg://"
NOT_SETTINGS = {"REPERTORY_CONFIG"}  # read before the settings are


class Settings(BaseSettings):
    """Every setting, with its default and its reason."""

    model_config = SettingsConfigDict(extra="forbid", frozen=True)

    catalog: Path = Field(default_factory=lambda: user_data_path("repertory", appauthor=False), description="The catalog directory.")
    preset: Preset = Field(Preset.DEFAULT, description="The whole behaviour of requests that name none: docs/strategies.md lists them.")
    strategy: Strategy | None = Field(None, description="How a request that names no strategy is answered; else the preset says it.")
    fusion: Fusion | None = Field(None, description="How hybrid joins its lanes: adaptive, linear, rrf or legacy; else the preset says it.")
    lane_weights: dict[str, float] = Field(
        default_factory=dict, description="What a lane counts in rrf and linear fusion, where not as the rules say."
    )
    min_confidence: float | None = Field(
        None, ge=0, le=1, description="Answers that are less likely to be any abstain; 0 always answers. Else as calibrated."
    )
    expansion: bool = Field(False, description="Whether a vocabulary of concepts is kept, with which the notes preset widens a query.")
    ef_search: int = Field(100, ge=8, le=4096, description="How widely HNSW looks around; larger is slower and more exact.")
    index: str = Field(
        EMBEDDED,
        description="embedded: in this process; or a Qdrant, qdrant://host:6333; its nodes separated by commas; qdrants: with TLS.",
    )
    index_key: SecretStr | None = Field(None, validate_default=True, description="API key of the Qdrant.")
    index_shards: int = Field(1, ge=1, le=1024, description="Into how many parts a Qdrant cuts the index when it is built.")
    index_replicas: int = Field(1, ge=1, le=64, description="On how many nodes of a cluster each part is kept.")
    index_consistency: int = Field(1, ge=1, le=64, description="How many of them must have a write before it counts.")
    index_quantisation: Literal["none", "int8", "binary"] = Field("none", description="How small vectors are kept in memory.")
    index_timeout: int = Field(
        5, ge=1, le=300, description="Seconds that a node of a Qdrant has to answer a search; then the next is asked."
    )
    database: SecretStr | None = Field(
        None,
        description="Where the truth is: in the catalog directory; or a PostgreSQL that several processes share, with a Qdrant as index.",
    )
    embedder: Literal["onnx", "static", "openai", "none"] = Field(
        "onnx", description="The bundled model, or an ONNX file; the quick bundled table; an OpenAI-compatible endpoint; none."
    )
    embedder_file: Path | None = Field(
        None,
        description="With onnx: a model of your own, model.onnx beside tokenizer.json, or the folder of both. Needs embedder_dimensions.",
    )
    embedder_pooling: Literal["mean", "first"] = Field(
        "mean", description="How such a file's token vectors become one; first is also called CLS."
    )
    embedder_query_prefix: str = Field("", description="What a query opens with where the model wants it, such as 'query: '.")
    embedder_document_prefix: str = Field("", description="What a document opens with where the model wants it, such as 'passage: '.")
    embedder_input_type: bool = Field(False, description="Whether the endpoint is told which texts are queries, as Voyage wants it.")
    embedder_url: str = Field("https://api.openai.com/v1", description="Base URL of the endpoint.")
    embedder_model: str = Field("text-embedding-3-small", description="Model at the endpoint.")
    embedder_dimensions: int | None = Field(None, ge=1, le=8192, description="Length of the vectors of the endpoint or file.")
    embedder_key: SecretStr | None = Field(None, description="API key of the endpoint.")
    embedder_timeout: float = Field(10.0, gt=0, description="Seconds to wait for a query's vector.")
    embedder_pause: float = Field(30.0, ge=0, description="Seconds before a failed model is tried again.")
    embedder_cache: int = Field(2048, ge=0, description="How many query vectors are remembered; 0 remembers none.")
    embedder_threads: int = Field(
        min(4, os.cpu_count() or 1), ge=1, le=64, description="How many texts a model on this machine reads at once."
    )
    rewriter_url: str | None = Field(None, description="Base URL of an OpenAI-compatible chat model that rewrites queries; none: off.")
    rewriter_model: str | None = Field(None, validate_default=True, description="Model that rewrites.")
    rewriter_key: SecretStr | None = Field(None, description="API key of the rewriter.")
    rewriter_timeout: float = Field(5.0, gt=0, description="Seconds to wait for a rewrite.")
    reranker_url: str | None = Field(None, description="Base URL of an endpoint with /rerank that re-orders the head; none: off.")
    reranker_model: str | None = Field(None, validate_default=True, description="Model that re-ranks.")
    reranker_api: Literal["cohere", "tei"] = Field(
        "cohere", description="How it is asked: as Cohere, Jina, Voyage, vLLM and llama.cpp are, or as text-embeddings-inference is."
    )
    reranker_file: Path | None = Field(
        None, description="Instead: a cross-encoder on this machine, model.onnx beside tokenizer.json, or the folder of both."
    )
    reranker_key: SecretStr | None = Field(None, description="API key of the re-ranker.")
    reranker_timeout: float = Field(5.0, gt=0, description="Seconds to wait for a re-ranking.")
    chat_url: str | None = Field(
        None, description="Base URL of an OpenAI-compatible chat model that answers questions; none: passages only."
    )
    chat_model: str | None = Field(None, validate_default=True, description="Model that answers questions.")
    chat_key: SecretStr | None = Field(None, description="API key of the chat model.")
    chat_timeout: float = Field(60.0, gt=0, description="Seconds to wait for a chat model's first word, and for each word after it.")
    chat_tokens: int = Field(1024, ge=16, le=100_000, description="How long an answer may become, in tokens.")
    chat_context: int = Field(3000, ge=200, le=1_000_000, description="How much of what was found the chat model reads, in tokens.")
    answer_cache: int = Field(1024, ge=0, description="How many answers are remembered, five minutes at most; 0 remembers none.")
    guard: Literal["off", "pin", "review"] = Field(
        "pin", description="pin: what others changed since it was accepted is held back; review: what is new, too; off: nothing is checked."
    )
    guard_block: Literal["block", "warn", "none"] = Field("block", description="How bad a finding must be to hold an entry back.")
    refresh_minutes: float = Field(5.0, ge=0, description="Minutes between two looks of a serving process at live servers; 0 never looks.")
    call_timeout: float = Field(60.0, gt=0, description="Seconds that a called tool may take.")
    credentials: Literal["file", "keyring"] = Field("file", description="Where logins at servers are kept: the catalog, or the keyring.")
    gateway_about: str = Field("", max_length=500, description="What agents are told about this catalog, besides what is counted.")
    calls_days: int = Field(30, ge=0, description="How long it is kept who called what; 0 keeps nothing. Arguments are never kept.")
    usage: bool = Field(False, description="Whether tools rise for searches after which they were called. Of a search, hashes are kept.")
    usage_half_life: float = Field(30.0, gt=0, description="Days after which such a call counts half.")
    host: str = Field("127.0.0.1", description="Address to serve at. Only loopback is allowed until there is an API key or an issuer.")
    port: int = Field(8321, ge=0, le=65535, description="Port to serve at; 0 takes a free one.")
    allowed_hosts: list[str] = Field(
        default_factory=list, description="Names by which others reach the service, such as registry.example.org; * allows any."
    )
    access: Literal["open", "required"] | None = Field(
        None, description="Whether callers without a credential see what is public, or nothing. Required once there is a key or an issuer."
    )
    oidc_issuer: str | None = Field(None, description="The identity provider whose tokens count: its address as the tokens name it.")
    oidc_audience: str | None = Field(None, validate_default=True, description="Whom tokens must be made for.")
    oidc_jwks_url: str | None = Field(None, description="Where its keys are; else its discovery document says it.")
    oidc_name_claim: str = Field("sub", description="What tells callers apart: the claim must be one that they cannot choose themselves.")
    oidc_groups_claim: str = Field("groups", description="Where a token lists groups; dots lead into it, as in realm_access.roles.")
    oidc_scopes_claim: str = Field("scope", description="Where a token lists scopes, as a list or as words.")
    oidc_admin_group: str | None = Field(None, description="Whoever is in this group of the provider is an administrator; none: nobody is.")
    audit_days: int = Field(365, ge=1, description="How long the audit log is kept.")
    log_level: Literal["debug", "info", "warning", "error"] = Field("warning", description="What is logged to stderr.")
    log_queries: bool = Field(False, description="Whether the text of queries may appear in the log.")

    @field_validator("lane_weights")
    @classmethod
    def _known_lanes(cls, weights: dict[str, float]) -> dict[str, float]:
        if unknown := set(weights) - set(LANES):
            raise ValueError(f"there is no lane {sorted(unknown)[0]!r}; lanes are {', '.join(LANES)}")
        if any(not 0 <= weight <= 100 for weight in weights.values()):
            raise ValueError("a weight is a number between 0 and 100")
        return weights

    @field_validator("index", mode="before")
    @classmethod
    def _one_text(cls, value: Any) -> Any:
        return ",".join(map(str, value)) if isinstance(value, list | tuple) else value

    @field_validator("index")
    @classmethod
    def _reachable(cls, index: str) -> str:
        if index != EMBEDDED:
            nodes_of(index)
        return index

    @field_validator("index_key")
    @classmethod
    def _not_readable_on_the_way(cls, key: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
        index = info.data.get("index", EMBEDDED)
        if key is not None and index.startswith(PLAIN) and not all(is_loopback(host) for host, _ in nodes_of(index)):
            raise ValueError("it would be readable on the way: name the nodes with qdrants://, which is TLS")
        return key

    @field_validator("database", mode="before")
    @classmethod
    def _none_or_one(cls, value: Any) -> Any:
        return value or None

    @field_validator("database")
    @classmethod
    def _shared_with_its_index(cls, database: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
        if database is not None and not database.get_secret_value().startswith(POSTGRES):
            raise ValueError(f"it begins with {POSTGRES}, as in {POSTGRES}user@host/name")
        if database is not None and info.data.get("index") == EMBEDDED:
            raise ValueError("an embedded index belongs to one process, and a PostgreSQL to several: set index to a Qdrant, too")
        return database

    @field_validator("allowed_hosts", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        """The environment has no lists: there, names are separated by commas."""
        return [name.strip() for name in value.split(",") if name.strip()] if isinstance(value, str) else value

    @field_validator("oidc_issuer", "oidc_jwks_url")
    @classmethod
    def _cannot_be_overheard(cls, url: str | None) -> str | None:
        parts = urlsplit(url or "https://none")
        if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(parts.hostname or "")):
            raise ValueError("it must begin with https://, because whoever can change what it answers can be anybody")
        return url

    @field_validator("oidc_audience")
    @classmethod
    def _issuer_and_audience_go_together(cls, audience: str | None, info: ValidationInfo) -> str | None:
        if bool(audience) != bool(info.data.get("oidc_issuer")):
            raise ValueError("oidc_issuer and oidc_audience go together: set both, or neither")
        return audience

    @field_validator("rewriter_model", "reranker_model", "chat_model")
    @classmethod
    def _url_and_model_go_together(cls, model: str | None, info: ValidationInfo) -> str | None:
        url = (info.field_name or "").replace("_model", "_url")
        if bool(model) != bool(info.data.get(url)):
            raise ValueError(f"{url} and {info.field_name} go together: set both, or neither")
        return model

    @field_validator("reranker_file")
    @classmethod
    def _one_reranker(cls, file: Path | None, info: ValidationInfo) -> Path | None:
        if file and info.data.get("reranker_url"):
            raise ValueError("there is one re-ranker: set reranker_url or reranker_file, not both")
        return file

    @model_validator(mode="after")
    def _models_of_others_have_dimensions(self) -> Settings:
        if (self.embedder == "openai" or self.embedder_file) and self.embedder_dimensions is None:
            chosen = "embedder = 'openai'" if self.embedder == "openai" else "embedder_file"
            raise ValueError(f"{chosen} needs embedder_dimensions, the length of the model's vectors (such as 1536)")
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (init_settings,)  # `load` merges the other sources itself, because it keeps the origin of each value


def with_index(settings: Settings, index: str) -> Settings:
    """The same settings with the index elsewhere."""
    try:
        return Settings(**{**settings.model_dump(exclude_unset=True), "index": index})
    except ValidationError as error:
        reason = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
        raise SettingsError(f"The index cannot be at {index!r}: {reason}.") from None


def nodes_of(index: str) -> list[tuple[str, int]]:
    """The nodes of a Qdrant as the setting `index` names them, each with the port of its HTTP. Raises `ValueError`."""
    scheme, mark, rest = index.partition("://")
    if not mark or f"{scheme}://" not in (PLAIN, SECURE):
        raise ValueError(f"it is {EMBEDDED!r}, or begins with {PLAIN} or {SECURE}")
    named = [urlsplit(f"//{node.strip().removeprefix(f'{scheme}://')}") for node in rest.split(",")]
    if not all(one.hostname and not one.path.strip("/") and not one.username for one in named):
        raise ValueError(f"nodes are named like {PLAIN}host:6333,other:6333")
    return [(str(one.hostname), one.port or QDRANT_PORT) for one in named]


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def load(arguments: Mapping[str, Any] | None = None, environment: Mapping[str, str] | None = None) -> tuple[Settings, dict[str, str]]:
    """The effective settings, and for each name where its value came from."""
    environment = os.environ if environment is None else environment
    values: dict[str, Any] = {}
    origins: dict[str, str] = dict.fromkeys(Settings.model_fields, "default")
    path = Path(environment.get("REPERTORY_CONFIG", FILE))
    layers = [
        (str(path), _from_file(path, required="REPERTORY_CONFIG" in environment)),
        ("environment", _from_environment(environment)),
        ("argument", {name: value for name, value in (arguments or {}).items() if value is not None}),
    ]
    for origin, layer in layers:
        for name, value in layer.items():
            if name not in Settings.model_fields:
                known = ", ".join(sorted(Settings.model_fields))
                raise SettingsError(f"Unknown setting {name!r} in {origin}. Known settings: {known}.")
            values[name] = value
            origins[name] = origin
    try:
        return Settings(**values), origins
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = str(first["loc"][0]) if first["loc"] else "embedder_dimensions"
        value = "" if name.endswith("_key") or name == "database" or not first["loc"] else f" = {first['input']!r}"
        raise SettingsError(f"Setting {name!r}{value} (from {origins[name]}): {first['msg'].removeprefix('Value error, ')}.") from None


def _from_file(path: Path, *, required: bool) -> dict[str, Any]:
    if not path.is_file():
        if required:
            raise SettingsError(f"REPERTORY_CONFIG names {path}, which is not there.")
        return {}
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} is not valid TOML: {error}.") from None


def _from_environment(environment: Mapping[str, str]) -> dict[str, str]:
    named = {ALIASES[name]: value for name, value in environment.items() if name in ALIASES}
    prefixed = {
        name.removeprefix(PREFIX).lower(): value
        for name, value in environment.items()
        if name.startswith(PREFIX) and name not in NOT_SETTINGS and value  # empty means: not set
    }
    return named | prefixed

"""Does every setting come from where the operator expects, and say so?"""

from __future__ import annotations

from pathlib import Path

import pytest

from repertory.cli.doctor import examine
from repertory.errors import SettingsError
from repertory.model import Fusion, Preset
from repertory.settings import Settings, load, nodes_of, with_index


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`repertory.toml` in the current directory, still to be written."""
    monkeypatch.chdir(tmp_path)
    return tmp_path / "repertory.toml"


def refused(arguments: dict[str, object] | None = None, environment: dict[str, str] | None = None) -> str:
    with pytest.raises(SettingsError) as caught:
        load(arguments, environment or {})
    return str(caught.value)


# where a value comes from


@pytest.mark.usefixtures("file")
def test_without_anything_every_value_is_the_default() -> None:
    settings, origins = load({}, {})
    assert (settings.preset, settings.strategy, settings.fusion, settings.port) == (Preset.DEFAULT, None, None, 8321)
    assert origins == dict.fromkeys(Settings.model_fields, "default")


def test_each_layer_covers_the_one_below(file: Path) -> None:
    file.write_text("port = 1\nef_search = 11\nembedder_threads = 3\n")
    environment = {"REPERTORY_PORT": "2", "REPERTORY_EF_SEARCH": "22"}
    settings, origins = load({"port": 3}, environment)
    assert (settings.port, origins["port"]) == (3, "argument")
    assert (settings.ef_search, origins["ef_search"]) == (22, "environment")
    assert (settings.embedder_threads, origins["embedder_threads"]) == (3, "repertory.toml")
    assert (settings.log_level, origins["log_level"]) == ("warning", "default")


def test_an_argument_that_was_not_given_covers_nothing(file: Path) -> None:
    file.write_text('catalog = "/from/file"\n')
    settings, origins = load({"catalog": None}, {})
    assert (settings.catalog, origins["catalog"]) == (Path("/from/file"), "repertory.toml")


@pytest.mark.usefixtures("file")
def test_a_file_elsewhere_is_named_by_the_environment(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.toml"
    elsewhere.write_text("port = 4\n")
    settings, origins = load({}, {"REPERTORY_CONFIG": str(elsewhere)})
    assert (settings.port, origins["port"]) == (4, str(elsewhere))


def test_a_file_elsewhere_replaces_the_one_here(file: Path, tmp_path: Path) -> None:
    file.write_text("port = 1\nef_search = 11\n")
    elsewhere = tmp_path / "elsewhere.toml"
    elsewhere.write_text("port = 4\n")
    settings, origins = load({}, {"REPERTORY_CONFIG": str(elsewhere)})
    assert (settings.port, settings.ef_search, origins["ef_search"]) == (4, 100, "default")


@pytest.mark.usefixtures("file")
def test_the_names_of_other_registries_work() -> None:
    settings, origins = load({}, {"SEARCH_FUSION_METHOD": "rrf", "VECTOR_SEARCH_EF_SEARCH": "256"})
    assert (settings.fusion, settings.ef_search) == (Fusion.RRF, 256)
    assert (origins["fusion"], origins["ef_search"]) == ("environment", "environment")


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.usefixtures("file")
def test_our_own_name_wins_over_that_of_other_registries(order: int) -> None:
    environment = dict([("REPERTORY_FUSION", "linear"), ("SEARCH_FUSION_METHOD", "rrf")][::order])
    assert load({}, environment)[0].fusion is Fusion.LINEAR


@pytest.mark.usefixtures("file")
def test_other_variables_are_not_ours() -> None:
    assert load({}, {"PORT": "1", "XREPERTORY_PORT": "2", "PATH": "/bin"})[0].port == 8321


@pytest.mark.usefixtures("file")
def test_the_environment_of_the_process_is_read_when_none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPERTORY_PORT", "5")
    assert load()[0].port == 5


# what is refused


@pytest.mark.usefixtures("file")
def test_an_unknown_variable_is_refused() -> None:
    message = refused(environment={"REPERTORY_PROT": "1"})
    assert "'prot'" in message
    assert "environment" in message
    assert "port" in message  # among those that are known


@pytest.mark.parametrize("text", ["prot = 1\n", "[serve]\nport = 1\n"])
def test_an_unknown_key_of_the_file_is_refused(file: Path, text: str) -> None:
    file.write_text(text)
    message = refused()
    assert repr(text.strip("[").split()[0].rstrip("]")) in message
    assert "repertory.toml" in message


@pytest.mark.usefixtures("file")
def test_an_unknown_argument_is_refused() -> None:
    assert "'prot' in argument" in refused({"prot": 1})


def test_an_unknown_key_is_refused_even_where_a_layer_above_is_right(file: Path) -> None:
    file.write_text("prot = 1\n")
    assert "'prot'" in refused({"port": 2})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("port", "many"),
        ("port", "-1"),
        ("port", "65536"),
        ("ef_search", "7"),
        ("ef_search", "4097"),
        ("fusion", "max"),
        ("strategy", "guess"),
        ("embedder", "magic"),
        ("embedder_threads", "0"),
        ("embedder_timeout", "0"),
        ("embedder_pause", "-1"),
        ("embedder_dimensions", "0"),
        ("rewriter_timeout", "0"),
        ("reranker_timeout", "-1"),
        ("log_level", "shout"),
        ("log_queries", "perhaps"),
    ],
)
@pytest.mark.usefixtures("file")
def test_a_bad_value_names_its_setting_and_origin(name: str, value: str) -> None:
    assert refused(environment={f"REPERTORY_{name.upper()}": value}).startswith(f"Setting {name!r} = {value!r} (from environment)")
    assert refused({name: value}).startswith(f"Setting {name!r} = {value!r} (from argument)")


def test_a_bad_value_in_the_file_names_the_file(file: Path) -> None:
    file.write_text('port = "many"\n')
    assert refused().startswith("Setting 'port' = 'many' (from repertory.toml)")


@pytest.mark.usefixtures("file")
def test_a_bad_value_under_another_registrys_name_is_refused() -> None:
    assert "'fusion'" in refused(environment={"SEARCH_FUSION_METHOD": "max"})


def test_a_file_that_is_no_toml_is_named(file: Path) -> None:
    file.write_text("port 1\n")
    assert "repertory.toml" in refused()
    file.write_bytes(b"host = '\xff'\n")
    assert "repertory.toml" in refused()


@pytest.mark.usefixtures("file")
def test_a_named_file_must_be_there(tmp_path: Path) -> None:
    assert str(tmp_path / "no.toml") in refused(environment={"REPERTORY_CONFIG": str(tmp_path / "no.toml")})


@pytest.mark.parametrize("port", ["rewriter", "reranker"])
@pytest.mark.usefixtures("file")
def test_a_remote_model_needs_its_address_and_its_name(port: str) -> None:
    for half in ({f"{port}_url": "http://127.0.0.1:1/v1"}, {f"{port}_model": "some-model"}):
        assert f"{port}_url and {port}_model go together" in refused(dict(half))
    assert getattr(load({f"{port}_url": "http://127.0.0.1:1/v1", f"{port}_model": "some-model"}, {})[0], f"{port}_model") == "some-model"


@pytest.mark.usefixtures("file")
def test_settings_do_not_change() -> None:
    settings, _ = load({}, {})
    with pytest.raises(ValueError, match="frozen"):
        settings.port = 1


# secrets

KEYS = ["embedder_key", "rewriter_key", "reranker_key", "chat_key"]


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.usefixtures("file")
async def test_a_secret_is_never_shown(tmp_path: Path, name: str) -> None:
    secret = "correct-horse-battery"  # noqa: S105
    settings, origins = load({"catalog": tmp_path / "catalog"}, {f"REPERTORY_{name.upper()}": secret, "REPERTORY_EMBEDDER": "none"})
    assert getattr(settings, name).get_secret_value() == secret
    findings = await examine(settings, origins)
    assert findings["settings"][name] == {"value": "(set)", "origin": "environment"}
    assert not any(secret in text for text in (repr(settings), str(settings), settings.model_dump_json(), repr(findings)))


@pytest.mark.parametrize("name", KEYS)
def test_a_secret_of_the_wrong_type_is_not_shown_in_the_message(file: Path, name: str) -> None:
    file.write_text(f"{name} = 123456789\n")
    message = refused()
    assert message.startswith(f"Setting {name!r}")
    assert "123456789" not in message


# access


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"oidc_issuer": "http://login.example.org", "oidc_audience": "us"}, "https://"),
        ({"oidc_issuer": "https://login.example.org"}, "go together"),
        ({"oidc_audience": "us"}, "go together"),
        ({"oidc_issuer": "https://login.example.org", "oidc_audience": "us", "oidc_jwks_url": "http://10.0.0.1/keys"}, "https://"),
        ({"access": "closed"}, "'open' or 'required'"),
        ({"audit_days": 0}, "greater than or equal to 1"),
    ],
)
@pytest.mark.usefixtures("file")
def test_access_is_not_set_up_by_halves(values: dict[str, object], reason: str) -> None:
    with pytest.raises(SettingsError, match=reason):
        load(values, {})


def test_names_of_hosts_come_from_the_file_as_a_list_and_from_the_environment_with_commas(file: Path) -> None:
    file.write_text("allowed_hosts = ['a.example', 'b.example']\noidc_issuer = 'http://127.0.0.1:8080'\noidc_audience = 'us'\n")
    assert load({}, {})[0].allowed_hosts == ["a.example", "b.example"]
    assert load({}, {"REPERTORY_ALLOWED_HOSTS": "c.example, d.example"})[0].allowed_hosts == ["c.example", "d.example"]


# where the index is


@pytest.mark.usefixtures("file")
@pytest.mark.parametrize(
    ("index", "nodes"),
    [
        ("qdrant://localhost", [("localhost", 6333)]),
        ("qdrants://a.example:7000,b.example", [("a.example", 7000), ("b.example", 6333)]),
        ("qdrant://a:1, qdrant://b:2", [("a", 1), ("b", 2)]),
        ("qdrant://[::1]:9000", [("::1", 9000)]),
    ],
)
def test_an_index_elsewhere_is_named_by_its_nodes(index: str, nodes: list[tuple[str, int]]) -> None:
    assert nodes_of(load({"index": index}, {})[0].index) == nodes


def test_nodes_may_be_a_list(file: Path) -> None:
    file.write_text('index = ["qdrant://a:1", "qdrant://b:2"]\n')
    assert nodes_of(load({}, {})[0].index) == [("a", 1), ("b", 2)]


@pytest.mark.usefixtures("file")
@pytest.mark.parametrize("index", ["elsewhere", "http://localhost:6333", "qdrant://", "qdrant://a,,b", "qdrant://a/path", "qdrant://a:no"])
def test_an_index_that_is_nowhere_is_refused(index: str) -> None:
    assert "Setting 'index'" in refused({"index": index})


@pytest.mark.usefixtures("file")
def test_the_key_of_an_index_is_not_sent_where_others_can_read_it() -> None:
    assert "qdrants://" in refused({"index": "qdrant://db.example:6333", "index_key": "secret"})
    assert "secret" not in refused({"index": "qdrant://db.example:6333", "index_key": "secret"})
    for index in ("qdrants://db.example:6333", "qdrant://127.0.0.1:6333"):
        assert load({"index": index, "index_key": "secret"}, {})[0].index_key is not None


# where the truth is


@pytest.mark.usefixtures("file")
def test_a_database_elsewhere_goes_with_an_index_elsewhere() -> None:
    database = "postgresql+psycopg://ann:secret@db.example/catalog"
    chosen = load({"index": "qdrant://a:1", "database": database}, {})[0].database
    assert chosen is not None
    assert (chosen.get_secret_value(), "secret" in repr(chosen)) == (database, False)
    told = refused({"database": database})
    assert ("set index to a Qdrant" in told, "secret" in told) == (True, False)
    with pytest.raises(SettingsError, match="belongs to one process"):
        with_index(load({"index": "qdrant://a:1", "database": database}, {})[0], "embedded")
    assert load({"database": ""}, {"REPERTORY_DATABASE": database})[0].database is None  # as what is measured beside


@pytest.mark.usefixtures("file")
@pytest.mark.parametrize("database", ["postgresql://ann:secret@db.example/catalog", "sqlite:///secret", "somewhere secret"])
def test_a_database_that_nobody_knows_is_refused(database: str) -> None:
    told = refused({"index": "qdrant://a:1", "database": database})
    assert ("postgresql+psycopg://user@host/name" in told, "secret" in told) == (True, False)

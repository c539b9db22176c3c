"""What does a person find in a bundle: how is it started, and what is in it?"""

from __future__ import annotations

from pathlib import Path

from repertory.bundle.form import CATALOG, LOCK, MODELS, WHEELS, Manifest

_MAKEFILE = """\
# `make serve` is all: it makes an environment of what is in {wheels}/ and serves the catalog at http://127.0.0.1:8321.

PYTHON ?= python3
PORT ?= 8321
BIN := .venv/bin

.PHONY: serve setup
serve: setup
	REPERTORY_CONFIG=repertory.toml exec $(BIN)/repertory serve --catalog {catalog} --port $(PORT)

setup: .venv/ready

.venv/ready: {lock}
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check {source} --requirement {lock}
	@touch $@
"""

_DOCKERFILE = """\
FROM python:{python}-slim
WORKDIR /bundle
RUN --mount=type=bind,target=/from python -m pip install --no-cache-dir --disable-pip-version-check {source} --requirement /from/{lock}
RUN useradd --create-home repertory && chown repertory /bundle
USER repertory
{copies}
ENV REPERTORY_CONFIG=repertory.toml
EXPOSE 8321
CMD ["repertory", "serve", "--catalog", "{catalog}"]
"""

_README = """\
# A Repertory bundle

{entries} entries ({kinds}) in {documents} documents, revision {revision}, written {created} by Repertory {repertory}. Model: {model}.

```sh
make serve          # needs Python {python} on {platform}{network}
```

Then http://127.0.0.1:8321 has the page and the REST API, http://127.0.0.1:8321/mcp the tools for agents. What is asked there is answered as
it was where this was written: the same entries, vectors, index and settings (`repertory.toml`).

In a container, for this machine alone (Linux):

```sh
docker build -t repertory-bundle .
docker run --network host repertory-bundle
```

For other machines, make an API key first, and keep the catalog in a volume:

```sh
docker run -v catalog:/bundle/{catalog} repertory-bundle repertory keys create NAME --catalog {catalog}
docker run -v catalog:/bundle/{catalog} -p 8321:8321 -e REPERTORY_HOST=0.0.0.0 -e 'REPERTORY_ALLOWED_HOSTS=*' repertory-bundle
```

`repertory add` on this directory takes its entries and vectors into another catalog.
{notes}"""


def write_papers(manifest: Manifest, bundle: Path) -> None:
    """Write `Makefile`, `Dockerfile`, `.dockerignore` and `README.md`."""
    offline = "--no-index " if manifest.complete else ""
    told = [CATALOG, "repertory.toml", *([MODELS] if (bundle / MODELS).is_dir() else [])]
    common = {"catalog": CATALOG, "lock": LOCK, "wheels": WHEELS, "python": manifest.python}
    _write(bundle / "Makefile", _MAKEFILE.format(**common, source=f"{offline}--find-links {WHEELS}"))
    copies = "\n".join(f"COPY --chown=repertory {name} {name}" for name in told)
    _write(bundle / "Dockerfile", _DOCKERFILE.format(**common, copies=copies, source=f"{offline}--find-links /from/{WHEELS}"))
    _write(bundle / ".dockerignore", ".venv\n")
    readme = _README.format(
        **common,
        **{name: getattr(manifest, name) for name in ("documents", "revision", "created", "repertory", "platform")},
        model=manifest.model or "none",
        entries=sum(manifest.entries.values()),
        kinds=", ".join(f"{count} {kind}" for kind, count in manifest.entries.items()) or "none",
        network="; no network" if manifest.complete else ", and a package index at the first start",
        notes="".join(f"\n{note}\n" for note in _notes(manifest)),
    )
    _write(bundle / "README.md", readme)


def _notes(manifest: Manifest) -> list[str]:
    notes = []
    if manifest.live:
        notes.append(
            f"The tools of {', '.join(manifest.live)} are found and described here. To call them, too, their config is needed, which holds "
            "commands and credentials and did not come along: remove the source (`DELETE /api/sources/NAME`), then `repertory add CONFIG`."
        )
    if not manifest.complete:
        notes.append(
            "These wheels are not here, so the first start asks a package index:\n\n" + "\n".join(f"- {one}" for one in manifest.missing)
        )
    if manifest.keys:
        notes.append("API keys (as hashes) and the audit log came along: whoever has a key here has it there.")
    return notes


def _write(file: Path, text: str) -> None:
    file.write_text(text, "utf-8")

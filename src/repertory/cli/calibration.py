"""How does a calibration look in a terminal, in a file, in a picture?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from repertory.errors import SettingsError
from repertory.evaluate.calibrate import Sample, abstention, brier, overall, reliability
from repertory.search.confidence import Calibration

THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)  # of the trade-off that is shown


def report(samples: Sequence[Sample], calibration: Calibration) -> RenderableType:
    """The Brier score; how often each set abstains; confidence against truth; and what other thresholds would do."""
    return Group(
        Text(f"\nBrier score {brier(samples, calibration):.4f} over {len(samples)} sets\n"),
        _abstentions(samples, calibration),
        Text(""),
        _reliability(samples, calibration),
        Text(""),
        _thresholds(samples, calibration),
    )


def _abstentions(samples: Sequence[Sample], calibration: Calibration) -> Table:
    shown = _table("set", "answerable", "abstain", "off-topic", "abstain")
    rates = [abstention(one, calibration) for one in samples]
    for rate in rates:
        shown.add_row(rate.set, str(rate.answerable), f"{rate.lost:.1%}", str(rate.off_topic), f"{rate.refused:.0%}")
    total = sum(rate.off_topic for rate in rates)
    refused = sum(rate.refused * rate.off_topic for rate in rates) / max(1, total)
    shown.add_row("all", str(sum(rate.answerable for rate in rates)), f"{overall(rates):.1%}", str(total), f"{refused:.0%}", style="bold")
    return shown


def _reliability(samples: Sequence[Sample], calibration: Calibration) -> Table:
    shown = _table("confidence", "relevant", "results")
    for confidence, relevant, results in reliability(samples, calibration):
        shown.add_row(f"{confidence:.2f}", f"{relevant:.2f}", str(results))
    return shown


def _thresholds(samples: Sequence[Sample], calibration: Calibration) -> Table:
    shown = _table("threshold", "answerable abstain", "off-topic abstain", "in the worst set")
    for threshold in THRESHOLDS:
        rates = [abstention(one, replace(calibration, threshold=threshold)) for one in samples]
        mean = sum(rate.refused for rate in rates) / len(rates)
        shown.add_row(f"{threshold:.1f}", f"{overall(rates):.1%}", f"{mean:.1%}", f"{min(rate.refused for rate in rates):.0%}")
    return shown


def _table(*headings: str) -> Table:
    shown = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for number, heading in enumerate(headings):
        shown.add_column(heading, justify="right" if number else "left")
    return shown


def toml(calibration: Calibration, probes: Sequence[str], made_by: str, made_on: str, judged: Sequence[Sample]) -> str:
    """The content of search/confidence.toml."""
    lines = [
        "# What confidence means (search/confidence.py says what these are).",
        f'made_by = "{made_by}"',
        f"made_on = {made_on}",
        f"model = {json.dumps(calibration.model)}  # whose cosines it was learned from, and holds for",
        f"brier = {brier(judged, calibration):.4f}  # over {len(judged)} sets that it was judged by",
        f"threshold = {calibration.threshold:.2f}  # answers with a lower chance abstain",
        "probes = [  # talk about nothing that a catalog serves: how close it comes is the catalog's noise floor",
        *(f"    {json.dumps(probe)}," for probe in probes),
        "]",
    ]
    for name, part in (("answered", calibration.answered), ("chosen", calibration.chosen)):
        lines += ["", f"[{name}]", *(f"{key} = {value:.2f}" for key, value in asdict(part).items())]
    return "\n".join(lines) + "\n"


def plot(samples: Sequence[Sample], calibration: Calibration, file: Path) -> None:
    """Confidence against truth; on the diagonal it means what it says."""
    try:
        import matplotlib
    except ImportError:
        raise SettingsError("Plots need more packages: pip install 'repertory[eval]'.") from None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    bins = reliability(samples, calibration)
    figure, (above, below) = pyplot.subplots(2, 1, figsize=(6, 7), height_ratios=(3, 1), sharex=True, layout="constrained")
    above.plot([0, 1], [0, 1], color="grey", linewidth=1, linestyle="dotted")
    above.plot([confidence for confidence, _, _ in bins], [relevant for _, relevant, _ in bins], marker="o")
    above.set_ylabel("share of relevant results")
    above.set_ylim(0, 1)
    below.bar([confidence for confidence, _, _ in bins], [results for _, _, results in bins], width=0.06)
    below.set_yscale("log")
    below.set_ylabel("results")
    below.set_xlabel("confidence")
    below.set_xlim(0, 1)
    for axes in (above, below):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(file, dpi=150)
    pyplot.close(figure)

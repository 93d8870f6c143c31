"""`cuecard tokens`: what each section of a prompt costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from cuecard.cli.json_text import json_text
from cuecard.cli.step import open_engine, step_from
from cuecard.model import DeliveryWish, Manifest


def tokens(
    agent: Path,
    *,
    discovered: str,
    values: Sequence[str],
    turn: Path | None,
    delivery: DeliveryWish | None,
    as_json: bool,
    allow_code: bool = False,
) -> None:
    """Print a table: section, tier, place, tokens, and share of the total."""
    engine = open_engine(agent, delivery, allow_code=allow_code, figures=True)
    step = step_from(engine, discovered=discovered, values=values, turn=turn)
    manifest = step.manifest
    if as_json:
        rows = [asdict(record) for record in manifest.sections]
        costs = manifest.tokens
        totals = {"system": costs.system, "message": costs.messages, "appended": costs.appended}
        totals["total"] = manifest.total_tokens
        print(json_text({"tokens": asdict(costs.source), "sections": rows, "totals": totals}))
    else:
        Console().print(_table(manifest))


def _table(manifest: Manifest) -> Table:
    kind = "exact" if manifest.tokens.source.exact else "approximate"
    title = f"{manifest.configuration.agent} · {manifest.delivery.name} · {manifest.tokens.source.encoding} ({kind})"
    table = Table(title=title, title_justify="left", show_footer=True)
    whole = manifest.total_tokens
    table.add_column("section", footer="total")
    table.add_column("tier")
    table.add_column("place")
    table.add_column("tokens", justify="right", footer=f"{whole:,}")
    table.add_column("share", justify="right", footer="100 %")
    for record in manifest.sections:
        share = f"{100 * record.tokens / whole:.1f} %" if whole else ""
        table.add_row(record.id, record.tier, record.placement, f"{record.tokens:,}", share)
    return table

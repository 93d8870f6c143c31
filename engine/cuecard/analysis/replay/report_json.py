"""A report as plain JSON, for machines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from cuecard.analysis.cost import Bill, Row
from cuecard.analysis.replay.blocks import tokens_by_group
from cuecard.analysis.replay.breaks import Break
from cuecard.analysis.replay.play import Sent
from cuecard.analysis.replay.recommend import Recommendation
from cuecard.analysis.replay.report import Report, Variant
from cuecard.model import Json


def report_json(report: Report, recommendation: Recommendation | None = None) -> dict[str, Json]:
    """`deliveries` for the first model, request by request; `profiles` for every model, totals only."""
    return {
        "agent": report.agent,
        "transcript": report.transcript,
        "model": report.model,
        "tokens": asdict(report.tokens),
        "tools": report.tools,
        "reported": report.reported.model_dump() if report.reported else None,
        "deliveries": {v.name: {**_totals(report.bill(v)), "requests": _requests(v, report)} for v in report.variants},
        "profiles": {model.name: _profile(report, model.name) for model in report.models},
        **_texts(report),
        **({"recommendation": asdict(recommendation)} if recommendation else {}),
    }


def _texts(report: Report) -> dict[str, Json]:
    """What texts of one turn cost, by delivery and model, if there are any."""
    found = {each.name: {model: asdict(price) for model, price in each.texts.items()} for each in report.variants}
    return {"one_turn_texts": {name: prices for name, prices in found.items() if prices}} if any(found.values()) else {}


def _profile(report: Report, model: str) -> Mapping[str, Json]:
    return {variant.name: _totals(variant.bills[model]) for variant in report.variants}


def _totals(bill: Bill) -> dict[str, Json]:
    return {
        "input_tokens": bill.input_tokens,
        "output_tokens": bill.output_tokens,
        "cached_share": round(bill.cached_share, 4),
        "cost": round(bill.cost, 2),
        "rewrites": bill.rewrites,
        "below_minimum": bill.below_minimum,
    }


def _requests(variant: Variant, report: Report) -> list[Json]:
    rows = zip(variant.sent, report.bill(variant).rows, variant.breaks, strict=True)
    return [_request(sent, row, broken) for sent, row, broken in rows]


def _request(sent: Sent, row: Row, broken: Break | None) -> dict[str, Json]:
    return {
        "turn": sent.turn,
        "request": sent.number,
        "input_tokens": row.input_tokens,
        "cached": row.cached,
        "written": row.written,
        "fresh": row.fresh,
        "output_tokens": row.output_tokens,
        "cost": round(row.cost, 2),
        "below_minimum": row.below_minimum,
        "rewrites": row.rewrites,
        "first_break": asdict(broken) if broken else None,
        "tokens": dict(tokens_by_group(sent.request.blocks)),
    }

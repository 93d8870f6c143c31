"""What a recorded conversation would cost under each delivery, also as JSON."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from cuecard.config.model_profile import Definitions, ModelProfile
from cuecard.config.transcript_file import TranscriptFile
from cuecard.engine import Engine
from cuecard.errors import InputError, Problem, did_you_mean, visible
from cuecard.files.content import find_content, read_models
from cuecard.files.safe_read import MAX_LOG_BYTES, read_text
from cuecard.model import Delivery, Json
from cuecard.workbench.bill import Bill, BillRow
from cuecard.workbench.output import json_text, write_output
from cuecard.workbench.replay.blocks import tokens_by_group
from cuecard.workbench.replay.play import SentRequest, with_inputs
from cuecard.workbench.replay.recommend import Recommendation, recommend
from cuecard.workbench.replay.report import DELIVERIES, BillingModels, PrefixBreak, ReplayReport, Variant
from cuecard.workbench.replay.report import replay as replay_transcript
from cuecard.workbench.step import assignments, open_engine
from cuecard.workbench.transcripts.formats import LogForm, read_conversation


def report_json(report: ReplayReport, recommendation: Recommendation | None = None) -> dict[str, Json]:
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


def _texts(report: ReplayReport) -> dict[str, Json]:
    """What texts of one turn cost, by delivery and model, if there are any."""
    found = {each.name: {model: asdict(price) for model, price in each.texts.items()} for each in report.variants}
    return {"one_turn_texts": {name: prices for name, prices in found.items() if prices}} if any(found.values()) else {}


def _profile(report: ReplayReport, model: str) -> Mapping[str, Json]:
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


def _requests(variant: Variant, report: ReplayReport) -> list[Json]:
    rows = zip(variant.sent, report.bill(variant).rows, variant.breaks, strict=True)
    return [_request(sent, row, broken) for sent, row, broken in rows]


def _request(sent: SentRequest, row: BillRow, broken: PrefixBreak | None) -> dict[str, Json]:
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


MODELS = ("claude-opus-4-8", "claude-sonnet-5", "gpt-5.6", "gpt-5", "gpt-4o")
"""The models shown by default, which cover every kind of pricing."""


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """What was asked for; the fields are the options of the command."""

    form: LogForm = "auto"
    deliveries: Sequence[str] = ()
    definitions: Literal["auto"] | Definitions = "auto"
    models: Sequence[str] = ()
    own_models: Path | None = None
    values: Sequence[str] = ()
    recommend: bool = False
    html: Path | None = None
    as_json: bool = False
    long_cache: bool = False

    def billing(self, engine: Engine) -> BillingModels:
        """How the conversation is billed."""
        place = None if self.definitions == "auto" else self.definitions
        return BillingModels(_profiles(engine, self), place, self.long_cache)


def replay(agent: Path, transcript: Path, options: ReplayOptions, *, allow_code: bool = False) -> None:
    """Replay the conversation, and print its cost.

    Raises:
        SpecError: with every problem of a file.
        InputError: with every missing, unknown or wrong input of a turn.
    """
    engine = open_engine(agent, allow_code=allow_code)
    source = read_text(find_content(transcript), limit=MAX_LOG_BYTES)
    read = read_conversation(source.text, source.name, options.form)
    conversation = with_inputs(read.transcript, assignments(engine, options.values))
    wanted = _deliveries(options.deliveries)
    report = replay_transcript(engine, conversation, options.billing(engine), name=source.name, deliveries=wanted)
    advice = recommend(report, engine, conversation) if options.recommend else None
    for problem in (*read.warnings, *_ending(report.models), *_uncounted(engine, conversation)):
        _say(problem)
    if options.html:
        _write_page(options.html, report, advice)
    if options.as_json:
        print(json_text(report_json(report, advice)))
    elif not options.html:
        _print(report, advice)


def _deliveries(names: Sequence[str]) -> tuple[Delivery, ...]:
    known: dict[str, Delivery] = {delivery: delivery for delivery in DELIVERIES}
    if wrong := [name for name in names if name not in known]:
        raise InputError(
            Problem("wrong-option", f"there is no delivery `{name}`", did_you_mean(name, known), "--delivery")
            for name in wrong
        )
    return tuple(known[name] for name in names) or DELIVERIES


def _print(report: ReplayReport, advice: Recommendation | None) -> None:
    from rich.console import Console

    from cuecard.workbench.replay.tables import show

    show(report, advice, Console())


def _write_page(path: Path, report: ReplayReport, advice: Recommendation | None) -> None:
    from cuecard.workbench.replay.page import page

    write_output(path, page(report, advice), "--html")
    sys.stderr.write(f"wrote {visible(str(path))}\n")


def _profiles(engine: Engine, options: ReplayOptions) -> list[ModelProfile]:
    """The chosen models. Your own file replaces the agent's; either overrides the shipped one."""
    known = read_models(options.own_models) if options.own_models else engine.models
    profiles = [known.find(name) for name in dict.fromkeys(options.models or MODELS)]
    for profile in profiles:
        if not profile.known:
            hint = did_you_mean(profile.name, (name for name in known.models if not name.endswith("*")))
            message = f"no profile for `{profile.name}`: priced as if its provider had no cache"
            _say(Problem("unknown-model", message, hint, "--model", severity="warning"))
    return profiles


def _ending(models: Sequence[ModelProfile]) -> list[Problem]:
    return [
        Problem("model-ends", f"`{m.name}` is only served until {m.ends}", "choose a later model", severity="warning")
        for m in models
        if m.ends
    ]


def _uncounted(engine: Engine, conversation: TranscriptFile) -> list[Problem]:
    """What the figures do not include."""
    told = {tool.name for tool in conversation.tools if tool.input_schema}
    without = [name for name, card in engine.tools.items() if not card.input_schema and name not in told]
    if not without:
        return []
    message = f"{len(without)} of {len(engine.tools)} tools have no schema here: their definitions are undercounted"
    return [Problem("no-schemas", message, "add the schemas under `tools` in the transcript", severity="warning")]


def _say(problem: Problem) -> None:
    sys.stderr.write(f"{problem.picture()}\n")

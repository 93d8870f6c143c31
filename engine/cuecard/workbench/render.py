"""The prompt of a step, what its sections cost, and a prompt split for other tools.

This works for any agent. In a list of sections with a boundary, the stable text ends at the boundary. Otherwise, and in
an XML core template, it ends before the first section that may change.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from cuecard.agent import Agent
from cuecard.model import Appended, Call, DeliveryWish, Diagnostic, Host, Json, Manifest, Segment, SourceRow, Step
from cuecard.model.messages import Message
from cuecard.pipeline.fingerprints import sha256
from cuecard.pipeline.segments import stable_part
from cuecard.records import dataclass
from cuecard.workbench.output import counted, json_text
from cuecard.workbench.step import call_from, known_definitions, open_engine, step_from

if TYPE_CHECKING:
    from rich.table import Table


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
    known = {name: text for name, text in known_definitions(agent).items() if name in step.active_tools}
    defined = {**{name: engine.count(text) for name, text in known.items()}, **manifest.definitions}
    if as_json:
        rows = [asdict(record) for record in manifest.sections]
        costs = manifest.tokens
        totals = {"system": costs.system, "message": costs.messages, "appended": costs.appended}
        totals["total"] = manifest.total_tokens
        told = {"tokens": asdict(costs.source), "sections": rows, "totals": totals, "definitions": defined}
        print(json_text(told))
    else:
        from rich.console import Console

        Console().print(_table(manifest))
        if defined:
            print(f"definitions of {counted(len(defined), 'active tool')}, beside it: {sum(defined.values()):,} tokens")


def _table(manifest: Manifest) -> Table:
    from rich.table import Table

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


COMPILER = "cuecard/1"
"""Incremented whenever the same files and the same turn produce a different text than before."""


@dataclass(frozen=True, slots=True)
class SplitPrompt:
    """One prompt in two parts.

    Attributes:
        compiler: the compiler and its version.
        agent: the agent's name.
        spec_sha256: fingerprint of its files. profile: the set of sections that the call selected; empty for all.
        variant: the variant selected in addition. stable_text: the text that only changes with the configuration, files
        or inputs that it reads. dynamic_text: the rest. boundary: the marker between them; empty if nothing follows it,
        or the layout has none. full_text: the system prompt: `stable_text + boundary + dynamic_text`. stable_sha256:
        its fingerprint, in hex, like the two below. dynamic_sha256: of the dynamic text. full_sha256: of the full text.
        stable_sections: ids of the sections in the stable text, in order. dynamic_sections: the same for the dynamic
        text. diagnostics: problems of sources. sources: the files and other sources that were used.
    """

    compiler: str
    agent: str
    spec_sha256: str
    profile: str
    variant: str
    stable_text: str
    dynamic_text: str
    boundary: str
    full_text: str
    stable_sha256: str
    dynamic_sha256: str
    full_sha256: str
    stable_sections: tuple[str, ...]
    dynamic_sections: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]
    sources: tuple[SourceRow, ...]

    def to_json(self) -> dict[str, Json]:
        """The same as plain JSON."""
        return asdict(self)


def split_prompt(agent: Agent, call: Call, step: Step) -> SplitPrompt:
    """The system prompt of a step in its two parts."""
    boundary = agent.spec.layout.boundary
    length = sum(segment.stable for segment in step.segments) if boundary else stable_part(step.segments)
    stable, dynamic = step.segments[:length], step.segments[length:]
    marker = boundary.marker if boundary and dynamic else ""
    texts = _joined(stable), _joined(dynamic).removeprefix(marker)
    return SplitPrompt(
        COMPILER,
        call.configuration.agent,
        call.configuration.sha256,
        call.configuration.profile,
        call.configuration.variant,
        *texts,
        marker,
        step.system,
        sha256(texts[0]),
        sha256(texts[1]),
        sha256(step.system),
        tuple(segment.id for segment in stable),
        tuple(segment.id for segment in dynamic),
        call.record.diagnostics,
        call.record.sources,
    )


def _joined(segments: tuple[Segment, ...]) -> str:
    return "".join(segment.text for segment in segments)


Form: TypeAlias = Literal["text", "json", "manifest", "messages", "compiled"]
"""The output format: for people, or for machines as everything, the manifest, all messages, or stable and dynamic
text separately.
"""


def render(
    agent: Path,
    *,
    discovered: str,
    values: Sequence[str],
    turn: Path | None,
    delivery: DeliveryWish | None,
    form: Form,
    allow_code: bool = False,
) -> None:
    """Print the system prompt, then each appended block below a line with its place; or JSON."""
    engine = open_engine(agent, delivery, allow_code=allow_code)
    # What is compiled is for hosts that set a system prompt and nothing else.
    host: Host | None = "system-only" if form == "compiled" else None
    call, step = call_from(engine, discovered=discovered, values=values, turn=turn, host=host)
    if form == "text":
        sys.stdout.write(_text(step))
        return
    forms: dict[Form, Callable[[], Json]] = {
        "json": lambda: step.to_json(),  # noqa: PLW0108 - likewise
        "manifest": lambda: step.manifest.to_json(),  # noqa: PLW0108 - made only when asked for
        "messages": lambda: [message.to_json() for message in _messages(step)],
        "compiled": lambda: split_prompt(engine.agent, call, step).to_json(),
    }
    sys.stdout.write(json_text(forms[form]()) + "\n")


def _messages(step: Step) -> tuple[Message, ...]:
    """The whole message stack, with the texts of this turn alone at its end; without a conversation in the turn, it
    begins with the system prompt.
    """
    stack = step.messages or (Message("system", step.system, persist=False),)
    passing = (block for block in step.appended if not block.stays)
    return (*stack, *(Message("system", block.text.removesuffix("\n"), persist=False) for block in passing))


def _text(step: Step) -> str:
    blocks = [f"\n--- {place_of(block)} ---\n{block.text}" for block in step.appended]
    text = "".join([step.system, *blocks])
    return text if text.endswith("\n") else f"{text}\n"  # a shell's next line begins on one of its own


def place_of(block: Appended) -> str:
    """Where a block goes, for people."""
    if block.lifetime == "step":
        return "at the end of this request alone"
    if block.stays or block.after_call_id:
        return f"appended after {block.after_call_id}"
    return "with the user's message, for this turn alone"

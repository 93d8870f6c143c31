"""A prompt split for other tools: the stable part, the changing part, and a record of both.

This works for any agent. In a list of sections with a boundary, the stable text ends at the boundary. Otherwise, and in
an XML core template, it ends before the first section that may change.
"""

from __future__ import annotations

from dataclasses import asdict

from cuecard.agent import Agent
from cuecard.model import Call, Diagnostic, Json, Segment, SourceRow, Step
from cuecard.pipeline.fingerprints import sha256
from cuecard.pipeline.segments import stable_part
from cuecard.records import dataclass

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

"""The record of one prompt: what was sent, why, what it costs, and what was left out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, fields
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from cuecard.agent import Agent
from cuecard.errors import InputError, Problem
from cuecard.model import (
    Call,
    CountTokens,
    Cut,
    Diagnostic,
    Discovery,
    Json,
    Manifest,
    SectionRecord,
    SourceRow,
    TokenSource,
)
from cuecard.pipeline.call import spoken_sections
from cuecard.pipeline.fingerprints import name_of, seal
from cuecard.pipeline.placement import Delivered
from cuecard.pipeline.segments import sha256

if TYPE_CHECKING:
    from pydantic import TypeAdapter

Placement: TypeAlias = Literal["system", "message", "appended"]

_FIELDS = tuple(field.name for field in fields(Manifest))
_RECORD, _TOKENS, _DISCOVERY, _CUT, _DIAGNOSTIC, _ROW = (
    attrgetter(*(field.name for field in fields(kind)))
    for kind in (SectionRecord, TokenSource, Discovery, Cut, Diagnostic, SourceRow)
)

_LISTS: Mapping[str, Callable[[Any], Any]] = {
    "sections": _RECORD,
    "protocols": _RECORD,
    "discovered": _DISCOVERY,
    "cuts": _CUT,
    "diagnostics": _DIAGNOSTIC,
    "sources": _ROW,
}

_REASONS = {"static": "always the same", "call": "values of this call", "step": "core tools and discovered tools"}


def make_manifest(
    agent: Agent,
    call: Call,
    delivered: Delivered,
    shown: tuple[Discovery, ...],
    discovered: tuple[Discovery, ...],
    cuts: tuple[Cut, ...],
    count: CountTokens,
    salt: str = "",
) -> Manifest:
    """The manifest of a step.

    With a `salt`, every fingerprint in it is salted; those in `delivered` have to be already (`delivery.sealed`).
    """
    silent = tuple(
        Cut(name, "no instructions: active without a protocol")
        for name in (*call.initial, *(d.tool for d in discovered))
        if agent.protocols and name not in agent.protocols
    )
    system = sum(segment.tokens for segment in delivered.segments)
    appended = sum(block.tokens for block in delivered.appended)
    spoken = tuple(_spoken(agent, call, count, salt))
    messages = sum(record.tokens for record in spoken)
    facts: dict[str, Any] = {
        "agent": call.agent,
        "spec_sha256": seal(call.spec_sha256, salt),
        "delivery": call.delivery,
        "tokens": call.tokens,
        "sections": (*_in_system(agent, call, delivered), *spoken, *_appended(delivered, shown)),
        "protocols": tuple(_protocols(agent, call, shown, count, salt)),
        "active_tools": (*call.initial, *(d.tool for d in discovered)),
        "discovered": discovered,
        "cuts": tuple(dict.fromkeys((*call.cuts, *cuts, *silent))),
        "trust": call.trust,
        "reload": call.reload,
        "system_tokens": system,
        "appended_tokens": appended,
        "total_tokens": system + messages + appended,
        "inputs": {name: seal(digest, salt) for name, digest in call.inputs.items()} if salt else call.inputs,
        "salt": name_of(salt),
        "delivery_reason": call.delivery_reason,
        "model": call.model,
        "authority": call.authority,
        "profile": call.profile,
        "variant": call.variant,
        "diagnostics": call.diagnostics,
        "sources": call.sources,
        "origins": agent.origins,
        "message_tokens": messages,
    }
    return Manifest(**facts, sha256=seal(_fingerprint(facts), salt))


def manifest_json(manifest: Manifest) -> dict[str, Json]:
    """The manifest as plain JSON."""
    return asdict(manifest)


def manifest_from_json(data: Json, name: str = "manifest_from_json") -> Manifest:
    """The manifest that `manifest_json` wrote.

    Args:
        data: plain JSON.
        name: what errors call it, such as its file.

    Raises:
        InputError: naming every field that is missing, unknown or of the wrong type.
    """
    from pydantic import ValidationError  # noqa: PLC0415 - only who stores manifests pays for it

    try:
        return _adapter().validate_python(data)
    except ValidationError as error:
        found = error.errors(include_input=False, include_url=False)
        raise InputError(_problem(e["loc"], e["msg"], name) for e in found) from None


@cache
def _adapter() -> TypeAdapter[Manifest]:
    from pydantic import ConfigDict, TypeAdapter, with_config  # noqa: PLC0415 - only who stores manifests pays for it

    return TypeAdapter(with_config(ConfigDict(extra="forbid"))(Manifest))


def _problem(place: tuple[int | str, ...], message: str, name: str) -> Problem:
    where = ".".join(str(part) for part in place) or "the manifest"
    hint = "keep what `cuecard render --json` or manifest_json() wrote, unchanged"
    return Problem("bad-manifest", f"`{where}`: {message}", hint, name)


def _fingerprint(facts: Mapping[str, Any]) -> str:
    """Over every field in the order of its declaration; written out flat, because a step must cost little."""
    nested = {
        "tokens": _TOKENS(facts["tokens"]),
        **{name: [flat(item) for item in facts[name]] for name, flat in _LISTS.items()},
        **{name: sorted(facts[name].items()) for name in ("trust", "inputs", "origins")},
    }
    flat = [nested[name] if name in nested else facts[name] for name in _FIELDS if name != "sha256"]
    return hashlib.sha256(json.dumps(flat).encode()).hexdigest()


def _in_system(agent: Agent, call: Call, delivered: Delivered) -> Iterator[SectionRecord]:
    sections = (*agent.sections, *agent.edition(call.profile, call.variant))  # the baseline may be of another profile
    known = {section.id: (section.source, section.values) for section in sections}
    for s in delivered.segments:
        source, reads = known.get(s.id, ("", ()))
        yield SectionRecord(s.id, s.tier, "system", source, _REASONS[s.tier], s.tokens, s.sha256, reads)


def _spoken(agent: Agent, call: Call, count: CountTokens, salt: str) -> Iterator[SectionRecord]:
    """Sections that are messages of their own; the host's messages have no place in a manifest."""
    sections = {section.id: section for section in (*agent.sections, *agent.edition(call.profile, call.variant))}
    for message in spoken_sections(call, sections):
        section, text = sections[message.id], str(message.content)
        digest, tokens = seal(sha256(text), salt), count(text)
        yield SectionRecord(
            section.id, section.tier, "message", section.source, _REASONS[section.tier], tokens, digest, section.values
        )


def _appended(delivered: Delivered, shown: tuple[Discovery, ...]) -> Iterator[SectionRecord]:
    found: dict[str | None, list[str]] = {}
    for discovery in shown:
        found.setdefault(discovery.after_call_id, []).append(discovery.tool)
    for block in delivered.appended:
        if block.turn is not None:
            source, reason = f"call {block.turn + 1}", "changed since the call before"
        else:
            source = f"search result {block.after_call_id}" if block.after_call_id else "search result"
            reason = f"discovered: {', '.join(found.get(block.after_call_id, []))}"
        yield SectionRecord(block.id, "step", "appended", source, reason, block.tokens, block.sha256)


def _protocols(
    agent: Agent, call: Call, shown: tuple[Discovery, ...], count: CountTokens, salt: str
) -> Iterator[SectionRecord]:
    place: Mapping[str, str] = {d.tool: d.after_call_id or "" for d in shown}
    for name in (*call.initial, *place):
        protocol = agent.protocols.get(name)
        if protocol is None:
            continue
        if name in agent.spec.tools.core:
            reason = "core tool"
        elif name in place:
            reason = f"discovered by {place[name] or 'a search without an id'}"
        else:
            reason = "every tool, from the start" if call.delivery == "frozen" else "discovered earlier"
        where: Placement = "appended" if name in place and call.delivery == "append" else "system"
        source = agent.catalogue[name].source
        yield SectionRecord(name, "step", where, source, reason, count(protocol.text), seal(protocol.sha256, salt))

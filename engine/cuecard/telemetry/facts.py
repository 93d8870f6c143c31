"""What spans and metrics tell of a prompt: names, ids, fingerprints and numbers, and never a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from cuecard.errors import CuecardError
from cuecard.model import Call, Configuration, Manifest, SearchResult
from cuecard.pipeline.changes import Break
from cuecard.pipeline.fingerprints import salted
from cuecard.reload.keeper import Status

Value: TypeAlias = str | int | float | bool | Sequence[str] | Sequence[int]

SCHEMA = "https://opentelemetry.io/schemas/1.43.0"
"""The version of OpenTelemetry's semantic conventions whose names are used, for backends that translate them."""

SHORT = 12
"""How many digits of a fingerprint are its name."""


def of_prompt(configuration: Configuration, version: int | str | None = None, salt: str = "") -> dict[str, Value]:
    """Which prompt it is, in the words of OpenTelemetry and of Langfuse.

    The version is that of the host, or else the number in a library, or the fingerprint. Langfuse takes only whole
    numbers for the version of a prompt, those of its own prompt management; the fingerprint is its `version` of an
    observation. A manifest's fingerprints are salted already; those of a call are not.
    """
    digest = salted(configuration.sha256, salt)
    short = digest[:SHORT]
    version = configuration.library.version if version is None and configuration.library else version
    numbered: dict[str, Value] = {"langfuse.observation.prompt.version": version} if isinstance(version, int) else {}
    return {
        **of_agent(configuration.agent),
        "gen_ai.prompt.version": short if version is None else str(version),
        "langfuse.observation.prompt.name": configuration.agent,
        "langfuse.version": short,
        "cuecard.configuration.sha256": digest,
        **numbered,
        **{
            f"cuecard.{key}": value
            for key in ("profile", "variant", "reload")
            if (value := getattr(configuration, key))
        },
    }


def of_agent(name: str) -> dict[str, Value]:
    """Which agent it is, which is also the prompt's name."""
    return {"gen_ai.agent.name": name, "gen_ai.prompt.name": name}


def of_conversation(call: Call) -> dict[str, Value]:
    """Which conversation it is, where it has an id, and which of its runs."""
    named = {"gen_ai.conversation.id": call.conversation} if call.conversation else {}
    return {**named, "cuecard.turn": call.turn}


def of_call(call: Call) -> dict[str, Value]:
    """What was prepared for a message of the user."""
    model = {"gen_ai.request.model": call.delivery.model} if call.delivery.model else {}
    return {
        **model,
        **of_conversation(call),
        "cuecard.delivery": call.delivery.name,
        "cuecard.authority": call.delivery.authority,
        "cuecard.tools.available": len(call.tools.available),
        "cuecard.baseline": any(cut.what == "baseline" for cut in call.record.cuts),
    }


def of_step(manifest: Manifest) -> dict[str, Value]:
    """What was sent, section by section."""
    model = {"gen_ai.request.model": manifest.delivery.model} if manifest.delivery.model else {}
    return {
        **model,
        "cuecard.delivery": manifest.delivery.name,
        "cuecard.authority": manifest.delivery.authority,
        "cuecard.manifest.sha256": manifest.sha256,
        "cuecard.tokens": manifest.total_tokens,
        "cuecard.tokens.system": manifest.tokens.system,
        "cuecard.tokens.messages": manifest.tokens.messages,
        "cuecard.tokens.appended": manifest.tokens.appended,
        "cuecard.tokens.encoding": manifest.tokens.source.encoding,
        "cuecard.section.ids": [section.id for section in manifest.sections],
        "cuecard.section.sha256": [section.sha256 for section in manifest.sections],
        "cuecard.section.tokens": [section.tokens for section in manifest.sections],
        "cuecard.tools.active": len(manifest.active_tools),
        "cuecard.tools.discovered": [found.tool for found in manifest.discovered],
        "cuecard.cuts": len(manifest.cuts),
        "cuecard.diagnostics": [each.code for each in manifest.diagnostics],
    }


def of_break(broken: Break) -> dict[str, Value]:
    """Where the start that a request shares with the one before ends, and the likeliest reason."""
    return {
        "cuecard.cache_break.section": broken.id,
        "cuecard.cache_break.cause": broken.cause.kind,
        "cuecard.cache_break.tokens": broken.tokens,
    }


def of_search(result: SearchResult) -> dict[str, Value]:
    """What a search found; the query is the model's text."""
    return {
        "cuecard.search.tools": list(result.tools),
        "cuecard.search.scores": [f"{hit.score:.3f}" for hit in result.hits],
        "cuecard.search.confidence": result.confidence,
    }


def of_reload(status: Status, salt: str = "") -> dict[str, Value]:
    """What became of a change of the files."""
    refused = status.refused
    codes = {"cuecard.problems": sorted({problem.code for problem in refused.problems})} if refused else {}
    return {
        "cuecard.configuration.sha256": salted(status.serving, salt),
        "cuecard.reload.outcome": outcome(status),
        "cuecard.reload.number": status.number,
        "cuecard.reload.changed": list(status.changed),
        **({"cuecard.reload.refused.sha256": salted(refused.sha256, salt)} if refused else {}),
        **codes,
    }


def outcome(status: Status) -> str:
    """`served` or `refused`."""
    return "refused" if status.refused else "served"


def of_error(error: BaseException) -> dict[str, Value]:
    """What went wrong: its type and its codes. The message may hold a value."""
    codes = sorted({problem.code for problem in error.problems}) if isinstance(error, CuecardError) else []
    return {"error.type": type(error).__qualname__, **({"cuecard.problems": codes} if codes else {})}


def dropped(before: Manifest | None, after: Manifest, tools: Mapping[str, object]) -> int:
    """How many instructions of tools are left out now that were not left out before."""
    known = {cut.what for cut in before.cuts if cut.tokens} if before else set()
    return len({cut.what for cut in after.cuts if cut.tokens and cut.what in tools} - known)

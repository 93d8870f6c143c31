"""Whether tools can be found, and when each of their cues reaches the model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cuecard.agent.assembly import CompiledSection
from cuecard.agent.specification import core_tools
from cuecard.config.agent_file import AgentFile
from cuecard.config.documents.document import Document
from cuecard.errors import Problem
from cuecard.template.markup.tags import blanked, mustache_spans


def check_discovery(
    document: Document, spec: AgentFile, tools: Sequence[str], compiled: Sequence[CompiledSection]
) -> Iterator[Problem]:
    """Warnings of an agent in which every tool is active from the start.

    Args:
        document: the agent file.
        spec: the same, validated.
        tools: the tools of its files.
        compiled: its sections.
    """
    search = spec.tools.search.tool
    reason = _nothing_to_find(spec, [name for name in tools if name != search])
    if reason:
        yield from _idle(document, spec, reason)
    if "*" in spec.tools.core or spec.delivery == "frozen":
        yield from _spoken_of(compiled, search, reason)


def _nothing_to_find(spec: AgentFile, tools: Sequence[str]) -> str:
    """Why a search can find nothing; empty if it can, or if nobody knows the tools yet."""
    if "*" in spec.tools.core:
        return "every tool is a core tool"
    if spec.delivery == "frozen":
        return "`frozen` has every tool active from the start"
    left = {*tools}.difference(core_tools(spec.tools, tools))
    return "every tool of these files is a core tool" if tools and not left else ""


def _idle(document: Document, spec: AgentFile, reason: str) -> Iterator[Problem]:
    """The settings of a search that has nothing to find."""
    places: list[tuple[str | int, ...]] = []
    if spec.tools.search.tool in spec.tools.core:
        places.append(("tools", "core", spec.tools.core.index(spec.tools.search.tool)))
    places += [("tools", key) for key in ("search", "ahead") if key in spec.tools.model_fields_set]
    for place in places:
        message = f"there is nothing to find: {reason}"
        yield document.problem(place, "nothing-to-find", message, "remove it", severity="warning")


def _spoken_of(compiled: Sequence[CompiledSection], search: str, reason: str) -> Iterator[Problem]:
    """The places where sections name a search tool that no request has."""
    name = re.compile(rf"(?<![\w-]){re.escape(search)}(?![\w-])")
    for each in compiled:
        text = each.text
        plain = blanked(text.source.text, mustache_spans(text.program.body), " ")
        for match in name.finditer(plain, text.start, text.end):
            message = f"no request has `{search}`: {reason}"
            hint = "leave it out of the text"
            yield text.place(text.source.problem(*match.span(), "never-sent", message, hint, severity="warning"))


def check_cues(document: Document, spec: AgentFile) -> Iterator[Problem]:
    """Problems of delayed cues if the instructions are in the system prompt, which always prints all of them."""
    if spec.tools.cues.on_result and spec.delivery in {"rewrite", "frozen"}:
        message = f"`{spec.delivery}` prints all cues of a tool at once, so none of them waits for a result"
        at = ("tools", "cues", "on_result")
        yield document.problem(at, "idle-cues", message, "remove it, or choose `append`", severity="warning")

"""Where a request stops matching the previous one, and why."""

from __future__ import annotations

from dataclasses import dataclass

from cuecard.analysis.cost import first_break
from cuecard.analysis.explain import compare_manifests
from cuecard.analysis.replay.play import Sent
from cuecard.model import Manifest


@dataclass(frozen=True, slots=True)
class Break:
    """The first block that differs from the previous request.

    Attributes:
        id: what it is: `system/` and the id of a section, `tools/`, `messages/` or `appended/` and a name.
        cause: why, such as `memory` or `discovery cms_getPage`.
        lost: the tokens from there to the end of the previous request, which the provider cached for nothing.
    """

    id: str
    cause: str
    lost: int


def breaks(before: Sent, after: Sent) -> Break | None:
    """The break between two consecutive requests; None when the later one only adds to the earlier."""
    at = first_break(before.request, after.request)
    if at is None:
        return None
    lost = sum(block.tokens for block in before.request.blocks[at:])
    there = [sent.request.blocks[at].label for sent in (before, after) if at < len(sent.request.blocks)]
    label = _shared(there)
    return Break(label, _cause(label, before.manifest, after.manifest), lost)


def _shared(labels: list[str]) -> str:
    """What stood there, or, when a definition was put in front of it, what stands there now."""
    old, new = labels[0], labels[-1]
    return new if new.startswith("tools/") else old


def _cause(label: str, before: Manifest, after: Manifest) -> str:
    """The cause. Manifests cover what cuecard wrote, but not tool definitions and messages."""
    group, _, name = label.partition("/")
    if group == "tools":
        came = [tool for tool in after.active_tools if tool not in before.active_tools]
        gone = [tool for tool in before.active_tools if tool not in after.active_tools]
        named = ", ".join(came or gone)
        return f"discovery {named}" if named else "order"
    if group == "messages":
        return "history"
    changes = compare_manifests(before, after).changes
    causes = [str(change.cause) for change in changes if change.cause and _names(change.id, name)]
    return causes[0] if causes else "order"


def _names(section: str, name: str) -> bool:
    """Whether a section of the manifest is what a label names; the ids of appended blocks end in a fingerprint."""
    return section == name or section.startswith(f"{name}-")

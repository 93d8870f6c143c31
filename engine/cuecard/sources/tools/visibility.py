"""Conditional visibility: which tools a call has, and why it lacks the others."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType

from cuecard.config.agent_file import AgentFile
from cuecard.config.sections.tool_list_spec import VisibilitySpec
from cuecard.model import Cut, ToolCard
from cuecard.model.gates import Gates


def excluded_tools(spec: AgentFile, profile: str, variant: str) -> dict[str, str]:
    """The tools that the profile and the variant of a call exclude, each with the reason."""
    chosen = (("profile", profile, spec.profiles), ("variant", variant, spec.variants))
    selected = ((f"the {kind} `{name}` excludes it", known[name]) for kind, name, known in chosen if name in known)
    return {tool: reason for reason, selection in selected for tool in selection.exclude_tools}


def visible(
    cards: Iterable[ToolCard],
    gates: Gates,
    spec: VisibilitySpec,
    *,
    unlisted: Collection[str] = (),
    excluded: Mapping[str, str] = MappingProxyType({}),
) -> tuple[tuple[ToolCard, ...], tuple[Cut, ...]]:
    """The tools that pass every gate, in order, and a cut for each other tool with the first reason.

    `unlisted` names tools that exist but are not shown, such as `spec.meta` in a list of tools; `excluded` are those
    that no gate lets in, with the reason.
    """
    judged = [(card, excluded.get(card.name) or _reason(card, gates, spec, unlisted)) for card in cards]
    shown = tuple(card for card, reason in judged if not reason)
    return shown, tuple(Cut(f"tool {card.name}", reason) for card, reason in judged if reason)


def _reason(card: ToolCard, gates: Gates, spec: VisibilitySpec, unlisted: Collection[str]) -> str:
    """The first reason why a tool is excluded; empty if it is not."""
    if card.name in unlisted:
        return "a meta tool is never listed"
    return _not_enabled(card, gates, spec) or _switched_off(card, gates, spec) or _not_allowed(card, gates)


def _not_enabled(card: ToolCard, gates: Gates, spec: VisibilitySpec) -> str:
    categories = [c for c, names in spec.harness.items() if card.name in names or (not names and card.category == c)]
    if categories:
        listed = " or ".join(f"`{category}`" for category in categories)
        return "" if set(categories) & set(gates.harness) else f"a harness tool of runs with {listed}"
    # An empty set means no restriction: without a selection, an agent has all tools.
    return "" if not gates.enabled or card.name in gates.enabled else "it is not switched on"


def _switched_off(card: ToolCard, gates: Gates, spec: VisibilitySpec) -> str:
    for flag, words in spec.flags.items():
        if gates.flags.get(flag) is False and (card.category in words or card.name in words):
            return f"the flag `{flag}` is off"
    needed = [name for name in spec.secrets.get(card.name, ()) if name not in spec.optional_secrets]
    missing = [name for name in needed if gates.secrets is not None and name not in gates.secrets]
    return f"secrets are missing: {', '.join(missing)}" if missing else ""


def _not_allowed(card: ToolCard, gates: Gates) -> str:
    if card.name in gates.blocked:
        return "it is blocked"
    return "" if gates.allowed is None or card.name in gates.allowed else "it is not an allowed tool"

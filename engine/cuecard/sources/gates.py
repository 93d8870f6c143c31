"""Which tools a call may see: the gates of its turn, what its user may do, and names in both that belong to nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import TypeAlias

from cuecard.config.agent_file import AgentFile
from cuecard.config.sections.sources_spec import AccessSpec, VisibilitySpec
from cuecard.config.values import is_pattern
from cuecard.errors import DidYouMean, did_you_mean
from cuecard.model import Cut, ToolCard, Turn
from cuecard.model.turn import Gates
from cuecard.records import replace


def excluded_tools(spec: AgentFile, profile: str, variant: str) -> dict[str, str]:
    """The tools that the profile and the variant of a call exclude, each with the reason."""
    chosen = (("profile", profile, spec.profiles), ("variant", variant, spec.variants))
    selected = ((f"the {kind} `{name}` excludes it", known[name]) for kind, name, known in chosen if name in known)
    return {tool: reason for reason, selection in selected for tool in selection.exclude_tools}


def access_of(spec: AgentFile, turn: Turn) -> str:
    """The name of the access that holds for a turn: its own, or `default` if there is one; empty for none."""
    return turn.access or ("default" if "default" in spec.access else "")


def gates_of(spec: AgentFile, turn: Turn) -> tuple[Gates, Gates | None]:
    """The gates of a turn, and those of its access: a tool has to pass both. Either may name the harness categories."""
    chosen = spec.access.get(access_of(spec, turn))
    if chosen is None:
        return turn.gates, None
    own = chosen.gates if chosen.harness is not None else replace(chosen.gates, harness=turn.gates.harness)
    return replace(turn.gates, harness=turn.gates.harness or own.harness), own


Unknown: TypeAlias = tuple[tuple[str | int, ...], str, str, str | DidYouMean]
"""A name that belongs to nothing: its path, a code, a message and a hint."""


def named_in_gates(gates: Gates | AccessSpec) -> Iterator[tuple[tuple[str, int], str]]:
    """The tools and patterns in gates, each with its path."""
    for key in ("enabled", "allowed", "hide", "blocked"):
        listed: Sequence[str] = getattr(gates, key, None) or ()
        yield from (((key, at), name) for at, name in enumerate(listed))


def unknown_in_gates(
    gates: Gates | AccessSpec, spec: VisibilitySpec, known: Collection[str] | None
) -> Iterator[Unknown]:
    """The tools (unless they are unknown), flags and categories in gates that do not exist.

    A misspelt one would leave a tool to everybody.
    """
    for path, name in named_in_gates(gates):
        if known is not None and not is_pattern(name) and name not in known:
            yield path, "unknown-tool", f"no tool is called `{name}`", DidYouMean(name, frozenset(known))
    for at, category in enumerate(gates.harness or ()):
        if category not in spec.harness:
            yield ("harness", at), *_undeclared("harness", category, spec.harness)
    for flag in gates.flags:
        if flag not in spec.flags:
            yield ("flags", flag), *_undeclared("flags", flag, spec.flags)


def _undeclared(key: str, name: str, known: Collection[str]) -> tuple[str, str, str]:
    code, hint = "unknown-gate", did_you_mean(name, known) or "declare it there, or remove it"
    return code, f"`tools.visibility.{key}` has no `{name}`", hint


def unknown_in_visibility(
    spec: VisibilitySpec, known: Collection[str], categories: Collection[str]
) -> Iterator[Unknown]:
    """The tools and categories in the rules of the gates that do not exist."""
    named: list[tuple[tuple[str | int, ...], str]] = [(("meta", at), name) for at, name in enumerate(spec.meta)]
    named += [(("harness", key, at), name) for key, names in spec.harness.items() for at, name in enumerate(names)]
    named += [(("secrets", name), name) for name in spec.secrets]
    either = [(("flags", key, at), word) for key, words in spec.flags.items() for at, word in enumerate(words)]
    for path, name in (*named, *((path, word) for path, word in either if word not in categories)):
        if name not in known:
            kind = "tool or category" if path[0] == "flags" else "tool"
            yield path, "unknown-tool", f"no {kind} is called `{name}`", DidYouMean(name, frozenset(known))
    for key, names in spec.harness.items():
        if not names and key not in categories:
            yield ("harness", key), "unknown-tool", f"no tool has the category `{key}`", did_you_mean(key, categories)


def visible(
    cards: Iterable[ToolCard],
    gates: Gates,
    spec: VisibilitySpec,
    *,
    unlisted: Collection[str] = (),
    excluded: Mapping[str, str] = MappingProxyType({}),
    access: Gates | None = None,
) -> tuple[tuple[ToolCard, ...], tuple[Cut, ...]]:
    """The tools that pass every gate, in order, and a cut for each other tool with the first reason.

    `unlisted` names tools that exist but are not shown, such as `spec.meta` in a list of tools; `excluded` are those
    that no gate lets in, with the reason; `access` are the gates of what the user may do.
    """
    judged = [(card, excluded.get(card.name) or _reason(card, gates, spec, unlisted)) for card in cards]
    if access:
        judged = [(card, reason or _denied(card, access, spec)) for card, reason in judged]
    shown = tuple(card for card, reason in judged if not reason)
    return shown, tuple(Cut(f"tool {card.name}", reason) for card, reason in judged if reason)


def _reason(card: ToolCard, gates: Gates, spec: VisibilitySpec, unlisted: Collection[str]) -> str:
    """The first reason why a tool is excluded; empty if it is not."""
    if card.name in unlisted:
        return "a meta tool is never listed"
    return _not_enabled(card, gates, spec) or _switched_off(card, gates, spec) or _not_allowed(card, gates)


def _denied(card: ToolCard, access: Gates, spec: VisibilitySpec) -> str:
    reason = _reason(card, access, spec, ())
    return f"the user's access: {reason}" if reason else ""


def _listed(name: str, listed: Collection[str]) -> bool:
    return name in listed or any(is_pattern(each) and fnmatchcase(name, each) for each in listed)


def _not_enabled(card: ToolCard, gates: Gates, spec: VisibilitySpec) -> str:
    categories = [c for c, names in spec.harness.items() if card.name in names or (not names and card.category == c)]
    if categories:
        listed = " or ".join(f"`{category}`" for category in categories)
        return "" if set(categories) & set(gates.harness) else f"a harness tool of runs with {listed}"
    # An empty set means no restriction: without a selection, an agent has all tools.
    return "" if not gates.enabled or _listed(card.name, gates.enabled) else "it is not switched on"


def _switched_off(card: ToolCard, gates: Gates, spec: VisibilitySpec) -> str:
    for flag, words in spec.flags.items():
        if gates.flags.get(flag) is False and (card.category in words or card.name in words):
            return f"the flag `{flag}` is off"
    needed = [name for name in spec.secrets.get(card.name, ()) if name not in spec.optional_secrets]
    missing = [name for name in needed if gates.secrets is not None and name not in gates.secrets]
    return f"secrets are missing: {', '.join(missing)}" if missing else ""


def _not_allowed(card: ToolCard, gates: Gates) -> str:
    if _listed(card.name, gates.blocked):
        return "it is blocked"
    return "" if gates.allowed is None or _listed(card.name, gates.allowed) else "it is not an allowed tool"

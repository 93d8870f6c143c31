"""Two manifests, section by section."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, TypeAlias

from cuecard.errors import InputError, Problem
from cuecard.model import CacheRecord, Manifest, SectionRecord
from cuecard.model.boundary import checked
from cuecard.pipeline.cache_report import Layer, ProviderReason, model_differs, provider_reason, verdict
from cuecard.pipeline.changes import (
    Break,
    Cause,
    CauseKind,
    Change,
    ChangeKind,
    Comparison,
    Pair,
    SectionPlace,
    brought_by,
    find_causes,
    is_of_turn,
)
from cuecard.pipeline.fingerprints import NOTHING
from cuecard.records import replace

_Key: TypeAlias = tuple[str, int]
"""The identity of a section, and its number among equal ones."""

_At: TypeAlias = tuple[int, SectionRecord]
"""A section and its position in the manifest."""


@checked
def compare_manifests(before: Manifest, after: Manifest, *, answer: Mapping[str, Any] | None = None) -> Comparison:
    """The differences between two prompts, and the reasons: the same agent at two steps, for two turns, or in two
    revisions.

    Only what cuecard wrote is compared. A host's messages and tool definitions, which are in the same request, are
    not in a manifest.

    Args:
        before: the manifest of the earlier prompt.
        after: the manifest of the later one.
        answer: the provider's answer to the later request, as plain JSON, if it was asked to compare it with the
            earlier one: its report on the cache is then compared with the manifests.

    Raises:
        InputError: with everything that is wrong in an argument, or when the fingerprints have different salts.
    """
    if before.salt != after.salt:
        hint = "make both manifests with the same salt, or both without one"
        raise InputError(Problem("other-salt", "the two manifests were made with different salts", hint, "manifest"))
    pair = Pair(before, after)
    changes = (*_changes(pair, "system"), *_changes(pair, "message"), *_changes(pair, "appended"))
    first = _first_break(pair, changes)
    told = provider_reason(answer) if answer is not None else None
    seen = verdict(_layers(pair, first), told) if told else None
    models = f"{before.delivery.model} -> {after.delivery.model}"
    other = models if model_differs(before.delivery, after.delivery) else ""
    return Comparison(changes, first, before.total_tokens, after.total_tokens, told, seen, other)


def _layers(pair: Pair, first: Break | None) -> frozenset[Layer]:
    """The part of the request in which the prompt broke; another model has another cache in any case."""
    if model_differs(pair.before.delivery, pair.after.delivery):
        return frozenset({"model"})
    return frozenset({"system" if first.placement == "system" else "messages"}) if first else frozenset()


def _changes(pair: Pair, placement: SectionPlace) -> Iterator[Change]:
    old, new = (_placed(manifest, placement) for manifest in (pair.before, pair.after))
    matcher = SequenceMatcher(None, tuple(old), tuple(new), autojunk=False)
    for tag, start, end, start_after, end_after in matcher.get_opcodes():
        if tag == "equal":
            yield from (_change(pair, old[key], new[key], moved=False) for key in tuple(new)[start_after:end_after])
            continue
        ours, theirs = (
            [*held.values()][at] for held, at in ((old, slice(start, end)), (new, slice(start_after, end_after)))
        )
        if placement != "appended" and [each.sha256 for _, each in ours] == [each.sha256 for _, each in theirs]:
            yield from (_change(pair, *both, moved=False) for both in zip(ours, theirs, strict=True))  # other names
            continue
        yield from (_change(pair, old[key], None) for key in tuple(old)[start:end] if key not in new)
        for key in tuple(new)[start_after:end_after]:
            yield _change(pair, old.get(key), new[key])


def _placed(manifest: Manifest, placement: SectionPlace) -> dict[_Key, _At]:
    """Sections by id, except blocks, whose ids are derived from their texts: what brought them identifies them."""
    seen: Counter[str] = Counter()
    placed: dict[_Key, _At] = {}
    for at, record in enumerate(manifest.sections):
        if record.placement == placement:
            name = brought_by(record) if placement == "appended" else record.id
            placed[name, seen[name]] = (at, record)
            seen[name] += 1
    return placed


def _change(pair: Pair, old: _At | None, new: _At | None, *, moved: bool = True) -> Change:
    (at_before, before), (at_after, after) = old or (None, None), new or (None, None)
    record = [record for record in (before, after) if record is not None][-1]
    kind: ChangeKind = "removed" if after is None else "added" if before is None else "changed"
    if before and after and before.sha256 == after.sha256:
        kind = "moved" if moved else "same"
    causes = find_causes(pair, before, after) if kind in {"added", "removed", "changed"} else ()
    if before and after and moved:
        causes = (*causes, Cause("order"))
    tokens = before.tokens if before else 0, after.tokens if after else 0
    return Change(record.id, kind, causes, *tokens, record.placement, record.tier, record.source, at_before, at_after)


def _first_break(pair: Pair, changes: Sequence[Change]) -> Break | None:
    """System prompt and sections that are messages must be the same; of the blocks, the earlier ones come first."""
    old, new = ([*_texts(m, "system"), *_texts(m, "message")] for m in (pair.before, pair.after))
    blocks, blocks_after = _texts(pair.before, "appended"), _texts(pair.after, "appended")
    shared = _shared(old, new)
    if shared < max(len(old), len(new)):
        return _break(changes, old[shared:], new[shared:], (*new[shared:], *blocks_after))
    blocks_after = _as_read(pair, blocks, blocks_after)
    shared = _shared(blocks, blocks_after)
    if shared < len(blocks):
        return _break(changes, blocks[shared:], blocks_after[shared:], blocks_after[shared:])
    return None


def _as_read(pair: Pair, blocks: Sequence[_At], blocks_after: Sequence[_At]) -> list[_At]:
    """The later blocks as a model reads them: a manifest has the texts of a turn last, whatever came behind them."""
    first = next((n for n, (_, record) in enumerate(blocks) if is_of_turn(record)), None)
    if first is None or not pair.in_one_turn:
        return [*blocks_after]
    known = {_text(record) for _, record in blocks[first:] if is_of_turn(record)}
    told = [each for each in blocks_after if is_of_turn(each[1]) and _text(each[1]) in known]
    return [*blocks_after[:first], *told, *(each for each in blocks_after[first:] if each not in told)]


def _texts(manifest: Manifest, placement: SectionPlace) -> list[_At]:
    """The non-empty sections in one place, each with its position in the manifest."""
    return [(at, r) for at, r in enumerate(manifest.sections) if r.placement == placement and r.sha256 != NOTHING]


def _shared(old: Sequence[_At], new: Sequence[_At]) -> int:
    """The number of common leading texts. A block is the same only if it follows the same result or message."""
    pairs = zip(old, new, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if _text(a[1]) != _text(b[1])), min(len(old), len(new)))


def _text(record: SectionRecord) -> tuple[str, str]:
    return record.sha256, brought_by(record) if record.placement == "appended" else ""


def _break(changes: Sequence[Change], old: Sequence[_At], new: Sequence[_At], again: Iterable[_At]) -> Break:
    """The break at the first of these: at the later section, unless only the earlier one differs."""
    later = [change for change in changes if new and change.at_after == new[0][0]]
    earlier = [change for change in changes if old and change.at_before == old[0][0]]
    change = min((*later, *earlier), key=lambda change: change.kind == "same")
    causes = change.causes or (Cause("order"),)
    return Break(change.id, change.placement, causes, sum(record.tokens for _, record in again))


@checked
def with_answer(before: Manifest, after: Manifest, answer: Mapping[str, Any]) -> Manifest:
    """The later manifest with the provider's report on its cache; unchanged if there is none.

    Args:
        before: the manifest of the request that the later one was compared with.
        after: the manifest of the answered request.
        answer: the answer as plain JSON, such as `message.model_dump(mode="json")`.

    Raises:
        InputError: with everything that is wrong in an argument, or when the fingerprints have different salts.
    """
    comparison = compare_manifests(before, after, answer=answer)
    told, seen = comparison.told, comparison.verdict
    if told is None or seen is None:
        return after
    ours = str(comparison.first_break) if comparison.first_break else ""
    if comparison.other_model:
        ours = f"model: {comparison.other_model}"
    return replace(after, cache=CacheRecord(told.outcome, told.reason, told.tokens, ours, seen, before.sha256))


__all__ = [
    "Break",
    "Cause",
    "CauseKind",
    "Change",
    "ChangeKind",
    "Comparison",
    "ProviderReason",
    "compare_manifests",
    "provider_reason",
    "with_answer",
]

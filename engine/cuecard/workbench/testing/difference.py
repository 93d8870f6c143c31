"""The differences between the snapshot of a prompt and the current prompt: section by section, with tokens and cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import unified_diff
from hashlib import sha256

from cuecard.errors import InputError
from cuecard.workbench.price import SectionPrice, find_profile, price_of
from cuecard.workbench.testing.snapshot import RESULT, Snapshot, SnapshotSection, counted


def difference(before: Snapshot, after: Snapshot) -> list[str]:
    """Lines for people; none if the two are equal."""
    if before == after:
        return []
    return [*_facts(before, after), *changed_parts(before, after), *_left_out(before, after), *_cost(before, after)]


def _facts(before: Snapshot, after: Snapshot) -> Iterator[str]:
    for key in {**before.facts, **after.facts}:
        old, new = before.facts.get(key, "none"), after.facts.get(key, "none")
        if old != new:
            yield f"{key}: {old} -> {new}"


def changed_parts(before: Snapshot, after: Snapshot) -> Iterator[str]:
    """Each part that differs, with its tokens and its lines."""
    old, new = _numbered(before), _numbered(after)
    for key in {**old, **new}:
        was, now, name = old.get(key), new.get(key), key[0]
        if was != now:
            yield f"{name if name.startswith(RESULT) else f'section `{name}`'}: {_change(was, now)}"
            lines = unified_diff(_lines(was), _lines(now), lineterm="", n=1)
            yield from (f"  {line}" for line in list(lines)[2:])
    shared = [key for key in old if key in new]
    if shared != [key for key in new if key in old]:
        yield f"order: {', '.join(name for name, _ in new)}"


def _numbered(snapshot: Snapshot) -> dict[tuple[str, int], SnapshotSection]:
    """The parts by name, and by how many before them have it."""
    seen: Counter[str] = Counter()
    made = {}
    for part in snapshot.parts:
        made[part.name, seen[part.name]] = part
        seen[part.name] += 1
    return made


def _change(was: SnapshotSection | None, now: SnapshotSection | None) -> str:
    if was is None or now is None:
        return f"new, {counted(now.tokens)}" if now else f"removed, {counted(was.tokens if was else 0)}"
    moved = "" if was.tier == now.tier else f", tier {was.tier} -> {now.tier}"
    return f"{was.tokens:,} -> {counted(now.tokens)}{moved}"


def _lines(part: SnapshotSection | None) -> list[str]:
    return part.text.split("\n") if part else []


def _left_out(before: Snapshot, after: Snapshot) -> Iterator[str]:
    old, new = Counter(before.left_out), Counter(after.left_out)
    yield from (f"no longer left out: {line}" for line in (old - new).elements())
    yield from (f"left out: {line}" for line in (new - old).elements())
    if old == new and before.left_out != after.left_out:
        yield f"left out, in another order: {'; '.join(after.left_out)}"


def _cost(before: Snapshot, after: Snapshot) -> Iterator[str]:
    """The one-time cost of the edit for a conversation: the provider reads everything after the first difference
    again.
    """
    old, new = ([part for part in each.parts if not part.name.startswith(RESULT)] for each in (before, after))
    pairs = enumerate(zip(old, new, strict=False))
    same = next((at for at, (a, b) in pairs if (a.name, a.text) != (b.name, b.text)), min(len(old), len(new)))
    if same == len(old) == len(new):
        return
    again, total = sum(part.tokens for part in new[same:]), sum(part.tokens for part in new)
    shared = f"the shared start ends after {same} of {len(new)} sections"
    yield f"cache: {shared}; {again:,} of {total:,} tokens are read again"
    if model := after.facts.get("model"):
        try:
            cost = price_of(_priced(old), _priced(new), find_profile(model))
        except InputError:  # the model is unknown, and so are its prices
            return
        yield f"cost: {cost.cost:,.1f} uncached input tokens on {cost.model}; {cost.warm:,.1f} once cached"


def _priced(parts: Sequence[SnapshotSection]) -> list[SectionPrice]:
    return [
        SectionPrice(
            sha256(f"{part.name}\n{part.text}".encode()).hexdigest(),
            part.tokens,
            part.tier == "static",
            not part.name.startswith("appended: "),
        )
        for part in parts
    ]

"""The text of each section of a step, in the order of its manifest."""

from __future__ import annotations

from cuecard.model import SectionRecord, Step


def section_texts(step: Step) -> tuple[tuple[SectionRecord, str], ...]:
    """Each section of the manifest with its text: in the system prompt, separate messages, or appended blocks."""
    texts = {
        "system": iter([segment.text for segment in step.segments]),
        "appended": iter([block.text for block in step.appended]),
    }
    # They directly follow the system prompt, so the first message with an id is the section.
    messages = {message.id: str(message.content) for message in reversed(step.messages)}
    return tuple(
        (record, messages.get(record.id, "") if record.placement == "message" else next(texts[record.placement]))
        for record in step.manifest.sections
    )

"""Any text is a recorded conversation of some form, or fails with a SpecError that can be drawn."""

from __future__ import annotations

from cuecard import SpecError
from cuecard.config.transcript_file import read_transcript
from cuecard.workbench.transcripts.formats import FORMS, read_conversation
from fuzz.drawn import check_drawn
from fuzz.json_pieces import PHRASES, PIECES

__all__ = ["PHRASES", "PIECES", "target"]


def target(data: bytes) -> None:
    """Read one input, as every form that there is. A file is UTF-8, or is not read."""
    text = data.decode("utf-8", "replace")
    for form in FORMS:
        try:
            conversation = read_conversation(text, "log.json", form)  # type: ignore[arg-type]  # FORMS are its values
        except SpecError as error:
            check_drawn(error, text)
        else:
            assert conversation.transcript.turns
    try:
        assert list(read_transcript(text, "log.json").requests())
    except SpecError as error:
        check_drawn(error, text)

"""Reads the turn file passed to a command."""

from __future__ import annotations

from pathlib import Path

from cuecard.config.documents.validation import validate
from cuecard.config.documents.yaml_text import read_yaml
from cuecard.config.file_kinds import refuse_other_kind
from cuecard.config.turn_file import TurnFile
from cuecard.outside.content import find_content
from cuecard.outside.reading import read_text


def read_turn(path: Path) -> TurnFile:
    """The turn file at this path.

    Raises:
        SpecError: when the file is wrong.
    """
    source = read_text(find_content(path))
    document = read_yaml(source.text, source.name)
    refuse_other_kind(document, "turn")
    return validate(document, TurnFile)

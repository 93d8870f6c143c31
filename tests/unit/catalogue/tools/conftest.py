from __future__ import annotations

import pytest

from cuecard.catalogue.catalogue import Catalogue
from cuecard.config.documents.validation import validate
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.tool_file import ToolFile, tool_cards
from shipped import content_root


@pytest.fixture(scope="session")
def cms() -> Catalogue:
    """The catalogue of the CMS assistant, read from its files without a single warning."""
    cards = []
    for file in sorted((content_root() / "tool_instructions" / "cms").glob("*.yaml")):
        document = read_yaml(file.read_text(encoding="utf-8"), file.name)
        assert [warning.picture() for warning in document.warnings] == []
        cards += tool_cards(validate(document, ToolFile), document, file.name)
    return Catalogue(cards)

"""One table has every text: the settings, their defaults and what the engine asks for are its rows."""

from __future__ import annotations

import re
from pathlib import Path

import cuecard
from cuecard.config.words_spec import ENGLISH
from cuecard.config.words_table import GROUPS, WORDS
from cuecard.types import WordsSpec


def test_the_texts_of_an_agent_file_are_one_mapping_by_the_keys_of_the_table() -> None:
    made = WordsSpec.model_validate({"search": {"prompt": "the text"}, "memory": {"types": {"page": "Pages:"}}})

    assert ENGLISH.texts == {key: word.default for key, word in WORDS.items() if not word.by_type}
    assert dict(made.texts) == {**ENGLISH.texts, "search.prompt": "the text", "memory.types.page": "Pages:"}


def test_every_key_that_the_engine_asks_for_is_in_the_table() -> None:
    asked = re.compile(rf"\bwords\.({'|'.join(GROUPS)})\.([a-z_]+)\b")
    sources = [path.read_text(encoding="utf-8") for path in Path(cuecard.__file__).parent.rglob("*.py")]
    keys = {f"{group}.{key}" for source in sources for group, key in asked.findall(source)}

    assert len(keys) > 30
    assert keys - {"search.py"} <= WORDS.keys()

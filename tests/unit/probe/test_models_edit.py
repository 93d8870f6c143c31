"""A finding in a models file: where it belongs, and not a byte elsewhere."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard import SpecError
from cuecard.config.documents.validation import validate
from cuecard.config.documents.yaml_text import read_yaml
from cuecard.config.models_edit import Finding, with_finding
from cuecard.config.models_file import ModelsFile

FOUND = Finding("gw.example/v1", "acme", in_place=True, role="system", note="seen", day=date(2026, 11, 22))
SEEN = '{value: system, source: "cuecard probe", as_of: 2026-11-22, note: "seen"}'
OLD = "{value: user, source: me, as_of: 2026-01-01}"
TRUE = OLD.replace("user", "true")
TEXTS = {
    "nothing": "",
    "comments": "# mine\n\n# all of it\n",
    "no end of the last line": "providers: {}",
    "no endpoints": "# top\nproviders: {}  # none\n\n# end\n",
    "empty endpoints": "endpoints: {}  # none yet\nproviders: {}\n",
    "another endpoint": f"endpoints:\n  # a comment\n  other.example:\n    in_place: {TRUE} # so\n",
    "the endpoint": f"endpoints:\n   gw.example/v1:\n      in_place: {TRUE}\n# end\nproviders: {{}}\n",
    "other models": f"endpoints:\n  gw.example/v1:\n    in_place: {TRUE}\n    models:\n"
    f"      # the other\n      other:\n        mid_conversation: {OLD}\n",
    "the model": f"endpoints:\n  gw.example/v1:\n    in_place: {TRUE}\n    models:\n"
    "      acme:\n        # kept\n        min_cache_tokens: {value: 7, source: me, as_of: 2026-01-01}\n",
    "its role": f"endpoints:\n  gw.example/v1:\n    in_place: {TRUE}\n    models:\n"
    "      acme:\n        mid_conversation:\n          value: user\n\n          source: me\n"
    "          as_of: 2026-01-01\n"
    f"      other:\n        mid_conversation: {OLD} # stays\n",
}


def read(text: str) -> ModelsFile:
    return validate(read_yaml(text, "models.yaml"), ModelsFile)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_it_is_written_where_it_belongs_and_every_comment_stays(text: str) -> None:
    written = with_finding(text, FOUND, "models.yaml")
    role = read(written).endpoints["gw.example/v1"].models["acme"].mid_conversation

    assert role is not None
    assert (role.value, role.source, role.note) == ("system", "cuecard probe", "seen")
    assert [line for line in text.splitlines() if "#" in line and "none yet" not in line and line not in written] == []
    assert written.count(SEEN) == 1


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_written_again_it_appears_once(text: str) -> None:
    once = with_finding(text, FOUND, "models.yaml")

    assert with_finding(once, FOUND, "models.yaml") == once


def test_what_else_is_known_of_the_model_stays() -> None:
    file = read(with_finding(TEXTS["the model"], FOUND, "models.yaml"))
    tokens = file.endpoints["gw.example/v1"].models["acme"].min_cache_tokens

    assert tokens is not None
    assert tokens.value == 7


def test_a_file_in_braces_is_refused_with_what_to_do() -> None:
    with pytest.raises(SpecError, match="instead of braces"):
        with_finding(f"endpoints: {{x.example: {{in_place: {TRUE}}}}}\n", FOUND, "models.yaml")


@given(st.text(max_size=12), st.text(max_size=12), st.text(max_size=30))
def test_no_name_breaks_out_of_its_place(endpoint: str, model: str, note: str) -> None:
    finding = Finding(endpoint, model, in_place=False, role="user", note=note, day=date(2026, 11, 22))
    try:
        written = with_finding(TEXTS["another endpoint"], finding, "models.yaml")
    except SpecError:
        return
    file = read(written)

    assert set(file.endpoints) == {"other.example", endpoint}
    assert set(file.endpoints[endpoint].models) == {model}

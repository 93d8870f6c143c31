# ruff: noqa: E501 - pieces stay on one line
"""Any text of a prompt file becomes an agent, or an error of ours."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard import CuecardError
from cuecard.workbench.imports.command import files_of
from cuecard.workbench.imports.dotprompt import read_dotprompt
from cuecard.workbench.imports.prompty import read_prompty

HEADS = st.sampled_from([
    "", "---\n", "---\n---\n", "---\nname: a\n---\n", "---\ninput: 3\n---\n", "---\ninput: {schema: {a: string, b?: any}}\n---\n",
    "---\ninput: {schema: {x(enum): [1, null]}, default: {x: 1}}\n---\n", "---\ninputs: [3, {name: a, kind: 4}]\n---\n",
    "---\ninputs: {a: 1, b: {kind: array}, c: null}\nsample: x.json\n---\n", "---\ntemplate: {format: mustache}\n---\n", "---\ntemplate: 3\n---\n",
    "---\ninput: {schema: {properties: {a: 3, b: {type: [string, null]}}}}\n---\n", "---\ninput: {schema: {a(object): 3}}\n---\n",
])  # fmt: skip
PIECES = st.sampled_from([
    "a", "\n", " ", "{{", "}}", "{{a}}", "{{{b}}}", "{{#if a}}", "{{else}}", "{{/if}}", "{{#a}}", "{{/a}}", "{{^a}}", '{{role "system"}}',
    "{{role a}}", "{{history}}", "{{>x}}", "{{media url=a}}", "{{#ifEquals a b}}", "{{/ifEquals}}", "{{json a}}", "{{.}}", "system:\n", "\nuser:\n",
    "{% if a %}", "{% endif %}", "\\", "{{@auth.x}}", "{{a.b}}", "{{~a~}}", "{{!x}}", "}", "{",
])  # fmt: skip
TEXTS = st.tuples(HEADS, st.lists(PIECES, max_size=8).map("".join)).map("".join)


@pytest.mark.parametrize("kind", ["dotprompt", "prompty"])
@given(text=TEXTS)
def test_any_text_becomes_an_agent_or_an_error(kind: str, text: str) -> None:
    try:
        if kind == "prompty":
            made = read_prompty(text, "a.prompty", "a", lambda _: None)
        else:
            made = read_dotprompt(text, "a.prompt", "a", lambda _: None)
    except CuecardError:
        return

    assert files_of(made)["agent.yaml"].strip()

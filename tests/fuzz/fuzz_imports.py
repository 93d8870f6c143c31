"""Any text is a prompt file of another tool that becomes an agent's files, or fails with an error that can be drawn."""

from __future__ import annotations

from pathlib import PurePosixPath

from cuecard import CuecardError
from cuecard.workbench.imports.command import agent_name, files_of
from cuecard.workbench.imports.dotprompt import read_dotprompt
from cuecard.workbench.imports.prompt import ImportedPrompt
from cuecard.workbench.imports.prompty import read_prompty
from fuzz.drawn import check_told
from fuzz.fuzz_yaml import PIECES as YAML

PIECES = (
    *("---\n", "{{", "}}", "{{{", "}}}", "{{#if a}}", "{{else}}", "{{/if}}", "{{#each a}}", "{{/each}}", "{{> x}}"),
    *('{{role "system"}}', '{{role "', "{{history}}", "{{media url=a}}", "{% ", " %}", "{#", "#}", "|", "system:\n"),
    *("user:\n", "a", ".", " ", "\n", '"', "'", "\\", "~", "!", "^", "@", "../", "(", ")", "[", "]"),
    *YAML,
)
PHRASES = (
    *("---\ninput:\n  schema:\n    a: string, what it is\n    b?: integer\n  default: {a: x}\n---\n", "Hello {{a}}.\n"),
    *("---\nname: x\ninputs:\n  - {name: a, kind: array}\n---\n", "system:\nYou help.\n", "user:\n{{a}}\n", "---\n"),
    *("---\ntemplate: {format: mustache}\n---\n", "sample: ${file:x.json}\n", "{{#a}}{{.}}{{/a}}", "{% if a %}"),
    *("{% for x in a %}{{ x.b | upper }}{% endfor %}", "{% endif %}", "{% set a = 1 %}", "{{ a['b'] }}", "{{> x}}"),
    *("input: {schema: {a(enum, kinds): [1, b], c(array): {d: string}}}\n", '{{role "model"}}', "{{history}}", "\n"),
    *("{{#ifEquals a b}}x{{/ifEquals}}", "{{#unless a}}x{{/unless}}", "{{!-- x --}}", "{% raw %}", "{% endraw %}"),
)


def target(data: bytes) -> None:
    """Read one input as both kinds, with itself as its partial and as its sample."""
    text = data.decode("utf-8", "surrogateescape")
    for read in (_dotprompt, _prompty):
        try:
            made = read(text)
        except CuecardError as error:
            check_told(error)
            continue
        files = files_of(made)
        assert agent_name(made.name)
        assert files["agent.yaml"].strip()
        assert not any(".." in PurePosixPath(name).parts or name.startswith("/") for name in files)
        assert all(problem.message and problem.picture() for problem in made.problems)


def _dotprompt(text: str) -> ImportedPrompt:
    return read_dotprompt(text, "a.prompt", "a", lambda name: (text, f"_{name}.prompt") if name == "x" else None)


def _prompty(text: str) -> ImportedPrompt:
    return read_prompty(text, "a.prompty", "a", lambda name: text if name == "x.json" else None)

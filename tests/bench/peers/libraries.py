"""How each library renders a template, with its default settings; each is imported where it is used, to be timed."""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

Render: TypeAlias = Callable[[Mapping[str, Any]], str]
"""From values to a prompt."""


@dataclass(frozen=True, slots=True)
class Library:
    """A library that renders prompts.

    Attributes:
        package: as pip calls it.
        syntax: how a template names a value; a key of `prompt._NAME`.
        open: makes a template ready.
        has_blocks: whether templates have conditions and loops.
        has_lists: whether a list may be a value without further settings.
        slow: whether a render takes so long that few are measured.
        dev: whether it is measured in the development environment, because another library would overwrite its files.
    """

    package: str
    syntax: str
    open: Callable[[str], Render]
    has_blocks: bool = True
    has_lists: bool = True
    slow: bool = False
    dev: bool = False


def made_by(module: str, attribute: str, /, *values: Any, **named: Any) -> Any:
    """What a function or class of a module makes of these arguments."""
    return getattr(import_module(module), attribute)(*values, **named)


def cuecard(text: str) -> Render:
    template = made_by("cuecard", "compile_template", text)
    return lambda values: str(template.render(values))


def jinja2(text: str) -> Render:
    template = made_by("jinja2", "Template", text)
    return lambda values: str(template.render(**values))


def chevron(text: str) -> Render:
    chevron = import_module("chevron")
    return lambda values: str(chevron.render(text, dict(values)))


def pybars3(text: str) -> Render:
    template = made_by("pybars", "Compiler").compile(text)
    return lambda values: str(template(values))


def langchain(text: str) -> Render:
    template = import_module("langchain_core.prompts").PromptTemplate.from_template(text)
    return lambda values: str(template.format(**values))


def pydantic_ai(text: str) -> Render:
    template = made_by("pydantic_ai", "TemplateStr", text)
    return lambda values: str(template.render(dict(values)))


def dotprompt(text: str) -> Render:
    loop = asyncio.new_event_loop()
    template = loop.run_until_complete(made_by("dotpromptz", "Dotprompt").compile(text))

    def render(values: Mapping[str, Any]) -> str:
        made = loop.run_until_complete(template(made_by("dotpromptz", "DataArgument", input=dict(values))))
        return "\n".join(
            f"[{message.role.value}]" * (number > 0) + part.text
            for number, message in enumerate(made.messages)
            for part in message.content
        )

    return render


def prompty(text: str) -> Render:
    prompty = import_module("prompty")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "a.prompty"
        file.write_text(f"---\nname: a\n---\nsystem:\n{text}", encoding="utf-8")
        agent = prompty.load(file)

    def render(values: Mapping[str, Any]) -> str:
        return "".join(part.value for message in prompty.prepare(agent, dict(values)) for part in message.parts)

    return render


def banks(text: str) -> Render:
    template = made_by("banks", "Prompt", text)
    return lambda values: str(template.text(dict(values)))


def semantic_kernel(text: str) -> Render:
    templates = "semantic_kernel.prompt_template"
    config = made_by(templates, "PromptTemplateConfig", template=text, template_format="handlebars")
    template = made_by(templates, "HandlebarsPromptTemplate", prompt_template_config=config)
    kernel, loop = made_by("semantic_kernel", "Kernel"), asyncio.new_event_loop()
    arguments = import_module("semantic_kernel.functions").KernelArguments
    return lambda values: str(loop.run_until_complete(template.render(kernel, arguments(**values))))


def langfuse(text: str) -> Render:
    about = {"name": "a", "version": 1, "config": {}, "labels": [], "tags": [], "type": "text"}
    stored = made_by("langfuse.api", "Prompt_Text", prompt=text, **about)
    client = made_by("langfuse.model", "TextPromptClient", stored)
    return lambda values: str(client.compile(**values))


def poml(text: str) -> Render:
    run = import_module("poml").poml

    def render(values: Mapping[str, Any]) -> str:
        made = run(f"<poml><p whiteSpace='pre'>{text}</p></poml>", context=dict(values), chat=False)
        return str(made[0]["content"] if isinstance(made, list) else made)

    return render


def baml(text: str) -> Render:
    read = set(re.findall(r"\w+", " ".join(re.findall(r"\{[{%](.*?)[%}]\}", text))))
    declared = [f"{name}: {kind}" for name, kind in _BAML_TYPES.items() if name in read]
    source = _BAML.replace("INPUTS", ", ".join(declared)).replace("TEXT", text)
    runtime = import_module("baml_py").BamlRuntime.from_files("baml_src", {"a.baml": source}, {})
    context = runtime.create_context_manager()

    def render(values: Mapping[str, Any]) -> str:
        made = runtime.build_request_sync("Answer", dict(values), context, None, None, {}, False)  # noqa: FBT003
        (message,) = made.body.json()["messages"]
        return "".join(part["text"] for part in message["content"])

    return render


_BAML_TYPES = {"user": "string", "shop": "string", "date": "string", "note": "string", "tools": "Tool[]"}
_BAML = """\
class Tool {
  name string
  description string
}
client<llm> Model {
  provider openai
  options {
    model "gpt-5"
    api_key "none"
  }
}
function Answer(INPUTS) -> string {
  client Model
  prompt #"
TEXT
  "#
}
"""
"""A function of BAML: its inputs have types, and its prompt is read with the request that it would send."""

LIBRARIES: Mapping[str, Library] = {
    "cuecard": Library("cuecard", "handlebars", cuecard),
    "BAML": Library("baml-py", "jinja", baml),
    "Jinja2": Library("jinja2", "jinja", jinja2),
    "chevron": Library("chevron", "mustache", chevron),
    "pybars3": Library("pybars3", "handlebars", pybars3, dev=True),
    "Banks": Library("banks", "jinja", banks),
    "Langfuse": Library("langfuse", "double", langfuse, has_blocks=False, has_lists=False),
    "LangChain": Library("langchain-core", "single", langchain, has_blocks=False, has_lists=False),
    "Pydantic AI": Library("pydantic-ai-slim", "handlebars", pydantic_ai),
    "Semantic Kernel": Library("semantic-kernel", "handlebars", semantic_kernel, has_lists=False),
    "dotprompt": Library("dotpromptz", "handlebars", dotprompt),
    "Prompty": Library("prompty", "jinja", prompty),
    "POML": Library("poml", "double", poml, has_blocks=False, has_lists=False, slow=True),
}
"""By the name that people know them by. POML writes loops as attributes of its tags, not as blocks of text."""

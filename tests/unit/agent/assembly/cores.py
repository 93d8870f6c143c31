"""Small agents on disk that change a template."""

from __future__ import annotations

from pathlib import Path

import pytest
from lxml import etree

from cuecard import Engine, SpecError, Turn
from unit.agent.section_lists.agents import TOOLS, agent, opened, step, write

CORE = """\
<agent>
<identity>
You help {{{user}}}.
</identity>
<tone>
Be kind.
</tone>
<rules>
Promise nothing.
</rules>
</agent>
"""
HEAD = "agent: a\ntemplate: core.xml\ninputs: {user: {default: Ann}}\n"


def core(folder: Path, said: str = "", template: str = CORE, head: str = HEAD, **files: str) -> Engine:
    """The engine of a template, and of what an agent file says about it."""
    return opened(folder, head + said, delivery=None, core_xml=template, **files)


def child(folder: Path, said: str, below: str = "", template: str = CORE, **files: str) -> Engine:
    """The engine of an agent file over one with a template, which is in the folder `house`."""
    agent(folder / "house", HEAD + below, core_xml=template)
    return opened(folder, f"extends: house\n{said}", delivery=None, **files)


def refused(folder: Path, said: str, below: str = "", template: str = CORE, **files: str) -> str:
    """The errors of a child, without the folder in their names."""
    with pytest.raises(SpecError) as caught:
        child(folder, said, below, template, **files)
    return errors(caught.value, folder)


def errors(error: SpecError, folder: Path) -> str:
    found = [problem.picture() for problem in error.problems if problem.severity == "error"]
    return "\n\n".join(found).replace(f"{folder}/", "")


def ids(engine: Engine) -> list[str]:
    """The sections in their order."""
    return [section.id for section in engine.agent.sections]


def body(engine: Engine, name: str, turn: Turn | None = None) -> str:
    """What a section says in a call."""
    return engine.prepare_call(turn).prompt.shown[name]


def is_xml(text: str) -> bool:
    try:
        etree.fromstring(text.encode())
    except etree.XMLSyntaxError:
        return False
    return True


__all__ = [
    "CORE",
    "HEAD",
    "TOOLS",
    "agent",
    "body",
    "child",
    "core",
    "errors",
    "ids",
    "is_xml",
    "opened",
    "refused",
    "step",
    "write",
]

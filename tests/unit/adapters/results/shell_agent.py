"""An agent that tells the results of its tools by templates, and what its requests are held against."""

from __future__ import annotations

from pathlib import Path

from cuecard import Engine

AGENT = """\
agent: shell
delivery: frozen
sections: [{id: a, text: You work in a shell.}]
results:
  shell:
    field: printed
    head: 10
    tail: 5
    marker: "[{count}]"
    text: "<out>{{{result.code}}} {{{content}}}</out>"
    error: "<failed>{{{content}}}</failed>"
  "*": "({{{content}}})"
"""
TOLD = "<out>0 ls ls ls l[45]s ls </out>"


def shell_engine(folder: Path) -> Engine:
    (folder / "agent.yaml").write_text(AGENT, encoding="utf-8")
    return Engine.open(folder / "agent.yaml")

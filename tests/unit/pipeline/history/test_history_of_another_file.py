"""A history in an agent file laid over another one: changed key by key, or replaced by one of another policy."""

from __future__ import annotations

from cuecard.config.agent_file import AgentFile
from cuecard.config.documents.validation import validate
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.history_spec import LastHistory, WindowHistory
from cuecard.config.layers import lay_over

BASE = """\
agent: base
sections: [{id: one, text: Hello.}]
history: {policy: window, load: 16, keep: 15, on_overflow: 10}
"""


def laid_over(text: str) -> AgentFile:
    layers = [(read_yaml(BASE, "base.yaml"), ""), (read_yaml(text, "top.yaml"), "")]
    return validate(lay_over(layers).document, AgentFile)


def test_a_history_of_another_policy_replaces_the_one_below() -> None:
    assert laid_over("agent: top\nhistory: {policy: last, limit: 50}\n").history == LastHistory(policy="last", limit=50)


def test_a_history_of_the_same_policy_changes_what_it_names() -> None:
    wanted = WindowHistory(policy="window", load=16, keep=15, on_overflow=4)

    assert laid_over("agent: top\nhistory: {policy: window, on_overflow: 4}\n").history == wanted
    assert laid_over("agent: top\nhistory: {on_overflow: 4}\n").history == wanted

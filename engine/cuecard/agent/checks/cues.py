"""Cues configured to wait for a result under a delivery that cannot wait."""

from __future__ import annotations

from collections.abc import Iterator

from cuecard.config.agent_file import AgentFile
from cuecard.config.documents.yaml_text import Document
from cuecard.errors import Problem


def check_cues(document: Document, spec: AgentFile) -> Iterator[Problem]:
    """Problems of delayed cues if the instructions are in the system prompt, which always prints all of them."""
    if spec.tools.cues.on_result and spec.delivery in {"rewrite", "frozen"}:
        message = f"`{spec.delivery}` prints all cues of a tool at once, so none of them waits for a result"
        at = ("tools", "cues", "on_result")
        yield document.problem(at, "idle-cues", message, "remove it, or choose `append`", severity="warning")

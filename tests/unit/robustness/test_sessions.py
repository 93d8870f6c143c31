"""Row 60 of the acceptance table for robustness: no conversation sees anything of another."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import pytest

from cuecard import Engine, Entity, Memory, Message, ToolResult, Turn
from unit.robustness.agents import NOW, write_agent

SESSIONS, STEPS, THREADS = 50, 15, 5


@pytest.mark.repeats
def test_row_60_fifty_conversations_at_once_hold_only_their_own_values(tmp_path: Path) -> None:
    engine = Engine.open(write_agent(tmp_path))
    foreign: list[tuple[str, set[str]]] = []

    def talk(number: int) -> None:
        own = f"mark-{number}-"
        chat = engine.conversation()
        chat.user(
            Turn(
                {"user": own},
                Memory((Entity("page", own, own),)),
                NOW,
                message=Message("user", own),
                metadata={"of": own},
            )
        )
        for count in range(STEPS):
            step = chat.step([ToolResult("get_page", {"id": own, "name": own}, f"{own}{count}")] if count else [])
            shown = f"{step.to_json()}{step.manifest.to_json()}{engine.dump(chat)}"
            found = set(re.findall(r"mark-\d+-", shown))
            if found != {own}:
                foreign.append((own, found))

    def work(first: int) -> None:
        for number in range(first, SESSIONS, THREADS):
            talk(number)

    threads = [threading.Thread(target=work, args=(first,)) for first in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert foreign == []

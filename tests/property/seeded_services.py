"""A host in TypeScript: the AI SDK, over HTTP with two replicas of the service. It plays the moves of a drawn talk."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from typing_extensions import override

from cuecard import Manifest
from property.seeded_agents import NAMES, TOLD, Json, Setting, texts_of
from property.seeded_talks import IMAGE, Host, Talk, moves
from unit.server.served import replica

TOOLS = (*NAMES, "done")
DOORS = ("agent", "stream", "text", "ui")


@dataclass(frozen=True)
class Player:
    """A process of Node that hosts of many conversations share, and the replicas that it asks."""

    process: subprocess.Popen[str]
    urls: tuple[str, ...]

    def write(self, told: Json) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(told) + "\n")
        self.process.stdin.flush()

    def read(self) -> Json:
        assert self.process.stdout
        told: Json = json.loads(self.process.stdout.readline())
        return told


@contextmanager
def player(client: Path, folder: Path) -> Iterator[Player]:
    """The player at the compiled client in a folder; the agents of all talks are written into another one."""
    agents = [*_agents(folder)]
    with ExitStack() as running:
        urls = [running.enter_context(replica(*agents, states=folder / each)).address for each in ("one", "two")]
        command = ["node", "test/player.mjs"]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, cwd=client, stdin=pipe, stdout=pipe, text=True, encoding="utf-8") as process:
            try:
                yield Player(process, tuple(urls))
            finally:
                process.kill()


def _agents(folder: Path) -> Iterator[str]:
    for delivery, use, late in product(("append", "auto", "frozen", "rewrite"), (0, 1), (True, False)):
        setting = Setting(delivery, "next-call", use, late, ahead=False, protocols=None, total=None)
        name = _name(setting)
        for path, text in texts_of(name, setting, 0, (1,) * len(TOLD)).items():
            file = folder / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        yield str(folder / name)


def _name(setting: Setting) -> str:
    return "-".join([setting.delivery, str(setting.use), "late" if setting.late else "early"])


class AiSdk(Host):
    """The AI SDK: the host stores messages as JSON, and the signed text of the conversation."""

    name = "ai-sdk"
    can = moves("shortened-between", "compacted-between", "approval", "replicas")
    models = ("claude-opus-4-8", "claude-sonnet-4-6", "gpt-5", "chat:gpt-5")

    def __init__(self, talk: Talk, url: str, player: Player) -> None:
        super().__init__(talk, url)
        self.player = player
        self.door = talk.draw.choice(DOORS)
        self.role = talk.draw.choice(("user", "user", "system"))
        self.bounds = self.door == "ui" or talk.draw.random() < 0.5  # the SDK reads stored messages with all tools
        talk.can -= {"repeated id"} if self.door == "ui" else set()  # which its stream takes for one call
        talk.can -= set() if self.bounds else {"back within", "renamed within"}  # a run's tools are fixed
        self.urls = player.urls if talk.does("replicas", 0.5) else player.urls[:1]
        self.messages: list[Json] = []
        self.text: str | None = None
        self.compacted = False
        talk.moves[f"door {self.door}"] += 1
        talk.trace.append(f"{self.door} {self.role} {'activeTools' if self.bounds else 'tools'}")

    @override
    def start(self) -> None:
        self.fresh = True

    @override
    def between(self) -> None:
        super().between()
        self.compacted = self.talk.does("compacted between", 0.1)
        if self.compacted:
            self.shorten()

    @override
    def say(self, words: str, *, image: bool) -> None:
        talk = self.talk
        self.defined = [name for name in TOOLS if name in talk.there]
        kept, text, found = [*self.messages], self.text, set(talk.found)
        self.messages.append(self.message(words, image=image))
        self.asks = talk.draw.sample(NAMES, 4) if talk.does("approval", 0.4) else []
        aborts = talk.breaks and talk.draw.random() < 0.5
        told = self.ask(aborts=aborts)
        while "failed" not in told and self.decides():
            if talk.does("other process", 0.3):
                self.start()
            told = self.ask(aborts=aborts)
        if "failed" not in told:
            return
        talk.can -= {"repeated id"}  # nobody knows the ids of calls that are gone
        if talk.draw.random() < 0.5:
            talk.trace.append("  the run is forgotten")
            talk.recent.add("forgot")
            self.messages = kept
            if talk.draw.random() < 0.5:
                self.text, talk.found = text, found
        raise OSError(told["failed"])

    def ask(self, *, aborts: bool) -> Json:
        """Has the player play, and answers what it asks."""
        talk = self.talk
        there = [name for name in TOOLS if name in talk.there]
        turn = {"now": talk.turn.now.isoformat() if talk.turn.now else None, "ephemeral": talk.turn.ephemeral}
        asked: Json = {
            "door": self.door,
            "agent": _name(talk.setting),
            "role": self.role,
            "urls": self.urls,
            "url": self.url,
            "model": self.model,
            "fresh": self.fresh,
            "text": self.text,
            "messages": self.messages,
            "turn": turn,
            "compacted": self.compacted,
            "tools": TOOLS if self.bounds else self.defined,
            "allowed": there,
            "asks": self.asks,
            "aborts": aborts,
        }
        self.fresh = self.compacted = False
        self.player.write(asked)
        while "messages" not in (told := self.player.read()):
            if "broken" in told:
                raise AssertionError(told["broken"])
            self.player.write({"id": told["id"], **self.hear(told)})
        self.messages, self.text = told["messages"], told.get("text")
        return told

    def hear(self, told: Json) -> Json:
        """What the host does that the player asks."""
        talk = self.talk
        if step := told.get("step"):
            made: Any = SimpleNamespace(**{**step, "manifest": Manifest.from_json(step["manifest"])})
            talk.steps.append(made)
            return {}
        if told.get("there"):
            return {"there": [name for name in TOOLS if name in talk.there]}
        with suppress(OSError):
            return {"result": talk.run(told["run"], told["q"])}
        return {"error": "the disk is full"}

    def message(self, words: str, *, image: bool) -> Json:
        if self.door == "ui":
            url = f"data:image/png;base64,{IMAGE}"
            picture = [{"type": "file", "mediaType": "image/png", "url": url}] if image else []
            return {"id": words, "role": "user", "parts": [{"type": "text", "text": words}, *picture]}
        if not image:
            return {"role": "user", "content": words}
        picture = [{"type": "file", "data": IMAGE, "mediaType": "image/png"}]
        return {"role": "user", "content": [{"type": "text", "text": words}, *picture]}

    def decides(self) -> bool:
        """Whether the user was asked to approve calls, and has decided."""
        parts = [part for each in self.messages for part in _parts(each)]
        answered = {part["approvalId"] for part in parts if part.get("type") == "tool-approval-response"}
        answers: list[Json] = []
        asked = False
        for part in parts:
            approved = self.talk.draw.random() < 0.7
            if part.get("state") == "approval-requested":
                asked, part["state"] = True, "approval-responded"
                part["approval"] = {"id": part["approval"]["id"], "approved": approved}
            elif part.get("type") == "tool-approval-request" and part["approvalId"] not in answered:
                answer = {"type": "tool-approval-response", "approvalId": part["approvalId"], "approved": approved}
                answers.append(answer)
        self.messages += [{"role": "tool", "content": answers}] if answers else []
        return asked or bool(answers)

    @override
    def shorten(self) -> None:
        self.talk.can -= {"repeated id"}  # nobody knows the ids of calls that are gone
        asked = [at for at, each in enumerate(self.messages) if each["role"] == "user"]
        self.messages = self.messages[asked[-1] :] if asked else []


def _parts(message: Json) -> list[Json]:
    content = message.get("parts") or message.get("content")
    return content if isinstance(content, list) else []

"""A studio without a browser: its application, asked over HTTP as a browser asks, with copies that tests may change."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lxml import html
from starlette.testclient import TestClient

from cuecard.studio.agents import AgentFolders
from cuecard.studio.app import Studio
from cuecard.studio.home import Home
from cuecard.studio.news import TabNews
from cuecard.studio.problems import EDITOR
from cuecard.studio.runs import Runs
from cuecard.studio.screen import AddressBook
from cuecard.studio.security import Keys

ROOT = Path(__file__).parents[2]
TOKEN, PORT = "a token that nobody can guess", 8766


@dataclass
class Visit:
    """A browser that has been let in, and what stands behind it."""

    client: TestClient
    agents: AgentFolders
    news: TabNews
    keys: Keys
    told: list[str]

    def page(self, address: str, status: int = 200) -> Any:
        """A page, as lxml reads it."""
        answer = self.client.get(address)
        assert answer.status_code == status, answer.text
        return html.document_fromstring(answer.text)


@contextmanager
def visiting(folder: Path, agents: Sequence[str] = ("prompts/cms",), *, let_in: bool = True) -> Iterator[Visit]:
    """A studio of agents in a folder, and a browser."""
    news, told = TabNews(), list[str]()

    def tell(name: str) -> None:
        told.append(name)
        news.tell("files", agent=name)

    shown = AgentFolders([folder / agent for agent in agents], tell)
    recordings = folder / "recordings"
    runs = Runs([recordings] if recordings.is_dir() else [])
    keys = Keys(TOKEN, PORT)
    app = Studio(AddressBook(shown, runs, Home(folder / ".cuecard" / "studio"), EDITOR, news), keys).app(local=True)
    client = TestClient(app, base_url=f"http://127.0.0.1:{PORT}", follow_redirects=False)
    try:
        if let_in:
            client.get("/", params={"token": TOKEN})
        yield Visit(client, shown, news, keys, told)
    finally:
        shown.stop()
        client.close()


def copied(folder: Path) -> Path:
    """A folder with copies of the CMS assistant, its tools and its recording."""
    shutil.copytree(ROOT / "prompts" / "cms", folder / "prompts" / "cms")
    shutil.copytree(ROOT / "tool_instructions" / "cms", folder / "tool_instructions" / "cms")
    shutil.copytree(ROOT / "examples" / "cms" / "recordings", folder / "recordings")
    return folder


def words(page: Any, path: str) -> list[str]:
    """The texts of what an XPath matches, with single spaces."""
    return [" ".join(each.text_content().split()) for each in page.xpath(path)]


def answer(page: Any) -> str:
    """The sentence with which a screen opens."""
    (told,) = words(page, "//main//p[contains(@class, 'say first')]")
    return told

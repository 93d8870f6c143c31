"""Files that change while somebody looks: the last good prompt stays, problems stand beside it, tabs are told."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cuecard.workspace import AgentProblems, Workspace
from studio.in_process import Visit, answer, copied, visiting, words

PATIENCE = 30.0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return copied(tmp_path)


@pytest.fixture
def visit(folder: Path) -> Iterator[Visit]:
    with visiting(folder) as visit:
        visit.page("/prompt")
        until(lambda: visit.agents.state().checked)
        yield visit


def until(done: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < end, "nothing has happened"
        time.sleep(0.02)


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_a_saved_file_is_shown(visit: Visit, folder: Path) -> None:
    edit(folder / "prompts" / "cms" / "agent.xml", "Be friendly and brief", "Be kind and brief")

    until(lambda: bool(visit.told))
    assert visit.told == ["cms"]
    assert "Be kind and brief" in words(visit.page("/prompt"), "//details[@id='s-identity']//pre")[0]


@pytest.mark.parametrize("amid", [1, 2], ids=["the first check", "the check of an edit"])
def test_a_slip_that_is_taken_back_amid_a_check_leaves_no_problem(
    folder: Path, monkeypatch: pytest.MonkeyPatch, amid: int
) -> None:
    file, check, checks = folder / "prompts" / "cms" / "agent.xml", Workspace.check, list[int]()

    def slip(workspace: Workspace, agent: Path) -> AgentProblems:
        checks.append(len(checks) + 1)
        if checks[-1] != amid:
            return check(workspace, agent)
        text = file.read_text(encoding="utf-8")
        edit(file, "{{", "{{{")
        found = check(workspace, agent)
        file.write_text(text, encoding="utf-8")
        return found

    monkeypatch.setattr(Workspace, "check", slip)
    with visiting(folder) as visit:
        visit.page("/prompt")
        until(lambda: visit.agents.state().checked)
        if amid == 2:
            edit(file, "Be friendly and brief", "Be kind and brief")

        until(lambda: len(checks) > amid and visit.agents.state().checked and not visit.agents.state().problems)


def test_a_page_is_told_once_what_has_changed_since_it_was_made(visit: Visit, folder: Path) -> None:
    mark = visit.page("/prompt").xpath("//div[@id='page']/@data-mark")[0]
    edit(folder / "prompts" / "cms" / "agent.xml", "Be friendly and brief", "Be kind and brief")
    until(lambda: bool(visit.told))
    visit.news.tell("runs")
    visit.news.end()  # a stream would go on otherwise

    told = visit.client.get("/events", params={"mark": mark}).text
    assert [line for line in told.splitlines() if line.startswith(("event", "data"))] == [
        "event: files",
        'data: {"agent":"cms"}',
        "event: runs",
        "data: {}",
    ]
    first = told.partition("id: ")[2].partition("\n")[0]
    again = visit.client.get("/events", params={"mark": mark}, headers={"last-event-id": first}).text
    assert "event: files" not in again
    assert "event: runs" in again
    now = visit.page("/prompt").xpath("//div[@id='page']/@data-mark")[0]
    assert "event" not in visit.client.get("/events", params={"mark": now}).text


@pytest.mark.parametrize("mark", ["1", "9" * 20])
def test_a_page_of_another_studio_is_told_that_everything_may_have_changed(visit: Visit, mark: str) -> None:
    for _ in range(300):
        visit.news.tell("runs")
    visit.news.end()

    told = visit.client.get("/events", params={"mark": mark}).text
    assert "event: anew" in told
    assert "event: runs" not in told


def test_a_broken_file_leaves_the_last_good_prompt(visit: Visit, folder: Path) -> None:
    edit(folder / "prompts" / "cms" / "agent.xml", "{{{workingMemory}}}", "{{#if workingMemory}}\n{{{workingMemory}}}")
    until(lambda: visit.agents.state().broken)

    page = visit.page("/prompt")

    assert (
        answer(page)
        == "✕ 1 error since the last good state. You see, and programs that follow the files get, that state."
    )
    (problem,) = words(page, "//article[contains(@class, 'problem')]")
    assert "agent.xml:48:1" in problem
    assert "^^^^^^" in problem
    assert len(page.xpath("//section[@aria-labelledby='lg']//details")) == 7
    (row,) = words(page, "//details[contains(@class, 'hurt')]//span[@class='name']")
    assert row.startswith("working-memory✕ the error is here")  # what follows is cut off where there is no room
    assert words(page, "//span[@id='live']") == ["last good shown"]


def test_what_is_mended_is_shown_again(visit: Visit, folder: Path) -> None:
    place = folder / "prompts" / "cms" / "agent.xml"
    good = place.read_text(encoding="utf-8")
    place.write_text("<agent>" + good, encoding="utf-8")
    until(lambda: visit.agents.state().broken)

    place.write_text(good, encoding="utf-8")
    until(lambda: not visit.agents.state().broken)

    assert "The system prompt" in answer(visit.page("/prompt"))


def test_warnings_are_said_and_hide_nothing(visit: Visit, folder: Path) -> None:
    edit(folder / "tool_instructions" / "cms" / "images.yaml", "cms_updateSectionImage", "cms_updateSectionImag")
    until(lambda: bool(visit.agents.state().problems))

    page = visit.page("/prompt")

    (chip,) = page.xpath("//section[@class='where']//a[contains(@class, 'chip warn')]")
    assert chip.text == "⚠ 1 warning"
    assert chip.get("href") == "/prompt#warnings"
    assert "cms_updateSectionImage" in words(page, "//*[@id='warnings']//article")[0]
    assert "The system prompt" in answer(page)


def test_an_address_still_shows_the_state_that_it_names(visit: Visit, folder: Path) -> None:
    before = visit.agents.state().sha256
    edit(folder / "prompts" / "cms" / "agent.xml", "Be friendly and brief", "Be kind and brief")
    until(lambda: visit.agents.state().sha256 != before)

    page = visit.page(f"/prompt?state={before[:8]}")

    assert "Be friendly and brief" in words(page, "//details[@id='s-identity']//pre")[0]
    assert f"state {before[:8]}, not the newest" in " ".join(words(page, "//section[@class='where']"))


def test_a_state_that_is_no_longer_known_is_not_faked(visit: Visit) -> None:
    page = visit.page("/prompt?state=0123456789")

    assert "The state 01234567 is no longer known" in " ".join(words(page, "//main"))


def test_a_removed_folder_is_said_and_comes_back(visit: Visit, folder: Path) -> None:
    place, away = folder / "prompts" / "cms", folder / "away"
    place.rename(away)
    until(lambda: visit.agents.state().broken)

    page = visit.page("/prompt")
    assert len(page.xpath("//section[@aria-labelledby='lg']//details")) == 7
    assert "agent.yaml" in " ".join(words(page, "//article"))

    away.rename(place)
    until(lambda: not visit.agents.state().broken)


def test_an_agent_that_was_never_right_shows_its_problems(folder: Path) -> None:
    edit(folder / "prompts" / "cms" / "agent.yaml", "template: agent.xml", "templat: agent.xml")
    with visiting(folder) as visit:
        for address in ("/", "/prompt"):
            page = visit.page(address)
            assert "there has been no good state yet." in answer(page)
            assert "templat" in " ".join(words(page, "//article"))
        for screen in ("timeline", "switches", "inputs", "price", "editor"):
            page = visit.page(f"/{screen}")
            assert "templat" in " ".join(words(page, "//article"))
            assert "No conversation yet" not in " ".join(words(page, "//main"))


def test_more_problems_than_are_shown_are_counted(folder: Path) -> None:
    text = (folder / "tool_instructions" / "cms" / "images.yaml").read_text(encoding="utf-8")
    wrong = "".join(f"  tool_{number}: {{gotcher: x}}\n" for number in range(120))
    (folder / "tool_instructions" / "cms" / "images.yaml").write_text(f"{text}{wrong}", encoding="utf-8")
    with visiting(folder) as visit:
        page = visit.page("/")
        (count,) = words(page, "//h2[@id='pr']/span")
        assert answer(page).startswith(f"✕ {count.partition(',')[0]}")
        assert len(page.xpath("//article")) == 100


def test_a_prompt_without_a_section_blames_no_recorder(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(
        'agent: none\ninputs: {x: {default: ""}}\nsections: [{id: a, when: x, text: Hello.}]\n'
    )
    with visiting(tmp_path, ["."]) as visit:
        assert "recorded" not in " ".join(words(visit.page("/prompt"), "//main"))


def test_two_studios_look_at_one_folder(folder: Path) -> None:
    with visiting(folder) as one, visiting(folder) as other:
        one.page("/prompt")
        other.page("/prompt")
        edit(folder / "prompts" / "cms" / "agent.xml", "Be friendly and brief", "Be kind and brief")
        until(lambda: bool(one.told and other.told))
        assert "Be kind" in words(one.page("/prompt"), "//details[@id='s-identity']//pre")[0]
        assert "Be kind" in words(other.page("/prompt"), "//details[@id='s-identity']//pre")[0]


@pytest.mark.skipif(os.name != "posix" or os.getuid() == 0, reason="root writes everywhere")
def test_a_folder_where_nothing_can_be_written_is_shown(folder: Path) -> None:
    folder.chmod(0o500)
    try:
        with visiting(folder) as visit:
            assert "The system prompt" in answer(visit.page("/prompt"))
    finally:
        folder.chmod(0o700)


def test_agents_of_one_name_are_told_apart(folder: Path) -> None:
    shutil.copytree(folder / "prompts" / "cms", folder / "others" / "cms")
    with visiting(folder, ["prompts/cms", "others/cms"]) as visit:
        assert visit.page("/prompt").xpath("//select[@name='agent']/option/text()") == ["cms", "others/cms"]
        assert visit.page("/prompt?agent=others/cms") is not None

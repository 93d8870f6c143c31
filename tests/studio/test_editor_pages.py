"""The Editor as a browser asks it: what it says of an entry and a section, what it writes, and what it refuses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lxml import html

from cuecard import Engine
from cuecard.config.documents.yaml import read_yaml
from cuecard.workspace import Workspace
from studio.in_process import ROOT, Visit, answer, copied, visiting, words

IMAGES = Path("tool_instructions", "cms", "images.yaml")
SEARCH = "/editor?tool=cms_searchImages"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copied(tmp_path_factory.mktemp("editor"))


@pytest.fixture(scope="module")
def visit(folder: Path) -> Iterator[Visit]:
    with visiting(folder) as visit:
        yield visit


@pytest.fixture
def images(folder: Path) -> Iterator[Path]:
    """The file of the entry; afterwards it is as it was."""
    path = folder / IMAGES
    before = path.read_bytes()
    yield path
    path.unlink(missing_ok=True)
    path.write_bytes(before)


def form_of(page: Any, **texts: str) -> dict[str, Any]:
    """What a browser would send of the form, with other texts in some fields."""
    fields = page.xpath("//form[@id='entry']//*[@name]")
    form: dict[str, Any] = {}
    for each in fields:
        text = (each.text or "").removeprefix("\n") if each.tag == "textarea" else each.get("value", "")
        form[each.get("name")] = [*form.get(each.get("name"), []), text]
    return form | {f"f.{name}": text for name, text in texts.items()}


def sent(visit: Visit, address: str, form: dict[str, Any], status: int = 200) -> Any:
    """The page that answers a form."""
    answered = visit.client.post(address, data=form, headers={"x-cuecard": visit.keys.write})
    assert answered.status_code == status, answered.text
    return html.document_fromstring(answered.text)


def saved(visit: Visit, form: dict[str, Any], status: int = 200, address: str = SEARCH) -> Any:
    return sent(visit, address.replace("/editor", "/editor/save"), form, status)


def alerts(page: Any) -> str:
    return " ".join(words(page, "//*[@role='alert'] | //*[@id='problems']//article"))


def test_an_entry_says_when_the_model_reads_it_and_at_what_cost(visit: Visit) -> None:
    page = visit.page(SEARCH)

    tokens = 87
    assert answer(page) == (
        f"✓ The model reads this entry once a search has found the tool: {tokens} tokens, 109 to write, then 9 with "
        "each request."
    )
    (preview,) = page.xpath("//section[@id='beside']/pre")
    assert preview.text_content() == Engine.open(visit.agents.paths["cms"]).instructions["cms_searchImages"]
    legend = words(page, "//p[contains(@class, 'cuelegend')]/span/b")
    assert sum(map(int, legend)) == tokens


def test_a_draft_is_shown_and_nothing_is_written(visit: Visit, images: Path) -> None:
    before = images.read_bytes()
    page = sent(visit, SEARCH, form_of(visit.page(SEARCH), gotcha="Never guess an id."))

    assert "GOTCHA: Never guess an id." in page.xpath("//section[@id='beside']/pre")[0].text_content()
    assert "Your change is a draft" in words(page, "//div[@id='say']")[0]
    assert images.read_bytes() == before
    assert "Never guess" not in visit.page("/prompt?found=cms_searchImages").text_content()


def test_a_draft_is_checked_at_its_fields_and_reviewed(visit: Visit) -> None:
    form = form_of(visit.page(SEARCH), next="cms_updateSectionImag (attach)", before="Ask {{{name}}} first")
    checked = sent(visit, SEARCH.replace("editor?", "editor/checked?"), form)

    (told,) = words(checked, "//div[@id='e-f-next']/p")
    assert told.startswith("⚠ 49:11 next of cms_searchImages names cms_updateSectionImag, which has no entry")
    (mend,) = checked.xpath("//div[@id='e-f-next']//button")
    assert (mend.get("data-wrong"), mend.get("data-meant")) == ("cms_updateSectionImag", "cms_updateSectionImage")
    assert "which nothing fills" in words(checked, "//div[@id='e-f-before']/p")[0]
    assert words(checked, "//ol[@class='yaml']//u")[-1] == "cms_updateSectionImag"
    assert words(checked, "//span[@id='p-1']") == ["✓ 1st of 1 · 0.95"]
    reviewed = sent(visit, SEARCH.replace("editor?", "editor/review?"), form)
    review = reviewed.xpath("//div[@id='review']/pre")[0].text_content()
    assert review.startswith("**The prompt changes in 3 of 13 turns")
    assert "+NEXT: cms_updateSectionImag (attach)" in review


def test_a_search_is_tried_with_the_draft(visit: Visit) -> None:
    form = form_of(visit.page(SEARCH)) | {"words": "paint me a zebra"}
    address = SEARCH.replace("editor?", "editor/tried?")
    assert "⚠ not found" in words(sent(visit, address, form), "//div[@id='tried']")[0]

    found = sent(visit, address, form | {"f.phrases": ["paint me a zebra"]})
    assert words(found, "//div[@id='tried']//li")[0] == "1.00 cms_searchImages ✓ this one"
    assert words(sent(visit, address, form | {"words": " "}), "//div[@id='tried']") == [""]
    assert words(sent(visit, address, form | {"words": "zebra " * 999}), "//div[@id='tried']")


def test_who_has_read_an_entry_is_said_with_the_step(visit: Visit) -> None:
    page = sent(visit, "/editor/review?tool=pexels_searchPhotos", {})

    (told, *_) = page.xpath("//div[@id='reach']//a")
    assert told.text == "blog-post: found in step 2.3"
    assert "step=2.3" in told.get("href")


def test_saving_changes_the_lines_of_the_field_alone(visit: Visit, images: Path) -> None:
    before = images.read_text().splitlines()
    page = saved(visit, form_of(visit.page(SEARCH), after="Show it: at once", gotcha="It's # not a comment"))

    assert answer(page).startswith("✓ Saved to images.yaml.")
    changed = [new for old, new in zip(before, images.read_text().splitlines(), strict=True) if old != new]
    assert changed == ['    after: "Show it: at once"', "    gotcha: 'It''s # not a comment'"]


def test_windows_newlines_and_a_byte_order_mark_stay(visit: Visit, images: Path) -> None:
    images.write_bytes(b"\xef\xbb\xbf" + images.read_bytes().replace(b"\n", b"\r\n"))
    before = images.read_bytes()
    saved(visit, form_of(visit.page(SEARCH), after="Show them"))

    assert images.read_bytes() == before.replace(
        b"Show the hits with their local urls and ask for a choice", b"Show them"
    )


def test_what_somebody_else_has_saved_is_shown_beside_the_draft_and_never_overwritten(
    visit: Visit, images: Path
) -> None:
    form = form_of(visit.page(SEARCH), after="Mine")
    theirs = images.read_text().replace("Show the hits with", "Theirs: show")
    theirs = theirs.replace("after: Theirs: show their local urls and ask for a choice", "after: Theirs")
    images.write_text(theirs)
    page = saved(visit, form, 422)

    assert "nothing is written over it" in alerts(page)
    assert words(page, "//div[@id='conflict']//pre") == ["Mine", "Theirs"]
    assert words(page, "//textarea[@name='f.after']") == ["Mine"]
    assert images.read_text() == theirs
    (base,) = page.xpath("//button[@id='decide']/@data-base")
    saved(visit, {**form, "base": base})
    assert images.read_text() == theirs.replace("after: Theirs", "after: Mine")


def test_another_entry_of_the_file_is_not_touched_by_a_draft_from_before(visit: Visit, images: Path) -> None:
    form = form_of(visit.page(SEARCH), after="Mine")
    theirs = images.read_text().replace("List every image in the library", "All images")
    images.write_text(theirs)
    saved(visit, form)

    assert "description: All images" in images.read_text()
    assert "after: Mine" in images.read_text()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda text: text.replace("tools:", "tools: [", 1), "images.yaml"),
        (lambda text: text.replace("before: None", "before: &x None", 1), "an anchor (&x)"),
        (lambda text: text + "  cms_searchImages: {before: x}\n", "duplicate key cms_searchImages"),
        (lambda text: text.replace("  cms_searchImages:", "  cms_findImages2:"), "no file has an entry"),
    ],
)
def test_a_file_that_cannot_be_edited_any_more_is_left_alone_and_shown(
    visit: Visit, images: Path, change: Any, told: str
) -> None:
    form = form_of(visit.page(SEARCH), after="Mine")
    theirs = change(images.read_text())
    images.write_text(theirs)
    page = saved(visit, form, 422)

    assert told in alerts(page)
    assert images.read_text() == theirs


def test_a_file_that_is_gone_or_has_another_name_is_said(visit: Visit, images: Path) -> None:
    form = form_of(visit.page(SEARCH), after="Mine")
    other = images.with_name("pictures.yaml")
    images.rename(other)
    try:
        page = sent(visit, SEARCH, form)
        assert "began from ../../tool_instructions/cms/images.yaml" in page.xpath("//main")[0].text_content()
        assert words(page, "//button[@id='save']")[0].startswith("Save to pictures.yaml")
        other.unlink()
        assert "no file has an entry for the tool cms_searchImages" in alerts(saved(visit, form, 422))
    finally:
        other.unlink(missing_ok=True)
    assert not images.exists()


def test_a_read_only_file_is_said_before_anybody_writes(visit: Visit, images: Path) -> None:
    images.chmod(0o444)
    try:
        page = visit.page(SEARCH)
        assert page.xpath("//button[@id='save']/@disabled")
        assert "the file is read-only" in page.xpath("//main")[0].text_content()
        before = images.read_bytes()
        assert "read-only" in alerts(saved(visit, form_of(page, after="Mine"), 422))
        assert images.read_bytes() == before
    finally:
        images.chmod(0o644)


def test_an_entry_of_a_package_is_copied_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with visiting(ROOT) as shipped:
        page = shipped.page(SEARCH)
        before = (ROOT / IMAGES).read_bytes()
        refused = saved(shipped, form_of(page, after="Mine"), 422)

    assert "copy it first" in page.xpath("//main")[0].text_content()
    assert page.xpath("//button[@id='save']/@disabled")
    assert "belongs to an installed package" in alerts(refused)
    assert (ROOT / IMAGES).read_bytes() == before


def test_of_a_section_that_is_partly_in_a_package_the_rest_is_edited(tmp_path: Path) -> None:
    package, mine = tmp_path / "site-packages" / "base", tmp_path / "mine"
    for folder, told in (
        (package, "agent: base\nsections:\n  - {id: rules, text: Be brief.}\n"),
        (mine, "agent: mine\nextends: ../site-packages/base\nroots: [..]\nsections:\n  - {id: rules, when: short}\n"),
    ):
        folder.mkdir(parents=True)
        (folder / "agent.yaml").write_text(f"{told}inputs: {{short: {{type: boolean, default: true}}}}\n")
    before = (package / "agent.yaml").read_bytes()
    with visiting(tmp_path, ["mine"]) as visit:
        page = visit.page("/editor?section=rules")
        after = saved(visit, form_of(page, when="{not: short}"), address="/editor?section=rules")
        refused = saved(visit, form_of(after, text="Be long."), 422, "/editor?section=rules")

    assert page.xpath("//form[@id='entry']//*[@readonly]/@name") == ["f.text"]
    assert "copy it first" in page.xpath("//div[@id='n-f-text']")[0].text_content()
    assert not page.xpath("//button[@id='save']/@disabled")
    assert "when: {not: short}" in (mine / "agent.yaml").read_text()
    assert "belongs to an installed package" in alerts(refused)
    assert (package / "agent.yaml").read_bytes() == before


def test_a_tool_with_two_entries_is_said(visit: Visit, images: Path) -> None:
    other = images.with_name("zz.yaml")
    other.write_text("category: x\ntools:\n  cms_searchImages: {description: x, phrases: [x], before: x}\n")
    try:
        assert "has an entry in" in sent(visit, SEARCH, {}).xpath("//main")[0].text_content()
    finally:
        other.unlink()


def test_of_two_entries_that_are_laid_over_each_other_the_one_that_counts_is_named(tmp_path: Path) -> None:
    base, own = tmp_path / "base", tmp_path / "own"
    base.mkdir()
    own.mkdir()
    (base / "tools.yaml").write_text("tools: {mail: {description: Send mail, phrases: [send mail], before: Ask}}\n")
    (base / "agent.yaml").write_text(
        'agent: base\ntools: {instructions: tools.yaml}\nsections: [{id: tools, text: "{{{activeProtocols}}}"}]\n'
    )
    (own / "tools.yaml").write_text("tools: {mail: {gotcha: Not on Sundays}}\n")
    (own / "agent.yaml").write_text(
        "agent: own\nextends: ../base/agent.yaml\ntools: {instructions: [../base/tools.yaml, tools.yaml]}\n"
    )
    with visiting(tmp_path, ["own"]) as visit:
        told = " ".join(words(visit.page("/editor?tool=mail"), "//main//p[@class='say']"))
    assert "base/tools.yaml, too: they are read as one" in told
    assert "own/tools.yaml counts." in told


def test_an_agent_that_has_never_worked_is_mended(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text("agent: shop\nsections: [{id: role, file: role.md}]\n")
    (tmp_path / "role.md").write_text("Help {{#if}}.\n")
    with visiting(tmp_path, ["."]) as visit:
        page = visit.page("/editor")
        assert answer(page).startswith("The agent does not work yet")
        wrong = sent(visit, "/editor/review", form_of(page, text="Still {{#if}}.\n"))
        assert words(wrong, "//*[@id='review']") == ["An agent that does not work cannot be reviewed."]
        draft = sent(visit, "/editor", form_of(page, text="Help.\n"))
        assert answer(draft).startswith("✓ The model reads this section")
        assert words(draft, "//*[@id='beside']//pre")[0] == "Help."
        saved(visit, form_of(page, text="Help.\n"), address="/editor")
    assert (tmp_path / "role.md").read_text() == "Help.\n"


def test_what_check_refuses_is_only_saved_by_somebody_who_has_seen_it(visit: Visit, folder: Path) -> None:
    core = folder / "prompts" / "cms" / "agent.xml"
    before = core.read_text()
    address = "/editor?section=identity"
    form = form_of(visit.page(address), text="\nYou are {{#if}} broken\n")
    page = saved(visit, form, 422, address)

    assert "cuecard check would refuse this" in alerts(page)
    assert core.read_text() == before
    assert "with 1 error" in words(page, "//button[@id='save']")[0]
    assert words(page, "//div[@id='e-f-text']/p")[0].startswith("✕ ")
    (seen,) = page.xpath("//input[@name='seen']/@value")
    try:
        saved(visit, {**form, "seen": seen}, 200, address)
        assert "{{#if}} broken" in core.read_text()
    finally:
        core.write_text(before)


def test_a_section_is_edited_where_it_stands(visit: Visit, folder: Path) -> None:
    core = folder / "prompts" / "cms" / "agent.xml"
    before = core.read_text()
    address = "/editor?section=identity"
    page = visit.page(address)
    assert answer(page).startswith("✓ The model reads this section in every request, and it never changes: ")
    try:
        saved(visit, form_of(page, text="\nYou keep a website.  \n"), 200, address)
        now = core.read_text()
        assert "<identity>\nYou keep a website.  \n</identity>" in now
        assert now.partition("</identity>")[2] == before.partition("</identity>")[2]
    finally:
        core.write_text(before)


def test_notes_say_how_a_text_is_kept(visit: Visit) -> None:
    page = sent(visit, SEARCH, form_of(visit.page(SEARCH), after="Show {{x}} ", gotcha="a # b"))

    assert "blanks at the end of a line: they are kept, in quotes" in words(page, "//div[@id='n-f-after']")[0]
    assert "no placeholders" in words(page, "//div[@id='n-f-after']")[0]
    assert "begin a comment in YAML" in words(page, "//div[@id='n-f-gotcha']")[0]


def test_every_entry_and_section_of_an_agent_can_be_opened(folder: Path) -> None:
    with visiting(ROOT, ["prompts/mistermorph"]) as visit:
        page = visit.page("/editor")
        sections = page.xpath("//select[@name='section']/option/@value | //select[@name='section']/option[not(@value)]")
        assert len(sections) > 10
        page = visit.page("/editor?section=telegram")
        assert page.xpath("//input[@name='f.when']/@value") == ["{equals: {channel: telegram}}"]
        assert "does not read this section" in answer(page)
        wrong = sent(visit, "/editor?section=telegram", form_of(page, when="{equals: ["))
        assert "when cannot be read" in alerts(wrong)
        assert "did you mean" in alerts(visit.page("/editor?section=telegramm"))


@pytest.mark.parametrize("agent", ["prompts/cms", "prompts/polyant", "examples/gemini_cli", "examples/roo_code"])
def test_each_section_shows_its_texts_and_takes_a_condition(agent: str) -> None:
    engine = Engine.open(ROOT / agent)
    with visiting(ROOT, [agent]) as visit:
        for section in dict.fromkeys(each.id for edition in engine.agent.editions.values() for each in edition):
            if section in {"agent", "/agent"}:
                continue  # the tags around the template
            page = visit.page(f"/editor?section={section}")
            shown = page.xpath("//form[@id='entry']//*[starts-with(@name, 'f.')]/@name")
            assert "f.when" in shown, section
            assert [each for each in shown if each.endswith("text")], section
            draft = sent(visit, f"/editor?section={section}", form_of(page, when="{model: nobody-has-this}"))
            assert not alerts(draft), (section, alerts(draft))
            assert "does not read this section" in answer(draft), section


MANY = """\
agent: many
inputs: {slack: {type: boolean}, plan: {type: boolean}}
sections:
  # Who it is.
  - id: role
    title: Role
    choose:
      - {when: slack, text: You write in Slack.}
      - text: You write.   # the usual one
  - id: now
    clock: {}
    text: "{{date}}"
  - id: notes
    files: {supplied: true, entries: [{path: notes.md}]}
    budget: 100
  - {id: tone, file: tone.md}
profiles:
  short:
    sections:
      - {id: role, text: You write little.}
      - {id: tone, when: plan}
"""


@pytest.fixture
def many(tmp_path: Path) -> Iterator[tuple[Visit, Path]]:
    """An agent whose sections are written in every way."""
    place = tmp_path / "prompts" / "many" / "agent.yaml"
    place.parent.mkdir(parents=True)
    place.write_text(MANY)
    place.with_name("tone.md").write_text("Be warm.\n")
    with visiting(tmp_path, ["prompts/many"]) as visit:
        yield visit, place


@pytest.mark.parametrize(
    ("section", "field", "text", "old", "new"),
    [
        ("role", "1-text", "You chat.", "text: You write in Slack.", "text: You chat."),
        ("role", "1-when", "{not: slack}", "{when: slack, text", "{when: {not: slack}, text"),
        ("role", "2-text", "You answer.", "text: You write.   #", "text: You answer.   #"),
        ("role", "when", "plan", "    title: Role\n", "    title: Role\n    when: plan\n"),
        ("role", "of-1-text", "You are brief.", "text: You write little.", "text: You are brief."),
        ("tone", "of-1-when", "slack", "when: plan", "when: slack"),
        ("now", "text", "It is {{date}}.", '"{{date}}"', '"It is {{date}}."'),
        (
            "notes",
            "text",
            "Notes: {{{content}}}",
            "    budget: 100\n",
            '    budget: 100\n    text: "Notes: {{{content}}}"\n',
        ),
        ("notes", "when", "slack", "  - id: notes\n", "  - id: notes\n    when: slack\n"),
    ],
)
def test_every_text_and_condition_of_a_section_is_edited_where_it_stands(
    many: tuple[Visit, Path], section: str, field: str, text: str, old: str, new: str
) -> None:
    visit, place = many
    address = f"/editor?section={section}"
    page = saved(visit, form_of(visit.page(address), **{field: text}), address=address)

    assert "Saved to agent.yaml" in answer(page), alerts(page)
    assert place.read_text() == MANY.replace(old, new, 1)


def test_what_is_no_text_of_a_section_is_said_with_its_place(many: tuple[Visit, Path]) -> None:
    visit, _ = many
    told = words(visit.page("/editor?section=notes"), "//ul[@class='closed']/li")
    assert told == [
        "files fills it when a prompt is made; how it does is no text, and is edited there. Open agent.yaml:13",
        "Its entry has budget. Open agent.yaml:13",
    ]
    assert not words(visit.page("/editor?section=tone"), "//ul[@class='closed']/li")
    page = sent(
        visit, "/editor/checked?section=role", form_of(visit.page("/editor?section=role"), **{"1-when": "slak"})
    )
    assert "slak" in " ".join(words(page, "//div[@id='e-f-1-when']/p"))


def test_a_condition_of_an_element_of_the_template_is_written_into_the_agent_file(folder: Path) -> None:
    place = folder / "prompts" / "cms" / "agent.yaml"
    before = place.read_text()
    try:
        with visiting(folder) as visit:
            address = "/editor?section=working-memory"
            page = saved(visit, form_of(visit.page(address), when="{not: {model: gpt-4o}}"), address=address)
            assert "Saved to agent.yaml" in answer(page)
            assert read_yaml(place.read_text(), "").value["sections"] == [
                {"id": "working-memory", "when": {"not": {"model": "gpt-4o"}}}
            ]
            assert place.read_text().startswith(before.partition("sections:")[0].rstrip())
            again = saved(visit, form_of(visit.page(address), when=""), address=address)
            assert "Saved to agent.yaml" in answer(again)
            assert read_yaml(place.read_text(), "").value["sections"] == [{"id": "working-memory"}]
    finally:
        place.write_text(before)


def test_a_form_of_too_many_fields_is_refused(visit: Visit) -> None:
    form = {"f.phrases": ["x"] * 501}
    assert "more than 500 fields" in answer(sent(visit, SEARCH, form, 422))


def test_only_pages_of_the_studio_write(visit: Visit, images: Path) -> None:
    before = images.read_bytes()
    form = form_of(visit.page(SEARCH), after="Mine")
    for headers in ({}, {"x-cuecard": "guess"}, {"x-cuecard": visit.keys.write, "origin": "https://elsewhere.example"}):
        answered = visit.client.post(SEARCH.replace("editor?", "editor/save?"), data=form, headers=headers)
        assert answered.status_code == 403
    assert images.read_bytes() == before
    assert Workspace([visit.agents.paths["cms"]]).check(visit.agents.paths["cms"]).problems == ()
    assert not [each for each in images.parent.iterdir() if each.name.startswith(".")]

"""The site that `make docs` builds: it has every page, its sources are whole, and its checks find what is wrong."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from posixpath import dirname

import pytest

from command_line import main
from docs.website.build import SPLIT, lead_on, redirect
from docs.website.built import problems
from docs.website.llms import short, whole
from docs.website.markdown import anchors, links
from docs.website.navigation import NAVIGATION, navigation
from docs.website.staging import DeadLinkError, stage, staged

ROOT = Path(__file__).parents[2]
PAGES = sorted(page.relative_to(ROOT).as_posix() for page in (ROOT / "docs").rglob("*.md"))


@pytest.fixture(scope="module")
def shown() -> list[str]:
    return [page for entry in navigation(ROOT) for page in entry.pages()]


@pytest.fixture(scope="module")
def sources(shown: list[str], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """The folder with the sources of the site, and the paths that it shows."""
    folder = tmp_path_factory.mktemp("sources")
    return folder, stage(ROOT, shown, folder)


@pytest.mark.parametrize("page", PAGES)
def test_every_page_is_in_the_navigation(page: str, shown: list[str]) -> None:
    folder = f"{dirname(page)}/README.md"
    places = NAVIGATION if folder in {"docs/README.md", page} else f"{NAVIGATION}, or to {folder} if that is there"

    assert page in shown, f"{page} is not in the navigation: add it to {places}"


def test_no_two_entries_of_the_navigation_look_alike() -> None:
    titles = [entry.title for group in navigation(ROOT) for entry in group.below]

    assert len({*titles}) == len(titles)
    assert len(navigation(ROOT)) == 6


def test_an_address_that_is_gone_leads_to_where_its_answer_stands() -> None:
    moved = tomllib.loads((ROOT / "docs" / "site" / "moved.toml").read_text(encoding="utf-8"))

    for old, new in moved.items():
        page, _, anchor = new.partition("#")
        assert f"docs/{Path(old).with_suffix('.md').as_posix()}" not in PAGES
        source = page.removesuffix("index.html") + "README.md" if page.endswith("index.html") else f"{page[:-4]}md"
        text = (ROOT / "docs" / source).read_text(encoding="utf-8")
        assert not anchor or anchor in anchors(text), f"{new} has no such heading"


@pytest.mark.parametrize("folder", SPLIT)
def test_a_folder_whose_pages_were_split_is_there(folder: str) -> None:
    assert len([page for page in PAGES if page.startswith(f"docs/{folder}/")]) > 2


def test_an_anchor_that_a_page_has_no_more_leads_to_the_page_that_has_it(tmp_path: Path) -> None:
    (tmp_path / "agent.html").write_text('<head></head><h1 id="agent"></h1>', encoding="utf-8")
    (tmp_path / "words.html").write_text('<head></head><p id="__x"><h1 id="words"></h1>', encoding="utf-8")

    lead_on(tmp_path)

    script = (tmp_path / "anchors.js").read_text(encoding="utf-8")
    assert '{"agent": ["agent.html"], "words": ["words.html"]}' in script
    assert problems(tmp_path) == []
    assert '<script src="anchors.js">' in (tmp_path / "agent.html").read_text(encoding="utf-8")


def test_an_address_that_is_gone_leads_to_the_anchor_that_was_asked_if_it_is_still_there(tmp_path: Path) -> None:
    (tmp_path / "all.html").write_text('<h2 id="graphs"></h2><h2 id="streams"></h2>', encoding="utf-8")

    redirect(tmp_path, {"old/graph.html": "all.html#graphs", "one.html": "all.html"})

    graph, one = ((tmp_path / page).read_text(encoding="utf-8") for page in ("old/graph.html", "one.html"))
    known = '["graphs", "streams"].includes(location.hash.slice(1))'
    assert f'{known} ? "../all.html" + location.hash : "../all.html#graphs"' in graph
    assert 'true ? "all.html" + location.hash : "all.html"' in one


def test_a_coding_agent_gets_a_line_for_each_page_and_the_pages_that_are_read(shown: list[str]) -> None:
    listed, read = short(ROOT, navigation(ROOT)), whole(ROOT, navigation(ROOT))
    lines = dict(re.findall(r"^- \[.+?\]\((.+?)\): (.*)$", listed, re.MULTILINE))

    assert [*lines] == [staged(page) for page in shown]
    assert [page for page, said in lines.items() if not said] == []
    assert "<!-- how-it-works.md -->" in read
    assert "<!-- settings/agent.md -->" not in read


def test_a_bar_in_the_code_of_a_table_is_shown_without_its_backslash(sources: tuple[Path, list[str]]) -> None:
    folder, _ = sources
    shown = (folder / "language.md").read_text(encoding="utf-8")
    assert "| <code>{{#each tags as &#124;tag&#124;}}{{{tag}}} {{/each}}</code> | `home health ` |" in shown
    assert [row for row in shown.splitlines() if row.startswith("|") and "\\|" in row] == []


def test_the_sources_of_the_site_link_to_each_other(sources: tuple[Path, list[str]]) -> None:
    folder, paths = sources

    assert {*PAGES, "docs/overview.svg", "CONTRIBUTING.md"} <= {*paths}
    unsearched = {
        page.relative_to(folder).parts[0]
        for page in folder.rglob("*.md")
        if "exclude: true" in page.read_text(encoding="utf-8")
    }
    assert unsearched <= {"repository", "repository.md"}
    for page in folder.rglob("*.md"):
        targets = [link.target for link in links(page.read_text(encoding="utf-8")) if link.is_relative]
        assert [each for each in targets if not (page.parent / (each.partition("#")[0] or page.name)).is_file()] == []


def test_a_dead_link_stops_the_site_with_its_place(tmp_path: Path) -> None:
    page = tmp_path / "docs" / "README.md"
    page.parent.mkdir()
    page.write_text("# A\n\n[b](b.md)\n", encoding="utf-8")

    with pytest.raises(DeadLinkError, match=r"^docs/README.md:3: b.md leads to nothing$"):
        stage(tmp_path, ["docs/README.md"], tmp_path / "site")


def test_a_built_site_loads_nothing_from_elsewhere_and_its_links_lead_somewhere(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<link rel="stylesheet" href="//fonts.example/a.css">\n<script src="https://cdn.example/x.js"></script>\n'
        '<img src="no.svg"><p style="background: url(https://cdn.example/y.png)" id="here">\n'
        '<a href="#here"><a href="#gone"><a href="b.html"><a href="c.html#x"><a href="https://example.com"></a>\n',
        encoding="utf-8",
    )
    (tmp_path / "c.html").write_text('<a id="x"></a><img src="data:image/png;base64,AA=="><a href="a.html?q=1#here">')
    (tmp_path / "c.css").write_text("@import 'https://fonts.example/b.css'; a {background: url(x.png)}")

    assert problems(tmp_path) == [
        "a.html:1: loads //fonts.example/a.css from the network",
        "a.html:2: loads https://cdn.example/x.js from the network",
        "a.html:3: loads no.svg, which is not in the site",
        "a.html:3: loads https://cdn.example/y.png from the network",
        "a.html:4: a.html has no anchor #gone",
        "a.html:4: b.html leads to nothing",
        "c.css: loads https://fonts.example/b.css from the network",
    ]


def test_the_site_is_set_up_to_work_without_a_network() -> None:
    project = tomllib.loads((ROOT / "docs" / "site" / "zensical.toml").read_text(encoding="utf-8"))["project"]

    assert project["theme"]["font"] is False
    assert "offline" in project["plugins"]
    assert [each["path"] for each in project["extra"]["polyfills"]] == ["iframe-worker/iframe-worker.js"]
    assert (ROOT / "docs" / "site" / "iframe-worker" / "iframe-worker.js").is_file()


def test_the_commands_of_the_front_page_give_an_agent_that_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (shown,) = re.findall(r"```shell\n(.*?)```", (ROOT / "docs" / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    install, start = shown.splitlines()
    assert install == "pip install ."  # this is what the tests run in

    monkeypatch.chdir(tmp_path)
    for command in (start, "cuecard check notes"):
        monkeypatch.setattr("sys.argv", command.split())
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 0

    assert "0 errors, 0 warnings" in capsys.readouterr().out

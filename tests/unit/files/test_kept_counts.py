"""Token counts are kept for the next process, and nothing that is wrong with what was kept is ever believed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cuecard.files.cache import Cache
from cuecard.files.tokens import KeptCounts, bundled_counter, key_of

CMS = Path(__file__).parents[3] / "prompts" / "cms"
TEXTS = ["", "a page", "<agent>\n", "\ud800", "长城"]
COMMANDS = {"tokens": "tokens", "check": "0 warnings"}
SHOW = """
import contextlib, io, json, os, sys
from cuecard.cli.main import main
folder, agent, *commands = sys.argv[1:]
shown = []
for command in commands:
    os.environ["CUECARD_CACHE"] = os.path.join(folder, command)
    sys.argv = ["cuecard", command, agent]
    with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.suppress(SystemExit):
        main()
    shown.append(said.getvalue())
print(json.dumps([dict(zip(commands, shown)), "tiktoken" in sys.modules]))
"""


def counts(folder: Path) -> KeptCounts:
    return KeptCounts("o200k_base", Cache(folder), bundled_counter("o200k_base").count)


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[dict[str, str], bool]]:
    """What two processes, one after the other, print for each command, and whether they loaded a table.

    Each command has a cache of its own.
    """
    script = [sys.executable, "-c", SHOW, str(tmp_path_factory.mktemp("caches")), str(CMS), *COMMANDS]
    return [json.loads(subprocess.run(script, capture_output=True, check=True).stdout) for _ in range(2)]


@pytest.mark.parametrize(("command", "said"), COMMANDS.items())
def test_the_next_process_counts_without_a_table(
    command: str, said: str, processes: list[tuple[dict[str, str], bool]]
) -> None:
    (first, first_loaded), (second, second_loaded) = processes

    assert [first_loaded, second_loaded] == [True, False]
    assert first[command] == second[command]
    assert said in first[command]


def test_what_was_kept_is_what_is_counted(tmp_path: Path) -> None:
    first = counts(tmp_path)
    told = [first.count(text) for text in TEXTS]
    first.save()
    later = KeptCounts("o200k_base", Cache(tmp_path), lambda text: pytest.fail(f"counted {text!r} again"))

    assert told == [bundled_counter("o200k_base")(text) for text in TEXTS]
    assert [later.count(text) for text in TEXTS] == told


def test_of_two_that_end_one_after_the_other_both_are_kept(tmp_path: Path) -> None:
    first, second = counts(tmp_path), counts(tmp_path)
    for each, text in ((first, "a page"), (second, "a post")):
        each.count(text)
    first.save()
    second.save()
    later = KeptCounts("o200k_base", Cache(tmp_path), lambda text: pytest.fail(f"counted {text!r} again"))

    assert [later.count(text) for text in ("a page", "a post")] == [2, 2]


def test_another_encoding_has_counts_of_its_own(tmp_path: Path) -> None:
    first = counts(tmp_path)
    first.count("长城长城长城")
    first.save()
    other = bundled_counter("cl100k_base")

    assert KeptCounts("cl100k_base", Cache(tmp_path), other.count).count("长城长城长城") == other("长城长城长城")


@pytest.mark.parametrize("held", [b"", b"[1]", b"{", json.dumps({"a": "7"}).encode(), json.dumps({"a": True}).encode()])
def test_an_invalid_count_is_recounted(tmp_path: Path, held: bytes) -> None:
    first = counts(tmp_path)
    first.count("a page")
    first.save()
    Cache(tmp_path).put(key_of("o200k_base"), held)

    assert counts(tmp_path).count("a page") == bundled_counter("o200k_base")("a page")


def test_a_damaged_file_is_rewritten(tmp_path: Path) -> None:
    first = counts(tmp_path)
    first.count("a page")
    first.save()
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-3])
    second = counts(tmp_path)
    second.count("a page")
    second.save()

    assert KeptCounts("o200k_base", Cache(tmp_path), lambda _: -1).count("a page") == 2


def test_a_folder_that_cannot_be_written_costs_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    kept = counts(tmp_path / "file")

    assert kept.count("a page") == 2
    kept.save()

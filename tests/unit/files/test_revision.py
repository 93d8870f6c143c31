"""Revisions of a real git repository."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path, PurePosixPath

import pytest

from cuecard import InputError
from cuecard.files.safe_read import MAX_BYTES
from cuecard.workbench.diff.revision import read_revision


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=Kim", "-c", "user.email=kim@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def commit(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "a state")


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("committed")
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "deep" / "er" / "ünï ⟨code⟩.txt").write_text("first", encoding="utf-8")
    (folder / ".gitattributes").write_text("deep export-ignore\n", encoding="utf-8")
    git(folder, "init", "--quiet", "--initial-branch=main", "--template=")
    commit(folder)
    git(folder, "tag", "first")
    return folder


@pytest.fixture
def repository(committed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy for each test, which may commit to it."""
    folder = tmp_path / "repository"
    shutil.copytree(committed, folder)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def into(tmp_path: Path) -> Path:
    folder = tmp_path / "into"
    folder.mkdir()
    return folder


def test_a_revision_is_read_as_it_was_and_the_working_tree_stays(repository: Path, into: Path) -> None:
    file = repository / "deep" / "er" / "ünï ⟨code⟩.txt"
    file.write_text("second", encoding="utf-8")
    (repository / "new.txt").write_bytes(b"")
    commit(repository)
    file.write_text("third, not committed", encoding="utf-8")

    read_revision("first", into)

    assert (into / "deep" / "er" / file.name).read_text(encoding="utf-8") == "first"
    assert not (into / "new.txt").exists()
    assert file.read_text(encoding="utf-8") == "third, not committed"


@pytest.mark.parametrize("name", ["HEAD", "main", "first", "HEAD^{tree}"])
def test_a_revision_may_be_a_branch_a_tag_or_a_tree(repository: Path, into: Path, name: str) -> None:
    read_revision(name, into)

    assert (into / "deep").is_dir()


def test_the_current_folder_is_shown_from_the_root(
    repository: Path, into: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository / "deep" / "er")

    assert read_revision("HEAD", into) == PurePosixPath("deep/er")
    assert (into / "deep" / "er").is_dir()


def test_more_files_than_are_read_at_once_all_arrive(repository: Path, into: Path) -> None:
    (repository / "many").mkdir()
    for number in range(1100):
        (repository / "many" / f"{number}.txt").write_text(f"{number}\n" * (number % 3), encoding="utf-8")
    commit(repository)

    read_revision("HEAD", into)

    texts = {file.name: file.read_text(encoding="utf-8") for file in (into / "many").iterdir()}
    assert texts == {f"{number}.txt": f"{number}\n" * (number % 3) for number in range(1100)}


def test_files_that_no_agent_may_have_are_left_out(repository: Path, into: Path) -> None:
    (repository / "large.bin").write_bytes(b"x" * (MAX_BYTES + 1))
    (repository / "fits.bin").write_bytes(b"x" * MAX_BYTES)
    commit(repository)

    read_revision("HEAD", into)

    assert not (into / "large.bin").exists()
    assert (into / "fits.bin").stat().st_size == MAX_BYTES


def test_links_stay_links_within_the_repository_and_lead_nowhere_else(repository: Path, into: Path) -> None:
    (repository / "inside").symlink_to("deep/er")
    (repository / "outside").symlink_to("../../secret")
    commit(repository)

    read_revision("HEAD", into)

    assert [file.read_text(encoding="utf-8") for file in (into / "inside").iterdir()] == ["first"]
    assert not (into / "outside").is_symlink()


@pytest.mark.parametrize("name", ["nothing", "HEAD~5", "--all", "-h", "", "first\nHEAD"])
def test_an_unknown_revision_is_an_error(repository: Path, into: Path, name: str) -> None:
    with pytest.raises(InputError, match="there is no revision"):
        read_revision(name, into)


def test_outside_of_a_repository_there_is_no_revision(
    tmp_path: Path, into: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))

    with pytest.raises(InputError, match="is not in a git repository"):
        read_revision("HEAD", into)


def test_without_git_the_error_says_so(repository: Path, into: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(into))

    with pytest.raises(InputError, match="git cannot be started"):
        read_revision("HEAD", into)


def object_of(kind: str, data: bytes) -> bytes:
    """Write an object of git by hand, as no command of git would make it; its digest."""
    command = ["git", "hash-object", "-w", "--literally", "-t", kind, "--stdin"]
    return bytes.fromhex(subprocess.run(command, input=data, check=True, capture_output=True).stdout.decode())


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (2, 0, 1), (0, 2, 1)])
def test_a_tree_that_was_made_by_hand_writes_nothing_outside_of_the_folder(
    repository: Path, into: Path, order: tuple[int, ...]
) -> None:
    """`A` leads to `b/..`, which is inside as long as there is no `b`; then `b` leads to the top, and `A` out."""
    link, top, evil = object_of("blob", b"b/.."), object_of("blob", b"."), object_of("blob", b"EVIL")
    below = object_of("tree", b"100644 evil\0" + evil)
    entries = [b"120000 A\0" + link, b"120000 b\0" + top, b"40000 A\0" + below]
    tree = object_of("tree", b"".join(entries[place] for place in order) + b"100644 last\0" + evil)
    around = {path.name for path in into.parent.iterdir()}

    read_revision(tree.hex(), into)

    assert (into / "last").read_bytes() == b"EVIL"
    assert {path.name for path in into.parent.iterdir()} == around
    assert not (into.parent / "evil").exists()
    assert repository.is_dir()

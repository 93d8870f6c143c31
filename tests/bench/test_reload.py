"""Hot reload: how long from a save to the prompt, what is read again, and whether a prompt ever mixes two states."""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from cuecard import Engine, Watcher, watch
from cuecard.config.documents.document import Document
from cuecard.config.documents.yaml import read_yaml
from cuecard.files.folder import read_agent
from unit.reload.demo import Folder, instructions

pytestmark = pytest.mark.bench

FILES, SAVES = 1_000, 30
THREADS, SECONDS = 8, 30
TRUST_AFTER, LONGEST = 2.0, 0.3
"""Seconds, while all threads render: until the last save is served, and the longest that a prompt may take."""


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(tmp_path / "agent")
    made.write_all()
    return made


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    names: list[str] = []

    def counted(text: str, name: str) -> Document:
        names.append(name)
        return read_yaml(text, name)

    monkeypatch.setattr("cuecard.agent.instructions.read_lately", counted)
    return names


def milliseconds(times: list[float]) -> str:
    times = sorted(times)
    middle, late = statistics.median(times), times[int(0.99 * (len(times) - 1))]
    return f"median {middle * 1e3:7.1f} ms, 99 % {late * 1e3:7.1f} ms, worst {times[-1] * 1e3:7.1f} ms"


def wait_for(watcher: Watcher[Engine], tool: str, text: str) -> float:
    while text not in watcher.current.agent.protocols[tool].text:
        time.sleep(0.001)
    return time.perf_counter()


def test_from_save_to_swap_with_a_thousand_instruction_files(folder: Folder, tmp_path: Path, parsed: list[str]) -> None:
    for number in range(FILES):
        folder.write(f"tools/t{number}.yaml", instructions(f"tool_{number}", f"{number}, saved 0 times"))
    begun = time.perf_counter()
    watcher = watch(folder.root, states=tmp_path / "state")
    opened = time.perf_counter() - begun
    times, again = [], []
    with watcher:
        for save in range(1, SAVES + 1):
            tool = f"tool_{save * 31}"
            parsed.clear()
            folder.write(f"tools/t{save * 31}.yaml", instructions(tool, f"saved {save} times"))
            saved = time.perf_counter()
            times.append(wait_for(watcher, tool, f"saved {save} times") - saved)
            again.append(len(parsed))
            time.sleep(0.3)
    begun = time.perf_counter()
    read_agent(folder.root)
    print(f"\n{FILES:,} instruction files: opened in {opened:.2f} s; one sweep {time.perf_counter() - begun:.3f} s")
    print(f"  save to swap: {milliseconds(times)}; files parsed again per save: {max(again)}")

    assert again == [1] * SAVES


SAVER = """
import os, sys, time
from pathlib import Path

root, seconds = Path(sys.argv[1]), float(sys.argv[2])
texts = [(root / name, (root / "raw" / name).read_text()) for name in ("agent.xml", "tools/search.yaml")]
end, number = time.monotonic() + seconds, 0
while time.monotonic() < end:
    number += 1
    file, text = texts[number // 2 % 2]
    text = text.replace("GENERATION", str(number))
    text = text[:-9] if number % 5 == 0 else text
    if number % 2:
        with file.open("w") as out:
            out.write(text[: len(text) // 2])
            out.flush()
            out.write(text[len(text) // 2 :])
    else:
        (root / "saving").write_text(text)
        os.replace(root / "saving", file)
    time.sleep(0.05)
for file, text in texts:
    file.write_text(text.replace("GENERATION", "999999"))
print(number)
"""
"""Saves one file or the other every 50 ms, in place or by renaming; every fifth save is broken, the last is good."""


class Renderer(threading.Thread):
    """Renders one prompt after the other, and holds each against all others of the same state."""

    def __init__(self, watcher: Watcher[Engine], stop: threading.Event, texts: dict[str, str]) -> None:
        super().__init__()
        self.watcher, self.stop, self.texts = watcher, stop, texts
        self.mixed: list[str] = []
        self.times: list[float] = []

    def run(self) -> None:
        while not self.stop.is_set():
            begun = time.perf_counter()
            engine = self.watcher.current
            call = engine.prepare_call()
            step = engine.prepare_step(call)
            self.times.append(time.perf_counter() - begun)
            same = self.texts.setdefault(step.manifest.configuration.sha256, step.system) == step.system
            whole = all(len(set(re.findall(rf"{mark}=(\d+)", step.system))) == 1 for mark in ("template", "tools"))
            if not (same and whole and call.configuration.sha256 == step.manifest.configuration.sha256):
                self.mixed.append(step.system)


def test_no_prompt_mixes_two_states_while_files_are_saved_all_the_time(folder: Folder, tmp_path: Path) -> None:
    mark = "template=GENERATION"
    folder.write("agent.xml", folder.template(f"{mark}\n" * 200).replace("</demo>", f"<end>\n{mark}\n</end>\n</demo>"))
    after = " ".join(["tools=GENERATION"] * 200)
    folder.write("tools/search.yaml", instructions("tool_search", after) + f"    phrases: ['{mark}']\n")
    raw = {name: (folder.root / name).read_text(encoding="utf-8") for name in ("agent.xml", "tools/search.yaml")}
    for name, text in raw.items():
        folder.write(f"raw/{name}", text)
        folder.write(name, text.replace("GENERATION", "0"))
    stop, texts = threading.Event(), dict[str, str]()
    with watch(folder.root, states=tmp_path / "state") as watcher:
        watcher.current.prepare_call()  # unpacks the token table, once
        renderers = [Renderer(watcher, stop, texts) for _ in range(THREADS)]
        for renderer in renderers:
            renderer.start()
        saver = subprocess.run(
            [sys.executable, "-c", SAVER, str(folder.root), str(SECONDS)], capture_output=True, text=True, check=True
        )
        ended = time.perf_counter()
        while "template=999999" not in texts.get(watcher.status.serving, ""):
            time.sleep(0.005)
            if time.perf_counter() - ended > TRUST_AFTER:
                break
        adopted = time.perf_counter() - ended
        stop.set()
        for renderer in renderers:
            renderer.join()
        status = watcher.status
    times = [each for renderer in renderers for each in renderer.times]
    mixed = [text for renderer in renderers for text in renderer.mixed]
    saves = int(saver.stdout)
    print(f"\n{THREADS} threads, {SECONDS} s, {saves} saves: {len(times):,} prompts of {len(texts)} states")
    print(f"  mixed: {len(mixed)}; reports: {status.number}; a prompt: {milliseconds(times)}")
    print(f"  the last save was served after {adopted:.2f} s")

    assert mixed == []
    assert adopted < TRUST_AFTER
    assert max(times) < LONGEST

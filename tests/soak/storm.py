"""L1 and L2: prompts are rendered all the time while files are saved all the time, every fifth save broken."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from cuecard import Engine, Watcher, watch
from unit.reload.demo import Folder, instructions

LAST = "999999"
SAVER = """
import os, sys, time
from pathlib import Path
root, saves, pause = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
texts = [(root / name, (root / "raw" / name).read_text()) for name in ("agent.xml", "tools/search.yaml")]
for number in range(1, saves + 1):
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
    time.sleep(pause)
for file, text in texts:
    file.write_text(text.replace("GENERATION", "999999"))
"""
"""Saves one file or the other, in place or by renaming; the last save of each is good."""


@dataclass
class Storm:
    """What came of one."""

    times: list[float] = field(default_factory=list)
    mixed: list[str] = field(default_factory=list)
    raised: list[str] = field(default_factory=list)
    states: dict[str, str] = field(default_factory=dict)
    adopted: float = 0.0
    """Seconds from the last save to the first prompt with it."""

    @property
    def late(self) -> float:
        """The time that 99 of 100 prompts keep, in seconds."""
        return sorted(self.times)[int(0.99 * (len(self.times) - 1))]


def storm(
    root: Path,
    *,
    saves: int,
    pause: float = 0.05,
    threads: int = 2,
    rest: float = 0.0,
    busy: int = 0,
    patience: float = 30.0,
) -> Storm:
    """Render in some threads while another process saves; then wait for the last save to be served.

    `rest`: seconds between two prompts of a thread.
    `busy`: processes that do nothing but keep a core each busy.
    """
    folder, found, stop = Folder(root / "agent"), Storm(), threading.Event()
    _write(folder)
    with watch(folder.root, states=root / "state") as watcher:
        watcher.current.prepare_call()  # unpacks the token table, once
        workers = [threading.Thread(target=_render, args=(watcher, stop, found, rest)) for _ in range(threads)]
        others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(busy)]
        for worker in workers:
            worker.start()
        try:
            command = [sys.executable, "-c", SAVER, str(folder.root), str(saves), str(pause)]
            subprocess.run(command, check=True)
            ended = time.monotonic()
            while not _serves_the_last(found, watcher) and time.monotonic() - ended < patience:
                time.sleep(0.01)
            found.adopted = time.monotonic() - ended
        finally:
            stop.set()
            for other in others:
                other.kill()
                other.wait()
            for worker in workers:
                worker.join()
    return found


def _serves_the_last(found: Storm, watcher: Watcher[Engine]) -> bool:
    text = found.states.get(watcher.status.serving, "")
    return f"template={LAST}" in text and f"tools={LAST}" in text


def _write(folder: Folder) -> None:
    folder.write_all()
    mark, after = "template=GENERATION", " ".join(["tools=GENERATION"] * 200)
    folder.write("agent.xml", folder.template(f"{mark}\n" * 200).replace("</demo>", f"<end>\n{mark}\n</end>\n</demo>"))
    folder.write("tools/search.yaml", instructions("tool_search", after) + f"    phrases: ['{mark}']\n")
    for name in ("agent.xml", "tools/search.yaml"):
        text = (folder.root / name).read_text(encoding="utf-8")
        folder.write(f"raw/{name}", text)
        folder.write(name, text.replace("GENERATION", "0"))


def _render(watcher: Watcher[Engine], stop: threading.Event, found: Storm, rest: float) -> None:
    """One prompt after the other, each held against all others of the same state."""
    while not stop.wait(rest):
        begun = time.perf_counter()
        try:
            engine = watcher.current
            call = engine.prepare_call()
            step = engine.prepare_step(call)
        except Exception as error:  # noqa: BLE001 - whatever it is, a prompt must never raise it
            found.raised.append(repr(error))
            continue
        found.times.append(time.perf_counter() - begun)
        same = found.states.setdefault(step.manifest.configuration.sha256, step.system) == step.system
        whole = all(len(set(re.findall(rf"{mark}=(\d+)", step.system))) == 1 for mark in ("template", "tools"))
        if not (same and whole and call.configuration.sha256 == step.manifest.configuration.sha256):
            found.mixed.append(step.system)

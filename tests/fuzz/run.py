"""Fuzz one target, guided by coverage (atheris): `python tests/fuzz/run.py --seconds 60 lexer`.

An input that breaks a promise is written to `.fuzz/TARGET/`; `--input FILE` runs the target on it alone.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SEEDS = {
    "lexer": ("prompts/**/*.xml", "tests/cases/**/*.xml"),
    "parser": ("prompts/**/*.xml", "tests/cases/**/*.xml"),
    "outline": ("prompts/**/*.xml", "tests/cases/**/*.xml"),
    "render": ("prompts/**/*.xml", "tests/cases/**/*.xml"),
    "front_matter": ("tests/cases/**/SKILL.md", "prompts/**/SKILL.md"),
    "logs": ("tests/cases/transcripts/**/*.json", "tests/cases/transcripts/**/*.jsonl"),
    "found_names": ("tests/cases/transcripts/**/*.json",),
    "tool_lists": ("tests/cases/transcripts/**/*.json",),
    "messages": ("tests/cases/transcripts/**/*.json",),
    "yaml": ("prompts/**/*.yaml", "tool_instructions/**/*.yaml", "tests/cases/**/*.yaml"),
    "imports": ("tests/cases/imports/**/*.prompt", "tests/cases/imports/**/*.prompty"),
    "dates": (),
    "globs": (),
    "helpers": (),
    "reports": ("tests/cases/field/*.jsonl",),
    "markdown": ("docs/*.md",),
    "layouts": ("prompts/**/*.yaml", "tool_instructions/**/*.yaml", "tests/cases/**/*.yaml"),
    "openapi": ("tests/cases/transcripts/**/*.json",),
    "dumps": (),
    "mcp": (),
    "agents": ("prompts/*/agent.yaml", "tests/cases/agents/*/agent.yaml", "tests/cases/**/turns/*.yaml"),
}
"""The targets, and the files that each begins with."""

LONGEST = 4096
"""Longer inputs are cut: short ones find the same faults sooner."""


def main() -> int:
    """Run one target as the command line says; 0 when nothing was found, or when atheris is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", choices=sorted(SEEDS))
    parser.add_argument("--seconds", type=int, default=60, help="how long to search (default: 60)")
    parser.add_argument("--input", type=Path, metavar="FILE", help="run the target on this file only")
    chosen = parser.parse_args()
    sys.path[:0] = [str(ROOT / "engine"), str(ROOT / "tests")]
    if chosen.input:
        importlib.import_module(f"fuzz.fuzz_{chosen.target}").target(chosen.input.read_bytes())
        return 0
    try:
        atheris = importlib.import_module("atheris")
    except ImportError:
        print(f"fuzz {chosen.target}: skipped, atheris is not installed; it has wheels for some Pythons only")
        return 0
    fuzz(atheris, chosen.target, chosen.seconds)
    return 0


def fuzz(atheris: Any, target: str, seconds: int) -> None:
    """Search until the time is over; atheris ends the process itself, with an error code when something was found."""
    with atheris.instrument_imports(include=["cuecard"]):
        module = importlib.import_module(f"fuzz.fuzz_{target}")
    folder = ROOT / ".fuzz" / target
    corpus = folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    write_seeds(corpus, (path for pattern in SEEDS[target] for path in sorted(ROOT.glob(pattern))))
    words = folder / "words.dict"
    words.write_text("".join(f'"{quoted(piece)}"\n' for piece in (*module.PIECES, *module.PHRASES)), encoding="ascii")
    limits = [f"-max_total_time={seconds}", f"-max_len={LONGEST}", "-timeout=20", "-rss_limit_mb=2048"]
    places = [f"-dict={words}", f"-artifact_prefix={folder}/", str(corpus)]
    atheris.Setup([sys.argv[0], *limits, *places, "-print_final_stats=1", "-verbosity=0"], module.target)
    atheris.Fuzz()


def write_seeds(corpus: Path, files: Iterable[Path]) -> None:
    """Put the first part of each file into the corpus, once."""
    for file in files:
        name = "-".join(file.relative_to(ROOT).parts)
        (corpus / f"seed-{name}").write_bytes(file.read_bytes()[:LONGEST])


def quoted(piece: str) -> str:
    """A word of the dictionary as libFuzzer reads it: bytes, those that are not plain as `\\xNN`."""
    return "".join(chr(b) if 32 < b < 127 and b not in b'"\\' else f"\\x{b:02x}" for b in piece.encode())


if __name__ == "__main__":
    sys.exit(main())

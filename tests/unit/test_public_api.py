"""What `import cuecard` promises: few names, all of them real, and nothing loaded before it is used."""

import subprocess
import sys

import cuecard


def test_the_public_names_are_few_and_real() -> None:
    assert len(cuecard.__all__) <= 22
    assert all(getattr(cuecard, name) is not None for name in cuecard.__all__)
    assert dir(cuecard) == cuecard.__all__


def test_importing_cuecard_loads_nothing_heavy() -> None:
    heavy = "{'pydantic', 'lxml', 'tiktoken', 'ruamel', 'numpy', 'bm25s', 'typer', 'rich', 'pydantic_ai', 'mcp'}"
    script = f"import sys, cuecard; print(sorted({heavy} & set(sys.modules)))"

    assert _run(script) == "[]"


def test_help_loads_only_what_it_prints_with() -> None:
    heavy = "{'pydantic', 'lxml', 'tiktoken', 'ruamel', 'numpy', 'bm25s', 'pydantic_ai', 'mcp'}"
    script = (
        "import sys\nfrom cuecard.cli.main import app\n"
        "try:\n    app(['--help'])\nexcept SystemExit:\n    pass\n"
        f"print(sorted({heavy} & set(sys.modules)))"
    )

    assert _run(script) == "[]"


def _run(script: str) -> str:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return done.stdout.strip().splitlines()[-1]

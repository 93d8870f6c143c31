"""Case folders of skills: their files, a `skills:` source, what a call says - and the text and record that come of it.

`expected.txt` is golden: `CUECARD_GOLDEN=1 pytest tests/cases/test_skills.py` writes it anew, and the difference is for
people to read. In it, `|` ends the text, so that the white space before it can be seen.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cuecard import CuecardError
from cuecard.config.documents.validation import validate
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.sections.skills_spec import SkillsSpec
from cuecard.config.skills.skill_file import make_skills
from cuecard.files.skills import read_skill_texts
from cuecard.sources.skills import SkillsSource
from cuecard.types import Json

FOLDER = Path(__file__).parent / "skills"


@pytest.mark.parametrize("case", sorted(path.name for path in FOLDER.iterdir()))
def test_case(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER / case)
    expected = Path("expected.txt")
    outcome = _outcome()
    if os.environ.get("CUECARD_GOLDEN"):
        expected.write_text(outcome, encoding="utf-8")

    assert outcome == expected.read_text(encoding="utf-8")


def _outcome() -> str:
    spec = validate(read_yaml(Path("skills.yaml").read_text(encoding="utf-8"), "skills.yaml"), SkillsSpec)
    texts, unread = read_skill_texts(spec.roots, Path())
    skills, wrong = make_skills(texts, spec)
    lines = [f"{problem.picture()}\n\n" for problem in (*unread, *wrong)]
    if all(problem.severity == "warning" for problem in (*unread, *wrong)):
        try:
            content = SkillsSource(spec).content(skills, **_call())
        except CuecardError as error:
            return "".join([*lines, f"{type(error).__name__}\n\n{error}\n"])
        lines += [content.text, "|\n"]
        lines += [f"left out: {cut.what}: {cut.reason}\n" for cut in content.cuts]
        lines += [f"{diagnostic.code}: {diagnostic.message}\n" for diagnostic in content.diagnostics]
        lines += [f"{row.status}: {row.path} gave {row.characters}\n" for row in content.sources]
    return "".join(lines)


def _call() -> dict[str, Json]:
    file = Path("call.yaml")
    return read_yaml(file.read_text(encoding="utf-8"), file.name).value if file.exists() else {}

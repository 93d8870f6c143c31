"""The texts of an agent: what its fingerprint covers, which stored states and libraries keep, byte for byte."""

from __future__ import annotations

from cuecard.config.documents.sources import AgentSources, SkillSource, SourceText
from cuecard.types import Json


def text(path: str) -> SourceText:
    return SourceText(f"/here/{path}", path, path.upper())


def test_a_fingerprint_covers_each_text_with_its_path_and_role_and_nothing_else() -> None:
    sources = AgentSources(
        text("agent.yaml"),
        template=text("agent.xml"),
        partials=(text("p/a.b.hbs"),),
        instructions=(text("../t.yaml"),),
        layers=(text("base.yaml"), text("mid.yaml")),
        sections=(text("s.md"),),
        files=(text("f.md"),),
        unread=(("u.md", "why"),),
        skills=(SkillSource("/here/k/SKILL.md", "k/SKILL.md", "K", "k", "skills", strict=True),),
        models=text("models.yaml"),
        folders=("d",),
        results=(text("r.hbs"),),
        not_files=("n",),
    )

    assert sources.content() == {
        "agent": {"path": "agent.yaml", "text": "AGENT.YAML"},
        "template": {"path": "agent.xml", "text": "AGENT.XML"},
        "partials": [{"path": "p/a.b.hbs", "text": "P/A.B.HBS"}],
        "instructions": [{"path": "../t.yaml", "text": "../T.YAML"}],
        "layers": [{"path": "base.yaml", "text": "BASE.YAML"}, {"path": "mid.yaml", "text": "MID.YAML"}],
        "sections": [{"path": "s.md", "text": "S.MD"}],
        "files": [{"path": "f.md", "text": "F.MD"}],
        "unread": [["u.md", "why"]],
        "skills": [{"path": "k/SKILL.md", "text": "K", "slug": "k", "root": "skills"}],
        "models": {"path": "models.yaml", "text": "MODELS.YAML"},
        "results": [{"path": "r.hbs", "text": "R.HBS"}],
    }
    assert sources.sha256() == "c7fbe4228a516f5a2f75855224a8ef3403bc27ef655b968b9fce70fc132ee337"
    assert " ".join(each.path for each in sources.texts()) == (
        "agent.yaml base.yaml mid.yaml agent.xml p/a.b.hbs s.md r.hbs f.md k/SKILL.md ../t.yaml models.yaml"
    )
    assert [sources.folder(text(path)) for path in ("a/b/c.md", "c.md")] == ["a/b", ""]
    assert [text(path).stem for path in ("p/a.b.hbs", "c")] == ["a", "c"]


def test_what_is_not_there_has_a_place_in_the_fingerprint_but_for_results_which_came_later() -> None:
    sources = AgentSources(text("agent.yaml"))
    empty: dict[str, Json] = {
        key: [] for key in ("partials", "instructions", "layers", "sections", "files", "unread", "skills")
    }
    agent = {"path": "agent.yaml", "text": "AGENT.YAML"}

    assert sources.content() == {"agent": agent, "template": None, **empty, "models": None}
    assert sources.sha256() == "88da87792b2e638cc8f3952aa18820c4b02c98f2865a271d993cf05c444d13c5"
    assert [*sources.texts()] == [sources.agent]
    assert (sources.problems, sources.folders, sources.not_files) == ((), (), ())

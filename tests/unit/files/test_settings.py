from dataclasses import fields

import pytest

from cuecard.files.environment import described_variables
from cuecard.files.settings import Settings, read_settings
from cuecard.types import SettingsError


def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUECARD_DELIVERY", "rewrite")
    monkeypatch.setenv("CUECARD_MODEL", "anthropic:claude-opus-4-8")

    assert read_settings().delivery == "rewrite"
    assert read_settings().model == "anthropic:claude-opus-4-8"


def test_a_wrong_setting_is_named_but_its_value_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUECARD_DELIVERY", "s3cret")

    with pytest.raises(SettingsError) as caught:
        read_settings()

    assert str(caught.value) == (
        "environment: error[wrong-setting]: CUECARD_DELIVERY: input should be 'rewrite', 'append', 'frozen' or 'auto'\n"
        "  = it overrides the agent file's `delivery`"
    )


def test_upper_and_lower_case_are_the_same_and_other_variables_are_none_of_ours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in {"cuecard_salt": "pepper", "CUECARD_GOLDEN": "1", "MODEL": "x"}.items():
        monkeypatch.setenv(name, value)
    settings = read_settings()

    assert settings == Settings(salt="pepper")
    assert "pepper" not in repr(settings)


def test_every_setting_has_a_variable() -> None:
    assert [f"CUECARD_{each.name.upper()}" for each in fields(Settings)] == [*described_variables()]

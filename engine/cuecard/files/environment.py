"""The `CUECARD_*` variables, validated."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from cuecard.errors import Problem, SettingsError
from cuecard.model import DeliveryWish


class Environment(BaseSettings):
    """The variables, with what they do; secrets are kept out of errors."""

    model_config: ClassVar[SettingsConfigDict] = SettingsConfigDict(
        env_prefix="CUECARD_", frozen=True, hide_input_in_errors=True, extra="ignore"
    )

    delivery: DeliveryWish | None = Field(None, description="overrides the agent file's `delivery`")
    model: str | None = Field(None, description="the model of `cuecard run`, such as `anthropic:claude-opus-4-8`")
    manifests: Path | None = Field(None, description="the folder where `cuecard run` and `cuecard serve` write records")
    states: Path | None = Field(
        None, description="the folder where `cuecard watch`, `cuecard serve` and `cuecard mcp` keep good states"
    )
    cache: str | None = Field(
        None, description="the cache folder for search indexes and token counts; `off` disables it"
    )
    salt: SecretStr = Field(SecretStr(""), description="a secret salt for every fingerprint in manifests")
    key: SecretStr = Field(
        SecretStr(""),
        description="a secret that signs the conversations of `cuecard serve`; use the same in all replicas; "
        "the first of several, between commas, signs",
    )
    token: SecretStr = Field(
        SecretStr(""),
        description="the bearer token that clients of `cuecard serve` must send; of several, between commas, any",
    )
    library: SecretStr = Field(
        SecretStr(""), description="the URL of the database of `cuecard library`; `sqlite:///prompts.db` by default"
    )


def read_environment() -> dict[str, Any]:
    """The values of all variables, validated; secrets as plain texts.

    Raises:
        SettingsError: with every setting that has an invalid value; the value itself is not repeated.
    """
    try:
        found = Environment()
    except ValidationError as error:
        raise SettingsError(_problem(e) for e in error.errors(include_input=False, include_url=False)) from None
    values = {name: getattr(found, name) for name in Environment.model_fields}
    return {n: v.get_secret_value() if isinstance(v, SecretStr) else v for n, v in values.items()}


def described_variables() -> dict[str, str]:
    """Each variable and what it does, for the docs."""
    return {_variable(name): field.description or "" for name, field in Environment.model_fields.items()}


def _variable(setting: str) -> str:
    return f"CUECARD_{setting.upper()}"


def _problem(error: Any) -> Problem:
    setting, message = str(error["loc"][0]), str(error["msg"])
    about = Environment.model_fields[setting].description
    return Problem(
        "wrong-setting", f"{_variable(setting)}: {message[0].lower()}{message[1:]}", f"it {about}", "environment"
    )

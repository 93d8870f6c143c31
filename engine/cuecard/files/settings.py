"""`CUECARD_*` variables and settings."""

from __future__ import annotations

import os
from dataclasses import field, fields
from pathlib import Path
from typing import Any

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from cuecard.errors import Problem, SettingsError
from cuecard.model import DeliveryWish
from cuecard.records import dataclass


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings from the environment; a command-line option overrides them.

    Attributes:
        delivery: replaces the agent file's `delivery`.
        model: the model of `cuecard run`.
        manifests: the folder where `cuecard run` writes manifests.
        states: the folder of states.
        cache: the cache folder; `off` disables it.
        salt: a secret for fingerprints; empty for none.
        key: a secret that signs the conversations of `cuecard serve`; empty for none.
        token: the bearer token of `cuecard serve`; empty for none.
    """

    delivery: DeliveryWish | None = None
    model: str | None = None
    manifests: Path | None = None
    states: Path | None = None
    cache: str | None = None
    salt: str = field(default="", repr=False)
    key: str = field(default="", repr=False)
    token: str = field(default="", repr=False)

    @property
    def cache_folder(self) -> Path | bool:
        """The cache for `Engine.open`: a folder, the user's cache folder (True), or none (False)."""
        if self.cache is None:
            return True
        return self.cache != "off" and Path(self.cache)


_VARIABLES = {f"CUECARD_{each.name.upper()}" for each in fields(Settings)}


def read_settings() -> Settings:
    """The settings of this process; their names are case-insensitive.

    Raises:
        SettingsError: with every setting that has an invalid value; the value itself is not repeated.
    """
    if not any(name.upper() in _VARIABLES for name in os.environ):
        return Settings()
    # MOVED

    return Settings(**read_environment())


class Environment(BaseSettings):
    """The variables, with what they do; secrets are kept out of errors."""

    model_config = SettingsConfigDict(env_prefix="CUECARD_", frozen=True, hide_input_in_errors=True, extra="ignore")

    delivery: DeliveryWish | None = Field(None, description="overrides the agent file's `delivery`")
    model: str | None = Field(None, description="the model of `cuecard run`, such as `anthropic:claude-opus-4-8`")
    manifests: Path | None = Field(None, description="the folder where `cuecard run` writes manifests")
    states: Path | None = Field(
        None, description="the folder where `cuecard watch`, `cuecard serve` and `cuecard mcp` keep good states"
    )
    cache: str | None = Field(
        None, description="the cache folder for search indexes and token counts; `off` disables it"
    )
    salt: SecretStr = Field(SecretStr(""), description="a secret salt for every fingerprint in manifests")
    key: SecretStr = Field(
        SecretStr(""),
        description="a secret that signs the conversations of `cuecard serve`; use the same in all replicas",
    )
    token: SecretStr = Field(SecretStr(""), description="the bearer token that clients of `cuecard serve` must send")


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

"""Settings from the environment, as `CUECARD_*`. The command line reads them; the library never does."""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from cuecard.errors import Problem, SettingsError
from cuecard.model import DeliveryWish


class Settings(BaseModel):
    """The settings from the environment; a command-line option overrides them."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True, defer_build=True)

    delivery: DeliveryWish | None = Field(None, description="overrides the agent file's `delivery`")
    model: str | None = Field(None, description="the model of `cuecard run`, such as `anthropic:claude-opus-4-8`")
    manifests: Path | None = Field(None, description="the folder where `cuecard run` writes manifests")
    states: Path | None = Field(
        None, description="the folder where `cuecard watch`, `cuecard serve` and `cuecard mcp` keep good states"
    )
    cache: str | None = Field(
        None, description="the cache folder for search indexes, token counts and compiled agents; `off` disables it"
    )
    salt: SecretStr | None = Field(None, description="a secret salt for every fingerprint in manifests")
    key: SecretStr | None = Field(
        None, description="a secret that signs the conversations of `cuecard serve`; use the same in all replicas"
    )
    token: SecretStr | None = Field(None, description="the bearer token that clients of `cuecard serve` must send")

    @property
    def cache_folder(self) -> Path | bool:
        """The cache for `Engine.open`: a folder, the user's cache folder (True), or none (False)."""
        if self.cache is None:
            return True
        return self.cache != "off" and Path(self.cache)


_VARIABLES = {field: f"CUECARD_{field.upper()}" for field in Settings.model_fields}


def read_settings() -> Settings:
    """The settings of this process; their names are case-insensitive.

    Raises:
        SettingsError: with every setting that has an invalid value; the value itself is not repeated.
    """
    if not any(name.upper() in _VARIABLES.values() for name in os.environ):
        return Settings.model_construct()  # without values there is nothing to validate
    from pydantic_settings import BaseSettings, SettingsConfigDict  # noqa: PLC0415 - only who sets a variable pays

    class Environment(Settings, BaseSettings):
        model_config = SettingsConfigDict(env_prefix="CUECARD_", frozen=True, hide_input_in_errors=True, extra="ignore")

    try:
        return Environment()
    except ValidationError as error:
        raise SettingsError(_problem(e) for e in error.errors(include_input=False, include_url=False)) from None


def environment() -> dict[str, str]:
    """Each variable and what it does, for the docs."""
    return {name: Settings.model_fields[field].description or "" for field, name in _VARIABLES.items()}


def _problem(error: object) -> Problem:
    details = dict(error) if isinstance(error, dict) else {}
    field = str(details["loc"][0])
    about = Settings.model_fields[field].description or ""
    message = f"{_VARIABLES[field]}: {details['msg'][0].lower()}{details['msg'][1:]}"
    return Problem("wrong-setting", message, f"it {about}" if about else "", "environment")

"""The settings of commands, which come from the environment."""

from __future__ import annotations

import os
from dataclasses import field, fields
from pathlib import Path

from cuecard.model import DeliveryWish
from cuecard.records import dataclass


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings from the environment; a command-line option overrides them.

    Attributes:
        delivery: replaces the agent file's `delivery`.
        model: the model of `cuecard run`.
        manifests: the folder where `cuecard run` and `cuecard serve` write records.
        states: the folder of states.
        cache: the cache folder; `off` disables it.
        salt: a secret for fingerprints; empty for none.
        key: a secret that signs the conversations of `cuecard serve`; empty for none.
        token: the bearer token of `cuecard serve`; empty for none.
        library: the URL of the library, which may hold a secret; empty for the file `prompts.db`.
    """

    delivery: DeliveryWish | None = None
    model: str | None = None
    manifests: Path | None = None
    states: Path | None = None
    cache: str | None = None
    salt: str = field(default="", repr=False)
    key: str = field(default="", repr=False)
    token: str = field(default="", repr=False)
    library: str = field(default="", repr=False)

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
    from cuecard.files.environment import read_environment  # noqa: PLC0415 - pydantic-settings loads asyncio

    return Settings(**read_environment())

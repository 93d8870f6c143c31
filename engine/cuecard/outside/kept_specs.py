"""The configuration of a stored agent, whose keys can be read without loading pydantic."""

from __future__ import annotations

from importlib import import_module
from pickle import PicklingError
from typing import Any

_MODELS = "cuecard.config."
"""Where configuration models are; a stored one names its module below it, and therefore no other."""


class KeptSpec:
    """Stands for a configuration model: has its keys and properties, and loads the model for everything else.

    Importing the models, and pydantic with them, takes longer than rendering a prompt of an agent that is stored.
    """

    __slots__ = ("__dict__", "_loaded", "_model", "_state")

    def __init__(self, model: tuple[str, str], state: dict[str, Any], derived: dict[str, Any]) -> None:
        object.__setattr__(self, "__dict__", derived | state["__dict__"])
        object.__setattr__(self, "_model", model)
        object.__setattr__(self, "_state", state)

    def __getattr__(self, name: str) -> Any:
        if name != "_loaded":
            return getattr(self._loaded, name)
        object.__setattr__(self, "_loaded", self._load())
        return self._loaded

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self._loaded, name, value)  # which refuses, since models are frozen

    @property  # type: ignore[misc] # so that isinstance takes it for the model
    def __class__(self) -> type:
        return type(self._loaded)

    @property
    def model_fields_set(self) -> set[str]:
        """The keys that the agent file states."""
        return set(self._state["__pydantic_fields_set__"])

    def __eq__(self, other: object) -> bool:
        return bool(self._loaded == loaded(other))

    def __hash__(self) -> int:
        return hash(self._loaded)

    def __repr__(self) -> str:
        return repr(self._loaded)

    def __reduce__(self) -> tuple[Any, ...]:
        return kept(self._loaded)

    def _load(self) -> Any:
        module, name = self._model
        model = getattr(import_module(f"{_MODELS}{module}"), name)
        made = model.__new__(model)
        made.__setstate__({**self._state, "__dict__": loaded(self._state["__dict__"])})
        return made


def kept(spec: Any) -> tuple[Any, ...]:
    """How a configuration model is pickled: as a `KeptSpec`.

    Raises:
        PicklingError: when it is not a model of cuecard's own.
    """
    model = type(spec)
    if not model.__module__.startswith(_MODELS):
        raise PicklingError(f"{model.__module__}.{model.__name__} is not a configuration model")
    own = (name for each in model.__mro__ if each.__module__.startswith("cuecard.") for name in vars(each))
    derived = {name: getattr(spec, name) for name in own if isinstance(getattr(model, name, None), property)}
    return KeptSpec, ((model.__module__.removeprefix(_MODELS), model.__name__), spec.__getstate__(), derived)


def loaded(value: Any) -> Any:
    """The value with models in place of what stands for them, at any depth."""
    if type(value) is KeptSpec:
        return value._loaded  # noqa: SLF001 - of the class above
    if type(value) is dict:
        return {key: loaded(held) for key, held in value.items()}
    if type(value) in {list, tuple}:
        return type(value)(map(loaded, value))
    return value

"""A service on this machine that plays a model for the providers' own clients: the examples run without a network."""

from loopback_models.pages import AGENT, page_functions
from loopback_models.script import SCRIPT, WORDS
from loopback_models.server import LoopbackModels, loopback_models
from loopback_models.wire import Call

__all__ = ["AGENT", "SCRIPT", "WORDS", "Call", "LoopbackModels", "loopback_models", "page_functions"]

"""What promptfoo calls: the prompt of a turn as messages, and the prompt itself as an answer."""

from cuecard.workbench.testing.promptfoo import call_api, prompt

__all__ = ["call_api", "prompt"]

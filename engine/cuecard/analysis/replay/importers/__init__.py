"""Logs of other programs as transcripts: one file per form, and the choice of the form."""

from cuecard.analysis.replay.importers.choose import FORMS, LogForm, read_conversation

__all__ = ["FORMS", "LogForm", "read_conversation"]

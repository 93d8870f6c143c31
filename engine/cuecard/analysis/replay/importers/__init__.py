"""Logs of other programs as transcripts: one file per form, and the choice of the form."""

from cuecard.analysis.replay.importers.choose import FORMS, LogForm, read_conversation
from cuecard.analysis.replay.importers.imported import Imported

__all__ = ["FORMS", "Imported", "LogForm", "read_conversation"]

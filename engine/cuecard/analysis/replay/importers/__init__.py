"""Reads logs of other programs as transcripts: one file per format, and one that detects the format."""

from cuecard.analysis.replay.importers.choose import FORMS, LogForm, read_conversation
from cuecard.analysis.replay.importers.imported import Imported

__all__ = ["FORMS", "Imported", "LogForm", "read_conversation"]

"""What tool authors learn from recorded conversations: which instructions are used, and which searches fail."""

from cuecard.analysis.field.findings import FieldReport, SearchUse, ToolUse, field_report
from cuecard.analysis.field.records import Called, Requested, read_records

__all__ = ["Called", "FieldReport", "Requested", "SearchUse", "ToolUse", "field_report", "read_records"]

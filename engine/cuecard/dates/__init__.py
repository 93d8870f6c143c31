"""Dates and times as text: zones, locales, styles and patterns."""

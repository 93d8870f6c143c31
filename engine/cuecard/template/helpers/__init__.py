"""The helpers that every template has: texts, lists, comparisons, dates."""

"""The standard helpers, available in every template: texts, lists, comparisons, dates."""

"""The variables by which coverage measures the processes that tests start."""

MEASURES = "CUECARD_TESTS_"
"""What the names of coverage's own variables begin with where a command is not to be measured."""
MEASURING = ("COVERAGE_PROCESS_CONFIG", "COVERAGE_PROCESS_START")
"""What coverage tells a process that it is to measure from its beginning."""

"""Outcomes as JUnit XML, the form that continuous integration reads (Jenkins' `xunit` schema)."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from cuecard.errors import visible
from cuecard.testing.turns import Outcome


def junit(agent: str, outcomes: Sequence[Outcome]) -> str:
    """The report: one suite, one case for each turn."""
    failed = sum(bool(each.problems) for each in outcomes)
    seconds = f"{sum(each.seconds for each in outcomes):.3f}"
    counts = {"tests": str(len(outcomes)), "failures": str(failed), "errors": "0", "time": seconds}
    suites = Element("testsuites", counts)
    suite = SubElement(suites, "testsuite", {"name": visible(agent), **counts})
    for each in outcomes:
        about = {"classname": visible(agent), "name": visible(each.name), "file": visible(each.file)}
        case = SubElement(suite, "testcase", {**about, "time": f"{each.seconds:.3f}"})
        if each.problems:
            first = visible(each.problems[0].message)
            failure = SubElement(case, "failure", {"message": first, "type": each.problems[0].code})
            failure.text = "\n\n".join(problem.picture() for problem in each.problems)
    indent(suites)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(suites, encoding="unicode") + "\n"

from __future__ import annotations

from unit.agent.checks.agents import checked, codes, place

SECTION = "<a>\n<rules>{{> p}}</rules>\n</a>"


def test_a_partial_that_calls_itself_on_every_path_never_ends() -> None:
    (problem,) = checked(SECTION, {"p.hbs": "More:\n{{> p}}"})

    assert (problem.code, problem.severity) == ("partial-cycle", "error")
    assert place(problem) == "p.hbs:2:1 {{> p}}"
    assert problem.message.endswith("`p` -> `p`")


def test_a_partial_that_calls_itself_in_a_block_is_a_tree() -> None:
    tree = "{{title}}{{#each children}}{{> p}}{{/each}}"

    assert codes("<a>\n<tree>{{#with facts}}{{> p}}{{/with}}</tree>\n</a>", {"p.hbs": tree}) == []


def test_two_branches_that_both_lead_on_are_not_a_way_out() -> None:
    partials = {"p.hbs": "{{#if name}}{{> q}}{{else}}{{> p}}{{/if}}", "q.hbs": "{{> p}}"}
    (problem,) = checked(SECTION, partials)

    assert problem.message.endswith("`p` -> `q` -> `p`")


def test_one_branch_that_ends_is_a_way_out() -> None:
    partials = {"p.hbs": "{{#if name}}{{> q}}{{else}}The end.{{/if}}", "q.hbs": "{{> p}}"}

    assert codes(SECTION, partials) == []


def test_a_cycle_is_reported_once_and_those_who_lead_into_it_are_not_reported() -> None:
    partials = {"p.hbs": "{{> q}}", "q.hbs": "{{> r}}", "r.hbs": "{{> q}}"}
    (problem,) = checked(SECTION, partials)

    assert problem.message.endswith("`q` -> `r` -> `q`")


def test_two_cycles_are_two_problems() -> None:
    partials = {"p.hbs": "{{> p}}", "q.hbs": "{{> q}}"}

    assert codes("<a>\n<rules>{{> p}}{{> q}}</rules>\n</a>", partials) == ["partial-cycle", "partial-cycle"]


def test_an_inline_partial_of_the_same_name_is_not_a_cycle() -> None:
    assert codes(SECTION, {"p.hbs": '{{#*inline "p"}}x{{/inline}}{{> p}}'}) == []


def test_a_partial_that_nobody_calls_is_reported_and_so_is_what_only_it_calls() -> None:
    found = checked(SECTION, {"p.hbs": "x", "old.hbs": "{{> older}}", "older.hbs": "y"})

    assert [(p.code, p.severity, p.name) for p in found] == [
        ("unused-partial", "warning", "cms/partials/old.hbs"),
        ("unused-partial", "warning", "cms/partials/older.hbs"),
    ]


def test_where_a_name_is_made_up_in_the_template_any_partial_may_be_used() -> None:
    assert codes('<a>\n<rules>{{> (lookup facts "part")}}</rules>\n</a>', {"p.hbs": "x"}) == []


def test_a_partial_is_well_formed_on_its_own() -> None:
    (problem,) = checked(SECTION, {"p.hbs": "one\n<b>two"})

    assert (problem.code, problem.name) == ("xml", "cms/partials/p.hbs")


def test_the_first_line_of_a_partial_is_counted_as_it_is_written() -> None:
    (problem,) = checked(SECTION, {"p.hbs": "R & D"})

    assert problem.span
    assert (problem.span.line, problem.span.column) == (1, 4)


def test_a_branch_of_a_partial_closes_what_it_opens() -> None:
    found = codes(SECTION, {"p.hbs": "{{#if name}}<b>{{/if}}x{{#if name}}</b>{{/if}}"})

    assert found == ["xml-branch", "xml-branch"]


def test_an_empty_partial_is_fine() -> None:
    assert codes(SECTION, {"p.hbs": ""}) == []


def test_an_error_in_a_partial_names_its_file() -> None:
    (problem,) = checked(SECTION, {"p.hbs": "{{#if name}}"})

    assert (problem.code, problem.name) == ("unclosed-block", "cms/partials/p.hbs")


def test_an_undeclared_input_of_a_partial_is_reported_there() -> None:
    (problem,) = checked(SECTION, {"p.hbs": "Hello\ndear {{nmae}}"})

    assert place(problem) == "p.hbs:2:8 nmae"
    assert "did you mean `name`?" in problem.hint


def test_two_partials_of_one_name_are_refused_because_only_one_could_be_called() -> None:
    (problem,) = checked(SECTION, {"old/p.hbs": "x", "p.txt": "y"})

    assert (problem.code, problem.name) == ("duplicate-partial", "cms/partials/p.txt")
    assert "cms/partials/old/p.hbs" in problem.hint

"""What the page in a browser keeps to: its source is edited, and the page built of it."""

from __future__ import annotations

from tests.broken_rules.rules import Rule, broken

_SOURCE = "multi_agents/web/src/"
_WEB = "tests/e2e/web/"

PAGE: tuple[Rule, ...] = (
    Rule(
        "page-secrets",
        "The page keeps nothing that was filled in where a form asks for a secret.",
        (
            broken(
                "every field is kept",
                _SOURCE + "turn/drafts.ts",
                "form.fields.filter((field) => !field.secret)",
                "form.fields",
                _WEB
                + "test_hostile.py::test_a_form_that_asks_for_a_secret_is_shown_with_a_warning_and_not_kept",
            ),
        ),
    ),
    Rule(
        "page-directions",
        "Each block of an answer runs in the direction of its own language.",
        (
            broken(
                "all of them run from left to right",
                _SOURCE + "view/Markdown.tsx",
                'if (block.type === "element") block.properties',
                'if (block.type === "text") block.properties',
                _WEB
                + "test_input.py::test_each_block_of_an_answer_runs_in_the_direction_of_its_own_language",
            ),
        ),
    ),
)

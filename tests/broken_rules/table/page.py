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
    Rule(
        "page-late-answers",
        "An answer that was given before something changed on the page changes nothing back when it comes after it.",
        (
            broken(
                "older answers count",
                _SOURCE + "wire/newest.ts",
                "if (question < this.answered) return false;",
                "if (this.answered < 0) return false;",
                _WEB
                + "test_late_answers.py::test_a_conversation_that_began_while_the_list_was_read_stays_in_it",
            ),
            broken(
                "what the agent took after it was asked counts as deleted",
                _SOURCE + "conversation/conversation.ts",
                "filter((turn) => !there.has(turn) || left",
                "filter((turn) => (!there.has(turn) && !turn.taskId) || left",
                _WEB
                + "test_late_answers.py::test_a_message_that_was_answered_while_the_conversation_was_read_stays_with_its_answer",
            ),
        ),
    ),
    Rule(
        "page-answers",
        "An answer on the page goes to the question that was read, and its words come back where it is not taken.",
        (
            broken(
                "it is sent although the question is no longer open",
                _SOURCE + "conversation/conversation.ts",
                "if (turn.question?.id !== question.id) {",
                "if (!turn.taskId) {",
                _WEB
                + "test_meanwhile.py::test_words_for_a_question_that_was_answered_elsewhere_since_it_was_drawn_are_not_sent",
            ),
            broken(
                "its words are not kept for a reload",
                _SOURCE + "conversation/conversation.ts",
                "keepAnswer(this.id, answer);",
                "keepAnswer(this.id, { ...answer, parts: [] });",
                _WEB
                + "test_meanwhile.py::test_words_of_an_answer_that_was_not_taken_are_there_after_a_reload",
            ),
        ),
    ),
)

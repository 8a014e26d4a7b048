"""What a failed tool tells: the user a sentence, the model the sentence and what to do."""

from __future__ import annotations

from structlog.testing import capture_logs

from utils.a2a_common.client.agents.bulkhead import SubAgentDown
from utils.a2a_common.graph.model.found_results import answer_from, found_in_turn
from utils.a2a_common.graph.tools.boundary import _problem_message
from utils.errors import OutcomeUnknown
from utils.messages.marks import PROBLEM
from utils.messages.results import ToolProblem, parse_result


def test_advice_for_the_model_is_in_what_the_model_reads_and_in_nothing_that_a_user_reads() -> None:
    for error in (SubAgentDown("The github agent is unavailable."), OutcomeUnknown("It is unknown.")):
        told = _problem_message(error, "c1", "github")
        problem = parse_result(str(told.content))
        assert isinstance(problem, ToolProblem)
        assert (problem.message, problem.note) == (error.message, error.advice)
        assert problem.note
        marked = PROBLEM.of(told)
        assert marked is not None
        assert marked.message == error.message
        assert error.advice not in answer_from(found_in_turn([told]), "Why.")


def test_the_log_names_the_types_of_everything_that_caused_an_error_and_no_text_of_them() -> None:
    try:
        try:
            try:
                raise ConnectionResetError("the secret text of a peer")
            except ConnectionResetError as reset:
                raise RuntimeError("the library's own text") from reset
        except RuntimeError as failed:
            raise OutcomeUnknown("It is unknown.") from failed
    except OutcomeUnknown as error:
        with capture_logs() as logs:
            _problem_message(error, "c1", "github")
    assert [each["cause"] for each in logs] == ["RuntimeError from ConnectionResetError"]
    assert "text" not in str(logs)

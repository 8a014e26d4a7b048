"""What agents and clients send each other beside words: artifacts, files, data, messages."""

from __future__ import annotations

from tests.broken_rules.rules import Rule, broken

_OWN = "tests/e2e/wire/test_own_artifacts.py::"
_MODES = "tests/e2e/wire/test_input_modes.py::"
_PASSED = "tests/e2e/delegation/test_passed_files.py::"
_ASKED = "tests/e2e/delegation/test_data_questions.py::"
_STATES = "tests/unit/delegation/test_remote_states.py::"
_EXECUTION = "utils/a2a_common/execution/"
_PROTOCOL = "utils/a2a_common/protocol/"

PARTS: tuple[Rule, ...] = (
    Rule(
        "own-artifacts",
        "An agent's artifacts arrive as they are, within limits, and what is left out is named.",
        (
            broken(
                "what a client does not accept is sent all the same",
                _EXECUTION + "artifact_encoding.py::accepted_parts",
                "accepted.takes(part.media_type)",
                "True",
                _OWN + "test_parts_that_a_client_does_not_accept_are_left_out_and_named",
            ),
            broken(
                "a task holds any number of bytes",
                _EXECUTION + "own_artifacts.py::OwnArtifacts._beyond",
                "sum((size for size, _ in self._known.values())) + more > MOST_BYTES",
                "more > MOST_BYTES",
                _OWN
                + "test_a_file_as_large_as_a_task_takes_goes_over_each_binding_and_a_larger_one_is_named",
                _PASSED + "test_files_beyond_what_a_task_holds_are_named_and_the_answer_stays",
            ),
            broken(
                "what is left out is not named",
                _EXECUTION + "publisher.py::Publisher._complete",
                "filter(None, [self._artifacts.passed_on, *quoted])",
                "filter(None, [self._artifacts.passed_on] if quoted or True else [])",
                _OWN
                + "test_a_file_as_large_as_a_task_takes_goes_over_each_binding_and_a_larger_one_is_named",
            ),
            broken(
                "two parts of text become one when they are stored",
                "utils/a2a_common/tasks/assembly.py::_Assembly.add",
                "number > 0 or part.media_type != self.media_type",
                "part.media_type != self.media_type and number >= 0",
                _OWN + "test_files_data_and_text_of_a_tool_reach_a_client_as_they_are_and_are_stored",
                _OWN + "test_long_text_comes_in_chunks_and_its_parts_stay_apart",
            ),
            broken(
                "names are sent as they come",
                _EXECUTION + "artifact_encoding.py::prepared",
                "encode_part(_safe(part))",
                "encode_part(part)",
                _OWN + "test_names_of_files_are_safe",
            ),
        ),
    ),
    Rule(
        "bare-message",
        "An answer may be one message without a task; a rejection tells its reason.",
        (
            broken(
                "a task comes before the message",
                _EXECUTION + "executor.py::BaseLangGraphAgentExecutor.execute",
                "not self.begins_with_task",
                "False",
                _OWN + "test_an_answer_may_be_one_message_and_no_task",
            ),
            broken(
                "the reason stays here",
                _EXECUTION + "publisher.py::Publisher.publish",
                "self._end(TaskState.TASK_STATE_REJECTED, agent_message(reason), error)",
                "self._end(TaskState.TASK_STATE_REJECTED, None, error)",
                _OWN + "test_a_rejection_carries_its_reason",
            ),
            broken(
                "the history grows with every word about the work",
                _EXECUTION + "publisher.py::Publisher._status_text",
                "self._status_texts > MOST_STATUS_TEXTS",
                "not text",
                _OWN + "test_words_while_it_works_do_not_make_the_history_grow_without_end",
            ),
        ),
    ),
    Rule(
        "input-modes",
        "What an agent takes reaches it, and what its card does not declare is refused before a turn begins.",
        (
            broken(
                "a media type that the card does not name is taken",
                _PROTOCOL + "media_modes.py::check_content",
                "not Accepted(modes).takes(kind)",
                "not kind",
                _MODES + "test_a_text_file_is_read_and_an_image_is_refused_before_a_turn_begins",
                _MODES + "test_an_agent_that_declares_a_type_is_given_its_files_and_nothing_else",
            ),
            broken(
                "files and data do not reach the model",
                "utils/a2a_common/graph/run/graph_run.py::GraphRun._entry",
                "self._user_message(user_content(request, self._takes))",
                "self._user_message(request.text)",
                _MODES + "test_a_message_may_be_a_file_alone",
                _MODES + "test_every_kind_of_data_reaches_the_model",
            ),
            broken(
                "an answer's files are dropped",
                "utils/a2a_common/graph/run/graph_run.py::GraphRun._answer",
                "resume_value(answer_text(self._request), answer_data(self._request))",
                "resume_value(self._request.text, answer_data(self._request))",
                _MODES + "test_a_file_in_an_answer_to_a_question_reaches_who_asked",
            ),
        ),
    ),
    Rule(
        "data-questions",
        "Data that an agent asks with, and the data of the answer, pass through with their metadata.",
        (
            broken(
                "metadata of a part is dropped on its way in",
                _PROTOCOL + "parts.py::decode_part",
                "_metadata(part)",
                "dict[str, Any]()",
                _ASKED
                + "test_a_question_that_is_data_is_read_in_words_and_answered_with_data_as_its_agent_needs_it",
            ),
            broken(
                "metadata of an answer is dropped",
                "utils/a2a_common/graph/questions/interrupts.py::resume_value",
                "any(part.metadata for part in parts)",
                "not parts",
                _ASKED
                + "test_a_question_that_is_data_is_read_in_words_and_answered_with_data_as_its_agent_needs_it",
            ),
            broken(
                "a file in a message and in an artifact is two",
                "utils/a2a_common/client/delegation/task_view.py::TaskView.files",
                "found.setdefault(file, RemoteFile(place, file))",
                "found.setdefault(place, RemoteFile(place, file))",
                _STATES + "test_the_same_file_in_a_message_and_an_artifact_is_one",
            ),
            broken(
                "progress is the question or the answer",
                "utils/a2a_common/client/delegation/task_view.py::TaskView._set_status",
                "event.state is not self._status_state",
                "event.state is None",
                _STATES + "test_progress_is_neither_the_answer_nor_the_question_nor_the_failure",
            ),
        ),
    ),
    Rule(
        "passed-files",
        "Files of sub-agents reach the user once, bounded, under clean names, and are never fetched.",
        (
            broken(
                "they stay with the supervisor",
                "multi_agents/platform_engineer/delegation.py::Delegation._exchange",
                "passed_files(task, kept.agent, kept.id)",
                "list(passed_files(task, kept.agent, kept.id))[:0]",
                _PASSED + "test_the_files_of_a_sub_agent_reach_the_user_of_any_client_as_they_are",
                _PASSED + "test_the_file_of_a_bare_message_is_passed_on",
            ),
            broken(
                "an agent returns as many as it likes",
                "multi_agents/platform_engineer/passed_files.py::passed_files",
                "task.files[:MOST_FILES]",
                "task.files",
                _PASSED + "test_a_hostile_agent_chooses_neither_paths_nor_types_nor_how_much_is_passed_on",
            ),
            broken(
                "the answer does not name the files of an earlier turn",
                _EXECUTION + "executor.py::BaseLangGraphAgentExecutor._publisher",
                "task.artifacts if task is not None else ()",
                "()",
                _PASSED + "test_a_file_is_passed_on_once_though_a_question_and_a_restart_come_between",
            ),
            broken(
                "an address of any kind is passed on",
                "utils/a2a_common/client/delegation/remote_files.py::web_address",
                "address if web else ''",
                "address",
                _PASSED + "test_a_hostile_agent_chooses_neither_paths_nor_types_nor_how_much_is_passed_on",
                "tests/e2e/delegation/test_files.py::"
                "test_a_files_name_and_address_are_data_and_make_no_link_but_to_the_web",
            ),
        ),
    ),
)

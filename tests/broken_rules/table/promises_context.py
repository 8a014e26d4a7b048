"""What earlier systems promised of the context, each by its number in docs/systems/context.md."""

from __future__ import annotations

from tests.broken_rules.rules import Break, Edit, Rule, broken

_BASE = "utils/a2a_common/base_langgraph_agent.py::BaseLangGraphAgent"
_POLICY = "utils/context/policy.py"
_TURN = "tests/e2e/context/test_check_before_a_turn.py::"
_WITH_MODEL = "tests/e2e/context/test_middleware.py::"
_EDGES = "tests/unit/context/test_thresholds.py::"
_HOOK = "tests/unit/context/test_compress_hook.py::"
_WRITERS = "tests/unit/context/test_summarisers.py::"
_LIMITS = "tests/unit/context/test_limits.py::"
_TOKENS = "tests/unit/messages/test_tokens.py::"
_PIPELINE = "tests/unit/context/test_pipeline.py::"

PROMISES_CONTEXT: tuple[Rule, ...] = (
    Rule(
        "promise-0.1",
        "The check before a turn runs, and makes room before the model is asked.",
        (
            broken(
                "nobody calls it",
                _BASE + "._turn",
                "for compacted in await self._preflight_context_check(config, query, state):\n"
                "    yield compacted",
                "_ = self._preflight_context_check",
                _TURN + "test_the_check_runs_before_the_model_of_each_turn_and_waits_for_no_summary",
            ),
            broken(
                "it makes no room",
                _BASE + "._preflight_context_check",
                "update is not None and not state.interrupts",
                "update is None and not state.interrupts",
                _TURN + "test_the_estimate_counts_system_prompt_history_query_and_tool_schemas",
            ),
        ),
    ),
    Rule(
        "promise-0.2",
        "System prompt, history, query and tool schemas are all in the estimate.",
        tuple(
            broken(
                f"without {part}",
                _BASE + "._preflight_context_check",
                old,
                new,
                _TURN + "test_the_estimate_counts_system_prompt_history_query_and_tool_schemas",
            )
            for part, old, new in (
                ("the query", "[HumanMessage(query)]", "[HumanMessage(query)][:0]"),
                ("the system prompt", "SystemMessage(built.system)", "SystemMessage(built.system[:0])"),
                ("the agent's own tools", "[*built.tools, *context.tools]", "[*context.tools]"),
            )
        ),
    ),
    Rule(
        "promise-0.3",
        "A turn begins with a summary from 80 % of the limit on, unless configured.",
        (
            broken(
                "it begins later",
                _POLICY + "::ContextPolicy",
                "summarise_at: float = 0.80",
                "summarise_at: float = 0.97",
                _EDGES
                + "test_a_turn_begins_with_a_summary_from_eighty_percent_of_the_limit_on_unless_configured",
            ),
            broken(
                "the setting is not read",
                "utils/context/factory.py::policy_for",
                "context.summarise_at or policy.summarise_at",
                "policy.summarise_at",
                _EDGES
                + "test_a_turn_begins_with_a_summary_from_eighty_percent_of_the_limit_on_unless_configured",
            ),
        ),
    ),
    Rule(
        "promise-0.5",
        "A summary brings a request down to half of the limit.",
        (
            broken(
                "to three quarters",
                _POLICY + "::ContextPolicy",
                "summarise_to: float = 0.50",
                "summarise_to: float = 0.75",
                _PIPELINE
                + "test_the_summary_stands_in_the_system_message_directly_before_the_recent_messages",
            ),
        ),
    ),
    Rule(
        "promise-0.6",
        "Without LangMem an extract stands in, and nothing crashes.",
        (
            broken(
                "its missing import goes through to the agent",
                "utils/context/summarisers/langmem.py::LangMemSummariser._guarded",
                "raise classify(error) or ModelUnavailable('No summary could be written.') from error",
                "raise classify(error) or RuntimeError('No summary could be written.') from None",
                _WRITERS + "test_where_langmem_cannot_be_imported_an_extract_stands_in_and_nothing_crashes",
            ),
        ),
    ),
    Rule(
        "promise-0.9",
        "An agent that configures nothing has its results cut and its tools' errors handled.",
        (
            Break(
                "results are cut neither where they come in nor in a request",
                (
                    Edit(
                        "utils/context/tool_results.py::short_result",
                        "shown == text",
                        "len(shown) <= len(text)",
                    ),
                    Edit(
                        "utils/context/stages.py::truncate_stage",
                        "PipelineStage.TRUNCATE not in draft.policy.stages",
                        "bool(draft.view)",
                    ),
                ),
                (
                    _TURN
                    + "test_an_agent_that_configures_nothing_has_check_summary_truncation_and_error_handling",
                ),
            ),
        ),
    ),
    Rule(
        "promise-0.27",
        "The limit of a model that nobody knows follows from the provider.",
        (
            broken(
                "the provider is not asked for",
                "utils/context/limits.py::get_context_window",
                "get_context_limit_for_provider(provider)",
                "DEFAULT_WINDOW",
                _LIMITS + "test_the_limit_of_an_agent_follows_from_the_provider_that_is_configured",
            ),
            broken(
                "the variable for all goes first",
                "utils/context/limits.py::explicit_limit",
                "own or settings.window",
                "settings.window or own",
                _LIMITS + "test_the_limit_of_an_agent_follows_from_the_provider_that_is_configured",
            ),
        ),
    ),
    Rule(
        "promise-1.2",
        "Search results are compressed above 85 % of the window, down to 80 %, and no further than needed.",
        (
            broken(
                "from 80 % on",
                "utils/context/compress_tool_results.py::make_compressor.compress_tool_results_if_needed",
                "before <= chosen.tokens(chosen.compress_at)",
                "before <= chosen.tokens(chosen.compress_to)",
                _HOOK + "test_at_eighty_five_percent_nothing_is_done_and_one_token_over_it_something",
            ),
            broken(
                "down to 84 %",
                _POLICY + "::rag",
                "0.80",
                "0.84",
                _HOOK + "test_no_more_is_compressed_than_brings_it_to_eighty_percent",
            ),
            broken(
                "all of them",
                "utils/context/strategies/compress.py::_enough",
                "expected >= missing",
                "expected > 10**9",
                _HOOK + "test_no_more_is_compressed_than_brings_it_to_eighty_percent",
            ),
            broken(
                "where both limits are the same, in small windows",
                _POLICY + "::ContextPolicy.tokens",
                "int(self._basis * share)",
                "min(int((self.window if self.of_window else self.input_budget) * share), self.input_budget)",
                _EDGES + "test_in_any_window_a_threshold_that_begins_is_above_the_one_that_ends",
            ),
        ),
    ),
    Rule(
        "promise-1.4",
        "The last article of the last result is compressed first, each to 30 % for the user's question.",
        (
            broken(
                "the first result is compressed first",
                "utils/context/strategies/compress.py::_candidates",
                "sorted(lists, reverse=True)",
                "sorted(lists)",
                _HOOK
                + "test_the_last_article_of_the_last_result_is_compressed_first_and_the_first_one_never",
            ),
            broken(
                "the first article is compressed first",
                "utils/context/strategies/compress.py::_candidates",
                "range(len(entries) - 1, 0, -1)",
                "range(1, len(entries))",
                _HOOK
                + "test_the_last_article_of_the_last_result_is_compressed_first_and_the_first_one_never",
            ),
            broken(
                "nobody says what it is compressed for",
                "utils/context/strategies/compress.py::_short",
                "compression.guidance",
                "compression.guidance[:0]",
                _HOOK + "test_each_article_is_shortened_to_thirty_percent_for_the_users_question",
            ),
            broken(
                "to half of its size",
                _POLICY + "::rag",
                "0.30",
                "0.50",
                _HOOK + "test_each_article_is_shortened_to_thirty_percent_for_the_users_question",
            ),
        ),
    ),
    Rule(
        "promise-1.12",
        "A compression is a warning in the log.",
        (
            broken(
                "it is a line for debugging",
                "utils/context/announce.py::_compression",
                "log.warning",
                "log.debug",
                _HOOK
                + "test_over_it_the_last_articles_of_the_last_result_shrink_in_place_and_the_log_says_so",
            ),
        ),
    ),
    Rule(
        "promise-2.2",
        "A turn has 25 model calls where nothing is configured.",
        (
            broken(
                "it has 250",
                "utils/context/settings.py::ContextSettings",
                "25",
                "250",
                "tests/e2e/agents/test_limits.py::test_it_has_twenty_five_model_calls_where_nothing_is_configured",
            ),
        ),
    ),
    Rule(
        "promise-2.3",
        "The results of the last three exchanges are not cleared.",
        (
            broken(
                "only the last one is kept",
                _POLICY + "::ContextPolicy",
                "clear_keep: int = 3",
                "clear_keep: int = 1",
                _PIPELINE + "test_old_tool_results_are_cleared_in_one_batch_and_the_last_three_kept",
            ),
        ),
    ),
    Rule(
        "promise-2.4",
        "Tokens are counted with tiktoken, in messages and in lists of them.",
        (
            broken(
                "four characters are a token",
                "utils/messages/tokens.py::count_text_tokens",
                "len(_encoder(encoding).encode(text, disallowed_special=()))",
                "len(text) // 4",
                _TOKENS + "test_the_count_is_what_openai_says_it_charged_for_its_own_example",
                _TOKENS + "test_calls_and_results_count_as_langchain_openai_counts_them",
            ),
        ),
    ),
    Rule(
        "promise-2.5",
        "The policy for research summarises at 80,000 tokens into 2,000, and goes on from the summary before.",
        (
            broken(
                "the 80,000 are not looked at",
                "utils/context/stages.py::_due",
                "at = min(at, policy.summarise_at_tokens)",
                "pass",
                _EDGES
                + "test_research_summarises_at_eighty_thousand_tokens_into_two_thousand_and_keeps_five_messages",
            ),
            broken(
                "a summary may have any length",
                "utils/context/strategies/summarise.py::_once",
                "counter.text(answer) > max_tokens",
                "counter.text(answer) > 100 * max_tokens",
                _EDGES
                + "test_research_summarises_at_eighty_thousand_tokens_into_two_thousand_and_keeps_five_messages",
            ),
            broken(
                "each summary begins anew",
                "utils/context/stages.py::summarise_stage",
                "summarise(text, draft.compaction.written, summary_tokens, _summariser(draft, tools), draft.counter)",
                "summarise(text, '', summary_tokens, _summariser(draft, tools), draft.counter)",
                _EDGES + "test_a_summary_continues_the_one_before_it",
            ),
        ),
    ),
    Rule(
        "promise-3.4",
        "Trimming shows the most recent messages that fit, always the same ones, and asks no model.",
        (
            broken(
                "half of what fits is shown",
                _POLICY + "::pipelit",
                "ContextPolicy(window=window, output_reserve=min(_RESERVE_CAP, window // 4), "
                "margin=min(_MARGIN_CAP, window // 32), stages=frozenset({PipelineStage.SUMMARISE}), summarise_at=1.0, "
                "summarise_to=1.0, use_model=False)",
                "ContextPolicy(window=window, output_reserve=min(_RESERVE_CAP, window // 4), "
                "margin=min(_MARGIN_CAP, window // 32), stages=frozenset({PipelineStage.SUMMARISE}), summarise_at=1.0, "
                "summarise_to=0.5, use_model=False)",
                _EDGES + "test_trimming_shows_the_most_recent_messages_that_fit_and_no_fewer",
            ),
            broken(
                "a model is asked",
                _POLICY + "::pipelit",
                "False",
                "True",
                _EDGES + "test_trimming_gives_the_same_view_each_time_and_asks_no_model",
            ),
        ),
    ),
    Rule(
        "promise-3.10",
        "The policy of turns shows the last ten.",
        (
            broken(
                "it shows fifteen",
                "utils/context/pipeline.py::_in_turns",
                "turns > policy.max_turns",
                "turns > policy.max_turns + 5",
                "tests/unit/context/test_options.py::"
                "test_the_last_ten_turns_are_twenty_messages_and_older_ones_leave_by_themselves",
            ),
        ),
    ),
    Rule(
        "promise-3.13",
        "A conversation and its turns are kept in files.",
        (
            broken(
                "each start has a file of its own",
                "utils/persistence/stores.py::SqliteStores.checkpointer",
                "self._folder / StoreFile.CHECKPOINTS",
                "self._folder / f'checkpoints-{__import__(\"uuid\").uuid4()}.sqlite'",
                "tests/e2e/context/test_kept_turns.py::"
                "test_a_second_message_sees_the_first_also_after_a_restart_and_another_conversation_does_not",
            ),
        ),
    ),
    Rule(
        "promise-4.9",
        "A cleared conversation is gone.",
        (
            broken(
                "its messages stay",
                _BASE + ".clear_context",
                "await self.runtime.checkpointer.adelete_thread(thread_id)",
                "pass",
                "tests/e2e/context/test_clearing.py::test_a_cleared_conversation_is_gone_with_its_stored_texts",
            ),
        ),
    ),
)

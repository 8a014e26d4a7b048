"""What goes to another agent, or to a search of the documents, is the user's own message or a piece of it."""

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from tests.eval import routing
from tests.eval.routing_tools import delegation_to, tools_of
from utils.messages.results import Article, Articles, dump_result


@pytest.fixture(scope="module")
def models():
    chat = routing.model()
    return {name: chat.bind_tools(tools_of(name)) for name in ("supervisor", "github", "rag")}


def _calls(model, said):
    return [(call["name"], call["args"]) for call in model.invoke([HumanMessage(said)]).tool_calls]


@pytest.mark.parametrize(
    ("agent", "said"),
    [
        ("rag", "and how do I test it?"),
        ("rag", "Can I run two supervisors behind a load balancer? A plain yes or no and the reason."),
        (
            "github",
            "I am looking for the oldest open issue in acme/rocket, which nobody wants to touch. Who opened it and has anybody commented?",
        ),
        ("rag", "So what does the offline model do with a condition?"),
        ("rag", "Our company only allows Azure OpenAI. Which variables do I need?"),
        ("github", "We're triaging. For acme/rocket I'd like every issue that carries the bug label."),
        ("github", "The last CI run in acme/rocket was flaky, rerun the failed jobs for me"),
        ("github", "did the last ci run on acme/rocket fail, and if so in which job"),
        ("github", "Which workflow failed most recently in acme/rocket, and what was the error message?"),
        ("github", "Has anybody commented on issue 4 of acme/rocket? What did the last comment say?"),
        ("github", "Is there an open issue about docs in acme/rocket? And if not, list the closed ones."),
        (
            "rag",
            "Something else on that server already sits on 8000 (the canteen's menu, I believe). Can I move this to another number?",
        ),
        (
            "github",
            "I want to know who wrote the last change in acme/rocket, and when, because it broke then.",
        ),
        ("github", "As there is far too much in there, could you just remove acme/rocket altogether?"),
        ("rag", "Saw something that smells like a leak. Who do I write to?"),
    ],
)
def test_a_message_for_one_agent_reaches_it_whole(models, agent, said):
    assert _calls(models["supervisor"], said) == [(agent, {"request": said})]


def test_a_thing_that_is_wanted_before_a_question_is_no_background_of_it(models):
    said = "A pizza please. How do I back up this service?"
    assert _calls(models["supervisor"], said) == [("rag", {"request": "How do I back up this service?"})]


TICKETS = delegation_to(
    "tickets", "Reads and closes tickets of the help desk.", ["List the open tickets", "Show ticket 7"]
)


@pytest.mark.parametrize("said", ["List the open tickets", "list the open tickets please", "Show ticket 12"])
def test_what_an_added_agent_is_there_for_goes_to_it_although_github_has_its_like(said):
    model = routing.model().bind_tools([*tools_of("supervisor"), TICKETS])
    assert _calls(model, said) == [("tickets", {"request": said})]


TRACKER = delegation_to(
    "tracker",
    "Reads tickets of our tracker and closes them.",
    ["List the tickets", "Which tickets are open?", "What is ticket 42 about?", "Close ticket 42"],
)


@pytest.mark.parametrize(
    "said", ["List the tickets", "Which tickets are open?", "What is ticket 99 about?", "Close ticket 42"]
)
@pytest.mark.parametrize("first", [True, False])
def test_an_added_agent_that_is_asked_with_questions_gets_them_and_its_changes_before_github(said, first):
    tools = tools_of("supervisor")
    model = routing.model().bind_tools([TRACKER, *tools] if first else [*tools, TRACKER])
    assert _calls(model, said) == [("tracker", {"request": said})]


@pytest.mark.parametrize(
    ("said", "agent"),
    [
        ("List the open issues of acme/rocket", "github"),
        ("Close issue 4 of acme/rocket", "github"),
        ("How do I back up my data?", "rag"),
    ],
)
def test_what_is_github_s_or_the_documents_stays_there_beside_an_agent_that_is_asked_with_questions(
    said, agent
):
    model = routing.model().bind_tools([TRACKER, *tools_of("supervisor")])
    assert _calls(model, said) == [(agent, {"request": said})]


BOARD = delegation_to(
    "board",
    "Answers from the entries of the board.",
    ["List the board entries", "What is open on the board?", "How many entries are there on the board?"],
)


@pytest.mark.parametrize(
    ("said", "agent"),
    [
        ("List the board entries", "board"),
        ("How do I add a sub-agent?", "rag"),
        ("Which ports are used?", "rag"),
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_a_question_that_documents_may_answer_goes_to_the_nearest_of_the_agents_that_answer_questions(
    said, agent, first
):
    tools = tools_of("supervisor")
    model = routing.model().bind_tools([BOARD, *tools] if first else [*tools, BOARD])
    assert _calls(model, said) == [(agent, {"request": said})]


def test_a_part_of_a_message_keeps_the_words_that_join_it(models):
    said = "First tell me which branches acme/rocket has, then how I switch on debug logs here"
    asked = _calls(models["supervisor"], said)
    assert asked == [
        ("github", {"request": "First tell me which branches acme/rocket has"}),
        ("rag", {"request": "how I switch on debug logs here"}),
    ]


def test_the_words_that_a_search_is_asked_for_are_searched_for_alone(models):
    said = "search the docs for retention of conversations"
    assert _calls(models["supervisor"], said) == [("rag", {"request": said})]
    assert _calls(models["rag"], said) == [("search", {"query": "retention of conversations"})]


def test_a_part_that_fills_more_than_a_screen_stands_below_the_short_ones(models):
    said = HumanMessage(
        "what are the open PRs of acme/rocket, and how do I change the log level of this service?"
    )
    called = models["supervisor"].invoke([said])
    rows = "\n".join(f"| {number} | Change |" for number in range(60))
    results = [
        ToolMessage({"github": rows, "rag": "Set LOG_LEVEL."}[call["name"]], tool_call_id=call["id"])
        for call in called.tool_calls
    ]
    answer = models["supervisor"].invoke([said, called, *results]).text
    assert answer.index("Set LOG_LEVEL.") < answer.index("| 0 | Change |")
    assert "| 59 | Change |" in answer


def test_the_items_of_a_numbered_list_are_parts_of_their_own(models):
    said = "1) which scopes does the token need 2) list the commits of acme/rocket 3) say how I see which agent did what"
    assert [name for name, _ in _calls(models["supervisor"], said)] == ["rag", "github", "rag"]


@pytest.mark.parametrize(
    ("said", "query"),
    [
        ("and how do I test it?", "How do I write an agent? and how do I test it?"),
        ("and on Kubernetes?", "How do I write an agent? and on Kubernetes?"),
        (
            "Right, and how do I make that shorter?",
            "How do I write an agent? Right, and how do I make that shorter?",
        ),
        ("And what about a Go agent?", "How do I write an agent? And what about a Go agent?"),
        ("in which language?", "How do I write an agent? in which language?"),
        ("how do I test an agent?", "how do I test an agent?"),
        ("what does it cost?", "what does it cost?"),
        ("and how do I change the log level?", "and how do I change the log level?"),
    ],
)
def test_a_question_that_goes_on_with_the_one_before_is_searched_for_with_it(models, said, query):
    assert _searched(models["rag"], "How do I write an agent?", said) == query


def _searched(rag, before, said):
    """What is searched for, after the question before was answered."""
    found = dump_result(
        Articles(articles=[Article(title="Guide", url="docs/guide.md", content="Text.", score=1.0)])
    )
    call = {"name": "search", "args": {"query": before}, "id": "1"}
    earlier = [
        HumanMessage(before),
        AIMessage("", tool_calls=[call]),
        ToolMessage(found, tool_call_id="1"),
        AIMessage("Text."),
    ]
    (asked,) = rag.invoke([*earlier, HumanMessage(said)]).tool_calls
    return asked["args"]["query"]


def test_there_is_what_the_question_before_asks_about(models):
    said, before = "where do I put its prompt there?", "How do I write an agent?"
    assert _searched(models["rag"], before, said) == f"{before} {said}"
    alone = "how do I see which pods are there?"
    assert _searched(models["rag"], before, alone) == alone


@pytest.mark.parametrize(
    ("said", "first"),
    [("and only for the agent, not the rest?", "logs"), ("and what does the agent log?", "agent")],
)
def test_words_that_only_limit_the_question_before_are_answered_with_it(models, said, first):
    logs, agent = (
        Article(title=title, url=f"docs/{name}.md", content=text, score=1.0)
        for name, title, text in (
            ("logs", "Turn on debug logging", "Set LOG_LEVEL for the service, or for one agent alone."),
            ("agent", "The agent", "What the agent logs, and the rest of it."),
        )
    )
    before = "How do I turn on debug logging?"
    call = {"name": "search", "args": {"query": before}, "id": "1"}
    found = dump_result(Articles(articles=[logs, agent]))
    said_so_far = [
        HumanMessage(before),
        AIMessage("", tool_calls=[call]),
        ToolMessage(found, tool_call_id="1"),
        AIMessage("Set LOG_LEVEL."),
        HumanMessage(said),
    ]
    reply = models["rag"].invoke(said_so_far)
    results = [ToolMessage(found, tool_call_id=each["id"]) for each in reply.tool_calls]
    answer = models["rag"].invoke([*said_so_far, reply, *results]).text
    assert f"docs/{first}.md" in answer.splitlines()[0]


def test_what_stands_before_a_question_counts_for_which_section_comes_first(models):
    openai, azure = (
        Article(
            title="Models",
            url=f"docs/models.md#{name}",
            metadata={"heading": f"Use {heading}"},
            content=f"Put these lines into .env for {heading}.",
            score=1.0,
        )
        for name, heading in (("openai", "OpenAI"), ("azure", "Azure"))
    )
    asked = HumanMessage("In my company we have Azure only. What lines to put in .env?")
    reply = models["rag"].invoke([asked])
    results = [
        ToolMessage(dump_result(Articles(articles=[openai, azure])), tool_call_id=call["id"])
        for call in reply.tool_calls
    ]
    answer = models["rag"].invoke([asked, reply, *results]).text
    assert answer.index("Use Azure") < answer.index("Use OpenAI")


@pytest.mark.parametrize("said", ["and at what time?", "on which day?", "why?"])
def test_a_part_of_a_sentence_is_asked_of_the_agent_that_was_asked_before(models, said):
    call = {"name": "rag", "args": {"request": "When is the phone of team Falcon handed over?"}, "id": "1"}
    earlier = [
        HumanMessage("When is the phone of team Falcon handed over?"),
        AIMessage("", tool_calls=[call]),
        ToolMessage("On Tuesdays at 09:30.", tool_call_id="1"),
        AIMessage("On Tuesdays at 09:30."),
    ]
    asked = models["supervisor"].invoke([*earlier, HumanMessage(said)]).tool_calls
    assert [(each["name"], each["args"]) for each in asked] == [("rag", {"request": said})]

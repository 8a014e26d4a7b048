"""What is read out of a sentence."""

from datetime import UTC, datetime

import pytest

from utils.llm.offline import entities
from utils.llm.offline.arguments import choice
from utils.llm.offline.clauses import split
from utils.llm.offline.dates import period
from utils.llm.offline.grammar import READERS
from utils.llm.offline.particulars import links_in_words
from utils.llm.offline.parts import parts
from utils.llm.offline.search_terms import search_terms
from utils.llm.offline.similarity import Similarity
from utils.llm.offline.smalltalk import Talk, small_talk, talk_of, without_prelude
from utils.llm.offline.words import spelled_out

NOW = datetime(2026, 3, 18, 12, tzinfo=UTC)  # a Wednesday


@pytest.mark.parametrize(
    "text, expected",
    [
        ("PRs of octocat/hello-world", ("octocat", "hello-world")),
        ("releases of vercel/next.js", ("vercel", "next.js")),
        ("show docs/context.md", None),
        ("read docs/index.md of acme/rocket", ("acme", "rocket")),
        ("is it a client/server and/or CI/CD thing", None),
        ("octocat/hello-world#12", ("octocat", "hello-world")),
        ("issues of acme/rocket.", ("acme", "rocket")),
    ],
)
def test_repositories(text, expected):
    assert entities.repository(text) == expected


@pytest.mark.parametrize(
    "address, written",
    [
        ("https://github.com/acme/rocket/pull/87", "pull request 87 of acme/rocket"),
        ("https://ghe.corp.io/acme/rocket/issues/3", "issue 3 of acme/rocket"),
        ("the repo hello-world of octocat", "the repo octocat/hello-world"),
        ("issues of hello-world by octocat", "issues of octocat/hello-world"),
        ("issues of octo-repo#3 (octo-org)", "issues of issue 3 of octo-org/octo-repo"),
        ("octocat's hello-world, issues", "octocat/hello-world, issues"),
        ("commits of acme/rocket by octocat", "commits of acme/rocket by octocat"),
        ("the sub-agents of ours and issues", "the sub-agents of ours and issues"),
        ("https://github.com/acme/rocket/actions/runs/77/job/1", "workflow run 77 of acme/rocket"),
        ("https://github.com/acme/rocket/blob/main/src/a.py", "file src/a.py of acme/rocket on branch main"),
        ("acme/rocket#3", "issue 3 of acme/rocket"),
        ("https://github.com/acme/rocket", "acme/rocket"),
        ("https://example.org/guide.html", "https://example.org/guide.html"),
    ],
)
def test_addresses_become_words(address, written):
    assert links_in_words(f"see {address} now") == f"see {written} now"


@pytest.mark.parametrize(
    "text, expected",
    [
        ("show #12", [12]),
        ("octocat/hello-world#12", [12]),
        ("pull request 7 and issue 8", [7, 8]),
        ("the last 5 commits", []),
        ("commits of the last 3 days since 2026-01-02", []),
        ("python 3.11", []),
        ("item 3 on my list, and port 8001, as in step 2", []),
        ("issues since January 2026", []),
        ("Quick. 1) the newest issue of a/b", []),
        ("2) pull request 7 and 8", [7, 8]),
        ("(see issue 5) of a/b", [5]),
    ],
)
def test_numbers_that_name_a_thing(text, expected):
    assert [number.value for number in entities.numbers(text)] == expected


@pytest.mark.parametrize(
    "text, expected",
    [
        ("pull requests from hubot in acme/rocket", "hubot"),
        ("mona's open issues", "mona"),
        ("has mona opened any issue", "mona"),
        ("issues sorted by comments", None),
        ("pull requests reviewed by hubot", None),
        ("issues assigned to @mona", None),
        ("closed by mistake", None),
        ("tickets from acme-org/rocket-pad", None),
        ("acme/rocket-pad's open issues", None),
        ("pull requests by acme-org/rocket-pad", None),
        ("who is the author of it", None),
    ],
)
def test_an_author_is_read_only_where_a_person_is_named_as_one(text, expected):
    assert entities.person(text) == expected


@pytest.mark.parametrize(
    "text", ["unassigned issues", "issues without an assignee", "which nobody is working on"]
)
def test_what_nobody_has_to_do_is_asked_for_as_github_says_it(text):
    assert entities.assignee(text) == "none"


def test_a_file_without_an_ending_is_read_in_any_case():
    assert entities.path("show me the readme of acme/rocket") == "readme"


def test_counts_branches_people_labels_and_folders():
    assert entities.limit("the last 5 commits") == 5
    assert entities.limit("top 3 open PRs") == 3
    assert entities.limit("die letzten drei Commits") == 3
    assert entities.limit("las cinco últimas incidencias") == 5
    assert entities.limit("pull request 5") is None
    assert entities.limit("3 open PRs of acme/rocket") == 3
    assert entities.limit("which of the two has more branches") is None
    assert entities.limit("issues with more than 5 comments") is None
    assert READERS["branch"].read("commits on main") == "main"
    assert READERS["branch"].read("what changed on branch release-2?") == "release-2"
    assert READERS["branch"].read("issues of acme/rocket") is None
    assert entities.person("commits by mona in acme/rocket") == "mona"
    assert entities.assignee("issues assigned to @mona") == "mona"
    assert entities.labels("issues labelled bug and with the good-first label") == ["bug", "good-first"]
    assert READERS["folder"].read("list the folder src of acme/rocket") == "src"
    assert entities.owner("what repos does microsoft own?") == "microsoft"


@pytest.mark.parametrize(
    "text, since",
    [
        ("since 2026-01-15", "2026-01-15"),
        ("since last week", "2026-03-11"),
        ("in the last 3 days", "2026-03-15"),
        ("yesterday", "2026-03-17"),
        ("this month", "2026-03-01"),
        ("since Monday", "2026-03-16"),
        ("since October", "2025-10-01"),
        ("two weeks ago", "2026-03-04"),
        ("during the last seven days", "2026-03-11"),
        ("since the beginning of 2024", "2024-01-01"),
        ("in 2024", "2024-01-01"),
        ("after 2024", "2025-01-01"),
    ],
)
def test_dates_count_from_the_given_clock(text, since):
    found = period(text, NOW).since
    assert found is not None
    assert found.date().isoformat() == since


@pytest.mark.parametrize(
    "text, since, until",
    [
        ("in October", "2025-10-01", "2025-10-31"),
        ("between 2026-01-05 and 2026-01-31", "2026-01-05", "2026-01-31"),
        ("from January to February", "2026-01-01", "2026-02-28"),
        ("yesterday", "2026-03-17", "2026-03-17"),
        ("last month", "2026-02-01", "2026-02-28"),
        ("on Monday", "2026-03-16", "2026-03-16"),
        ("before March", None, "2026-03-01"),
        ("open for more than two weeks", None, "2026-03-04"),
        ("30 days old or older", None, "2026-02-16"),
        ("in the last month", "2026-02-16", None),
        ("from 2024 on", "2024-01-01", None),
        ("in the first week of March", None, None),
    ],
)
def test_a_time_begins_and_ends_where_the_words_say(text, since, until):
    found = period(text, NOW)
    assert tuple(each and each.date().isoformat() for each in found) == (since, until)


def test_no_date_is_no_date_and_nonsense_is_not_one():
    assert period("the label bug, I want to hand them out on Monday", NOW) == (None, None)
    assert period("I want to see what was closed on Monday", NOW).since is not None
    assert period("the last 5 commits", NOW) == (None, None)
    assert period("since 2026-13-45", NOW).since is None
    assert str(period("between 2026-01-01 and before 2026-02-01", NOW).until)[:10] == "2026-02-01"


def test_a_state_is_one_of_the_allowed_values():
    states = ("open", "closed", "all")
    assert choice("which were merged?", states) == "closed"
    assert choice("all open issues", states) == "open"
    assert choice("all issues", states) == "all"
    assert choice("open and closed issues", states) == "all"
    assert choice("bugs, regardless of whether they are closed by now", states) == "all"
    assert choice("bugs of either kind, closed or not", states) == "all"
    assert choice("no matter what it costs, show the closed issues", states) == "closed"
    assert choice("did anybody resolve or close an issue", states) == "closed"
    assert choice("issues that we could close", states) is None
    assert choice("the issues", states) is None


@pytest.mark.parametrize(
    "request_text, cut",
    [
        ("How do I add a sub-agent?", ["How do I add a sub-agent?"]),
        (
            "How do I add an agent, and list the PRs of a/b?",
            ["How do I add an agent", "list the PRs of a/b?"],
        ),
        ("What is a lease? And how do I run the tests?", ["What is a lease?", "how do I run the tests?"]),
        ("Explain how it works and why it fails", ["Explain how it works", "why it fails"]),
        (
            "any runs? if so, list them, otherwise show the releases",
            ["any runs?", "if so", "list them", "otherwise show the releases"],
        ),
        ('search for "and show me" in a/b', ['search for "and show me" in a/b']),
        ("list bugs and fix them", ["list bugs and fix them"]),
        ("PRs of a/b? And while you're at it, which port is it?", ["PRs of a/b?", "which port is it?"]),
        ("open PRs of a/b, and who opened each?", ["open PRs of a/b", "who opened each?"]),
        (
            "issues of a/b that have no label and are still open",
            ["issues of a/b that have no label and are still open"],
        ),
        ("PRs of a/b that failed and are not merged", ["PRs of a/b that failed and are not merged"]),
        ("PRs of a/b and are there issues?", ["PRs of a/b", "are there issues?"]),
        ("issue 5 of a/b incl. what was said", ["issue 5 of a/b incl. what was said"]),
        ("What does it cost, i.e. what is on the bill?", ["What does it cost, i.e. what is on the bill?"]),
    ],
)
def test_a_request_is_cut_where_it_asks_for_something_else(request_text, cut):
    assert [clause.text for clause in split(request_text)] == cut


@pytest.mark.parametrize(
    ("said", "whole"),
    [
        ("who reviewed PR 5 of a/b and did anybody object", True),
        ("open PRs of a/b, and who opened each?", True),
        ("Did the last run of a/b pass? If it failed, tell me which job broke.", True),
        ("did CI pass on the newest PR of a/b, and if it did not, which check is to blame", True),
        ("Issues of a/b? Only the open ones.", True),
        ("The run of a/b is red. Show it.", True),
        ("open issues of a/b, and who opened the oldest one", False),
        ("Is there an open issue in a/b? And if not, list the closed ones.", False),
        ("Show the issues of a/b, and how do I deploy it?", False),
        ("Tell me what issue 1 of a/b says and close it", False),
    ],
)
def test_what_leans_on_the_part_before_it_is_one_part_with_it(said, whole):
    found = parts(split(said), said)
    assert len(found) == (1 if whole else 2)
    assert (found[0].start, found[-1].end) == (0, len(said))


def test_two_nouns_under_one_verb_are_two_requests():
    clauses = split("list the open issues and the commits of a/b", ["issues", "commits"])
    assert [clause.text for clause in clauses] == ["list the open issues", "list the commits of a/b"]


def test_pasted_material_stays_whole():
    text = "Explain this. " * 60
    assert len(split(text)) == 1


def test_search_terms_leave_the_command_out_but_keep_a_question():
    assert search_terms("search the docs for lease expiry", keep_question=True) == "lease expiry"
    assert search_terms("How do leases expire?", keep_question=True) == "How do leases expire?"
    for_good = "look up how one deletes a conversation for good"
    assert search_terms(for_good, keep_question=True) == for_good
    assert search_terms("find usages of retry in a/b", keep_question=False) == "retry"
    assert search_terms("where is load defined in a/b?", keep_question=False) == "load"


@pytest.mark.parametrize(
    "said",
    [
        "great, list the issues, thanks",
        "my rag agent is down, thanks",
        "the pods crash all the time. cheers",
        "Docker compose for two replicas, thanks",
        "it still does not work, thanks",
    ],
)
def test_thanks_behind_a_request_or_a_complaint_are_no_small_talk(said):
    assert talk_of(said, Similarity(None)) is None


def test_small_talk_is_the_whole_message_or_none():
    assert small_talk("Hi there!") is Talk.GREETING
    assert small_talk("great, thank you") is Talk.THANKS
    assert small_talk("what are you able to do?") is Talk.HELP
    assert small_talk("so what are you able to do, in a nutshell?") is Talk.HELP
    assert small_talk("roughly, which ports are open?") is None
    assert small_talk("so what can you actualy do for me?") is Talk.HELP
    assert small_talk("ok fine, thanks, that was quicker than our wiki") is Talk.THANKS
    assert small_talk("thanks mate, that saved my afternoon :)") is Talk.THANKS
    assert small_talk("thanks, that works. what about the closed ones") is None
    assert small_talk("you're great, thanks a bunch!!") is Talk.THANKS
    assert small_talk("nope, that's all") is Talk.THANKS
    assert small_talk("good evening :) what sort of things could I ask you?") is Talk.HELP
    assert small_talk("morning! first day here, what are you good for?") is Talk.HELP
    assert small_talk("you a bot or is somebody from the platform team typing here?") is Talk.HELP
    assert small_talk("great, that did the trick. I'm off to bed") is Talk.BYE
    assert small_talk("perfect that did it, cheers, have a good weekend") is Talk.BYE
    assert small_talk("perfect that did it but how do I stop it") is None
    assert small_talk("have a look at the logs") is None
    assert small_talk("first time here, how do I start?") is None
    assert small_talk("hello world example") is None
    assert small_talk("what do you do with my data?") is None
    assert small_talk("who are you calling?") is None
    assert small_talk("hi, what do you do when an agent dies?") is None
    assert without_prelude("thanks! now list the issues") == "now list the issues"


def test_a_slip_of_one_letter_in_a_word_of_the_trade_is_understood_and_other_words_stay():
    assert spelled_out("the latest isue and pull reqeust") == "the latest issue and pull request"
    said = "a preview of the tissue that the committee requested in acme/isue"
    assert spelled_out(said) == said

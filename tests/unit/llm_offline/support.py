"""An agent over the embedded model with tools that return real shapes."""

from datetime import UTC, datetime
from typing import Any, Literal

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.tools import StructuredTool

from utils.llm.embedded import EmbeddedChatModel
from utils.messages.results import Article, Articles, Items, Record, dump_result

NOW = datetime(2026, 3, 18, 12, tzinfo=UTC)
PULLS = [
    {"number": n, "title": f"Change {n}", "author": "mona", "url": f"https://x/o/r/pull/{n}"} for n in (7, 9)
]
RUNS = [
    {"run_id": 300, "name": "ci", "conclusion": "success"},
    {"run_id": 200, "name": "ci", "conclusion": "failure"},
]
GUIDE = Article(
    title="Add an agent",
    url="docs/add-an-agent.md",
    score=1.0,
    metadata={"heading": "In three steps"},
    content=(
        "A new agent is a folder with a card, tools and a prompt. To add one:\n\n1. Run the generator.\n"
        "2. Write its tools.\n\n```bash\nmake new-agent NAME=jira\n```"
    ),
)
BACKUP = Article(
    title="Operations", url="docs/operations.md", score=0.2, content="Back up the SQLite files every night."
)


class Desk:
    """Tools with a record of what they were asked."""

    def __init__(self, articles=(GUIDE, BACKUP)):
        self.asked = []
        self.articles = list(articles)

    def list_pull_requests(
        self, owner: str, repo: str, state: Literal["open", "closed", "all"] = "open"
    ) -> str:
        """List the pull requests of a repository."""
        self.asked.append(("list_pull_requests", owner, repo, state))
        return dump_result(Items(kind="pull requests", items=PULLS, total=60, note="2 of 60 are shown."))

    def get_pull_request(self, owner: str, repo: str, number: int) -> str:
        """Show one pull request."""
        self.asked.append(("get_pull_request", owner, repo, number))
        return dump_result(Record(kind="pull request", item={"number": number, "title": f"Change {number}"}))

    def list_workflow_runs(self, owner: str, repo: str) -> str:
        """List the workflow runs of a repository."""
        self.asked.append(("list_workflow_runs", owner, repo))
        return dump_result(Items(kind="workflow runs", items=RUNS))

    def get_job_logs(self, owner: str, repo: str, run_id: int) -> str:
        """Show the log of a workflow run."""
        self.asked.append(("get_job_logs", owner, repo, run_id))
        return dump_result(Record(kind="job log", item={"run_id": run_id, "log": "ok\nAssertionError"}))

    def search(self, query: str) -> str:
        """Search the documents."""
        self.asked.append(("search", query))
        return dump_result(Articles(articles=self.articles))

    def tools(self):
        examples = {
            "list_pull_requests": ["List the open pull requests of octocat/hello-world"],
            "get_pull_request": ["Show pull request 12 of octocat/hello-world"],
            "list_workflow_runs": ["List the workflow runs of octocat/hello-world"],
            "get_job_logs": ["Why did workflow run 9876 of octocat/hello-world fail?"],
            "search": ["How do I add a new sub-agent?", "What is a lease?"],
        }
        return [
            StructuredTool.from_function(getattr(self, name), name=name, metadata={"examples": told})
            for name, told in examples.items()
        ]

    def agent(self, embedder=None):
        return create_agent(EmbeddedChatModel(embedder, now=lambda: NOW), self.tools())


def ask(agent, *requests):
    """The conversation after some requests."""
    state: dict[str, Any] = {"messages": []}
    for request in requests:
        state = agent.invoke({"messages": [*state["messages"], HumanMessage(request)]})
    return state["messages"]

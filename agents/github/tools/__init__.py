"""The tools of the GitHub agent. All of them only read.

A new one is a `ToolSpec` in a module of its own, listed in `SPECS`, with a call in `tests/contract/github/test_requests.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agents.github.client import GitHubClient
from agents.github.tools.branches import LIST_BRANCHES, LIST_TAGS
from agents.github.tools.code import SEARCH_CODE
from agents.github.tools.commits import GET_COMMIT, GET_COMPARISON, LIST_COMMITS
from agents.github.tools.files import GET_FILE, LIST_DIRECTORY
from agents.github.tools.issues import GET_ISSUE, LIST_ISSUES
from agents.github.tools.logs import GET_JOB_LOGS
from agents.github.tools.pulls import GET_PULL_REQUEST, LIST_PULL_REQUESTS
from agents.github.tools.releases import LIST_RELEASES
from agents.github.tools.repositories import GET_REPOSITORY, LIST_REPOSITORIES, SEARCH_REPOSITORIES
from agents.github.tools.spec import ToolSpec
from agents.github.tools.workflows import GET_WORKFLOW_RUN, LIST_WORKFLOW_RUNS

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

SPECS: tuple[ToolSpec[Any], ...] = (
    SEARCH_REPOSITORIES,
    LIST_REPOSITORIES,
    GET_REPOSITORY,
    LIST_PULL_REQUESTS,
    GET_PULL_REQUEST,
    LIST_ISSUES,
    GET_ISSUE,
    LIST_COMMITS,
    GET_COMMIT,
    GET_COMPARISON,
    LIST_BRANCHES,
    LIST_TAGS,
    GET_FILE,
    LIST_DIRECTORY,
    SEARCH_CODE,
    LIST_RELEASES,
    LIST_WORKFLOW_RUNS,
    GET_WORKFLOW_RUN,
    GET_JOB_LOGS,
)


def build_tools(github: GitHubClient) -> list[BaseTool]:
    """Every tool, reading from `github`."""
    return [spec.bind(github) for spec in SPECS]

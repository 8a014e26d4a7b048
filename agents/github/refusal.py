"""The tool for changes that the agent cannot make: refuses them and says what is possible instead."""

from __future__ import annotations

from pydantic import BaseModel

from agents.github.client import GitHubClient
from agents.github.tools.spec import ToolSpec
from utils.errors import ChangeRefused
from utils.messages.results import Result

_READ_ONLY = (
    "I can only read GitHub, so nothing was changed. GITHUB_WRITE=true lets me comment on issues and pull requests, "
    "open issues and re-run workflows, each after your yes. It does not let me merge, close, label, assign or delete anything."
)
_OTHER = (
    "I cannot make this change, so nothing was changed on GitHub. I can comment on issues and pull requests, open issues "
    "and re-run workflows, but not merge, close, label, assign or delete anything."
)
_WITH_WRITE = (
    'Comment "Thank you" on issue 5 of octo-org/octo-repo',
    'Write "Done" under pull request 7 of octocat/hello-world',
    "Reply to issue 3 of octocat/hello-world",
    "Post a comment on pull request 12 of octo-org/octo-repo",
    'Open an issue in octocat/hello-world titled "Disk full"',
    "Create an issue in octo-org/octo-repo: disk full",
    'File a bug "Wrong colour" in octocat/hello-world',
    'Report "Broken link" as a new issue of octo-org/octo-repo',
    "Raise a ticket in octocat/hello-world",
    "Re-run the failed jobs of the last workflow run of octocat/hello-world",
    "Retry workflow run 30433642 of octocat/hello-world",
    "Restart the build of octo-org/octo-repo",
    "Start the workflow run 29679449 of octo-org/octo-repo again",
    "Trigger the workflow of octocat/hello-world",
    "Run the tests of octocat/hello-world again",
)
_NEVER = (
    "Close issue 5 of octocat/hello-world",
    "Reopen issue 5 of octocat/hello-world",
    "Merge pull request 2 of octo-org/octo-repo",
    "Approve pull request 7 of octocat/hello-world",
    "Dismiss the review of pull request 7 in octocat/hello-world",
    "Revert commit 7fd1a60 of octocat/hello-world",
    "Delete the branch old-feature of octo-org/octo-repo",
    "Remove the label bug from issue 5 of octocat/hello-world",
    "Add the label bug to issue 5 of octocat/hello-world",
    "Label issue 5 of octocat/hello-world as a bug",
    "Assign issue 5 of octocat/hello-world to mona",
    "Unassign mona from issue 5 of octocat/hello-world",
    "Request a review of pull request 7 in octo-org/octo-repo",
    "Open a pull request from feature to main in octocat/hello-world",
    "Create a branch in octo-org/octo-repo",
    "Create a release of octocat/hello-world",
    "Publish version 2.0 of octo-org/octo-repo",
    "Rename the repository octocat/hello-world",
    "Edit README.md of octocat/hello-world",
    "Update the description of octo-org/octo-repo",
    "Change the title of issue 5 of octocat/hello-world",
    "Push a commit to main of octo-org/octo-repo",
    "Cancel workflow run 29679449 of octocat/hello-world",
    "Lock issue 5 of octocat/hello-world",
    "Unlock issue 5 of octocat/hello-world",
    "Pin issue 5 of octocat/hello-world",
    "Mark pull request 7 of octo-org/octo-repo as ready",
    "Set the milestone of issue 5 in octocat/hello-world",
    "Move issue 5 of octocat/hello-world to octo-org/octo-repo",
    "Archive the repository octo-org/octo-repo",
    "Transfer octocat/hello-world to octo-org",
    "Fork octocat/hello-world",
    "Star octo-org/octo-repo",
    "Invite mona to octo-org/octo-repo",
)


class NoArguments(BaseModel):
    """No arguments: the answer is the same for every change."""


REFUSAL = "refuse_change"


def refusal(*, write: bool) -> ToolSpec[NoArguments]:
    """The tool for every change that the agent does not make.

    Args:
        write: Whether the tools of `GITHUB_WRITE` exist, so that only other changes are refused.
    """
    sentence = _OTHER if write else _READ_ONLY

    async def refuse(_github: GitHubClient, _args: NoArguments) -> Result:
        raise ChangeRefused(sentence)

    return ToolSpec(
        name=REFUSAL,
        description="For a change that no other tool makes: says that it is not made.",
        arguments=NoArguments,
        run=refuse,
        examples=_NEVER if write else (*_WITH_WRITE, *_NEVER),
        changes=True,
    )

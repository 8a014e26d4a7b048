"""The tool by which users take back what they have authorised."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from agents.github.refusal import NoArguments
from utils.messages.repeatable import CHANGES, REPEATABLE
from utils.messages.results import Record

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

    from agents.github.authorisation.sign_in import SignIns

FORGET = "forget_authorisation"
_GONE = (
    "The authorisation is deleted here. To end it at GitHub too, revoke the application under "
    "Settings, Applications, Authorized OAuth Apps."
)
_NONE = "No authorisation of yours is stored here."
EXAMPLES = (
    "Sign me out of GitHub",
    "Forget my GitHub authorisation",
    "Delete the GitHub token that you have of me",
    "Revoke my authorisation for GitHub",
    "Log me out at GitHub",
)
DESCRIPTION = "Delete the authorisation that the user has given for changes on GitHub in their own name."


def forget_tool(sign_ins: SignIns, owner_of: Callable[[Any], str]) -> BaseTool:
    """The LangChain tool.

    Args:
        sign_ins: The authorisations.
        owner_of: The key of the user who asks, from the tool's runtime.
    """
    from langgraph.runtime import get_runtime

    from utils.a2a_common.graph.tools.plain_tool import PlainTool

    async def call() -> Record:
        owner = owner_of(get_runtime())  # LangChain hands no runtime to a tool without arguments
        gone = bool(owner) and await sign_ins.forget(owner)
        item = {"what": "your authorisation at GitHub", "state": "deleted" if gone else "not there"}
        return Record(kind="authorisation", item=item, note=_GONE if gone else _NONE)

    return PlainTool.from_function(
        coroutine=call,
        name=FORGET,
        description=DESCRIPTION,
        args_schema=NoArguments,
        metadata={"examples": list(EXAMPLES), CHANGES: True, REPEATABLE: True},
    )

"""The page docs/error-codes.md: each class of an error that has a code, by what failed, and the codes that have none."""
# ruff: noqa: INP001 - a folder of documents with scripts in it is no package

from __future__ import annotations

from collections.abc import Iterable, Mapping

from multi_agents.cli import errors as of_commands
from multi_agents.platform_engineer.leaving import REFUSED
from utils import errors
from utils.a2a_common.client.transport import delegation_failures, interfaces
from utils.a2a_common.client.transport import errors as peer_errors
from utils.a2a_common.execution import publishable
from utils.a2a_common.graph.own import state_conflict
from utils.a2a_common.protocol import storage_low
from utils.a2a_common.protocol.delegation_chain import LOOP
from utils.encryption import errors as encryption_errors

Kind = type[errors.PlatformError]

INTRODUCTION = """\
# Error codes

<!-- Made from the classes of the errors: run `python -m docs.make_configuration` after a change there. -->

Every error is a code, a sentence and a trace id; programs compare the code. The tables below list the codes by what failed. *Later* says
whether the same request may succeed later without a change. What to do about an error is in [troubleshooting](troubleshooting.md). A foreign
agent may fail with codes of its own; the supervisor passes them on.
"""
MODEL = "Which error codes does a language model cause?"
TOOL = "Which error codes does a tool or the document index cause?"
AGENT = "Which error codes does a sub-agent cause?"
STORAGE = "Which error codes does the storage cause?"
BUSY = "Which error codes does an agent send that is busy or restarts?"
TASK = "Which other error codes can a task have?"
COMMAND = "Which error codes do the commands and other clients have?"

GROUPS: Mapping[str, tuple[Kind, ...]] = {
    BUSY: (errors.RetryLater, errors.TaskBusy, errors.TurnInterrupted),
    STORAGE: (errors.StorageError, storage_low.StorageLow),
    MODEL: (errors.ModelFailure, errors.ContextBudgetExceeded),
    AGENT: (errors.DelegationFailed, errors.ProtocolViolation, peer_errors.AgentBusy),
    COMMAND: (of_commands.CliError, peer_errors.PeerError),
    TOOL: (
        errors.UpstreamUnavailable,
        errors.UpstreamRefused,
        errors.ArgumentsRefused,
        errors.ChangeRefused,
        errors.ToolTimeout,
        errors.OutcomeUnknown,
        errors.RetrievalFailed,
        errors.IngestFailed,
        publishable.EventRefused,
    ),
    TASK: (errors.PlatformError,),
}
"""The classes of each section. The first section that has a class, or a base of it, takes it; StorageLow is asked for before RetryLater."""

ORDER = (MODEL, TOOL, AGENT, STORAGE, BUSY, TASK, COMMAND)

WRITTEN: Mapping[str, Mapping[str, tuple[str, bool]]] = {
    AGENT: {
        LOOP: (
            "The supervisor did not call a sub-agent, since the request would go round in circles.",
            False,
        ),
        REFUSED: (
            "A foreign agent was not asked: the user did not agree to the request, or it is too long to be shown.",
            False,
        ),
    },
    COMMAND: {
        peer_errors.RequestRefused.code: (
            "The agent refused the request, or its answer does not follow the protocol.",
            False,
        ),
    },
    TASK: {
        errors.INTERNAL: ("An unexpected failure; the log has the details.", False),
        "left_out": (
            "The answer is not complete: a file or data in it could not be sent. The task is completed.",
            False,
        ),
        "output_not_accepted": (
            "The answer is of a type that is not among the output modes that the client accepts.",
            False,
        ),
        "rejected": ("The agent does not accept the task; the sentence says why.", False),
    },
}
"""Codes that no class of an error has, or several classes for several reasons: what each means, and whether the same request may succeed later."""

MODULES = (
    errors,
    delegation_failures,
    encryption_errors,
    state_conflict,
    publishable,
    storage_low,
    peer_errors,
    interfaces,
    of_commands,
)


def error_codes() -> str:
    """The page."""
    rows = _rows()
    return INTRODUCTION + "".join(_section(title, rows[title]) for title in ORDER)


def _rows() -> Mapping[str, Mapping[str, tuple[str, bool]]]:
    """By section and code: the meaning, and whether to try again later."""
    found = {title: dict(WRITTEN.get(title, {})) for title in ORDER}
    for kind in _kinds():
        meaning = (kind.__doc__ or "").splitlines()[0]
        known = {code for title in ORDER if title != COMMAND for code in found[title]}
        title = _group(kind)
        if title != COMMAND or kind.code not in known:
            found[title].setdefault(kind.code, (meaning, kind.retryable))
    return found


def _kinds() -> Iterable[Kind]:
    """Every class of the modules that names a code of its own, in their order."""
    for module in MODULES:
        for kind in vars(module).values():
            if isinstance(kind, type) and issubclass(kind, errors.PlatformError) and "code" in vars(kind):
                yield from [kind] if kind.__module__ == module.__name__ else []


def _group(kind: Kind) -> str:
    by_depth = (
        (kind.mro().index(base), title)
        for title, bases in GROUPS.items()
        for base in bases
        if base in kind.mro()
    )
    return min(by_depth)[1]


def _section(title: str, rows: Mapping[str, tuple[str, bool]]) -> str:
    lines = ["", f"## {title}", "", "| code | means | later |", "|---|---|---|"]
    lines += [
        f"| `{code}` | {meaning} | {'yes' if later else 'no'} |" for code, (meaning, later) in rows.items()
    ]
    return "\n".join(lines) + "\n"

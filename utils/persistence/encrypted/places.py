"""The place of each encrypted value: its kind, its owner, and the key of its row. Pure.

Somebody with write access to the storage cannot show one user another user's data by copying a value or changing a key
beside it. These tuples are part of the stored format: changing one makes earlier values unreadable.
"""

from __future__ import annotations

from utils.encryption.codec import Place


def head(task_id: str, owner: str) -> Place:
    """The head of a task."""
    return "tasks.body", task_id, owner


def event(task_id: str, sequence: int) -> Place:
    """An event of a task, which is read only after its head."""
    return "task_events.body", task_id, str(sequence)


def run(task_id: str, owner: str, conversation: str) -> Place:
    """A turn that has not ended."""
    return "runs.body", task_id, owner, conversation


def outcome(task_id: str, step: str, call_id: str) -> Place:
    """The outcome of a tool call."""
    return "tool_calls.outcome", task_id, step, call_id


def delegation(column: str, delegation_id: str, thread_id: str, agent: str) -> Place:
    """A delegation's request, its agent's question, or its usage."""
    return f"delegations.{column}", delegation_id, thread_id, agent


def artifact(scope: str, handle: str) -> Place:
    """A text that was left out of model requests."""
    return "artifacts.text", scope, handle


def title(owner: str, context_id: str) -> Place:
    """The title of a conversation."""
    return "titles.title", owner, context_id


def memory(owner: str, kind: str, memory_id: str) -> Place:
    """A memory about a user."""
    return "memories.body", owner, kind, memory_id


def checkpoint(thread_id: str) -> Place:
    """Whatever LangGraph stores of a conversation: it serialises without telling for which row."""
    return "checkpoints", thread_id


def message(thread_id: str, digest: str) -> Place:
    """A message of a conversation."""
    return "conversation_messages.body", thread_id, digest


def webhook(owner: str, task_id: str, config_id: str) -> Place:
    """Where a task's events are sent."""
    return "push_configs.body", owner, task_id, config_id


def change(key: str, thread_id: str) -> Place:
    """The content of a change at GitHub."""
    return "changes.what", key, thread_id


def link(key: str) -> Place:
    """The target of a change. It is shown only beside the change itself."""
    return "changes.link", key

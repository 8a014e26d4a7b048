"""The rules, room by room."""

from __future__ import annotations

from tests.broken_rules.rules import Rule
from tests.broken_rules.table.addresses import ADDRESSES
from tests.broken_rules.table.bindings import BINDINGS
from tests.broken_rules.table.encryption import ENCRYPTION
from tests.broken_rules.table.events import EVENTS
from tests.broken_rules.table.failures import FAILURES
from tests.broken_rules.table.kept_up import KEPT_UP
from tests.broken_rules.table.later_failures import LATER_FAILURES
from tests.broken_rules.table.limits import LIMITS
from tests.broken_rules.table.memory import MEMORY
from tests.broken_rules.table.page import PAGE
from tests.broken_rules.table.parts import PARTS
from tests.broken_rules.table.promises import PROMISES
from tests.broken_rules.table.promises_context import PROMISES_CONTEXT
from tests.broken_rules.table.push import PUSH
from tests.broken_rules.table.reading import READING
from tests.broken_rules.table.resume import RESUME
from tests.broken_rules.table.sharing import SHARING
from tests.broken_rules.table.stream import STREAM
from tests.broken_rules.table.task_log import TASK_LOG
from tests.broken_rules.table.thresholds import THRESHOLDS
from tests.broken_rules.table.told import TOLD

RULES: tuple[Rule, ...] = (
    *EVENTS,
    *STREAM,
    *ADDRESSES,
    *BINDINGS,
    *LIMITS,
    *PARTS,
    *PUSH,
    *FAILURES,
    *SHARING,
    *LATER_FAILURES,
    *TASK_LOG,
    *TOLD,
    *RESUME,
    *PROMISES,
    *PROMISES_CONTEXT,
    *THRESHOLDS,
    *ENCRYPTION,
    *MEMORY,
    *READING,
    *KEPT_UP,
    *PAGE,
)

"""Lets the clients of boto in a process share what describes Amazon's services: each would parse 2 MB of JSON again.

It is boto's own loader, which a session shares among its clients too. Each session would look through 400 folders first.
"""

from __future__ import annotations

from functools import cache

from botocore import session

_create = cache(session.create_loader)


def share_descriptions() -> None:
    """Read each description once, in this process; its readers leave it as it is."""
    session.create_loader = _create

"""Places are shared among the callers that want one."""

from __future__ import annotations

import json

from utils.a2a_common.engine.load import ConversationLoad, Load
from utils.a2a_common.engine.local_queue import LocalQueue
from utils.a2a_common.engine.shares import FairShares, caller_of
from utils.persistence.runs import conversation_key


def key(user: str, context: str = "c", *, tenant: str = "") -> str:
    """The conversation of a user."""
    return conversation_key(json.dumps([tenant, user]), context)


def filled(places: int, *users: str, tenant: str = "") -> dict[str, int]:
    """How many places users have that ask in turn until none gets one."""
    shares, has = FairShares(places, fair=True), dict.fromkeys(users, 0)
    while asking := [user for user in users if shares.open_to(caller_of(key(user, tenant=tenant)))]:
        for user in asking:
            caller = caller_of(key(user, tenant=tenant))
            if shares.open_to(caller):
                shares.take(caller)
                has[user] += 1
    return has


def test_a_caller_alone_has_three_quarters_and_less_as_others_come() -> None:
    assert filled(64, "mallory") == {"mallory": 48}
    two = filled(64, "mallory", "eve")
    assert sum(two.values()) < 60
    assert abs(two["mallory"] - two["eve"]) <= 1
    assert sum(filled(64, *map(str, range(20))).values()) < 64


def test_every_agent_serves_somebody_however_few_places_it_has() -> None:
    assert filled(1, "ann") == {"ann": 1}
    assert filled(2, "ann") == {"ann": 1}
    assert filled(2, "ann", "bob") == {"ann": 1, "bob": 1}
    assert filled(4, "ann") == {"ann": 3}


def test_the_callers_of_one_tenant_leave_places_to_another() -> None:
    users = [str(number) for number in range(100)]
    shares = FairShares(64, fair=True)
    for user in users:
        caller = caller_of(key(user, tenant="crowd"))
        if shares.open_to(caller):
            shares.take(caller)
    assert shares.free == 8
    assert not shares.open_to(caller_of(key("one more", tenant="crowd")))
    assert shares.open_to(caller_of(key("ann", tenant="small")))
    assert sum(filled(64, *users).values()) == 64  # outside tenants nothing is kept for another


def test_names_with_quotes_and_separators_are_told_apart() -> None:
    odd = ('a"', 'a", "b', "a\\", "", "\x00")
    assert len({caller_of(key(user, tenant=tenant)) for user in odd for tenant in odd}) == len(odd) ** 2
    assert caller_of(key("ann", "c", tenant="t")) == caller_of(key("ann", 'd"', tenant="t"))
    assert caller_of("no key") == ("", "no key")


def test_who_holds_the_fewest_places_is_next_and_among_equals_who_came_first() -> None:
    queue = LocalQueue(3, 10, fair=True)
    queue.join("a1", key("ann", "1"))
    assert queue.begin_next() == ["a1"]
    for task_id, user in (("a2", "ann"), ("a3", "ann"), ("b1", "bob"), ("c1", "cid")):
        queue.join(task_id, key(user, task_id))
    assert queue.begin_next() == ["b1", "c1"]
    queue.remove("b1")
    assert queue.begin_next() == []  # the last place is for who has none
    queue.remove("c1")
    assert queue.begin_next() == ["a2"]


def test_a_line_full_of_one_callers_turns_takes_another_caller() -> None:
    queue = LocalQueue(4, 8, fair=True)
    count = 0
    while queue.has_room(key("mallory", str(count))):
        queue.join(f"m{count}", key("mallory", str(count)))
        queue.begin_next()
        count += 1
    assert (queue.running, queue.waiting) == (3, 6)
    assert queue.has_room(key("ann"))
    queue.join("a", key("ann"))
    assert queue.begin_next() == ["a"]
    assert queue.has_room(key("bob"))


def test_replicas_decide_in_the_same_way_over_all_their_turns() -> None:
    turns = [
        ConversationLoad(key("mallory", str(number)), number < 2, number >= 2, number) for number in range(5)
    ]
    turns.append(ConversationLoad(key("ann"), 0, 1, 9))
    assert Load(4, turns, fair=True).candidates() == [9, 2, 3, 4]
    assert Load(3, turns, fair=True).candidates() == [9]
    assert Load(4, turns).candidates() == [2, 3, 4, 9]
    assert Load(3, turns, key("mallory", "new"), fair=True).has_room(6)
    assert not Load(3, turns, key("mallory", "new"), fair=True).has_room(5)
    assert Load(3, turns, key("bob"), fair=True).has_room(4)

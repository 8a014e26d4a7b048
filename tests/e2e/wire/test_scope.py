"""Who sees which task, in which version, with which extensions."""

import base64
from typing import Any

import pytest
from starlette.authentication import AuthCredentials, AuthenticationBackend, SimpleUser
from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.requests import HTTPConnection

from tests.e2e.auth.own_middleware import Stamp
from tests.e2e.wire.agents import card, echo
from tests.e2e.wire.wiring import HEADERS, Wire, message, serving


class ByHeader(AuthenticationBackend):
    """Believes the user that basic credentials name; enough to tell callers apart."""

    async def authenticate(self, conn: HTTPConnection) -> tuple[AuthCredentials, SimpleUser] | None:
        header = conn.headers.get("authorization", "")
        if not header.startswith("Basic "):
            return None
        return AuthCredentials(["authenticated"]), SimpleUser(base64.b64decode(header[6:]).decode())


AUTH = (Middleware(AuthenticationMiddleware, backend=ByHeader()),)


def as_user(name: str) -> dict[str, str]:
    return {**HEADERS, "Authorization": "Basic " + base64.b64encode(name.encode()).decode()}


async def seen_by(wire: Wire, task_id: str, headers: dict[str, str], tenant: str = "") -> bool:
    params = {"id": task_id, "tenant": tenant}
    found = "result" in await wire.rpc("GetTask", params, headers)
    listed = (await wire.rpc("ListTasks", {"tenant": tenant}, headers))["result"]
    assert (task_id in [task["id"] for task in listed["tasks"]]) == found
    return found


async def test_a_user_sees_no_task_of_another():
    async with serving(echo, middleware=AUTH) as wire:
        task = await wire.send(headers=as_user("ann"))
        assert await seen_by(wire, task["id"], as_user("ann"))
        assert not await seen_by(wire, task["id"], as_user("bob"))
        assert not await seen_by(wire, task["id"], HEADERS)
        for method in ("CancelTask", "SubscribeToTask", "ListTaskPushNotificationConfigs"):
            params = {"id": task["id"], "taskId": task["id"]}
            refused = await wire.rpc(method, params, as_user("bob"))
            assert refused["error"]["code"] == -32001


async def test_a_tenant_sees_no_task_of_another():
    async with serving(echo) as wire:
        answer = await wire.rpc("SendMessage", {"message": message(), "tenant": "one"})
        task_id = answer["result"]["task"]["id"]
        assert await seen_by(wire, task_id, HEADERS, "one")
        assert not await seen_by(wire, task_id, HEADERS, "two")
        assert not await seen_by(wire, task_id, HEADERS)


async def test_a_user_whose_name_holds_a_separator_is_not_another_tenants_user():
    async with serving(echo, middleware=AUTH) as wire:
        answer = await wire.rpc("SendMessage", {"message": message(), "tenant": 'a", "b'}, as_user("c"))
        task_id = answer["result"]["task"]["id"]
        assert not await seen_by(wire, task_id, as_user('b", "c'), "a")


async def test_a_tenants_routes_work_under_rest():
    async with serving(echo) as wire:
        sent = await wire.http.post(
            f"{wire.url}/rest/one/message:send", json={"message": message()}, headers=HEADERS
        )
        task_id = sent.json()["task"]["id"]
        assert (
            await wire.http.get(f"{wire.url}/rest/one/tasks/{task_id}", headers=HEADERS)
        ).status_code == 200
        for path in (f"/rest/two/tasks/{task_id}", f"/rest/tasks/{task_id}"):
            answer = await wire.http.get(wire.url + path, headers=HEADERS)
            assert (answer.status_code, answer.json()["error"]["status"]) == (404, "NOT_FOUND")


@pytest.mark.parametrize("tenant", ["%00", "x" * 129])
async def test_a_tenant_in_a_query_that_can_be_none_is_refused(tenant):
    async with serving(echo) as wire:
        await wire.send()
        answer = await wire.http.get(f"{wire.url}/rest/tasks?tenant={tenant}", headers=HEADERS)
    assert answer.status_code == 400
    assert answer.json()["error"]["message"].startswith("tenant ")


async def test_a_tenant_in_a_query_or_a_body_is_the_one_of_the_path():
    async with serving(echo) as wire:
        await wire.send()
        body = {"message": message(), "tenant": "one"}
        sent = await wire.http.post(f"{wire.url}/rest/message:send", json=body, headers=HEADERS)
        for path in ("/rest/tasks?tenant=one", "/rest/one/tasks", "/rest/one/tasks?tenant=one"):
            listed = (await wire.http.get(wire.url + path, headers=HEADERS)).json()["tasks"]
            assert [task["id"] for task in listed] == [sent.json()["task"]["id"]], path
        two = await wire.http.get(f"{wire.url}/rest/one/tasks?tenant=two", headers=HEADERS)
    assert (two.status_code, two.json()["error"]["message"]) == (
        400,
        "The tenant is given twice with different values (path, body, metadata). Give it once.",
    )


async def _card(wire: Wire) -> dict[str, Any]:
    card: dict[str, Any] = (await wire.http.get(f"{wire.url}/.well-known/agent-card.json")).json()
    return card


async def test_the_extended_card_is_for_authenticated_callers():
    extended = card()
    extended.description = "Says what it hears, and more."
    async with serving(echo, middleware=AUTH, extended=extended) as wire:
        assert (await _card(wire))["capabilities"]["extendedAgentCard"] is True
        assert (await wire.rpc("GetExtendedAgentCard"))["error"]["code"] == -32007
        anonymous = await wire.http.get(f"{wire.url}/rest/extendedAgentCard", headers=HEADERS)
        assert anonymous.status_code == 401
        shown = (await wire.rpc("GetExtendedAgentCard", {}, as_user("ann")))["result"]
        assert shown["description"] == "Says what it hears, and more."


@pytest.mark.parametrize("has", ["nothing", "a card", "a card and a header", "callers"])
async def test_an_extended_card_is_announced_only_where_somebody_can_have_one(has):
    extended = card() if has.startswith("a card") else None
    middleware = {"callers": AUTH, "a card and a header": (Middleware(Stamp),)}.get(has, ())
    async with serving(echo, middleware=middleware, extended=extended) as wire:
        shown = await _card(wire)
        assert not shown["capabilities"].get("extendedAgentCard")
        assert not shown.get("supportsAuthenticatedExtendedCard")
        refused = await wire.rpc("GetExtendedAgentCard", {}, as_user("ann") if has == "callers" else HEADERS)
        assert refused["error"]["code"] == -32004
        rest = await wire.http.get(f"{wire.url}/rest/extendedAgentCard", headers=HEADERS)
        assert rest.status_code == 400
        assert rest.json()["error"]["details"][0]["reason"] == "UNSUPPORTED_OPERATION"
        body = {"jsonrpc": "2.0", "id": 1, "method": "agent/getAuthenticatedExtendedCard"}
        legacy = await wire.http.post(f"{wire.url}/", json=body, headers={"A2A-Version": "0.3"})
        assert legacy.json()["error"]["code"] in {-32004, -32007}


@pytest.mark.parametrize("version", ["1.1", "2.0", "9.9", "abc", "1", "0.2", "1.0-rc"])
async def test_another_version_is_refused(version):
    async with serving(echo) as wire:
        for headers, query in (({"A2A-Version": version}, ""), ({}, f"?A2A-Version={version}")):
            rest = await wire.http.get(f"{wire.url}/rest/tasks{query}", headers=headers)
            assert rest.status_code == 400
            body = {"jsonrpc": "2.0", "id": 1, "method": "ListTasks", "params": {}}
            rpc = await wire.http.post(f"{wire.url}/{query}", json=body, headers=headers)
            assert rpc.json()["error"]["code"] == -32009


async def test_the_version_may_be_a_query_parameter_and_carry_a_patch_number():
    async with serving(echo) as wire:
        for headers, query in (
            ({"A2A-Version": "1.0.1"}, ""),
            ({}, "?A2A-Version=1.0"),
            ({}, "?a2a-version=1.0.0"),
        ):
            answer = await wire.http.get(f"{wire.url}/rest/tasks{query}", headers=headers)
            assert answer.status_code == 200


async def test_a_request_without_version_is_one_of_0_3():
    async with serving(echo) as wire:
        assert (await wire.rpc("ListTasks", {}, {}))["error"]["code"] == -32009
        old = {"kind": "message", "messageId": "m", "role": "user", "parts": [{"kind": "text", "text": "hi"}]}
        answer = await wire.rpc("message/send", {"message": old}, {})
        assert answer["result"]["status"]["state"] == "completed"
        mixed = await wire.rpc("message/send", {"message": old}, HEADERS)
        assert mixed["error"]["code"] == -32009


async def test_a_required_extension_must_be_declared():
    uri = "urn:example:needed"
    async with serving(echo, shown=card(required=(uri,))) as wire:
        refused = await wire.send()
        assert refused["error"]["code"] == -32008
        assert uri in refused["error"]["message"]
        assert "status" in await wire.send(headers={**HEADERS, "A2A-Extensions": f"urn:other, {uri}"})


async def test_an_unknown_status_filter_is_refused_and_not_ignored():
    async with serving(echo) as wire:
        await wire.send()
        rest = await wire.http.get(f"{wire.url}/rest/tasks?status=FOO", headers=HEADERS)
        assert rest.status_code == 400
        assert (await wire.rpc("ListTasks", {"status": "FOO"}))["error"]["code"] == -32602
        for status, count in (("TASK_STATE_COMPLETED", 1), ("TASK_STATE_WORKING", 0)):
            listed = await wire.http.get(f"{wire.url}/rest/tasks?status={status}", headers=HEADERS)
            assert len(listed.json()["tasks"]) == count


async def test_list_tasks_pages_newest_first_and_filters_by_context():
    async with serving(echo) as wire:
        sent = [(await wire.send(contextId=f"c{index % 2}"))["id"] for index in range(7)]
        seen: list[str] = []
        token = ""
        while True:
            page = (await wire.rpc("ListTasks", {"pageSize": 3, "pageToken": token}))["result"]
            assert page["totalSize"] == 7
            assert all("artifacts" not in task for task in page["tasks"])
            seen += [task["id"] for task in page["tasks"]]
            token = page["nextPageToken"]
            if not token:
                break
        assert seen == sent[::-1]
        one = (await wire.rpc("ListTasks", {"contextId": "c1"}))["result"]
        assert [task["id"] for task in one["tasks"]] == [sent[5], sent[3], sent[1]]
        assert one["nextPageToken"] == ""


async def test_history_length_is_kept_to():
    async with serving(echo) as wire:
        task = await wire.send()
        for length, count in ((0, 0), (1, 1), (5, 1)):
            got = (await wire.rpc("GetTask", {"id": task["id"], "historyLength": length}))["result"]
            assert len(got.get("history", [])) == count
        assert (await wire.rpc("GetTask", {"id": task["id"], "historyLength": -1}))["error"]["code"] == -32602

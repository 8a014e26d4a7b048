"""Addresses: what a card says, and what a proxy must not see."""

from __future__ import annotations

from tests.broken_rules.rules import Rule, broken

_ADDRESSES = "tests/e2e/cli/test_addresses.py::"

ADDRESSES: tuple[Rule, ...] = (
    Rule(
        "public-url",
        "The card names the agent's PUBLIC_URL.",
        (
            broken(
                "the card names where the process listens",
                "utils/a2a_common/server/agent_app.py::made",
                "listening.public_url or http_url(listening.host, port, scheme)",
                "http_url(listening.host, port, scheme)",
                _ADDRESSES + "test_the_card_of_a_process_names_its_public_url",
            ),
            broken(
                "HTTP+JSON is said to stand at the root",
                "utils/a2a_common/server/card.py::_interfaces",
                "f'{base}/rest'",
                "f'{base}/'",
                _ADDRESSES + "test_the_card_of_a_process_names_its_public_url",
            ),
            broken(
                "the host of PUBLIC_URL is refused",
                "utils/a2a_common/server/http/address.py::AddressGuard.__init__",
                "[*LOOPBACK, *_public(public_url), *names]",
                "[*LOOPBACK, *names]",
                "tests/e2e/wire/test_guards.py::test_the_public_url_and_the_allowed_hosts_are_accepted",
            ),
        ),
    ),
    Rule(
        "doctor-loopback",
        "`doctor` refuses a loopback address on a card that is read from elsewhere.",
        (
            broken(
                "any address will do",
                "multi_agents/cli/peer/connection.py::read_card",
                "if problem:\n    raise ServiceUnreachable(problem)",
                "_ = problem",
                _ADDRESSES + "test_doctor_refuses_a_card_from_elsewhere_that_names_this_machine",
            ),
            broken(
                "only names are looked at, not numbers",
                "utils/net/loopback.py::is_loopback",
                "ip_address(host).is_loopback",
                "ip_address(host).is_unspecified",
                _ADDRESSES + "test_doctor_refuses_a_card_from_elsewhere_that_names_this_machine",
            ),
        ),
    ),
    Rule(
        "no-proxy",
        "Our own clients ignore HTTP_PROXY for this machine, and for agents by a name without a domain.",
        (
            broken(
                "agents on loopback are reached through the proxy, by the supervisor and by a chat",
                "utils/a2a_common/client/transport/connection.py::_past_proxies",
                "{'trust_env': False}",
                "{}",
                "tests/e2e/delegation/test_reaching.py::test_sub_agents_on_loopback_are_reached_past_a_proxy",
                _ADDRESSES + "test_a_chat_with_this_machine_goes_past_a_proxy",
            ),
            broken(
                "agents that compose and the chart name are reached through the proxy",
                "utils/a2a_common/client/transport/connection.py::_past_proxies",
                "is_without_domain(url)",
                "False",
                "tests/unit/client/test_proxies.py::test_an_agent_of_the_own_network_is_reached_past_a_proxy",
            ),
        ),
    ),
)

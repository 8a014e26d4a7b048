"""An address is public if IANA's registries say that everybody reaches it, whatever this version of Python knows."""

from __future__ import annotations

from ipaddress import ip_network

import pytest

from utils.net.special_addresses import ROWS, is_public

PUBLIC_ROWS = """
192.0.0.9/32 192.0.0.10/32 192.31.196.0/24 192.52.193.0/24 192.175.48.0/24
2001:1::1/128 2001:1::2/128 2001:1::3/128 2001:3::/32 2001:4:112::/48 2001:20::/28 2001:30::/28 2620:4f:8000::/48
"""
OTHER_ROWS = """
0.0.0.0/8 0.0.0.0/32 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.0.0/29 192.0.0.8/32
192.0.0.170/32 192.0.0.171/32 192.0.2.0/24 192.88.99.0/24 192.88.99.2/32 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24
203.0.113.0/24 240.0.0.0/4 255.255.255.255/32
::1/128 ::/128 64:ff9b:1::/48 100::/64 100:0:0:1::/64 2001::/23 2001::/32 2001:2::/48 2001:10::/28 2001:db8::/32 2002::/16
3fff::/20 5f00::/16 fc00::/7 fe80::/10
"""
EMBEDDING_ROWS = "::ffff:0:0/96 64:ff9b::/96"
BESIDES = "224.0.0.0/4 ff00::/8 fec0::/10 ::/96 ::ffff:0:0:0/96 4000::/3 168.63.129.16/32"
"""Not in the registries: multicast, what is no global unicast, and the address of a cloud's own services in its machines."""


def ends(rows: str) -> list[str]:
    """The first and the last address of each."""
    return [str(end) for row in rows.split() for end in (ip_network(row)[0], ip_network(row)[-1])]


def test_every_row_of_both_registries_is_known() -> None:
    rows = f"{PUBLIC_ROWS} {OTHER_ROWS} {EMBEDDING_ROWS}".split()
    assert set(ROWS) == {ip_network(row) for row in rows}


@pytest.mark.parametrize("address", ends(PUBLIC_ROWS))
def test_what_a_registry_says_is_reached_by_all_is_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("address", [*ends(OTHER_ROWS), *ends(BESIDES)])
def test_what_a_registry_does_not_say_is_reached_by_all_is_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address", ["192.0.0.192", "192.0.0.11", "2001:1::4", "2001:5::1", "fec0::1", "3fff::1"]
)
def test_what_lies_between_the_public_rows_is_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "93.184.216.34", "192.0.1.1", "2606:4700::1111", "2a00:1450::1"]
)
def test_any_other_address_is_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("form", ["::ffff:{}", "64:ff9b::{}"])
def test_an_ipv4_address_in_an_ipv6_one_counts_itself(form: str) -> None:
    inner = [*ends(OTHER_ROWS), "8.8.8.8", "192.0.0.9"]
    for address in (each for each in inner if "." in each):
        assert is_public(form.format(address)) == is_public(address)


@pytest.mark.parametrize("form", ["::{}", "::ffff:0:{}", "64:ff9b:1::{}", "fec0::{}", "fe80::5efe:{}"])
def test_other_forms_of_an_ipv4_address_in_an_ipv6_one_are_not_public(form: str) -> None:
    assert not is_public(form.format("8.8.8.8"))


@pytest.mark.parametrize("address", ["2002:808:808::1", "2001:0:808:808::1", "fe80::1%lo"])
def test_tunnels_and_addresses_with_a_zone_are_not_public(address: str) -> None:
    assert not is_public(address)

"""Which addresses are globally reachable, by IANA's two registries of special-purpose addresses.

Python's own `is_global` depends on the version of Python: 3.11 considers addresses public that are not, such as 192.0.0.192,
where a cloud provider serves the metadata of its machines.
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

_REACHED = """
192.0.0.9/32 192.0.0.10/32 192.31.196.0/24 192.52.193.0/24 192.175.48.0/24
64:ff9b::/96 2001:1::1/128 2001:1::2/128 2001:1::3/128 2001:3::/32 2001:4:112::/48 2001:20::/28 2001:30::/28 2620:4f:8000::/48
"""
"""The rows whose "Globally Reachable" is true."""
_NOT_REACHED = """
0.0.0.0/8 0.0.0.0/32 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.0.0/29 192.0.0.8/32
192.0.0.170/32 192.0.0.171/32 192.0.2.0/24 192.88.99.0/24 192.88.99.2/32 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24
203.0.113.0/24 240.0.0.0/4 255.255.255.255/32
::1/128 ::/128 ::ffff:0:0/96 64:ff9b:1::/48 100::/64 100:0:0:1::/64 2001::/23 2001::/32 2001:2::/48 2001:10::/28 2001:db8::/32
2002::/16 3fff::/20 5f00::/16 fc00::/7 fe80::/10
"""
"""All others: false, not applicable (tunnels), or a terminated row."""
# Both registries as of 2025-10-09, the day of the IPv6 one; its newest row is of 2025-04 (RFC 9780):
# https://www.iana.org/assignments/iana-ipv4-special-registry/
# https://www.iana.org/assignments/iana-ipv6-special-registry/

Block = IPv4Network | IPv6Network


def _blocks(text: str) -> list[Block]:
    return [ip_network(each) for each in text.split()]


ROWS: Mapping[Block, bool] = {
    **dict.fromkeys(_blocks(_REACHED), True),
    **dict.fromkeys(_blocks(_NOT_REACHED), False),
}
"""Each row of the registries, and whether its addresses are globally reachable. The most specific row of an address applies."""

_ORDERED = sorted(ROWS.items(), key=lambda row: row[0].prefixlen, reverse=True)

_NEVER = _blocks("224.0.0.0/4 168.63.129.16/32")
"""Multicast, and the virtual address of Azure's platform services, which is reachable in Azure only (learn.microsoft.com, "What is
IP address 168.63.129.16?")."""

_UNICAST = IPv6Network("2000::/3")
"""All that IANA allocates as global unicast (https://www.iana.org/assignments/ipv6-address-space/). Multicast, the deprecated
site-local addresses, and the forms of IPv4 addresses in ::/8 lie outside of it."""

_NAT64 = IPv6Network("64:ff9b::/96")


def is_public(address: str) -> bool:
    """Whether an IP address is globally reachable. An IPv6 address that embeds an IPv4 address is judged by the latter.

    Raises:
        ValueError: It is not an IP address.
    """
    bare, _, zone = address.partition("%")
    ip = ip_address(bare)
    if zone:
        return False
    embedded = _embedded(ip)
    if embedded is not None:
        return is_public(str(embedded))
    if any(ip in block for block in _NEVER):
        return False
    default = isinstance(ip, IPv4Address) or ip in _UNICAST
    return next((reached for block, reached in _ORDERED if ip in block), default)


def _embedded(ip: IPv4Address | IPv6Address) -> IPv4Address | None:
    """The IPv4 address in an IPv4-mapped or NAT64 address: this machine or the NAT64 gateway connects to that one."""
    if isinstance(ip, IPv4Address):
        return None
    return ip.ipv4_mapped or (IPv4Address(int(ip) & 0xFFFF_FFFF) if ip in _NAT64 else None)

"""What the host of an address is: digits, a name, this machine. Pure functions. Any thread."""

import ipaddress


def is_this_machine(host: str) -> bool:
    address = address_of(host)
    return address.is_loopback if address else host == "localhost"


def address_of(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """None for a name."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address

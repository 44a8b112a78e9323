"""Which proxy a host is reached by: the one that the system or the environment names. Any thread.

None for this machine, and for what NO_PROXY excepts: names with all below them, addresses, networks, or "*".
"""

import contextlib
import ipaddress
import re
import urllib.request
from urllib.parse import urlsplit


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


def proxy_for(url: str) -> str | None:
    """May wait for the name server."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    is_near = is_this_machine(host) or host.endswith(".localhost")
    if is_near or _is_excepted(host) or urllib.request.proxy_bypass(host):
        return None
    found = proxies()
    return found.get(parts.scheme) or found.get("all")


def proxies() -> dict[str, str]:
    """By scheme: those reached over plain http, as nearly all are."""
    found = {
        scheme: url if "://" in url else f"http://{url}"
        for scheme, url in urllib.request.getproxies().items()
        if scheme != "no"
    }
    return {scheme: url for scheme, url in found.items() if url.startswith("http://")}


def _is_excepted(host: str) -> bool:
    """Networks and names such as "*.example.org" are not known to `proxy_bypass`."""
    address = address_of(host)
    excepted = urllib.request.getproxies().get("no", "").lower()
    for entry in re.sub(r"[\[\]]", "", excepted).replace(",", " ").split():
        if address is None and entry.startswith("*.") and host.endswith(entry[1:]):
            return True
        with contextlib.suppress(ValueError, TypeError):  # a name; a network of the other kind of address
            if address and address in ipaddress.ip_network(entry, strict=False):
                return True
    return False

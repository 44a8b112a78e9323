"""Notices that a machine has vanished, which closes none of its connections. Any thread."""

import socket


def keep_alive(connection: socket.socket, silence_s: int, knock_every_s: int, num_knocks: int = 3) -> None:
    """After so much silence TCP knocks, and ends the connection if nobody has answered the last knock."""
    if connection.family not in (socket.AF_INET, socket.AF_INET6):
        return
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    options = {
        "TCP_KEEPIDLE": silence_s,
        "TCP_KEEPALIVE": silence_s,  # its name on macOS
        "TCP_KEEPINTVL": knock_every_s,
        "TCP_KEEPCNT": num_knocks,
        "TCP_USER_TIMEOUT": 1000 * (silence_s + num_knocks * knock_every_s),
    }
    for name, value in options.items():
        if hasattr(socket, name):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)

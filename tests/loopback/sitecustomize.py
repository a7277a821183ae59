"""Put on the path of a server under test: every connection that would leave this machine fails, and is written down."""

import os
import socket

_connect = socket.socket.connect
_lookup = socket.getaddrinfo
LOCAL = ("127.", "::1", "localhost", "0.0.0.0")


def _refuse(host: object) -> None:
    with open(os.environ["EXPLORER_OUTSIDE"], "a", encoding="utf-8") as file:
        file.write(f"{host}\n")
    raise OSError(f"the network is cut: {host}")


def connect(self: socket.socket, address: object) -> None:
    """Connect, unless it leads outside."""
    if self.family in (socket.AF_INET, socket.AF_INET6) and not str(address[0]).startswith(LOCAL):  # type: ignore[index]
        _refuse(address)
    return _connect(self, address)  # type: ignore[arg-type]


def getaddrinfo(host: object, *arguments: object, **options: object) -> object:
    """Look a name up, unless it is not this machine's."""
    if host is not None and not str(host).startswith(LOCAL) and host != socket.gethostname():
        _refuse(host)
    return _lookup(host, *arguments, **options)  # type: ignore[arg-type]


socket.socket.connect = connect  # type: ignore[method-assign, assignment]
socket.getaddrinfo = getaddrinfo  # type: ignore[assignment]

"""A relay in front of a server: its connections can be cut, lost without a word, and held without being passed on."""

from __future__ import annotations

import selectors
import socket
import struct
import threading
from pathlib import Path
from typing import Self

_RESET = struct.pack("ii", 1, 0)
_CHUNK = 65_536
_TURN_S = 0.02


class TcpRelay:
    """Relays a port of 127.0.0.1 to the UNIX socket of a server: `with TcpRelay(path) as relay:`."""

    def __init__(self, target: Path) -> None:
        self._target = str(target)
        self._lock = threading.Lock()
        self._selector = selectors.DefaultSelector()
        self._pairs: dict[socket.socket, socket.socket] = {}
        self._clients: set[socket.socket] = set()
        self._lost: list[socket.socket] = []
        self._listener: socket.socket | None = None
        self._is_held = self._is_over = False
        self.port = 0
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self.mend()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over = True
        self._thread.join()
        self.cut()
        for each in self._lost:
            each.close()

    def mend(self) -> None:
        """Take connections on the same port as before, and pass on what they send."""
        with self._lock:
            self._is_held = False
            if self._listener is None:
                self._listener = socket.create_server(("127.0.0.1", self.port), backlog=64)
                self.port = self._listener.getsockname()[1]
                self._selector.register(self._listener, selectors.EVENT_READ)

    def cut(self) -> None:
        """Reset all connections on both sides, and refuse new ones."""
        self.refuse()
        with self._lock:
            for each in list(self._pairs):
                self._drop(each)

    def refuse(self) -> None:
        """Refuse new connections."""
        with self._lock:
            if self._listener is not None:
                self._selector.unregister(self._listener)
                self._listener.close()
                self._listener = None

    def hold(self) -> None:
        """Take everything and pass nothing on, to either side: who waits sees an open connection without an answer."""
        with self._lock:
            self._is_held = True

    def lose_clients(self) -> None:
        """Reset the clients' side of all connections; the server is told nothing, as when a machine crashes."""
        with self._lock:
            for client in list(self._clients):
                server = self._pairs[client]
                self._forget(client)
                _reset(client)
                self._lost.append(server)

    def _run(self) -> None:
        while not self._is_over:
            for key, _ in self._selector.select(_TURN_S):
                with self._lock:
                    if self._is_held:
                        continue
                    if key.fileobj is self._listener:
                        self._accept(self._listener)
                    elif key.fileobj in self._pairs:
                        self._pass_on(key.fileobj)
            if self._is_held:
                threading.Event().wait(_TURN_S)

    def _accept(self, listener: socket.socket) -> None:
        client, _ = listener.accept()
        server = socket.socket(socket.AF_UNIX)
        try:
            server.connect(self._target)
        except OSError:
            _reset(client)
            return
        self._clients.add(client)
        for one, other in ((client, server), (server, client)):
            self._pairs[one] = other
            self._selector.register(one, selectors.EVENT_READ)

    def _pass_on(self, one: socket.socket) -> None:
        try:
            data = one.recv(_CHUNK)
            if data:
                self._pairs[one].sendall(data)
                return
        except OSError:
            pass
        self._drop(one)

    def _drop(self, one: socket.socket) -> None:
        other = self._pairs.get(one)
        if other is not None:
            self._forget(one)
            _reset(one)
            _reset(other)

    def _forget(self, one: socket.socket) -> None:
        for each in (one, self._pairs[one]):
            self._selector.unregister(each)
            self._clients.discard(each)
            del self._pairs[each]


def _reset(each: socket.socket) -> None:
    if each.family == socket.AF_INET:
        each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
    each.close()

"""Pages that try to lead a browser past the crawler's rules, and servers that record what reaches them.

The page's own host is `OWN`. Everything on `FORBIDDEN` is an address that no rule permits: a test refuses that host
by the deny list. Each page has an empty body and one script.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tests.support.loopback import Handler, Server, running

OWN, FORBIDDEN = "127.0.0.1", "127.0.0.9"
_PAGE = "<!doctype html><title>Trap</title><div id=root></div><script>{script}\n</script>"
_TELL = "const tell = (name) => fetch('/done/' + name);"

REACHING = {
    "fetch": "fetch('{trap}/fetch').catch(() => tell('fetch'));",
    "no-cors": "fetch('{trap}/no-cors', {{mode: 'no-cors'}}).catch(() => tell('no-cors'));",
    "keepalive": "fetch('{trap}/keepalive', {{keepalive: true, method: 'POST', body: 'x'}}).catch(() => tell('keepalive'));",
    "beacon": "navigator.sendBeacon('{trap}/beacon', 'x'); onpagehide = () => navigator.sendBeacon('{trap}/late', 'x');",
    "image": "new Image().src = '{trap}/image.png';",
    "stylesheet": "document.head.innerHTML += '<link rel=stylesheet href={trap}/style.css>';",
    "font": "new FontFace('f', 'url({trap}/font.woff2)').load().catch(() => tell('font'));",
    "media": "document.body.append(Object.assign(document.createElement('video'), {{src: '{trap}/video.mp4', preload: 'auto'}}));",
    "script": "document.body.append(Object.assign(document.createElement('script'), {{src: '{trap}/script.js'}}));",
    "module": "import('{trap}/module.js').catch(() => tell('module'));",
    "worker": (
        "new Worker(URL.createObjectURL(new Blob([`fetch('{trap}/worker').catch(() => 0);"
        " try {{ importScripts('{trap}/import.js') }} catch {{}}; new WebSocket('{ws}/worker')`])));"
    ),
    "shared worker": "new SharedWorker(URL.createObjectURL(new Blob([`fetch('{trap}/shared'); new WebSocket('{ws}/shared')`])));",
    "service worker": "navigator.serviceWorker?.register('/sw.js').catch(() => tell('sw'));",
    "websocket": "new WebSocket('{ws}/socket').onerror = () => tell('websocket');",
    "eventsource": "new EventSource('{trap}/events').onerror = () => tell('events');",
    "webtransport": "new WebTransport('https://{host}:{port}/wt').ready.catch(() => tell('webtransport'));",
    "webrtc": (
        "const peer = new RTCPeerConnection({{iceServers: [{{urls: ['stun:{host}:{udp}',"
        " 'turn:{host}:{udp}?transport=udp', 'turn:{host}:{port}?transport=tcp'], username: 'u', credential: 'c'}}]}});"
        "peer.createDataChannel('x'); peer.createOffer().then((offer) => peer.setLocalDescription(offer));"
    ),
    "iframe": "document.body.innerHTML += '<iframe src={trap}/frame.html></iframe><object data={trap}/object></object>';",
    "srcdoc": "document.body.innerHTML += `<iframe srcdoc=\"<script>fetch('{trap}/srcdoc')<\\/script>\"></iframe>`;",
    "sandboxed": "document.body.innerHTML += `<iframe sandbox=allow-scripts srcdoc=\"<script>fetch('{trap}/sb')<\\/script>\"></iframe>`;",
    "prefetch": (
        "document.head.innerHTML += '<link rel=prefetch href={trap}/prefetch><link rel=preload as=fetch href={trap}/preload>"
        "<link rel=preconnect href={trap}><link rel=dns-prefetch href={trap}>';"
    ),
    "speculation": (
        "document.head.append(Object.assign(document.createElement('script'), {{type: 'speculationrules', text:"
        " JSON.stringify({{prefetch: [{{source: 'list', urls: ['{trap}/spec']}}], prerender: [{{source: 'list', urls: ['{trap}/pre']}}]}})}}));"
    ),
    "location": "location.href = '{trap}/location';",
    "window.open": "open('{trap}/open'); const a = document.createElement('a'); a.href = '{trap}/blank'; a.target = '_blank'; a.click();",
    "form": "document.body.innerHTML += '<form action={trap}/form method=post></form>'; document.forms[0].submit();",
    "download": "const a = document.createElement('a'); a.href = '{trap}/file.zip'; a.download = 'file.zip'; a.click();",
    "ping": "document.body.innerHTML += '<a ping={trap}/ping href=#x>x</a>'; document.querySelector('a').click();",
    "redirect": "fetch('/redirect-to-trap').catch(() => tell('redirect'));",
    "csp report": (
        "document.head.innerHTML += '<meta http-equiv=Content-Security-Policy content=\"img-src none; report-uri {trap}/csp\">';"
        "new Image().src = 'http://nowhere.invalid/x.png';"
    ),
    "robots": "fetch('/private/data.json').catch(() => tell('robots')); new Worker('/private/worker.js');",
}
"""By name: a script that requests addresses of the trap, or `/private/`, which robots.txt forbids."""

EXHAUSTING = {
    "endless loop": "for (;;) {}",
    "alerts": "for (;;) alert('hello');",
    "endless fetches": "let n = 0; setInterval(() => fetch('/data/' + n++).catch(() => 0), 5);",
    "same fetch": "setInterval(() => fetch('/data/same').catch(() => 0), 5);",
    "huge DOM": "const s = 'x'.repeat(1 << 20); for (let i = 0; i < 100; i++) document.body.append(s, document.createElement('p'));",
    "long text": (
        "const s = 'x '.repeat(50000), text = new Text(s); document.body.append(text);"
        " let n = 0; const tell = () => fetch('/done/' + n++ + '/' + document.body.textContent.length);"
        " for (let i = 0; i < 20; i++) document.body.append(s, document.createElement('p'));"
        " setTimeout(() => { tell(); text.data += s + s; setTimeout(tell) });"
    ),
    "many elements": "for (let i = 0; i < 3e6; i++) document.body.append(document.createElement('p'));",
    "memory": "const kept = []; setInterval(() => kept.push(new Uint8Array(1 << 26).fill(7)), 1);",
    "blobs": "const kept = []; setInterval(() => kept.push(new Blob([new Uint8Array(1 << 26).fill(7)])), 1);",
    "workers": "for (let i = 0; i < 50; i++) new Worker(URL.createObjectURL(new Blob(['for (;;) {}'])));",
    "console": "const s = 'x'.repeat(1 << 26); setInterval(() => console.log(s + Math.random()), 1);",
    "huge post": "const s = 'x'.repeat(1 << 27); setInterval(() => fetch('/post', {method: 'POST', body: s}).catch(() => 0), 1);",
    "history": "let n = 0; setInterval(() => history.pushState({}, '', '/' + n++), 1);",
    "reload": "location.reload(); setInterval(() => location.reload(), 1);",
    "blank": "setTimeout(() => { location.href = 'about:blank' }, 50);",
    "popups": "setInterval(() => { open('about:blank'); open('/data/popup') }, 1);",
    "tampering": (
        "String.prototype.slice = () => 'y'.repeat(1 << 28); Object.defineProperty(document, 'documentElement',"
        " {get() { return {outerHTML: 'y'.repeat(1 << 28)} }}); window.requestIdleCallback = () => 0;"
    ),
    "crash": "const f = (n) => { const a = new Array(n); for (let i = 0; i < n; i++) a[i] = {n, i, a: [i]}; return a }; const k = []; for (;;) k.push(f(1e5));",
}
"""By name: a script that would keep a browser busy or fill its memory."""

ALL = "all at once"
_LEAVING = ("location", "window.open", "form", "download", "csp report")
_STAYING = tuple(name for name in REACHING if name not in _LEAVING)


@dataclass
class Traps:
    """The running servers, and what reached them."""

    own: str = ""
    """Origin of the pages."""
    trap: str = ""
    udp: int = 0
    asked: list[str] = field(default_factory=list)
    """Targets that the pages' own server was asked for."""
    sprung: list[str] = field(default_factory=list)
    """What reached the trap: lines of requests, connections, datagrams."""

    def page(self, name: str) -> str:
        """Return the address of a page by its name."""
        return f"{self.own}/page/{name.replace(' ', '-')}"

    def html(self, name: str) -> str:
        """Return a page."""
        if name in EXHAUSTING:
            return _PAGE.format(script=EXHAUSTING[name])
        if name == ALL:
            return _PAGE.format(script="\n".join(map(self._alone, (*_STAYING, *_LEAVING))))
        return _PAGE.format(script=_TELL + self._script(name))

    def _alone(self, name: str) -> str:
        """Return a script that disturbs no other one; those that leave the page come last."""
        later_ms = 300 if name in _LEAVING else 0
        return f"setTimeout(() => {{ {_TELL} {self._script(name)} }}, {later_ms});"

    def _script(self, name: str) -> str:
        parts = urlsplit(self.trap)
        places = {"trap": self.trap, "ws": f"ws://{parts.netloc}", "host": parts.hostname, "port": parts.port}
        return REACHING[name].format(**places, udp=self.udp)


@contextmanager
def traps() -> Iterator[Traps]:
    """Serve the pages and the traps until the end of the block."""
    found = Traps()
    names = {name.replace(" ", "-"): name for name in (*REACHING, ALL, *EXHAUSTING)}

    class Pages(Handler):
        def respond(self) -> None:
            found.asked.append(self.path)
            status, kind, body = 200, "application/json", "{}"
            location = ""
            if self.path == "/robots.txt":
                kind, body = "text/plain", "User-agent: *\nDisallow: /private/\n"
            elif self.path.startswith("/page/"):
                kind, body = "text/html", found.html(names[self.path.removeprefix("/page/")])
            elif self.path == "/redirect-to-trap":
                status, location = 302, f"{found.trap}/redirected"
            self.send_response(status)
            self.send_header("Content-Type", kind)
            if location:
                self.send_header("Location", location)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.write(body.encode())

        def do_POST(self) -> None:
            self.respond()

    with running(Server(Pages)) as server, _listening(found.sprung) as (port, udp):
        found.own = f"http://{OWN}:{server.server_address[1]}"
        found.trap, found.udp = f"http://{FORBIDDEN}:{port}", udp
        yield found


@contextmanager
def _listening(sprung: list[str]) -> Iterator[tuple[int, int]]:
    """Record every TCP connection and every datagram to `FORBIDDEN`; yield both ports."""
    with socket.create_server((FORBIDDEN, 0)) as tcp, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.bind((FORBIDDEN, 0))

        def accept() -> None:
            while True:
                try:
                    connection, _ = tcp.accept()
                except OSError:
                    return
                with connection:
                    connection.settimeout(1.0)
                    try:
                        sprung.append(connection.recv(200).decode("latin-1").partition("\r\n")[0] or "connection")
                    except OSError:
                        sprung.append("connection")

        def receive() -> None:
            while True:
                try:
                    sprung.append(f"datagram {udp.recv(2000)[:20]!r}")
                except OSError:
                    return

        for work in (accept, receive):
            threading.Thread(target=work, daemon=True).start()
        yield tcp.getsockname()[1], udp.getsockname()[1]
        tcp.shutdown(socket.SHUT_RDWR)  # ends the thread that accepts; the other one ends with the process

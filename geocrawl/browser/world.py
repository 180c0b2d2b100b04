"""Read a page from a world of JavaScript beside the page's own, which its scripts can neither see nor change.

A document that grows beyond a bound is cut as soon as the script that wrote it pauses, before it is laid out: laying
out 100 MB of text takes minutes and a gigabyte.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.async_api import CDPSession

_IDLE = "new Promise(done => requestIdleCallback(() => done(true)))"
_CUT = """(most => {
  const size = node => node instanceof CharacterData ? node.length : 10;  // an element: its tags, at least
  const sizeOfTree = root => {
    let sum = size(root);
    const walker = document.createTreeWalker(root);
    while (sum <= most && walker.nextNode()) sum += size(walker.currentNode);
    return sum;
  };
  const cut = () => {
    let sum = 0;
    const walker = document.createTreeWalker(document);
    while (sum <= most && walker.nextNode()) sum += size(walker.currentNode);
    if (sum <= most) return sum;
    const last = walker.currentNode, root = document.documentElement, rest = document.createRange();
    if (last instanceof CharacterData) last.deleteData(Math.max(last.length - (sum - most), 0), last.length);
    rest.setStartAfter(last);
    rest.setEnd(root, root.childNodes.length);
    rest.deleteContents();
    return most;
  };
  let left = most;  // what may be added before the document is measured again
  new MutationObserver(records => {
    for (const record of records)
      for (const node of record.type === 'childList' ? record.addedNodes : [record.target])
        if (left >= 0) left -= sizeOfTree(node);
    if (left < 0) left = Math.max(most - cut(), most / 4);
  }).observe(document, {childList: true, characterData: true, subtree: true});
})"""


class World:
    """A world of JavaScript in the top frame of a tab."""

    def __init__(self, session: CDPSession) -> None:
        self._session = session
        self._context: int | None = None

    async def bound(self, most_chars: int) -> None:
        """Have every document that the tab opens from now on cut at about so many characters."""
        await self._session.send("Page.enable")
        source = f"{_CUT}({most_chars})"
        await self._session.send(
            "Page.addScriptToEvaluateOnNewDocument", {"source": source, "worldName": "geocrawl-bound"}
        )

    async def rest(self) -> bool:
        """Return whether the page's scripts do nothing, as soon as they do."""
        return bool(await self._value(_IDLE))

    async def document(self, most_chars: int) -> str | None:
        """Return the document as HTML, cut at so many characters."""
        found = await self._value(f"document.documentElement.outerHTML.slice(0, {most_chars})")
        return found if isinstance(found, str) else None

    async def _value(self, expression: str) -> Any:
        """Return the value of an expression, awaited if it is a promise; None when it has none."""
        if self._context is None:
            tree = await self._session.send("Page.getFrameTree")
            frame = tree["frameTree"]["frame"]["id"]
            made = await self._session.send("Page.createIsolatedWorld", {"frameId": frame})
            self._context = made["executionContextId"]
        asked = {"expression": expression, "contextId": self._context, "awaitPromise": True, "returnByValue": True}
        answer = await self._session.send("Runtime.evaluate", asked)
        return answer["result"].get("value")

"""Start geocrawl: `python -m geocrawl`, and the command `geocrawl`.

The guard is for the processes that read answers, which import the main module again.
"""

from __future__ import annotations

import os
import signal
import sys


def main() -> None:
    """Run the command line. Ctrl-C during its imports ends the process at once: there is nothing to tidy up yet."""
    if sys.getfilesystemencoding() == "ascii":  # people type UTF-8 in such a locale, too
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])  # noqa: S606  # this program
    interruptible = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # a background job ignores SIGINT
    if interruptible:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from geocrawl.resources import tune

    tune()
    from geocrawl.cli import main as run

    if interruptible:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


if __name__ == "__main__":
    main()

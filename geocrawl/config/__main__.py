"""`python -m geocrawl.config` prints docs/settings.md."""

import sys

from geocrawl.config.show import markdown

sys.stdout.write(markdown())

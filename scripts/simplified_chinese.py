"""Write `geocrawl/data/search/simplified.txt` from OpenCC's table of characters (Apache-2.0).

    pip download --no-deps opencc-python-reimplemented
    python -m scripts.simplified_chinese opencc_python_reimplemented-0.1.7-py2.py3-none-any.whl

The file has two lines: traditional characters, and the simplified ones at the same places.
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

TABLE = "opencc/dictionary/TSCharacters.txt"
TARGET = Path(__file__).parents[1] / "geocrawl/data/search/simplified.txt"


def main(wheel: Path) -> None:
    """Write the two lines."""
    with zipfile.ZipFile(wheel) as archive:
        lines = archive.read(TABLE).decode("utf-8").splitlines()
    # Of several simplified characters the first is the usual one; a character that stays is no pair.
    pairs = [(parts[0], parts[1][0]) for line in lines if len(parts := line.split()) > 1 and parts[0] not in parts[1:]]
    pairs = sorted(pair for pair in pairs if len(pair[0]) == 1)
    TARGET.write_text("".join(a for a, _ in pairs) + "\n" + "".join(b for _, b in pairs) + "\n", encoding="utf-8")
    print(f"{TARGET}: {len(pairs)} characters")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

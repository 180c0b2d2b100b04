"""Text to words, Latin and Han."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from geocrawl.priority.text.words import content_words, has_han, segment, stop_words


def test_latin_words_are_lower_case_and_free_of_punctuation() -> None:
    assert segment("The WMS-Server (v1.3.0), Straße_2!") == "the wms server v1 3 0 straße 2"


def test_han_runs_are_split_in_search_mode_between_latin_words() -> None:
    words = segment("全国WMS地图服务平台").split()
    assert "wms" in words
    assert {"全国", "地图", "服务", "平台"} <= set(words)


def test_stop_words_of_both_languages_are_no_content() -> None:
    assert content_words("The map of the coast and 我们 的 地图 x 12") == ["map", "coast", "地图"]
    assert {"the", "的", "www"} <= stop_words()


def test_han_is_told_from_other_scripts() -> None:
    assert has_han("WMS 服务")
    assert not has_han("WMS Straße カナ")


@given(st.text(alphabet=st.characters(codec="utf-8", max_codepoint=0x3FF), max_size=100))
def test_segmenting_twice_changes_nothing(text: str) -> None:
    once = segment(text)
    assert segment(once) == once


def test_jieba_is_loaded_for_han_text_only_is_silent_and_caches_in_the_users_folder(tmp_path: Path) -> None:
    work, cache = tmp_path / "work", tmp_path / "cache"
    work.mkdir()
    code = (
        "import sys; from geocrawl.priority.text.words import segment; segment('latin only');"
        "assert 'jieba' not in sys.modules; print(segment('中文'))"
    )
    root = str(Path(__file__).resolve().parents[2])
    env = {**os.environ, "XDG_CACHE_HOME": str(cache), "PYTHONPATH": root, "PYTHONUTF8": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=work, env=env, capture_output=True, text=True, encoding="utf-8", check=True
    )
    assert (done.stdout.strip(), done.stderr) == ("中文", "")
    assert list(work.iterdir()) == []
    assert (cache / "geocrawl" / "jieba.cache").is_file()

"""Text to words, Latin and Han."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.priority.text_terms import (
    RjiebaSegmenter,
    Segmenter,
    content_words,
    has_han,
    jieba_segmenter,
    stop_words,
    tokens,
)


def test_latin_words_are_lower_case_and_free_of_punctuation() -> None:
    assert list(tokens("The WMS-Server (v1.3.0), Straße_2!")) == ["the", "wms", "server", "v1", "3", "0", "straße", "2"]


def test_han_runs_are_split_in_search_mode_between_latin_words() -> None:
    words = list(tokens("全国WMS地图服务平台"))
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
    once = list(tokens(text))
    assert list(tokens(" ".join(once))) == once


RUNS = """
土地利用现状图 青山省地理信息公共服务平台 中华人民共和国自然资源部 天地图在线地图 网络地图服务接口说明 研究生命起源
㡢㡢㣬图 䲻㣬 䤤碌 𠀀地图 東京都地圖
"""
"""Compounds, ambiguous ones, and characters that are not in jieba's dictionary."""


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Segmenter, Segmenter]]:
    pytest.importorskip("rjieba", reason="needs rjieba (the extra speed), which `make` installs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield RjiebaSegmenter(), jieba_segmenter()


@given(st.lists(st.one_of(st.sampled_from(RUNS.split()), st.characters(min_codepoint=0x4E00, max_codepoint=0x9FD5))))
def test_rjieba_of_the_extra_speed_has_the_words_of_jieba(both: tuple[Segmenter, Segmenter], parts: list[str]) -> None:
    in_rust, in_python = both
    for run in (*RUNS.split(), "".join(parts)):
        assert in_rust.lcut_for_search(run) == in_python.lcut_for_search(run)


def test_jieba_is_loaded_for_han_text_only_is_silent_and_caches_in_the_users_folder(tmp_path: Path) -> None:
    work, cache = tmp_path / "work", tmp_path / "cache"
    work.mkdir()
    code = (
        "import sys; from geocrawl.priority.text_terms import tokens;"
        "list(tokens('latin only')); assert 'jieba' not in sys.modules; print(*tokens('中文'));"
        "assert 'rjieba' not in sys.modules"  # where it is installed, too
    )
    root = str(Path(__file__).resolve().parents[2])
    env = {**os.environ, "XDG_CACHE_HOME": str(cache), "PYTHONPATH": root, "PYTHONUTF8": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=work, env=env, capture_output=True, text=True, encoding="utf-8", check=True
    )
    assert (done.stdout.strip(), done.stderr) == ("中文", "")
    assert list(work.iterdir()) == []
    assert (cache / "geocrawl" / "jieba.cache").is_file()

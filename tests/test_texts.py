"""The language of texts outside the window: which one the system asks for, and that pictures have their own."""

from __future__ import annotations

import gettext
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradviz import texts
from gradviz.explain import findings
from gradviz.resources import resource
from gradviz.texts import pieces, system_language, tr, tr_picture, trn, trn_picture, use_language
from tests.recordings import two_calls

FOLDER = resource("translations")


@pytest.fixture(autouse=True)
def english_afterwards() -> Iterator[None]:
    yield
    use_language("en", FOLDER)


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh_CN"),
        ({"LANG": "zh_SG"}, "zh_CN"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "zh_CN.UTF-8"}, "zh_CN"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": ""}, "zh_CN"),  # set but empty counts as not set
        ({"LANG": "de_DE.UTF-8", "LANGUAGE": "fr:zh_CN:en"}, "zh_CN"),  # the first that we speak
        ({"LANG": "C.UTF-8", "LANGUAGE": "zh_CN"}, "en"),  # GNU gettext, "The LANGUAGE variable"
        ({"LANG": "de_DE.UTF-8", "GRADVIZ_LANGUAGE": "zh-Hans-CN"}, "zh_CN"),
        ({"LANG": "zh_CN.UTF-8", "GRADVIZ_LANGUAGE": "en"}, "en"),
    ],
)
def test_the_system_is_followed(environment: dict[str, str], language: str) -> None:
    assert system_language(environment) == language


def test_texts_keep_their_fields_and_number() -> None:
    use_language("zh_CN", FOLDER)
    assert tr("{name} is None: {why}", name="x", why="y") == "x is None: y"  # no such text of ours
    assert tr("{grad} is None: {why}", grad="`x.grad`", why="…") == "`x.grad` 为 None：…"
    assert trn("{n} node", "{n} nodes", 1) == "1 个节点"
    assert trn("{n} node", "{n} nodes", 5) == "5 个节点"
    assert tr("") == ""
    use_language("en", FOLDER)
    assert (trn("{n} node", "{n} nodes", 1), trn("{n} node", "{n} nodes", 5)) == ("1 node", "5 nodes")


def test_pictures_speak_a_language_of_their_own() -> None:
    use_language("zh_CN", FOLDER, pictures="en")
    assert (tr("leaf"), tr_picture("leaf")) == ("叶子", "leaf")
    assert trn_picture("{n} op", "{n} ops", 2) == "2 ops"
    assert (texts.language(), texts.picture_language()) == ("zh_CN", "en")
    use_language(*texts.handed_on())
    assert tr_picture("leaf") == "叶子"


def test_a_language_without_a_catalogue_is_english(tmp_path: Path) -> None:
    use_language("zh_CN", tmp_path)
    assert (tr("leaf"), texts.language()) == ("leaf", "en")


def test_findings_are_told_in_the_language_of_their_time() -> None:
    english = findings(two_calls())
    use_language("zh_CN", FOLDER)
    chinese = findings(two_calls())
    assert [(f.code, f.level, f.call, f.node, f.place, f.show) for f in english] == [
        (f.code, f.level, f.call, f.node, f.place, f.show) for f in chinese
    ]
    assert english
    for finding in chinese:
        assert any("\u4e00" <= letter <= "\u9fff" for letter in finding.message), finding
        assert any("\u4e00" <= letter <= "\u9fff" for letter in finding.advice), finding


def test_lines_are_broken_between_words_and_ideographs() -> None:
    assert pieces("two words") == ["two ", "words"]
    assert pieces("梯度（grad）是 None。") == ["梯", "度", "（grad）", "是 ", "None。"]


def run(*words: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    plain = {name: value for name, value in os.environ.items() if name != "GRADVIZ_LANGUAGE"}
    return subprocess.run(
        [sys.executable, "-m", "gradviz", *words],
        cwd=folder,
        env={**plain, "LC_ALL": "C.UTF-8", **environment},
        capture_output=True,
        text=True,
    )


SCRIPT = """\
import torch
x = torch.ones(2, requires_grad=True)
(x * x).sum().backward()
(x * 2).backward()
"""
CHINESE = {"LC_ALL": "", "LC_MESSAGES": "zh_CN.UTF-8", "LC_CTYPE": "C.UTF-8"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("language")
    (folder / "fails.py").write_text(SCRIPT)
    done = run("record", "fails.py", folder=folder, **CHINESE)
    assert "gradviz: 记录了 2 次 backward 调用。 查看它：gradviz fails.gradviz\n" in done.stderr
    assert "RuntimeError: grad can be implicitly created only for scalar outputs\n" in done.stderr  # the script's own
    return folder


class TestCommands:
    def test_messages_follow_the_system(self, folder: Path) -> None:
        done = run("explain", "fails.gradviz", "--strict", folder=folder, **CHINESE)
        assert done.returncode == 1
        assert done.stdout.startswith(
            "fails.py 抛出 RuntimeError: grad can be implicitly created only for scalar outputs（第 4 行）"
        )
        assert "错误     scalar-only  (第 4 行, 调用 2)" in done.stdout
        assert run("explain", "fails.gradviz", folder=folder).stdout.startswith("fails.py raised RuntimeError")

    def test_lines_fit_the_terminal(self, folder: Path) -> None:
        from gradviz.cli.wrapping import columns

        done = run("explain", "fails.gradviz", folder=folder, COLUMNS="60", **CHINESE)
        told = [line for line in done.stdout.splitlines() if line.startswith("  ")]
        assert len(told) > 5
        assert max(map(columns, told)) <= 60

    def test_help_and_refusals_are_translated(self, folder: Path) -> None:
        assert run("info", "--help", folder=folder, **CHINESE).stdout.startswith("用法：gradviz info [-h] [--json]")
        assert run("info", folder=folder, **CHINESE).stderr.startswith("gradviz: 缺少这些参数：RECORDING")
        assert run("info", "--help", folder=folder).stdout.startswith("usage: gradviz info [-h] [--json]")

    def test_a_seed_is_refused_by_the_script_s_process_in_the_same_language(self, folder: Path) -> None:
        words = ("seed", "fails.py", "--call", "1", "--seed", "[1, 2]")
        assert "根是标量，形状为 ()；种子的形状是 (2,)。" in run(*words, folder=folder, **CHINESE).stderr
        assert "The root is a scalar" in run(*words, folder=folder).stderr

    def test_a_figure_is_the_same_on_every_desktop(self, folder: Path) -> None:
        pictures = []
        for number, environment in enumerate(({}, CHINESE)):
            done = run("export", "fails.gradviz", "-o", f"{number}.svg", folder=folder, **environment)
            pictures.append((folder / f"{number}.svg").read_bytes())
        assert "gradviz: 已写入 1.svg（" in done.stderr
        assert pictures[0] == pictures[1]
        assert ">leaf<" in pictures[0].decode()

    def test_a_figure_in_chinese_is_asked_for(self, folder: Path) -> None:
        done = run("export", "fails.gradviz", "-o", "zh.svg", "--language", "zh_CN", folder=folder)
        assert "gradviz: wrote zh.svg (" in done.stderr
        text = (folder / "zh.svg").read_text()
        assert ">叶子<" in text
        assert "第 2 次调用，共 2 次" in text
        refused = run("export", "fails.gradviz", "-o", "de.svg", "--language", "de", folder=folder)
        assert refused.returncode == 2
        assert "invalid choice: 'de'" in refused.stderr


def test_argparse_says_what_the_catalogue_translates() -> None:
    import argparse

    from tests.app.translations import ARGPARSE

    source = Path(str(argparse.__file__)).read_text()
    assert [text for text in ARGPARSE if text not in source] == []
    assert gettext.gettext("options") == "options"  # in this process nothing was bound

"""The whole story on a real X server: start, open, allow, play, choose, export, close; driven by xdotool."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.recordings import ACCUMULATE

PROGRAMS = ("Xvfb", "xdotool", "import")  # the Debian packages xvfb, xdotool and imagemagick
SIZE = (1400, 900)
ORANGE = (213, 94, 0)  # the accent of the light theme: the button that plays, the gradient that moves


class Screen:
    """An X server of our own, and hands on it."""

    def __init__(self, folder: Path) -> None:
        missing = [program for program in PROGRAMS if shutil.which(program) is None]
        assert not missing, f"this test needs {missing}: install xvfb, xdotool and imagemagick"
        self.folder = folder
        # Without -noreset the server starts anew when its last client leaves, and refuses the window meanwhile.
        reader, writer = os.pipe()
        command = [
            "Xvfb",
            "-displayfd",
            str(writer),
            "-screen",
            "0",
            f"{SIZE[0]}x{SIZE[1]}x24",
            "-nolisten",
            "tcp",
            "-noreset",
        ]
        self._server = subprocess.Popen(command, pass_fds=(writer,), stderr=subprocess.DEVNULL)
        os.close(writer)
        with os.fdopen(reader) as file:
            number = file.readline().strip()
        assert number, "Xvfb did not start"
        self.environment = {**os.environ, "DISPLAY": f":{number}", "QT_QPA_PLATFORM": "xcb"}
        assert until(lambda: self.do("getdisplaygeometry") == f"{SIZE[0]} {SIZE[1]}", 30), "Xvfb does not answer"

    def do(self, *words: str) -> str:
        """Let xdotool do something."""
        done = subprocess.run(
            ["xdotool", *words], env=self.environment, capture_output=True, text=True, timeout=60, check=False
        )
        return done.stdout.strip()

    def picture(self, name: str) -> Image.Image:
        """What is on the screen."""
        path = self.folder / f"{name}.png"
        subprocess.run(["import", "-window", "root", str(path)], env=self.environment, check=True, timeout=60)
        with Image.open(path) as image:
            return image.convert("RGB")

    def close(self) -> None:
        """End the server."""
        self._server.terminate()
        self._server.wait(20)


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[Screen]:
    made = Screen(tmp_path)
    yield made
    made.close()


def until(holds: Callable[[], bool], seconds: float = 90) -> bool:
    """Ask again and again; every question takes its own time (a program is run), so nothing has to wait between."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
    return False


def share_of(image: Image.Image, box: tuple[int, int, int, int], colour: tuple[int, int, int]) -> float:
    """How much of a part of the screen has about this colour."""
    part = np.asarray(image.crop(box), dtype=np.int16)
    return float((np.abs(part - colour) < 24).all(axis=-1).mean())


@pytest.mark.timeout(400)
def test_open_allow_play_choose_export_close(screen: Screen, tmp_path: Path) -> None:
    script = tmp_path / "accumulate.py"
    script.write_text(ACCUMULATE)
    home = tmp_path / "home"
    environment = {
        **screen.environment,
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_DATA_HOME": str(home / "data"),
    }
    window = subprocess.Popen([sys.executable, "-m", "gradviz", str(script)], env=environment)
    try:
        tell_the_story(screen, window, home)
    finally:
        if window.poll() is None:
            window.kill()
        window.wait(20)


def tell_the_story(screen: Screen, window: subprocess.Popen[bytes], home: Path) -> None:
    """What a person does from the first start on."""
    assert until(lambda: screen.do("search", "--onlyvisible", "--name", "accumulate.py") != "")
    number = screen.do("search", "--onlyvisible", "--name", "accumulate.py").splitlines()[0]
    screen.do("windowsize", "--sync", number, str(SIZE[0]), str(SIZE[1]))
    screen.do("windowmove", "--sync", number, "0", "0")
    screen.do("windowfocus", "--sync", number)
    middle = (400, 150, 1000, 700)

    # Nothing has run: the question is there, with Run ready for Enter.
    assert not list((home / "data").glob("**/*.gradviz"))
    assert pressed(screen, number, "Return", lambda: bool(list((home / "data").glob("**/*.gradviz"))))
    # The graph comes with the seed in the accent colour, and the transport can be used.
    assert until(lambda: share_of(screen.picture("graph"), middle, ORANGE) > 0.001)

    # At the start nothing has arrived yet; a step forward moves something.
    ended = still(screen, middle)
    assert pressed(screen, number, "Home", lambda: not same(ended, screen.picture("start"), middle))
    start = still(screen, middle)
    # Home once more: something else may have moved while the first one was lost.
    assert pressed(screen, number, "Home Right", lambda: not same(start, screen.picture("step"), middle))

    # Space plays to the end by itself.
    stepped = still(screen, middle)
    assert pressed(screen, number, "space", lambda: not same(stepped, screen.picture("playing"), middle))

    # Control and an arrow choose a node: the inspector tells of it.
    inspector = (1060, 150, 1390, 450)
    before = still(screen, inspector)
    assert pressed(screen, number, "ctrl+Left", lambda: not same(before, screen.picture("chosen"), inspector))

    # Ctrl-E makes the file before it is saved; Escape leaves the dialog.
    assert pressed(screen, number, "ctrl+e", lambda: screen.do("search", "--onlyvisible", "--name", "Export") != "")
    # Without a window manager nobody gives a new window the keyboard.
    dialog = screen.do("search", "--onlyvisible", "--name", "Export").splitlines()[0]
    assert pressed(screen, dialog, "Escape", lambda: screen.do("search", "--onlyvisible", "--name", "Export") == "")

    assert pressed(screen, number, "ctrl+q", lambda: window.poll() is not None)
    assert window.wait(60) == 0


def pressed(screen: Screen, window: str, keys: str, holds: Callable[[], bool]) -> bool:
    """Press keys, one after the other, until it has worked: without a window manager the keyboard is lost at times."""
    for _ in range(6):
        screen.do("windowfocus", window)
        screen.do("key", *keys.split())
        if until(holds, 12):
            return True
    return False


def still(screen: Screen, box: tuple[int, int, int, int]) -> Image.Image:
    """The screen when this part of it has come to rest: a key may only be credited with what changes after it."""
    seen = [screen.picture("still")]

    def rests() -> bool:
        seen.append(screen.picture("still"))
        return same(seen[-2], seen[-1], box)

    assert until(rests), "the window does not come to rest"
    return seen[-1]


def same(a: Image.Image, b: Image.Image, box: tuple[int, int, int, int]) -> bool:
    """Whether a part of two pictures is equal."""
    return a.crop(box).tobytes() == b.crop(box).tobytes()

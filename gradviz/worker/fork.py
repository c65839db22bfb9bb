"""Makes a copy of the script's process that the script does not notice: a double fork, and what the copy lets go of."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import torch

from gradviz.texts import tr
from gradviz.worker.frames import is_ours

_torch: Any = torch
_WORKS, _READY = b"+", b"!"


def possible() -> bool:
    """Whether this process can be copied: POSIX, and no accelerator whose driver does not survive a fork."""
    if not hasattr(os, "fork") or sys.platform in ("win32", "emscripten", "wasi"):
        return False
    for name in ("cuda", "xpu", "mtia", "hpu"):
        module = getattr(_torch, name, None)
        is_initialized = getattr(module, "is_initialized", None)
        if is_initialized is not None and is_initialized():
            return False
    return not (hasattr(_torch.backends, "mps") and _torch.backends.mps.is_available())


def double_fork(prove: Callable[[], None], run: Callable[[Callable[[], None]], None], patience: float) -> int | None:
    """Run `prove()`, then `run(ready)`, in a grandchild that belongs to nobody; wait until it calls `ready`.

    `prove` is what may hang in a copy. One that is through it is never ended by us: `run` tells others of it before
    `ready`, and they count on it from then on, even where they end this process before it has heard that.

    Returns:
        Its process id, None when it has died, or was not through `prove` within `patience` seconds (it is gone then).
    """
    state = random_state()
    reader, writer = os.pipe()
    try:
        with _unnoticed():
            child = os.fork()
            if child == 0:
                _become_orphan(prove, run, reader, writer, state)
            _reap(child)
        os.close(writer)
        writer = -1
        return _wait(reader, patience)
    finally:
        os.close(reader)
        if writer >= 0:
            os.close(writer)


def _become_orphan(
    prove: Callable[[], None], run: Callable[[Callable[[], None]], None], reader: int, writer: int, state: Any
) -> NoReturn:
    """In the first child: fork once more and end at once, so that the grandchild has no parent of the script's."""
    try:
        grandchild = os.fork()
        if grandchild:
            os.write(writer, b"%d\n" % grandchild)
            os._exit(0)
        os.close(reader)
        os.setsid()
        settle_down({writer})
        put_back_random(state)

        def ready() -> None:
            with contextlib.suppress(BrokenPipeError):  # the script has been ended meanwhile, or did not wait so long
                os.write(writer, _READY)
            os.close(writer)

        prove()
        os.write(writer, _WORKS)
        run(ready)
    finally:
        os._exit(0)


def _wait(reader: int, patience: float) -> int | None:
    """Read the grandchild's id, and its words that it works and that it is ready."""
    said = b""
    for word in (_WORKS, _READY):
        deadline = time.monotonic() + patience
        while word not in said and select.select([reader], [], [], max(deadline - time.monotonic(), 0))[0]:
            part = os.read(reader, 64)
            if not part:
                return None  # it has died
            said += part
        if _WORKS not in said:
            _end(said)
            return None
    return int(said.translate(None, _WORKS + _READY))


def _end(said: bytes) -> None:
    number = said.strip()
    if number.isdigit():
        with contextlib.suppress(OSError):
            os.kill(int(number), signal.SIGKILL)


def random_state() -> Any:
    """The state of `random`, which Python seeds anew in a fork; None where the script has not loaded it.

    A file of the script's own with that name has no state.
    """
    module = sys.modules.get("random")
    return module.getstate() if module is not None and hasattr(module, "getstate") else None


def put_back_random(state: Any) -> None:
    """In the copy: what `random_state` gave."""
    if state is not None:
        sys.modules["random"].setstate(state)


# -- what the script must not notice -----------------------------------------------------------------------------------


@contextlib.contextmanager
def _unnoticed() -> Iterator[None]:
    """Around the fork in the script: no SIGCHLD handler of the user's runs, no DeprecationWarning of Python's."""
    mask = None
    if callable(signal.getsignal(signal.SIGCHLD)):
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    quiet = ("ignore", None, DeprecationWarning, None, 0)
    # Put into the list by hand: `warnings.filterwarnings` would make Python forget what it has warned about.
    filters: list[Any] = warnings.filters  # type: ignore[assignment]
    filters.insert(0, quiet)
    try:
        yield
    finally:
        filters.remove(quiet)
        if mask is not None:
            _take_our_signal()
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _take_our_signal() -> None:
    """Take the SIGCHLD of our own child off the queue, and give it back where a child of the script's waits too."""
    if signal.SIGCHLD in signal.sigpending() and hasattr(signal, "sigtimedwait"):
        signal.sigtimedwait({signal.SIGCHLD}, 0)
        with contextlib.suppress(ChildProcessError):
            if os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                os.kill(os.getpid(), signal.SIGCHLD)


def _reap(child: int) -> None:
    # The script may ignore SIGCHLD (then nobody waits for anything) or wait for any child in another thread.
    with contextlib.suppress(ChildProcessError):
        os.waitpid(child, 0)


# -- what the copy must not touch --------------------------------------------------------------------------------------


def settle_down(keep: set[int]) -> None:
    """In the copy: every descriptor but `keep` leads nowhere, signals do what they do by default, one thread."""
    sys.settrace(None)
    sys.setprofile(None)
    _point_nowhere(keep)
    _forget_signals()
    forbid_writing()
    _torch.set_num_threads(1)  # the pool of OpenMP does not survive a fork: the next parallel loop would hang


def _point_nowhere(keep: set[int]) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    for number in _open_numbers():
        if number not in keep and number != null:
            with contextlib.suppress(OSError):
                os.dup2(null, number, inheritable=False)
    for number in (0, 1, 2):
        os.dup2(null, number)


def _open_numbers() -> list[int]:
    for folder in ("/proc/self/fd", "/dev/fd"):
        with contextlib.suppress(OSError):
            return [int(name) for name in os.listdir(folder) if name.isdigit()]
    return list(range(3, 1024))


def _forget_signals() -> None:
    for number in signal.valid_signals():
        with contextlib.suppress(OSError, ValueError, RuntimeError):
            if signal.getsignal(number) not in (signal.SIG_DFL, signal.SIG_IGN, None):
                signal.signal(number, signal.SIG_DFL)
    for number in (signal.SIGINT, signal.SIGPIPE):
        with contextlib.suppress(ValueError):  # not in the main thread
            signal.signal(number, signal.SIG_IGN)


_allowed: set[str] = set()  # files that the copy may write: those of its own what-ifs


def allow_writing(path: str) -> None:
    """Let the copy write this file of ours."""
    _allowed.add(os.path.abspath(path))


def forbid_writing() -> None:
    """Refuse, in the copy, what would change files, start processes or talk to others: hooks of the user's may try."""
    sys.addaudithook(_guard)


_CHANGES = frozenset(
    (
        *("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.truncate", "os.link", "os.symlink", "os.chmod"),
        *("os.chown", "os.kill", "os.killpg", "os.system", "os.exec", "os.posix_spawn", "os.putenv", "os.utime"),
        *("subprocess.Popen", "shutil.rmtree", "shutil.move", "socket.connect", "socket.bind", "socket.sendto"),
    )
)
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def _guard(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open":
        path, _, flags = arguments
        is_written = isinstance(flags, int) and flags & _WRITES
        if not is_written or not isinstance(path, (str, bytes)):
            return
        name = os.path.abspath(os.fsdecode(path))
        if name != os.devnull and name not in _allowed:
            raise PermissionError(tr("an experiment may not write {name!r}", name=name))
    elif event in _CHANGES and not _ours():
        raise PermissionError(tr("an experiment may not do this: {event}", event=event))


def _ours() -> bool:
    """Whether the forbidden thing is done by the recorder itself (connecting, ending a runner)."""
    frame = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.endswith("socket.py"):
        frame = frame.f_back  # type: ignore[assignment]
    return frame is not None and is_ours(frame.f_code.co_filename)

"""The worker's session: from the script's `import torch` to the end of the interpreter.

The interpreter itself runs the script (see start/sitecustomize.py); this module attaches the recorder when torch has
been imported, and says at exit how the script ended.
"""

from __future__ import annotations

import base64
import json
import os
import platform
import sys
from collections.abc import Iterable
from typing import Any

import torch

from gradviz.model import Header
from gradviz.protocol import Finished, Started, parse_calls
from gradviz.texts import tr, use_language
from gradviz.worker.budget import MAX_VALUES, Options
from gradviz.worker.channel import Channel
from gradviz.worker.descriptors import out_of_the_way
from gradviz.worker.hold import Holder, Ways, Wish
from gradviz.worker.last_words import last_error, main_file
from gradviz.worker.limits import roomy_threads
from gradviz.worker.notebook import read_notebook
from gradviz.worker.recorder import Recorder


class Session:
    """One recorded run of a script."""

    def __init__(self, order: dict[str, Any], random_states: dict[str, Any]) -> None:
        with out_of_the_way():
            self._channel = Channel(order["port"], order["token"])
            self._recorder = Recorder(
                order["recording"],
                header=header_of(order),
                options=options_of(order),
                roots=(root_of(order),),
                say=self._channel.say,
            )
        if order.get("random"):
            put_back({name: stored(state) for name, state in order["random"].items()})
            random_states = {**random_states, **current_states(random_states)}
        states = {**random_states, "torch": torch.get_rng_state()}
        self._recorder.writer.set_meta("random", {name: storable(state) for name, state in states.items()})
        wish = wish_of(order)
        if wish is not None:
            ways = Ways(order["port"], order["token"], lambda: put_back(states))
            self._recorder.holder = Holder(wish, self._channel, ways, self._recorder)
        roomy_threads()
        self._recorder.attach()
        self._channel.say(Started(recording=order["recording"], python=platform.python_version()))

    def end(self) -> None:
        """The interpreter shuts down: write the rest, say how it ended."""
        problems, error = [], None
        try:
            self._recorder.detach()
            problems += [text for text in (self._recorder.writer.stopped,) if text]
            self._recorder.close(None)  # the parent knows the exit status
            error = last_error()
        except Exception as failure:  # the script has put something else in the place of what we call
            problems.append(f"{type(failure).__name__}: {failure}")
        self._channel.say(Finished(result={"error": error, "problems": problems}))
        self._channel.close()


def options_of(order: dict[str, Any]) -> Options:
    """The bounds that the user asked for."""
    limits = order["limits"]
    return Options(
        max_calls=limits["max_calls"],
        calls=None if limits["calls"] is None else parse_calls(limits["calls"]),
        max_values=MAX_VALUES if limits["max_values"] is None else limits["max_values"],
        size_limit=limits["size_limit"],
    )


def wish_of(order: dict[str, Any]) -> Wish | None:
    """Which calls are to be held."""
    wanted = order.get("hold")
    if wanted is None:
        return None
    return Wish(None if wanted["labels"] is None else frozenset(wanted["labels"]), wanted["in_place"], wanted["last"])


def start(order: bytes, random_states: dict[str, Any]) -> Session | None:
    """Attach the recorder; where that fails the script runs on as if we were not there, and the parent says why."""
    wishes = json.loads(order)
    try:
        use_language(*wishes["language"])
        return Session(wishes, random_states)
    except Exception as error:
        channel = Channel(wishes["port"], wishes["token"])
        channel.say(Finished(result={"error": None, "problems": [f"{type(error).__name__}: {error}"]}))
        channel.close()
        return None


def header_of(order: dict[str, Any]) -> Header:
    """What runs here, and what a re-run must be given to be equal."""
    script = order["script"] if order["script"] is not None else main_file() or order["module"]
    return Header(
        script=os.path.normpath(os.path.join(order["cwd"], script)),
        argv=tuple(order["argv"]),
        python=platform.python_version(),
        torch=str(torch.__version__),
        executable=sys.executable,
        cwd=order["cwd"],
        module=order["module"],
        threads=torch.get_num_threads(),
        hash_seed=order["hash_seed"],
        rank=number(os.environ.get("RANK")),
        world_size=number(os.environ.get("WORLD_SIZE")),
        notes=notes_of(order),
    )


def notes_of(order: dict[str, Any]) -> tuple[str, ...]:
    """What is to be said about the run as a whole."""
    found: tuple[str, ...] = ()
    if str(order["script"]).endswith(".ipynb"):
        cells = read_notebook(os.path.join(order["cwd"], order["script"])).cells
        found = tuple(
            tr("Skipped in {cell}: {line}", cell=cell.name[1:-1], line=line) for cell in cells for line in cell.skipped
        )
    if (number(os.environ.get("WORLD_SIZE")) or 1) > 1:
        found += (
            tr(
                "This is rank {rank} of {size}: gradients are shown as this rank computed them, before the all-reduce.",
                rank=os.environ.get("RANK"),
                size=os.environ.get("WORLD_SIZE"),
            ),
        )
    return found


def root_of(order: dict[str, Any]) -> str:
    """The folder whose files are the user's: the script's, or that of the outermost package of a module."""
    if order["script"] is not None:
        return os.path.dirname(os.path.join(str(order["cwd"]), order["script"]))
    folder = os.path.dirname(main_file() or str(order["cwd"]))
    for _ in range(order["module"].count(".")):
        folder = os.path.dirname(folder)
    return folder


def number(text: str | None) -> int | None:
    """An integer from the environment, None where there is none."""
    return int(text) if text is not None and text.isdigit() else None


def storable(state: Any) -> Any:
    """A random state as JSON: tensors and arrays become base64 of their bytes."""
    if hasattr(state, "tobytes"):
        return {"dtype": str(state.dtype), "base64": base64.b64encode(state.tobytes()).decode()}
    if hasattr(state, "data_ptr"):
        return {"dtype": "uint8", "base64": base64.b64encode(bytes(state.tolist())).decode()}
    return [storable(part) for part in state] if isinstance(state, (tuple, list)) else state


def stored(state: Any) -> Any:
    """Read what `storable` wrote."""
    if isinstance(state, dict):
        data = base64.b64decode(state["base64"])
        if state["dtype"] == "uint8":
            return torch.tensor(list(data), dtype=torch.uint8)
        numpy: Any = sys.modules["numpy"]
        return numpy.frombuffer(data, state["dtype"]).copy()
    return tuple(stored(part) for part in state) if isinstance(state, list) else state


def put_back(states: dict[str, Any]) -> None:
    """Set the generators of torch and, where they are loaded, of `random` and numpy."""
    torch.set_rng_state(states["torch"])
    for name, module, setter in (("random", "random", "setstate"), ("numpy", "numpy.random", "set_state")):
        if name in states and module in sys.modules:
            getattr(sys.modules[module], setter)(states[name])


def current_states(names: Iterable[str]) -> dict[str, Any]:
    """The states as they are now, of those of `random` and `numpy` that are named."""
    getters = {"random": ("random", "getstate"), "numpy": ("numpy.random", "get_state")}
    found = {}
    for name in names:
        module, getter = getters[name]
        if module in sys.modules:
            found[name] = getattr(sys.modules[module], getter)()
    return found

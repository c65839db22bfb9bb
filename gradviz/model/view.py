"""What a person looks at: a frozen state with a JSON form, shared by the window, the commands and stories."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, fields
from typing import Literal, NoReturn

from gradviz.errors import UsageError
from gradviz.model.checking import built
from gradviz.texts import tr

Theme = Literal["light", "dark", "print", "contrast"]
Direction = Literal["RL", "LR", "TB", "BT"]


@dataclass(frozen=True, slots=True)
class Camera:
    """The part of the scene that is seen: centre in scene units (y down) and pixels per scene unit."""

    x: float = 0.0
    y: float = 0.0
    zoom: float = 1.0


@dataclass(frozen=True)
class ViewState:
    """Folding and selection go by key, so that they survive a re-run. `camera` None means "fit".

    `call` is a label; `time` is in beats of the timeline (a beat is one execution). `expanded` holds the keys of
    unfolded groups, `("*",)` all of them; `filters` are words such as `no-grad`, `upstream:KEY`, `call-only`. `legend`,
    `captions` and `steps` (the number of the step in the caption) tell what stands around a picture.
    """

    call: str | None = None
    time: float | None = None
    expanded: tuple[str, ...] = ()
    folded: tuple[str, ...] = ()
    selected: tuple[str, ...] = ()
    bookmarks: tuple[str, ...] = ()
    camera: Camera | None = None
    filters: tuple[str, ...] = ()
    direction: Direction = "RL"
    order: Literal["engine", "wavefront"] = "engine"
    theme: Theme = "light"
    scale_range: tuple[float, float] | None = None
    legend: bool = True
    captions: bool = True
    steps: bool = True
    title: str | None = None

    def to_json(self) -> str:
        """The JSON text of this view; only what differs from the default is written."""
        default = ViewState()
        changed = {f.name for f in fields(self) if getattr(self, f.name) != getattr(default, f.name)}
        return json.dumps({"view": 1, **{k: v for k, v in asdict(self).items() if k in changed}}, indent=1)

    @staticmethod
    def from_json(text: str) -> ViewState:
        """Read a view. Unknown fields are ignored, so that a newer version's file still opens.

        Raises:
            UsageError: the text is not a view of ours.
        """
        try:
            raw = json.loads(text, parse_constant=_refuse, parse_float=_finite)
            if not isinstance(raw, dict) or raw.get("view") != 1:
                raise ValueError('no "view": 1 in it')
            return built(ViewState, raw)
        except (ValueError, RecursionError) as error:
            raise UsageError(tr("This is not a view file of gradviz: {why}.", why=error)) from error


def _finite(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _refuse(digits)


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} in it")

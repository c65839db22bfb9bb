"""From a recording to what is shown at a moment, without Qt and without pictures.

How it is used::

    numbers = story(recording, label=None)             # the calls that are told together (one picture)
    timeline = Timeline(recording, numbers, order="engine")      # or order="wavefront"
    frame = timeline.state_at(t)                       # t in beats, 0 <= t <= timeline.length; pure, any order
    clock = Clock(timeline.seconds, now=time.monotonic)          # seconds at speed 1; clock.seconds -> timeline.beat_at

Timeline: `stage` (union graph of the calls, `Stage.graph`), `beats` (tuple of `Beat`: kind, call, label, nodes),
`marks` (calls, clearings, errors on the slider), `length` (beats), `seconds` (duration at speed 1),
`beat_at(seconds) -> t`, `second_at(t)`, `still(index) -> t` (the moment at which a step is best looked at),
`call_span(number) -> (first beat, end)`, `changes(frame, frame) -> Changes | None` (None: everything may differ).

Frame (frozen): `t`, `beat`, `alpha`, `call`, `title`, `sentence`, `active`, `pulses`, and asked per element
`node(id) -> NodeState` (phase, arrivals per output with the terms so far), `edge(i) -> EdgeState`,
`leaf(id) -> GradState` (`.grad` as parts by call), `retained(id) -> tuple[GradState, ...]`, `seeds`.

`Boundary` and `Bundle` tell the same of a set of nodes and of several edges that are drawn as one.

Node ids are those of `timeline.stage.graph`; edges go by their index in `timeline.stage.graph.edges`.
"""

from gradviz.playback.beats import Beat, BeatKind, Mark
from gradviz.playback.boundary import Boundary, Bundle, Flow, GroupState
from gradviz.playback.clock import Clock
from gradviz.playback.frame import Changes, Frame
from gradviz.playback.stage import Stage, readable, story
from gradviz.playback.states import (
    Arrival,
    EdgeState,
    GradState,
    NodeState,
    Part,
    Pulse,
    SeedState,
    Term,
)
from gradviz.playback.timeline import Timeline

__all__ = [
    "Arrival",
    "Beat",
    "BeatKind",
    "Boundary",
    "Bundle",
    "Changes",
    "Clock",
    "EdgeState",
    "Flow",
    "Frame",
    "GradState",
    "GroupState",
    "Mark",
    "NodeState",
    "Part",
    "Pulse",
    "SeedState",
    "Stage",
    "Term",
    "Timeline",
    "readable",
    "story",
]

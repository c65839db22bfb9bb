"""Frozen values: what was recorded, as every other package sees it. Standard library only."""

from gradviz.model.calls import (
    Accumulation,
    Call,
    CallDetail,
    CallError,
    Execution,
    Gradient,
    Input,
    Root,
)
from gradviz.model.findings import Code, Finding, Level
from gradviz.model.graph import Edge, Graph, Kind, Node, Output, Place, Saved
from gradviz.model.recording import (
    Binding,
    Event,
    Header,
    Outcome,
    OutputChunk,
    Recording,
    RecordingSource,
    ScriptWarning,
)
from gradviz.model.tensors import Statistics, TensorValue, Thumbnail
from gradviz.model.view import Camera, ViewState

__all__ = [
    "Accumulation",
    "Binding",
    "Call",
    "CallDetail",
    "CallError",
    "Camera",
    "Code",
    "Edge",
    "Event",
    "Execution",
    "Finding",
    "Gradient",
    "Graph",
    "Header",
    "Input",
    "Kind",
    "Level",
    "Node",
    "Outcome",
    "Output",
    "OutputChunk",
    "Place",
    "Recording",
    "RecordingSource",
    "Root",
    "Saved",
    "ScriptWarning",
    "Statistics",
    "TensorValue",
    "Thumbnail",
    "ViewState",
]

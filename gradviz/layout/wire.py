"""How the client and the helper process talk: JSON messages, each behind its length in four bytes."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import IO, Any

import numpy as np

from gradviz.errors import ProtocolError
from gradviz.layout.values import Curve, LayoutGraph, Placement, Point
from gradviz.texts import tr

Message = dict[str, Any]

LENGTH = struct.Struct(">I")
LONGEST = 1 << 30


def write_message(stream: IO[bytes], message: Message) -> None:
    """Write one message and flush."""
    body = json.dumps(message, separators=(",", ":")).encode("ascii")
    stream.write(LENGTH.pack(len(body)) + body)
    stream.flush()


def read_message(stream: IO[bytes]) -> Message | None:
    """Read one message; None at the end of the stream.

    Raises:
        ProtocolError: what came is no message.
    """
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    if length > LONGEST:
        raise ProtocolError(tr("The layout helper announced a message of {length} bytes.", length=length))
    body = stream.read(length)
    if len(body) < length:
        return None
    try:
        message = json.loads(body)
    except ValueError as error:
        raise ProtocolError(tr("The layout helper sent no JSON: {error}", error=error)) from error
    if not isinstance(message, dict):
        raise ProtocolError(tr("The layout helper sent no message but {kind}.", kind=type(message).__name__))
    return message


def graph_to_json(graph: LayoutGraph) -> Message:
    """Return the JSON form of a graph."""
    return dict(vars(graph))


def graph_from_json(data: Message) -> LayoutGraph:
    """Return the graph of a JSON form."""
    pairs = {
        name: tuple([None if pair is None else (pair[0], pair[1]) for pair in data[name]])
        for name in ("sizes", "edges", "edge_labels", "anchors")
    }
    sizes = {name: (data[name][0], data[name][1]) for name in ("stub_size", "view")}
    return LayoutGraph(**{**data, **pairs, **sizes})


def placement_to_json(placement: Placement) -> Message:
    """Return the JSON form of a placement; its points, 100,000 or more, are one text each for boxes and for curves."""
    shapes: list[int] = []
    points: list[Point] = []
    for curve in placement.curves:
        _take_apart(curve, shapes, points)
    return {
        **vars(placement),
        "positions": _text_of(placement.positions),
        "curves": {"shapes": shapes, "points": _text_of(points)},
    }


def placement_from_json(data: Message) -> Placement:
    """Return the placement of a JSON form."""
    shapes, points = iter(data["curves"]["shapes"]), iter(_points_of(data["curves"]["points"]))
    curves = tuple([_put_together(shape, shapes, points) for shape in shapes])
    return Placement(**{**data, "positions": tuple(_points_of(data["positions"])), "curves": curves})


def _take_apart(curve: Curve, shapes: list[int], points: list[Point]) -> None:
    """Note the shape of a curve (how many points, has it a label, is it in two halves, which follow) and its points."""
    shapes.append(4 * len(curve.points) + 2 * (curve.stub is not None) + (curve.label is not None))
    points += curve.points
    if curve.label is not None:
        points.append(curve.label)
    for half in curve.stub or ():
        _take_apart(half, shapes, points)


def _put_together(shape: int, shapes: Iterator[int], points: Iterator[Point]) -> Curve:
    mine = tuple(islice(points, shape >> 2))
    label = next(points) if shape & 1 else None
    if not shape & 2:
        return Curve(mine, label)
    halves = (_put_together(next(shapes), shapes, points), _put_together(next(shapes), shapes, points))
    return Curve(mine, label, halves)


def _text_of(points: Sequence[Point]) -> str:
    flat = np.fromiter(chain.from_iterable(points), "<f8", 2 * len(points))
    return base64.b64encode(flat.tobytes()).decode("ascii")


def _points_of(text: str) -> list[Point]:
    flat = np.frombuffer(base64.b64decode(text), "<f8")
    return list(map(tuple, flat.reshape(-1, 2).tolist()))

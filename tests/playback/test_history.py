"""Histories of `.grad` over calls, with sums worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gradviz.errors import DamagedRecordingError
from gradviz.model import CallDetail, Event, Place, Recording, Statistics, TensorValue
from gradviz.playback.history import GradHistory, as_if_cleared, grad_histories
from tests import recordings


def history(histories: tuple[GradHistory, ...], name: str) -> GradHistory:
    return next(found for found in histories if found.name == name)


def told(found: GradHistory) -> list[tuple[str, str | None, object, object]]:
    """kind, call's label, incoming, after."""
    return [
        (entry.kind, entry.label, entry.incoming and entry.incoming.nested(), entry.after and entry.after.nested())
        for entry in found.entries
    ]


def test_two_calls_add_up() -> None:
    found = grad_histories(recordings.two_calls())
    assert told(history(found, "t1")) == [("brought", "1", 4.0, 4.0), ("brought", "2", 20.0, 24.0)]
    assert told(history(found, "t2")) == [("brought", "1", 1.0, 1.0), ("brought", "2", 5.0, 6.0)]
    assert told(history(found, "t3")) == [("brought", "2", 1.0, 1.0)]
    assert [(f.name, f.retained) for f in found] == [("t2", True), ("t1", False), ("t3", True)]


def test_a_clearing_in_between_is_told_once_with_its_line() -> None:
    place = Place(recordings.SCRIPT, 9)
    cleared = recordings.two_calls([Event("grad_cleared", 2, ("t1",), place)])
    found = history(grad_histories(cleared), "t1")
    assert told(found) == [("brought", "1", 4.0, 4.0), ("cleared", None, None, None), ("brought", "2", 20.0, 20.0)]
    assert found.entries[1].place == place
    assert [entry.label for entry in found.parts] == ["2"]


def test_the_parts_are_what_is_in_the_gradient_at_the_end() -> None:
    found = history(grad_histories(recordings.two_calls()), "t1")
    assert [(entry.label, entry.incoming and entry.incoming.nested()) for entry in found.parts] == [
        ("1", 4.0),
        ("2", 20.0),
    ]
    assert found.final is not None and found.final.nested() == 24.0


def test_a_step_tells_what_was_held() -> None:
    events = [Event("optimizer_step", 2, ("t1",)), Event("optimizer_step", None, ("t1",))]
    found = history(grad_histories(recordings.two_calls(events)), "t1")
    assert [(entry.kind, entry.after and entry.after.nested()) for entry in found.entries] == [
        *(("brought", 4.0), ("step", 4.0), ("brought", 24.0), ("step", 24.0))
    ]


def test_as_if_cleared_before_the_second_call() -> None:
    found = as_if_cleared(history(grad_histories(recordings.two_calls()), "t1"), 2)
    assert told(found) == [("brought", "1", 4.0, 4.0), ("cleared", "2", None, None), ("brought", "2", 20.0, 20.0)]
    assert found.final is not None and found.final.nested() == 20.0


def test_as_if_cleared_in_a_loop() -> None:
    """w.grad grows by k at call k: 1, 3, 6, 10; cleared before call 3 it would end at 3 + 4 = 7."""
    (found,) = grad_histories(recordings.loop(4))
    assert [entry.after and entry.after.nested() for entry in found.entries] == [1.0, 3.0, 6.0, 10.0]
    other = as_if_cleared(found, 3)
    assert [entry.after and entry.after.nested() for entry in other.entries] == [1.0, 3.0, None, 3.0, 7.0]
    assert [entry.label for entry in other.parts] == ["3", "4"]
    assert all(entry.known for entry in other.entries if entry.kind == "brought")
    assert as_if_cleared(found, 99) == found


def test_only_some_calls() -> None:
    (found,) = grad_histories(recordings.loop(5), calls=(2, 3))
    assert [(entry.kind, entry.label) for entry in found.entries] == [
        ("assigned", None),
        ("brought", "2"),
        ("brought", "3"),
    ]


class Torn(recordings.MemorySource):
    """A source in which one call cannot be read."""

    broken = 0

    def detail(self, number: int) -> CallDetail:
        if number == self.broken:
            raise DamagedRecordingError("torn")
        return super().detail(number)


def torn(recording: Recording, number: int) -> Recording:
    source = recording.source
    assert isinstance(source, recordings.MemorySource)
    made = Torn(source.graphs, source.details)
    made.broken = number
    return replace(recording, source=made)


def test_a_call_that_cannot_be_read_is_named_and_passed_over() -> None:
    """w gets 1, 2, 3, 4; the second call is torn: what it brought is seen in what the third one found."""
    (found,) = grad_histories(torn(recordings.loop(4), 2))
    assert found.unread == ("2",)
    assert told(found) == [
        ("brought", "1", 1.0, 1.0),
        ("missed", None, None, 3.0),
        ("brought", "3", 3.0, 6.0),
        ("brought", "4", 4.0, 10.0),
    ]
    assert [entry.label for entry in found.parts] == ["3", "4"]


def test_a_call_without_detail_is_missed_and_not_damaged() -> None:
    recording = recordings.loop(3)
    calls = (recording.calls[0], replace(recording.calls[1], detail="none"), recording.calls[2])
    (found,) = grad_histories(replace(recording, calls=calls))
    assert found.unread == ()
    assert [entry.kind for entry in found.entries] == ["brought", "missed", "brought"]


def test_what_would_have_been_is_unknown_behind_a_gap_and_known_again_behind_a_clearing() -> None:
    events = [Event("grad_cleared", 4, ("w",))]
    recording = recordings.loop(4)
    source = recording.source
    assert isinstance(source, recordings.MemorySource)
    last = source.details[4]
    four = last.accumulations[0].incoming
    source.details[4] = replace(
        last, accumulations=(replace(last.accumulations[0], before=None, after=four, left=four),)
    )
    (found,) = grad_histories(replace(torn(recording, 2), events=tuple(events)))
    other = as_if_cleared(found, 1)
    assert [(entry.kind, entry.known) for entry in other.entries] == [
        *(("cleared", False), ("brought", True), ("missed", False), ("brought", False), ("cleared", True)),
        ("brought", True),
    ]
    assert other.final is not None and other.final.nested() == 4.0


def test_sums_of_what_was_not_kept_stay_unknown() -> None:
    """Once a sum is not known nothing that is added to it is."""
    large = TensorValue((100_000,), "float32", measured=Statistics(2.0, -1.0, 1.0, 0.0, 0, 0, 0))
    recording = recordings.loop(4)
    source = recording.source
    assert isinstance(source, recordings.MemorySource)
    for number, detail in source.details.items():
        before = None if number == 1 else large
        entry = replace(detail.accumulations[0], before=before, incoming=large, after=large, left=large)
        source.details[number] = replace(detail, accumulations=(entry,))
    (found,) = grad_histories(recording)
    other = as_if_cleared(found, 2)
    assert [entry.known for entry in other.entries] == [True, False, True, False, False]


def test_work_that_nobody_waits_for_ends() -> None:
    def check() -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        grad_histories(recordings.loop(3), check=check)

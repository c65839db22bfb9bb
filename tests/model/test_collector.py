"""Many objects are made without the collector, and it never looks at them; few are left to it."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from gradviz.model.collector import held_collector


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    gc.collect()
    yield
    gc.unfreeze()
    gc.enable()


@pytest.mark.parametrize(("count", "frozen"), [(100, False), (100_000, True)])
def test_only_many_objects_are_put_out_of_sight(count: int, frozen: bool) -> None:
    before = gc.get_freeze_count()
    with held_collector():
        assert not gc.isenabled()
        kept = [[number] for number in range(count)]
    assert gc.isenabled()
    assert (gc.get_freeze_count() - before >= len(kept)) == frozen


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    before = gc.get_freeze_count()
    with held_collector():
        kept = [[number] for number in range(100_000)]
    assert kept
    assert not gc.isenabled()
    assert gc.get_freeze_count() == before


def test_it_goes_on_after_an_exception() -> None:
    with pytest.raises(ZeroDivisionError), held_collector():
        raise ZeroDivisionError
    assert gc.isenabled()

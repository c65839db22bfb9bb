"""The tree of calls: what is folded, what is under what."""

from __future__ import annotations

from dataclasses import replace

from gradviz.app.call_tree import call_tree, repetition
from gradviz.model import CallDetail, CallError, Graph
from tests.recordings import ACCUMULATE, SCRIPT, call, leaf, recording, root, tensor, two_calls

X = leaf(0, "x")


def made(*heads: object) -> object:
    return recording([(head, Graph((), ()), CallDetail()) for head in heads])  # type: ignore[misc]


def test_a_call_has_the_words_of_its_line() -> None:
    first, second = call_tree(two_calls(), {SCRIPT: ACCUMULATE})
    assert first.title == "t2.backward(retain_graph=True)"
    assert first.detail == "line 8 · seed 1 · 2 nodes"
    assert second.title == "t3.backward()"
    assert second.number == 2


def test_without_sources_the_call_is_written_from_what_is_known() -> None:
    (entry, _) = call_tree(two_calls(), {})
    assert entry.title == "t2.backward()"


def test_the_shortest_period_is_found() -> None:
    assert repetition("aaaaa", 0) == (1, 5)
    assert repetition("abababab", 0) == (2, 4)
    assert repetition("xabababab", 1) == (2, 4)
    assert repetition("abcabc", 0) == (1, 1)  # two rounds are read at a glance
    assert repetition("aaabaaab" * 3, 0) == (4, 6)


def test_a_loop_with_two_calls_a_round_is_folded_by_round() -> None:
    heads = [call(k, [root(X, tensor(1.0))], 2, line=5 + (k % 2)) for k in range(1, 11)]
    (loop,) = call_tree(made(*heads), {})  # type: ignore[arg-type]
    assert loop.kind == "loop"
    assert loop.detail == "× 5 · lines 5, 6"
    assert [part.kind for part in loop.children] == ["round"] * 5
    assert [entry.number for entry in loop.children[1].children] == [3, 4]


def test_nested_calls_are_under_theirs_at_any_depth() -> None:
    depth = 1500  # deeper than Python's own stack
    heads = [
        call(k, [root(X, tensor(1.0))], 1, label=".".join("1" for _ in range(k)), parent=k - 1 if k > 1 else None)
        for k in range(1, depth + 1)
    ]
    (entry,) = call_tree(made(*heads), {})  # type: ignore[arg-type]
    count = 1
    while entry.children:
        (entry,) = entry.children
        count += 1
    assert count == depth


def test_what_ifs_stand_apart() -> None:
    heads = [call(1, [root(X, tensor(1.0))], 1), call(2, [root(X, tensor(0.5), True)], 1, what_if=True)]
    script, tried = call_tree(made(*heads), {})  # type: ignore[arg-type]
    assert script.number == 1
    assert tried.kind == "heading"
    assert [entry.number for entry in tried.children] == [2]


def test_a_failure_shows_through_its_loop() -> None:
    error = CallError("RuntimeError", "no")
    heads = [call(k, [root(X, tensor(1.0))], 2, line=5, error=error if k == 3 else None) for k in range(1, 6)]
    (loop,) = call_tree(made(*heads), {})  # type: ignore[arg-type]
    assert loop.failed
    assert [entry.failed for entry in loop.children] == [False, False, True, False, False]


def test_a_root_that_got_no_seed_names_none() -> None:
    """A root without a graph fails in the engine; nobody made a seed for it."""
    error = CallError("RuntimeError", "element 0 of tensors does not require grad and does not have a grad_fn", None)
    head = call(1, [replace(root(X, None), node=None)], 0, line=6, error=error)
    (entry,) = call_tree(made(head), {})  # type: ignore[arg-type]
    assert entry.detail == "line 6 · RuntimeError"

"""What must be seen at a moment is in the display list, in the right place and readable."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest

from gradviz.model import CallDetail, CallError, Edge, Event, Graph, Recording, Root, ViewState
from gradviz.render import THEMES, Display, Item, Scene, changed_items, legend_list, theme
from gradviz.render.shapes import Bounds, Circle, Curve, Polygon, Rect, Shape, Text
from gradviz.render.theme import contrast, mix
from tests import recordings as made
from tests.render.pictures import display_at, moments, scene_of, words

MAKERS = {
    "two_calls": made.two_calls,
    "cleared": lambda: made.two_calls([Event("grad_cleared", 2, ("t1",))]),
    "fan_in": made.fan_in,
    "leaf_root": made.leaf_root,
    "no_seed": made.no_seed,
    "returned": made.returned,
    "loop": lambda: made.loop(7),
}


def odd_values() -> Recording:
    """A root of shape (3,) with nan, inf and tiny values; an undefined and an exactly zero edge."""
    seed = made.tensor([math.nan, math.inf, 1.2e-7])
    zero, big = made.tensor([0.0, 0.0, 0.0]), made.tensor([[1.0] * 40] * 30)
    y = made.node(0, "CustomBackward", "y", value=made.tensor([1.0, 2.0, 3.0]), line=1, kind="custom")
    leaves = [made.leaf(k, f"w{k}", zero, line=k) for k in (1, 2)] + [made.leaf(3, "梯度", big, line=3)]
    edges = tuple(Edge(0, slot, slot + 1, 0) for slot in range(3))
    runs = (
        made.execution(0, 0, [seed], [None, zero, big]),
        made.execution(1, 1, [None]),
        made.execution(2, 2, [zero]),
        made.execution(3, 3, [big]),
    )
    sums = tuple(made.accumulation(f"w{k}", k, None, value, value, k) for k, value in ((2, zero), (3, big)))
    head = made.call(1, [made.root(y, seed, True)], 4)
    return made.recording([(head, Graph((y, *leaves), edges), CallDetail(runs, sums))])


def no_graph() -> Recording:
    """`w.backward()` of a tensor without a `grad_fn`."""
    error = CallError("RuntimeError", "element 0 of tensors does not require grad and does not have a grad_fn")
    bare = Root("tensor", "w", None, 0, (), "float32", None, False, made.tensor(7.0))
    return made.recording([(made.call(1, [bare], 0, engine=False, error=error), Graph((), ()), CallDetail())])


MAKERS |= {"odd_values": odd_values, "no_graph": no_graph}


@pytest.fixture(params=MAKERS)
def scene(request: pytest.FixtureRequest) -> Scene:
    return scene_of(MAKERS[request.param]())


def item(scene: Scene, t: float, name: str) -> Item:
    return display_at(scene, t).by_id[name]


def test_the_end_of_the_two_calls() -> None:
    scene = scene_of(made.two_calls())
    end = scene.plan.timeline.length
    t1, t2, t3 = (item(scene, end, f"node-{k}") for k in (1, 0, 2))
    assert words(t1) == ["t1", "leaf", "data", "3", "gradient", "20", ".grad", "4", "+ 20", "= 24"]
    assert words(t2) == ["t2", "Mul", "data", "12", "gradient", "5", "retained .grad", "1 + 5 = 6"]
    assert words(t3)[-2:] == ["retained .grad", "None → 1"]
    assert words(item(scene, end, "label-0")) == ["20"]
    assert [name for name in display_at(scene, end).by_id if name.startswith("seed")] == ["seed-node-2-0"]
    assert words(item(scene, end, "seed-node-2-0")) == ["seed v   shape ()", "1", "implicit"]


def test_the_parts_of_grad_are_in_the_shades_of_their_calls() -> None:
    scene = scene_of(made.two_calls())
    bars = [s for s in item(scene, 7.0, "node-1").shapes if isinstance(s, Rect) and s.fill in theme("light").calls]
    assert [bar.fill for bar in bars] == list(theme("light").calls[:2])
    assert bars[1].width > bars[0].width
    assert bars[1].x > bars[0].x + bars[0].width


def test_in_the_middle_of_a_step_the_node_glows_and_a_dot_is_on_its_way() -> None:
    scene = scene_of(made.two_calls())
    display = display_at(scene, 5.5)
    assert "active" in display.by_id["node-0"].kind
    halo = display.by_id["node-0"].shapes[0]
    assert isinstance(halo, Rect) and halo.pen is not None and halo.pen.color == theme("light").accent
    (pulse,) = [i for i in display.items if i.kind == "pulse"]
    dot = pulse.shapes[0]
    assert isinstance(dot, Circle)
    left, right = scene.cards[scene.box_of(1).index][2], scene.cards[scene.box_of(0).index][0]  # type: ignore[union-attr]
    assert left < dot.x < right
    assert words(display.by_id["label-0"]) == ["20"]
    assert "20" not in words(display.by_id["node-1"])
    assert display.items[-1] is pulse


def test_what_has_not_run_is_pale_and_tinted_after() -> None:
    scene = scene_of(made.two_calls())
    before, after = item(scene, 3.0, "node-2"), item(scene, 7.0, "node-2")
    colors = theme("light")
    fills = [next(s.fill for s in i.shapes if isinstance(s, Rect) and s.fill) for i in (before, after)]
    assert fills == [mix(colors.root_fill, colors.paper, 0.5), colors.root_fill]
    chips = [s.fill for s in item(scene, 7.0, "node-1").shapes if isinstance(s, Rect)]
    assert scene.plan.scale.tint(20.0, colors) in chips
    assert scene.plan.scale.tint(20.0, colors) == colors.scale_high


def test_terms_of_a_fan_in_are_added_one_by_one() -> None:
    scene = scene_of(made.fan_in())
    assert words(item(scene, 2.9, "node-3"))[4:6] == ["1 of 2 terms", "5"]
    assert words(item(scene, 3.9, "node-3"))[4:7] == ["gradient", "7", "5 + 2"]


def test_a_missing_seed_and_the_error_are_at_the_root() -> None:
    scene = scene_of(made.no_seed())
    display = display_at(scene, 1.0)
    assert words(display.by_id["seed-node-0-0"]) == ["seed v", "needs shape (1, 3)", "not given"]
    root = display.by_id["node-0"]
    assert "failed" in root.kind
    said = words(root)
    told = " ".join(said[said.index("RuntimeError") + 1 :])  # in as many lines as the font of this machine needs
    assert told == "grad can be implicitly created only for scalar outputs"
    assert any(isinstance(s, Rect) and s.fill == theme("light").error_fill for s in root.shapes)


def test_a_root_without_a_graph_is_a_box_of_its_own() -> None:
    display = display_at(scene_of(no_graph()), 1.0)
    ghost = display.by_id["root-1-0"]
    assert words(ghost)[:4] == ["w", "no grad_fn", "data", "7"]
    assert "RuntimeError" in words(ghost)
    seed = next(item for name, item in display.by_id.items() if name.startswith("seed-"))
    assert words(seed) == ["seed v", "has no graph to enter"]  # a seed would not help: "needs" would mislead


def test_a_leaf_as_root_has_its_seed_above_it() -> None:
    scene = scene_of(made.leaf_root())
    display = display_at(scene, 2.0)
    seed, leaf = display.by_id["seed-node-0-0"], display.by_id["node-0"]
    assert words(seed)[:2] == ["seed v   shape (2, 2)", "2"] and words(seed).count("2") == 4
    assert words(leaf).count("2") == 12  # data, gradient, .grad
    assert "leaf" in leaf.kind.split()
    assert scene.seed_rects(scene.plan.boxes[0], 1)[0][0][3] < scene.cards[0][1]


def test_none_zero_nan_and_small_numbers_are_written_as_they_are() -> None:
    scene = scene_of(odd_values())
    display = display_at(scene, 6.0)
    root = words(display.by_id["node-0"])
    assert {"nan", "inf", "1.2e-07"} <= set(root) and "custom" in root
    assert words(display.by_id["node-1"])[-1] == "None"
    assert words(display.by_id["node-2"]).count("0") == 9
    big = words(display.by_id["node-3"])
    assert "梯度" in big and big.count("(30, 40)") == 3 and "norm 34.64" in big  # sqrt(1200)


def test_undefined_edges_are_dotted_and_exact_zeros_pale() -> None:
    scene = scene_of(odd_values())
    display = display_at(scene, 6.0)
    undefined, zero, full = (display.by_id[f"edge-{k}"] for k in range(3))
    lines = [next(s for s in i.shapes if isinstance(s, Curve)).pen for i in (undefined, zero, full)]
    assert lines[0].dash and not lines[1].dash and not lines[2].dash
    assert lines[1].color == theme("light").edge_zero
    assert [i.kind for i in (undefined, zero, full)] == ["edge undefined", "edge zero", "edge done"]
    assert "label-0" not in display.by_id and words(display.by_id["label-1"]) == ["[0, 0, 0]"]


@pytest.mark.parametrize("direction", ["RL", "LR", "TB", "BT"])
def test_edges_end_on_cards_and_parallel_ones_are_apart(direction: str) -> None:
    scene = scene_of(made.returned(), ViewState(direction=direction))  # type: ignore[arg-type]
    routes = scene.routes
    assert len(routes) == 2
    for link, route in zip(scene.plan.links, routes, strict=True):
        for (x, y), box in ((route.points[0], link.source), (route.points[-1], link.target)):
            left, top, right, bottom = scene.cards[box]
            on_x = min(abs(x - left), abs(x - right)) < 0.01 and top <= y <= bottom
            on_y = min(abs(y - top), abs(y - bottom)) < 0.01 and left <= x <= right
            assert on_x or on_y
    (x0, y0), (x1, y1) = (route.at(0.5) for route in routes)
    assert math.hypot(x0 - x1, y0 - y1) > 8.0


def test_every_text_reads_on_its_ground_in_every_theme(scene: Scene) -> None:
    for name in THEMES:
        for t in moments(scene, 2):
            display = display_at(scene, t, name)
            for thing in display.items:
                for place, shape in enumerate(thing.shapes):
                    if isinstance(shape, Text) and shape.text:
                        ground = ground_of(shape, thing.shapes[:place], theme(name).paper)
                        assert contrast(shape.color, ground) >= 4.5, (name, t, thing.id, shape.text)


def ground_of(text: Text, before: tuple[Shape, ...], paper: str) -> str:
    """The fill that was painted last under the middle of a text."""
    x, y = text.left + text.width / 2, text.y - 4.0
    ground = paper
    for shape in before:
        if not isinstance(shape, Rect) or shape.fill is None or shape.opacity < 1.0:
            continue
        if shape.x <= x <= shape.x + shape.width and shape.y <= y <= shape.y + shape.height:
            ground = shape.fill
    return ground


def test_no_text_leaves_its_card_or_runs_into_another(scene: Scene) -> None:
    for t in moments(scene):
        display = display_at(scene, t)
        for thing in display.items:
            texts = [shape for shape in thing.shapes if isinstance(shape, Text)]
            for k, text in enumerate(texts):
                left, top, right, bottom = thing.bounds
                assert left <= text.left and text.left + text.width <= right + 0.5, (t, thing.id, text.text)
                assert top <= text.y - 8 and text.y <= bottom, (t, thing.id, text.text)
                for other in texts[k + 1 :]:
                    if abs(text.y - other.y) < 10.0:
                        apart = (
                            text.left + text.width <= other.left + 0.5 or other.left + other.width <= text.left + 0.5
                        )
                        assert apart, (t, thing.id, text.text, other.text)


def test_everything_is_painted_inside_its_bounds_and_the_scene(scene: Scene) -> None:
    left, top, right, bottom = scene.bounds
    for t in moments(scene):
        for thing in display_at(scene, t).items:
            a, b, c, d = thing.bounds
            assert left <= a and top <= b and c <= right and d <= bottom, thing.id
            for shape in thing.shapes:
                x0, y0, x1, y1 = extent(shape)
                assert a - 0.01 <= x0 and b - 0.01 <= y0 and x1 <= c + 0.01 and y1 <= d + 0.01, (thing.id, shape)


def extent(shape: Shape) -> Bounds:
    if isinstance(shape, Text):
        return shape.left, shape.y - 8, shape.left + shape.width, shape.y
    if isinstance(shape, Curve | Polygon):
        xs, ys = [x for x, _ in shape.points], [y for _, y in shape.points]
        return min(xs), min(ys), max(xs), max(ys)
    if isinstance(shape, Circle):
        return shape.x - shape.radius, shape.y - shape.radius, shape.x + shape.radius, shape.y + shape.radius
    return shape.x, shape.y, shape.x + shape.width, shape.y + shape.height


def test_boxes_do_not_move_or_grow(scene: Scene) -> None:
    cards = {t: [i.shapes for i in display_at(scene, t).items if i.kind.startswith("node")] for t in moments(scene)}
    for shapes in cards.values():
        for box, drawn in zip(scene.plan.boxes, shapes, strict=True):
            left, top, right, bottom = scene.cards[box.index]
            assert any(
                isinstance(s, Rect) and (s.x, s.y, s.width, s.height) == (left, top, right - left, bottom - top)
                for s in drawn
            )


def test_a_list_made_from_another_frame_equals_one_from_scratch(scene: Scene) -> None:
    colors = theme("light")
    kept = Display(scene, colors)
    order = list(moments(scene, 5))
    jumps = order + random.Random(5).choices(order, k=80)
    for t in jumps:
        frame = scene.plan.timeline.state_at(t)
        assert kept.at(frame).items == Display(scene, colors).at(frame).items, t


def test_ids_are_unique_and_changes_are_found(scene: Scene) -> None:
    lists = [display_at(scene, t) for t in moments(scene)]
    for old, new in pairwise(lists):
        assert len(new.by_id) == len(new.items)
        changed, gone = changed_items(old, new)
        rebuilt = {name: thing for name, thing in old.by_id.items() if name not in gone}
        rebuilt |= {thing.id: thing for thing in changed}
        assert rebuilt == new.by_id


def hooked() -> Recording:
    """`y` got [4, 8]; a hook of the script made [1.5, 1.5] of it."""
    was, now = made.tensor([4.0, 8.0]), made.tensor([1.5, 1.5])
    z = made.node(0, "SumBackward0", "z", value=made.tensor(20.0), line=3)
    y = made.node(1, "MulBackward0", "y", value=made.tensor([2.0, 4.0]), line=2)
    x = made.leaf(2, "x", made.tensor([1.0, 2.0]), line=1)
    changed = replace(made.execution(1, 1, [now], [made.tensor([3.0, 3.0])]), arrived=(was,))
    one = made.tensor(1.0)
    runs = (made.execution(0, 0, [one], [was]), changed, made.execution(2, 2, [made.tensor([3.0, 3.0])]))
    graph = Graph((z, y, x), (Edge(0, 0, 1, 0), Edge(1, 0, 2, 0)))
    return made.recording([(made.call(1, [made.root(z, one)], 3), graph, CallDetail(runs))])


def test_a_gradient_that_a_hook_changed_tells_what_it_was() -> None:
    scene = scene_of(hooked())
    end = float(scene.plan.timeline.length)
    assert words(item(scene, end, "node-1"))[-3:] == ["1.5", "1.5", "hook: was [4, 8]"]
    assert "hook" in item(scene, end, "node-1").title
    assert "hook" not in " ".join(words(item(scene, end, "node-2")) + words(item(scene, 0.0, "node-1")))


def test_a_label_is_as_wide_as_its_text_in_the_room_kept_for_all() -> None:
    scene = scene_of(made.loop(7))
    end = float(scene.plan.timeline.length)
    for link in scene.plan.links:
        label = display_at(scene, end).by_id.get(f"label-{link.edges[0]}")
        if label is not None and link.label is not None:
            box, text = label.shapes[0], label.shapes[1]
            assert isinstance(box, Rect) and isinstance(text, Text)
            assert text.width + 8.0 <= box.width <= link.label[0] + 1e-6
            assert text.width + 21.0 >= box.width or box.width == pytest.approx(link.label[1])


def test_leaves_can_be_folded_into_their_operation() -> None:
    scene = scene_of(made.two_calls(), ViewState(filters=("fold-leaves",)))
    assert [box.id for box in scene.plan.boxes] == ["node-0", "node-2"] and len(scene.plan.links) == 1
    end = float(scene.plan.timeline.length)
    assert words(item(scene, end, "node-0"))[-4:-2] == ["t1", "24"]  # before the retained badge
    assert words(item(scene, 0.0, "node-0"))[-4:-2] == ["t1", "None"]
    box = scene.plan.boxes[0]
    assert scene.plan.box_of_node[1] is box and box.nodes == (0, 1)
    card = scene.cards[0]
    inside = [s for s in item(scene, end, "node-0").shapes if isinstance(s, Text) and s.text in ("t1", "24")]
    assert len(inside) == 2 and all(card[1] < text.y < card[3] for text in inside)


def test_a_leaf_that_several_use_keeps_its_box() -> None:
    scene = scene_of(made.from_edges([(0, 1), (0, 2), (1, 3), (2, 3), (2, 4)], 5), ViewState(filters=("fold-leaves",)))
    assert {box.nodes for box in scene.plan.boxes} == {(0,), (1,), (2, 4), (3,)}


def test_the_number_of_the_step_can_be_left_out() -> None:
    timeline = scene_of(made.two_calls()).plan.timeline
    frames = [timeline.state_at(timeline.still(k)) for k in range(timeline.length)]
    frames.append(timeline.state_at(float(timeline.length)))
    counted = [frame.sentence for frame in frames]
    plain = [frame.plain_sentence for frame in frames]
    assert any(text.startswith("engine step") for text in counted) and counted[-1].startswith("after 3 engine steps: ")
    for long, short in zip(counted, plain, strict=True):
        assert short and "engine step" not in short and long.endswith(short)


@pytest.mark.parametrize(("maker", "told"), [(made.two_calls, False), (hooked, True)])
def test_the_legend_tells_the_colours_of_signs_where_there_are_tensors(
    maker: Callable[[], Recording], told: bool
) -> None:
    legend = legend_list(scene_of(maker()).plan, theme("light")).items[0]
    assert ("elements below 0" in words(legend)) == told == ("above 0" in words(legend))
    colors = {shape.fill for shape in legend.shapes if isinstance(shape, Rect)}
    assert ({theme("light").negative, theme("light").positive} <= colors) == told

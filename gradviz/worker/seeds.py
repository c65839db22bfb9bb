"""Seeds as people write them: words, numbers, expressions over the script's variables; fitted to a root.

Nothing here runs the engine. The expression is the user's own code, evaluated in a snapshot of the script or in the
held script itself, never in the application.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from gradviz.errors import SeedError
from gradviz.texts import tr
from gradviz.worker.quiet import quiet

_SHOWN = 4096  # elements of a seed that are told one by one
_LONGEST = 200  # characters of a value's repr or of an exception's message in one of ours
_torch: Any = torch


@dataclass(frozen=True)
class Fit:
    """How a seed fits its root. `message` is None where it fits; `nearest` is an expression that would."""

    expected: tuple[int, ...]
    given: tuple[int, ...] | None
    dtype: str
    message: str | None = None
    nearest: str | None = None
    note: str | None = None  # it fits, and this is worth knowing
    nan: int = 0
    inf: int = 0
    values: Any = None  # its numbers as nested lists, where they are real and few enough to look at


@dataclass(frozen=True)
class Made:
    """A seed that was made: the tensor that the engine gets, None where it does not fit."""

    tensor: Any
    fit: Fit


def make(text: str, root: Target, variables: Mapping[str, Any]) -> Made:
    """Make the seed that `text` asks for.

    Raises:
        SeedError: the text does not parse, raises, or gives no tensor and no numbers.
    """
    value = _evaluate(text, {**_words(root), **variables}, root.shape)
    tensor = _as_tensor(value, text, root)
    return fitted(tensor, f"({text.strip()})" if tensor is value else _as_code(tensor, text.strip(), root), root)


@dataclass(frozen=True)
class Target:
    """What a seed must fit: a root's shape, dtype and device; `tensor` is the root itself where it is one."""

    shape: tuple[int, ...]
    dtype: torch.dtype
    device: torch.device
    tensor: Any = None

    @property
    def numel(self) -> int:
        """Elements of the root."""
        return int(torch.Size(self.shape).numel())


# -- words -------------------------------------------------------------------------------------------------------------


def ones(root: Target) -> Any:
    """All ones: the gradient of the sum of all outputs, which is also what `tf.gradients(y, x)` means."""
    return torch.ones(root.shape, dtype=root.dtype, device=root.device)


def zeros(root: Target) -> Any:
    """All zeros."""
    return torch.zeros(root.shape, dtype=root.dtype, device=root.device)


def one_hot(root: Target, *index: int) -> Any:
    """One at `index` (as many numbers as the root has dimensions, or one flat index), else zero: a Jacobian's row."""
    seed = zeros(root)
    if len(index) == 1 and len(root.shape) != 1:
        seed.reshape(-1)[index[0]] = 1
    else:
        if len(index) != len(root.shape):
            raise IndexError(
                tr("{given} indices for {expected} dimensions", given=len(index), expected=len(root.shape))
            )
        seed[index] = 1
    return seed


def row(root: Target, number: int) -> Any:
    """Ones in row `number` (dimension 0)."""
    seed = zeros(root)
    seed[number] = 1
    return seed


def column(root: Target, number: int) -> Any:
    """Ones in column `number` (the last dimension)."""
    seed = zeros(root)
    seed[..., number] = 1
    return seed


def normal(root: Target, number: int = 0) -> Any:
    """Random normal numbers, the same ones for the same `number`; the script's generator is not touched."""
    return _drawn(torch.randn, root, number)


def signs(root: Target, number: int = 0) -> Any:
    """Random signs, the same ones for the same `number`."""
    drawn = _drawn(torch.randn, root, number)
    return torch.where(drawn.real >= 0, 1, -1).to(root.dtype)


def itself(root: Target) -> Any:
    """The root's own value, as a constant."""
    return root.tensor.detach().clone()


WORDS: dict[str, Callable[..., Any]] = {
    "ones": ones,
    "zeros": zeros,
    "one_hot": one_hot,
    "row": row,
    "column": column,
    "normal": normal,
    "signs": signs,
    "itself": itself,
}


def _drawn(function: Any, root: Target, number: int) -> Any:
    generator = torch.Generator().manual_seed(number)
    dtype = root.dtype if root.dtype.is_floating_point or root.dtype.is_complex else torch.float32
    return function(root.shape, generator=generator, dtype=dtype).to(root.dtype).to(root.device)


def _words(root: Target) -> dict[str, Any]:
    """The words as names of an expression: `ones`, `2 * ones`, `one_hot(0) - one_hot(1)`."""
    found: dict[str, Any] = {name: partial(word, root) for name, word in WORDS.items()}
    # These need no argument, so that the bare word is the seed.
    found.update({name: WORDS[name](root) for name in ("ones", "zeros")})
    if root.tensor is not None:
        found.update(itself=itself(root), root=root.tensor)
    return found


# -- expressions -------------------------------------------------------------------------------------------------------


def _evaluate(text: str, variables: Mapping[str, Any], shape: tuple[int, ...]) -> Any:
    try:
        code = compile(text.strip(), "<seed>", "eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        why = error.msg if isinstance(error, SyntaxError) else str(error)
        raise SeedError(tr("The seed {text!r} is not a Python expression: {why}.", text=text, why=why)) from error
    space = {**_torch_names(), **variables}
    try:
        return eval(code, space)
    except (Exception, SystemExit) as error:
        what = f"{type(error).__name__}: {_first_line(error)}"
        if isinstance(error, MemoryError) or "can't allocate memory" in what:
            raise SeedError(
                tr("The seed {text!r} needs more memory than an experiment may take. A seed has the shape of its root, "
                   "{shape}.", text=text, shape=shape)
            ) from error  # fmt: skip
        if isinstance(error, TypeError) and "'Tensor' object is not callable" in what:
            raise SeedError(
                tr("The seed {text!r} calls a tensor. `ones` and `zeros` are written without brackets: they have the "
                   "shape of the root, {shape}. `torch.ones(...)` makes one of another shape.", text=text, shape=shape)
            ) from error  # fmt: skip
        raise SeedError(tr("The seed {text!r} raised {what}", text=text, what=what)) from error


def _torch_names() -> dict[str, Any]:
    """`ones_like`, `tensor` ...: torch's functions, where the script and Python have no such name."""
    taken = set(dir(builtins))
    listed = (name for name in dir(torch) if not name.startswith("_") and name not in taken)
    return {**{name: getattr(torch, name) for name in listed}, "torch": torch}


def _as_tensor(value: Any, text: str, root: Target) -> Any:
    """The value as a tensor: numbers and lists of numbers become one of the root's type."""
    if isinstance(value, torch.Tensor):
        return value
    if isinstance(value, partial):  # a bare word that wants arguments
        name = value.func.__name__
        raise SeedError(tr("The seed {name} wants an index or a number, as in {name}(0).", name=name))
    if isinstance(value, (int, float, complex, list, tuple)) or hasattr(value, "__array__"):
        try:
            made = torch.as_tensor(value, device=root.device)
            # Python's own numbers are as exact as the root: no detour through float32, and 1 is as good as 1.0.
            is_plain = not hasattr(value, "__array__") and not made.is_complex()
            return torch.as_tensor(value, dtype=root.dtype, device=root.device) if is_plain else made
        except (ValueError, TypeError, RuntimeError) as error:
            what = _first_line(error)
            raise SeedError(tr("The seed {text!r} is not a tensor of numbers: {why}", text=text, why=what)) from error
    kind = type(value).__name__
    raise SeedError(
        tr("The seed {text!r} gives a {kind}, not a tensor. A seed is a tensor of the shape of its root, {shape}.",
           text=text, kind=kind, shape=root.shape)
    )  # fmt: skip


def _as_code(tensor: Any, text: str, root: Target) -> str:
    """Numbers or lists as an expression of the tensor that was made of them: they have no `reshape` and no `expand`."""
    is_plain = root.dtype == torch.get_default_dtype() or tensor.dtype != root.dtype
    return f"torch.as_tensor({text})" if is_plain else f"torch.as_tensor({text}, dtype={root.dtype})"


# -- does it fit -------------------------------------------------------------------------------------------------------


def fitted(value: Any, code: str, root: Target) -> Made:
    """A tensor as the seed of a root: a detached copy of the root's type, or why it does not fit. `code` gives it."""
    shape = tuple(map(int, value.shape))
    dtype = str(value.dtype).removeprefix("torch.")
    if shape != root.shape:
        message, nearest = _mismatch(shape, code, root)
        return Made(None, Fit(root.shape, shape, dtype, message, nearest))
    if value.is_complex() and not root.dtype.is_complex:
        message = tr("The seed is complex, the root is {dtype}.", dtype=_name(root.dtype))
        return Made(None, Fit(root.shape, shape, dtype, message, f"{code}.real"))
    if value.device != root.device:
        message = tr("The seed lives on {given}, the root on {expected}.", given=value.device, expected=root.device)
        return Made(None, Fit(root.shape, shape, dtype, message, f"{code}.to({str(root.device)!r})"))
    with quiet(below_autograd=True):
        # A copy: a backward that works in place would change a seed that the script still needs.
        dense = value.detach().to_dense() if value.layout != torch.strided else value.detach()
        seed = dense.to(root.dtype).clone().contiguous()
        nan, inf = int(_torch.isnan(seed).sum()), int(_torch.isinf(seed).sum())
        values = seed.tolist() if seed.numel() <= _SHOWN and not seed.is_complex() else None
    note = None
    if value.dtype != root.dtype:
        note = tr("The seed is {given}; the engine reads it as {dtype}.", given=dtype, dtype=_name(root.dtype))
    if nan or inf:
        note = tr("The seed holds {n} elements that are nan or infinite: so is all that they reach.", n=nan + inf)
    return Made(seed, Fit(root.shape, shape, dtype, None, None, note, nan, inf, values))


def _mismatch(given: tuple[int, ...], code: str, root: Target) -> tuple[str, str]:
    """What differs, and the nearest seed that fits."""
    expected = root.shape
    nearest = _nearest(given, code, expected)
    if not expected:
        return tr("The root is a scalar, shape (); the seed has shape {given}.", given=given), nearest
    if len(given) != len(expected):
        return tr(
            "The root has shape {expected}, {n} dimensions; the seed has shape {given}, {m}.",
            expected=expected, n=len(expected), given=given, m=len(given),
        ), nearest  # fmt: skip
    differs = [d for d, (a, b) in enumerate(zip(expected, given, strict=True)) if a != b]
    return tr(
        "The root has shape {expected}, the seed {given}: dimension {d} is {a} there and {b} here.",
        expected=expected, given=given, d=differs[0], a=expected[differs[0]], b=given[differs[0]],
    ), nearest  # fmt: skip


def _nearest(given: tuple[int, ...], code: str, expected: tuple[int, ...]) -> str:
    size, wanted = torch.Size(given).numel(), torch.Size(expected).numel()
    if len(given) == 2 and given[::-1] == expected:
        return f"{code}.T"
    if size == wanted:
        return f"{code}.reshape({expected})"
    # By hand: `torch.broadcast_shapes` imports a second's worth of modules when it is first called.
    padded = (1,) * (len(expected) - len(given)) + given
    if len(padded) == len(expected) and all(a in (1, b) for a, b in zip(padded, expected, strict=True)):
        return f"{code}.expand({expected})"
    return "ones"


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _first_line(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception as unprintable:
        text = f"<{type(unprintable).__name__} in __str__>"
    line = (text.splitlines() or [""])[0]
    return line if len(line) <= _LONGEST else line[: _LONGEST - 3] + "..."

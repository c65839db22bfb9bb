"""The table of functions that formulas may call: how each is computed and how it is written."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradviz.rules import matrices as m
from gradviz.rules import placing as p
from gradviz.rules import resampling as r
from gradviz.rules import special as s

# How tightly a piece of text holds together; a looser piece inside a tighter one gets brackets.
CHOICE, COMPARISON, SUM, SIGN, PRODUCT, POWER, POSTFIX, ATOM = range(8)


@dataclass(frozen=True, slots=True)
class Function:
    """`show` is a template over the arguments' texts; `binds` how tightly its text holds, `needs` its arguments.

    `linear`: zero in the first argument gives zero. `plain`: a value for arguments that are options, not tensors.
    """

    compute: Callable[..., Any]
    show: str
    binds: int = ATOM
    needs: int | tuple[int, ...] = CHOICE
    linear: bool = False
    plain: Callable[..., Any] | None = None


def _linear(
    compute: Callable[..., Any], show: str, binds: int = ATOM, needs: int | tuple[int, ...] = CHOICE
) -> Function:
    return Function(compute, show, binds, needs, linear=True)


def _plain(compute: Callable[..., Any], show: str) -> Function:
    return Function(compute, show, plain=compute)


def _where(condition: Any, yes: Any, no: Any) -> Any:
    return np.where(condition, yes, no)


def _between(x: Any, low: Any, high: Any) -> Any:
    above = True if low is None else x >= low
    return np.asarray(above & (True if high is None else x <= high))


def _no_grad_scale(x: Any, scale: Any) -> Any:
    return x if scale is None else x * scale


_ELEMENTWISE = {
    "exp": Function(np.exp, "exp({0})"),
    "log": Function(np.log, "ln({0})", plain=math.log),
    "sqrt": Function(np.sqrt, "√{0}", POSTFIX, POSTFIX, plain=math.sqrt),
    "sin": Function(np.sin, "sin({0})"),
    "cos": Function(np.cos, "cos({0})"),
    "sinh": Function(np.sinh, "sinh({0})"),
    "cosh": Function(np.cosh, "cosh({0})"),
    "tanh": Function(np.tanh, "tanh({0})"),
    "sigmoid": Function(s.sigmoid, "σ({0})"),
    "softplus": Function(s.softplus, "softplus({0})"),
    "abs": Function(np.abs, "|{0}|", plain=abs),
    "sign": Function(s.sign, "sign({0})"),
    "floor": Function(np.floor, "⌊{0}⌋"),
    "trunc": Function(np.trunc, "trunc({0})"),
    "conj": _linear(np.conj, "conj({0})"),
    "real": _linear(np.real, "Re({0})"),
    "imag": _linear(np.imag, "Im({0})"),
    "as_complex": _linear(lambda x: x[..., 0] + 1j * x[..., 1], "as_complex({0})"),
    "as_real": _linear(lambda x: np.stack([x.real, x.imag], -1), "as_real({0})"),
    "digamma": Function(s.digamma, "ψ({0})"),
    "trigamma": Function(s.trigamma, "ψ′({0})"),
    "inverse_erf": Function(s.inverse_erf, "erf⁻¹({0})"),
    "normal_cdf": Function(s.normal_cdf, "Φ({0})"),
    "normal_pdf": Function(s.normal_pdf, "φ({0})"),
    "x_log_y": Function(s.x_log_y, "{0} · ln({1})", PRODUCT, PRODUCT),
    "ratio": Function(m.zero_safe_ratio, "{0} / {1}", PRODUCT, (PRODUCT, POWER), linear=True),
    "where": Function(_where, "({1} where {0}, else {2})"),
    "between": Function(_between, "[{1} ≤ {0} ≤ {2}]"),
    "finite": Function(np.isfinite, "[{0} is finite]"),
    "not_nan": Function(lambda x: ~np.isnan(x), "[{0} is not nan]"),
    "scaled": Function(_no_grad_scale, "{0}"),
}

_OPTIONS = {
    "numel": _plain(math.prod, "{0}"),
    "count": _plain(p.count, "{0}"),
    "length": _plain(len, "{0}"),
    "last": _plain(lambda n: tuple(range(-n, 0)), "{0}"),
    "size": _plain(lambda shape, dim: shape[dim], "{0}"),
    "rank": _plain(len, "{0}"),
    "tail": _plain(lambda shape, n: tuple(shape[n:]), "{0}"),
    "negated": _plain(lambda dims: tuple(-d for d in dims), "{0}"),
    "inverse_order": _plain(lambda dims: tuple(int(k) for k in np.argsort([d % len(dims) for d in dims])), "{0}"),
    "shape_of": Function(np.shape, "{0}"),
    "all_but_channels": _plain(lambda n: (0, *range(2, n)), "{0}"),
    "cat_start": _plain(lambda sizes, slot: sum(sizes[:slot]), "{0}"),
    "cat_end": _plain(lambda sizes, slot: sum(sizes[: slot + 1]), "{0}"),
    "split_at": _plain(lambda n, part: n * part, "{0}"),
}

_REDUCTIONS = {
    "sum_to": _linear(p.sum_to, "Σ({0})"),  # notation.py writes the dimensions that are summed
    "spread": _linear(p.spread, "spread({0})"),
    "total": _linear(p.total, "Σ({0})"),
    "mean": _linear(p.mean, "mean({0})"),
    "total_but": _linear(p.total_but, "Σ({0})"),
    "number_of": Function(np.count_nonzero, "#{0}", POSTFIX, POSTFIX),
    "product_of_others": Function(p.product_of_others, "∏ others({0})"),
    "unbroadcast": _linear(p.sum_to, "{0}", CHOICE),
    "sum_from_here": _linear(p.sum_from_here, "Σⱼ≥ᵢ({0})"),
}

_PLACING = {
    "zeros": Function(np.zeros, "0", plain=None),
    "reshape": _linear(np.reshape, "reshape({0}, {1})"),
    "transpose": _linear(np.swapaxes, "transpose({0}, {1}, {2})"),
    "permute": _linear(np.transpose, "permute({0}, {1})"),
    "put": _linear(p.put, "put({0} at {1})"),
    "take_along": _linear(p.take_along, "{0}[at {1}]", POSTFIX, POSTFIX),
    "zero_along": _linear(p.zero_along, "{0} with 0 at {1}", CHOICE),
    "put_rows": _linear(p.put_rows, "put({0} at rows {1})"),
    "rows": _linear(p.rows, "{0}[{1}]", POSTFIX, POSTFIX),
    "zero_rows": _linear(p.zero_rows, "{0} with 0 at {1}", CHOICE),
    "put_index": _linear(p.put_index, "put({0} at {1})"),
    "at_index": _linear(p.at_index, "{0}[{1}]", POSTFIX, POSTFIX),
    "zero_index": _linear(p.zero_index, "{0} with 0 at {1}", CHOICE),
    "put_flat": _linear(p.put_flat, "put({0} at {1})"),
    "put_mask": _linear(p.put_mask, "put({0} where {1})"),
    "at_mask": _linear(p.at_mask, "{0}[{1}]", POSTFIX, POSTFIX),
    "put_slice": _linear(p.put_slice, "put({0} at [{3}:{4}] of dim {2})"),
    "get_slice": _linear(p.get_slice, "{0}[{2}:{3}]", POSTFIX, POSTFIX),
    "zero_slice": _linear(p.zero_slice, "{0} with 0 at [{2}:{3}] of dim {1}", CHOICE),
    "put_select": _linear(p.put_select, "put({0} at [{3}] of dim {2})"),
    "get_select": _linear(lambda x, dim, index: np.take(x, index, dim), "{0}[{2}]", POSTFIX, POSTFIX),
    "zero_select": _linear(p.zero_select, "{0} with 0 at [{2}] of dim {1}", CHOICE),
    "put_diagonal": _linear(p.put_diagonal, "diag({0})"),
    "diagonal": _linear(lambda x, o, a, b: np.diagonal(x, o, a, b), "diagonal({0})"),
    "zero_diagonal": _linear(p.zero_diagonal, "{0} with 0 on its diagonal", CHOICE),
    "put_windows": _linear(p.put_windows, "add_windows({0})"),
    "embedding_rows": _linear(p.embedding_rows, "add({0} to rows {1})"),
    "unrepeat": _linear(p.unrepeat, "Σ over copies({0})"),
    "roll": _linear(lambda x, shifts, dims: np.roll(x, shifts, dims or None), "roll({0}, {1})"),
    "flip": _linear(lambda x, dims: np.flip(x, dims), "flip({0}, {1})"),
    "rot90": _linear(lambda x, k, dims: np.rot90(x, k, dims), "rot90({0}, {1})"),
    "first_half": _linear(p.first_half, "first_half({0})"),
    "second_half": _linear(p.second_half, "second_half({0})"),
    "join": Function(p.join, "join({0}, {1})"),
    "stack": Function(lambda parts, dim: np.stack(parts, dim), "stack({0})"),
    "concat": Function(lambda parts, dim: np.concatenate(parts, dim), "join({0})"),
    "picks": Function(p.picks, "[class = {0}]"),
    "per_class": Function(p.per_class, "{0}[class]", POSTFIX, POSTFIX),
    "per_channel": Function(p.per_channel, "{0}", CHOICE),
    "grouped": Function(p.grouped, "{0}", CHOICE),
    "per_group": Function(p.per_group, "{0}", CHOICE),
    "fft": _linear(lambda x, dims, norm: np.fft.fftn(x, axes=dims, norm=norm), "FFT({0})"),
    "inverse_fft": _linear(lambda x, dims, norm: np.fft.ifftn(x, axes=dims, norm=norm), "FFT⁻¹({0})"),
}

_WINDOWS = {
    "convolve": _linear(r.convolve, "{0} ⋆ {1}", PRODUCT, POWER),
    "convolve_adjoint": _linear(r.convolve_adjoint, "{0} ∗ {1}", PRODUCT, POWER),
    "convolve_weight": _linear(r.convolve_weight, "{1} ⋆ {0}", PRODUCT, POWER),
    "unfold": _linear(r.unfold, "unfold({0})"),
    "fold": _linear(r.fold, "fold({0})"),
    "avg_pool_adjoint": _linear(r.avg_pool_adjoint, "spread({0} over windows of {2})"),
    "adaptive_avg_adjoint": _linear(r.adaptive_avg_adjoint, "spread({0} over its windows)"),
    "nearest_adjoint": _linear(r.nearest_adjoint, "Σ over copies({0})"),
    "linear_adjoint": _linear(r.linear_adjoint, "weights of interpolationᵀ({0})"),
    "pad_adjoint": _linear(r.pad_adjoint, "unpad({0}, {2})"),
    "pixel_shuffle": _linear(r.pixel_shuffle, "pixel_shuffle({0}, {1})"),
    "pixel_unshuffle": _linear(r.pixel_unshuffle, "pixel_unshuffle({0}, {1})"),
    "channel_unshuffle": _linear(r.channel_unshuffle, "channel_unshuffle({0}, {1})"),
}

_MATRICES = {
    "T": _linear(m.transposed, "{0}ᵀ", POSTFIX, POSTFIX),
    "H": _linear(m.adjoint, "{0}ᵀ", POSTFIX, POSTFIX),  # notation.py writes ᴴ where numbers are complex
    "outer": _linear(m.outer, "{0} ⊗ {1}", PRODUCT, POWER),
    "diag": _linear(m.diagonal_matrix, "diag({0})"),
    "diagonal_of": _linear(lambda x: np.diagonal(x, axis1=-2, axis2=-1), "diagonal({0})"),
    "identity": Function(m.identity_like, "I"),
    "tril": _linear(m.lower, "tril({0})"),
    "triu": _linear(m.upper, "triu({0})"),
    "lower_half": _linear(m.lower_half, "tril½({0})"),
    "gaps": Function(m.gaps, "gaps({0})"),
    "square_gaps": Function(m.square_gaps, "square_gaps({0})"),
    "off_diagonal": _linear(m.off_diagonal, "offdiag({0})"),
    "copy_lower": _linear(m.copy_lower, "sym_tril({0})"),
    "solve": Function(m.solve, "{0}⁻¹ @ {1}", PRODUCT, (POSTFIX, POWER)),
    "inverse": Function(m.inverse, "{0}⁻¹", POSTFIX, POSTFIX),
    "times_row": _linear(m.times_row, "{0} @ {1}ᵀ", PRODUCT, (PRODUCT, POSTFIX)),
    "expm_derivative": Function(m.expm_derivative, "D exp[{0}]({1})"),
    "cross": _linear(m.cross, "{0} × {1}", PRODUCT, POWER),
    "dot": _linear(lambda x, y: (x * y).sum(-1), "⟨{0}, {1}⟩"),
    "softmax": Function(m.softmax, "softmax({0})"),
    "causal": Function(m.causal, "causal({0})"),
    "attend": Function(m.attend, "mask({0})"),
    "pull": Function(m.pull, "Σⱼ {2} · ({0}ᵢ − {1}ⱼ)", PRODUCT, (POSTFIX, POSTFIX, PRODUCT)),
    "sum_batches": _linear(lambda x: x.sum(0), "Σ₀({0})"),
    "over_batches": _linear(lambda x, n: np.broadcast_to(x, (n, *x.shape)), "{0}", CHOICE),
    "column": _linear(lambda x: x[..., None], "{0}", CHOICE),
}

FUNCTIONS: dict[str, Function] = {
    **_ELEMENTWISE,
    **_OPTIONS,
    **_REDUCTIONS,
    **_PLACING,
    **_WINDOWS,
    **_MATRICES,
}

"""Array functions of the formulas on matrices (the last two dimensions)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def transposed(x: Array) -> Array:
    """The transpose of the last two dimensions."""
    return np.swapaxes(x, -2, -1) if x.ndim > 1 else x


def adjoint(x: Array) -> Array:
    """The conjugate transpose."""
    return np.conj(transposed(x))


def outer(x: Array, y: Array) -> Array:
    """x yᵀ of vectors."""
    return np.asarray(x[..., :, None] * y[..., None, :])


def diagonal_matrix(x: Array) -> Array:
    """A matrix with `x` on its diagonal."""
    return np.asarray(x[..., :, None] * np.eye(x.shape[-1]))


def identity_like(shape: tuple[int, ...]) -> Array:
    """The identity of a shape."""
    return np.eye(shape[-2], shape[-1])


def lower(x: Array, diagonal: int = 0) -> Array:
    """The lower triangle."""
    return np.tril(x, diagonal)


def upper(x: Array, diagonal: int = 0) -> Array:
    """The upper triangle."""
    return np.triu(x, diagonal)


def lower_half(x: Array) -> Array:
    """The lower triangle with its diagonal halved (the Φ of Cholesky derivatives)."""
    return np.tril(x) - 0.5 * diagonal_matrix(np.diagonal(x, axis1=-2, axis2=-1))


def gaps(values: Array) -> Array:
    """G_ij = λ_j - λ_i, 1 on the diagonal, so that one can divide by it."""
    return np.asarray(values[..., None, :] - values[..., :, None] + np.eye(values.shape[-1]))


def square_gaps(values: Array) -> Array:
    """G_ij = σ_j² - σ_i², 1 on the diagonal, so that one can divide by it."""
    return gaps(values * values)


def off_diagonal(x: Array) -> Array:
    """The matrix with zeros on its diagonal."""
    return x * (1 - np.eye(x.shape[-2], x.shape[-1]))


def copy_lower(x: Array) -> Array:
    """The lower triangle copied to the upper one (conjugated): a Hermitian matrix."""
    return np.tril(x, -1) + adjoint(np.tril(x))


def solve(a: Array, b: Array) -> Array:
    """The solution X of A X = B; a vector B where it has one dimension less."""
    if b.ndim == a.ndim - 1:
        return np.asarray(np.linalg.solve(a, b[..., None])[..., 0])
    return np.asarray(np.linalg.solve(a, b))


def inverse(a: Array) -> Array:
    """The inverse."""
    return np.asarray(np.linalg.inv(a))


def times_row(x: Array, y: Array) -> Array:
    """X Yᴴ of matrices, or the outer product of two vectors: the shape of the left factor of a product."""
    return outer(x, np.conj(y)) if x.ndim == 1 else np.asarray(x @ adjoint(y))


def expm(a: Array) -> Array:
    """exp(A) by scaling, a Taylor series and squaring."""
    norm = float(np.abs(a).sum(axis=-1).max(initial=0.0))
    squarings = max(0, math.ceil(math.log2(norm)) + 2) if norm > 0 else 0
    scaled = a / 2**squarings
    term = result = np.broadcast_to(np.eye(a.shape[-1]), a.shape)
    for k in range(1, 19):
        term = term @ scaled / k
        result = result + term
    for _ in range(squarings):
        result = result @ result
    return np.asarray(result)


def expm_derivative(a: Array, direction: Array) -> Array:
    """The derivative of exp at A in a direction: the upper right block of exp([[A, E], [0, A]])."""
    n = a.shape[-1]
    zero = np.zeros_like(a)
    block = np.concatenate([np.concatenate([a, direction], -1), np.concatenate([zero, a], -1)], -2)
    return expm(block)[..., :n, n:]


def cross(x: Array, y: Array, dim: int) -> Array:
    """The cross product along `dim`."""
    return np.asarray(np.cross(x, y, axis=dim))


def softmax(x: Array) -> Array:
    """Softmax over the last dimension."""
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.asarray(e / e.sum(axis=-1, keepdims=True))


def causal(x: Array) -> Array:
    """Minus infinity above the diagonal: position i sees only positions up to i."""
    return np.where(np.tril(np.ones(x.shape[-2:], bool)), x, -np.inf)


def attend(x: Array, mask: Array) -> Array:
    """Scores with a mask: added, or minus infinity where a boolean one is false."""
    return np.where(mask, x, -np.inf) if mask.dtype == bool else x + mask


def pull(x1: Array, x2: Array, factor: Array) -> Array:
    """Σ_j factor_ij (x1_i - x2_j): distances pull on points along the lines between them."""
    return np.asarray(np.einsum("...ij,...ijd->...id", factor, x1[..., :, None, :] - x2[..., None, :, :]))


def zero_safe_ratio(x: Array, y: Array) -> Array:
    """x / y, 0 where y is 0."""
    x, y = np.broadcast_arrays(x, y)
    return np.divide(x, y, out=np.zeros(x.shape, np.result_type(x, y, float)), where=y != 0)

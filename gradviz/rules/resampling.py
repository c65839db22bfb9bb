"""Array functions of the formulas with windows: convolution, pooling, padding and resampling, and their adjoints.

Pools, paddings and interpolations act on each dimension by a matrix of their own; the adjoint applies its transpose.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Sizes = tuple[int, ...]


def convolve(x: Array, weight: Array, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int) -> Array:
    """Cross-correlation of `x` (N, C, ...) with `weight` (O, C / groups, ...), as torch's convolution."""
    kernel = weight.shape[2:]
    padded = np.pad(x, [(0, 0), (0, 0), *((p, p) for p in padding)])
    out = [
        (size - (k - 1) * d - 1) // s + 1
        for size, k, s, d in zip(padded.shape[2:], kernel, stride, dilation, strict=True)
    ]
    result = np.zeros((x.shape[0], weight.shape[0], *out), np.result_type(x, weight))
    for place in itertools.product(*map(range, kernel)):
        seen = padded[_window(place, out, stride, dilation)]
        for inside, outside in _groups(x.shape[1], weight.shape[0], groups):
            part = weight[_element(outside, place)]
            result[:, outside] += np.einsum("nc...,oc->no...", seen[:, inside], part)
    return result


def convolve_adjoint(
    grad: Array, weight: Array, shape: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int
) -> Array:
    """The gradient of the input (of `shape`) of `convolve`; also the forward pass of a transposed convolution."""
    padded = np.zeros((*shape[:2], *(size + 2 * p for size, p in zip(shape[2:], padding, strict=True))), grad.dtype)
    for place in itertools.product(*map(range, weight.shape[2:])):
        window = _window(place, grad.shape[2:], stride, dilation)
        for inside, outside in _groups(shape[1], weight.shape[0], groups):
            part = weight[_element(outside, place)]
            padded[:, inside][window] += np.einsum("no...,oc->nc...", grad[:, outside], part)
    inner = tuple(slice(p, p + size) for size, p in zip(shape[2:], padding, strict=True))
    return padded[(slice(None), slice(None), *inner)]


def convolve_weight(
    grad: Array, x: Array, shape: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int
) -> Array:
    """The gradient of the weight (of `shape`) of `convolve`."""
    padded = np.pad(x, [(0, 0), (0, 0), *((p, p) for p in padding)])
    result = np.zeros(shape, np.result_type(grad, x))
    for place in itertools.product(*map(range, shape[2:])):
        seen = padded[_window(place, grad.shape[2:], stride, dilation)]
        for inside, outside in _groups(x.shape[1], shape[0], groups):
            flat = (math.prod(seen.shape[2:]),)
            left = grad[:, outside].reshape(grad.shape[0], -1, *flat)
            right = seen[:, inside].reshape(x.shape[0], -1, *flat)
            result[_element(outside, place)] = np.einsum("nop,ncp->oc", left, right)
    return result


def _window(place: Sizes, out: Sequence[int], stride: Sizes, dilation: Sizes) -> tuple[slice, ...]:
    """The elements that kernel element `place` meets."""
    starts = [p * d for p, d in zip(place, dilation, strict=True)]
    cut = [slice(a, a + (n - 1) * s + 1, s) for a, n, s in zip(starts, out, stride, strict=True)]
    return (slice(None), slice(None), *cut)


def _element(outside: slice, place: Sizes) -> tuple[Any, ...]:
    """Element `place` of the kernels of some output channels."""
    return (outside, slice(None), *place)


def _groups(inputs: int, outputs: int, groups: int) -> list[tuple[slice, slice]]:
    i, o = inputs // groups, outputs // groups
    return [(slice(g * i, (g + 1) * i), slice(g * o, (g + 1) * o)) for g in range(groups)]


def unfold(x: Array, kernel: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes) -> Array:
    """`torch.nn.functional.unfold`: patches as columns."""
    samples, channels = x.shape[:2]
    size = math.prod(kernel)
    weight = np.zeros((channels * size, channels, *kernel))
    for row, (channel, *place) in enumerate(itertools.product(range(channels), *map(range, kernel))):
        weight[(row, channel, *place)] = 1
    return convolve(x, weight, stride, padding, dilation, 1).reshape(samples, channels * size, -1)


def fold(x: Array, shape: Sizes, kernel: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes) -> Array:
    """The adjoint of `unfold`: columns added into an image of `shape`."""
    probe = np.zeros((1, *shape[1:]))
    basis = unfold(np.arange(1, 1 + probe.size).reshape(probe.shape).astype(float), kernel, dilation, padding, stride)
    index = np.rint(basis[0]).astype(int)
    result = np.zeros((shape[0], probe.size + 1), x.dtype)
    np.add.at(result, (np.arange(shape[0])[:, None, None], index[None]), x)
    return result[:, 1:].reshape(shape)


Matrix = Callable[[int, int, int], Array]  # dimension, size in, size out -> (out, in)


def _pull_back(grad: Array, shape: Sizes, matrix: Matrix, dims: int) -> Array:
    """Apply the transposed matrix of each of the last `dims` dimensions."""
    for d in range(dims):
        axis = len(shape) - dims + d
        weights = matrix(d, shape[axis], grad.shape[axis])
        grad = np.moveaxis(np.tensordot(weights.T, grad, axes=(1, axis)), 0, axis)
    return grad


def avg_pool_adjoint(
    grad: Array, shape: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, include_pad: bool, divisor: int | None
) -> Array:
    """The adjoint of average pooling over the last `len(kernel)` dimensions."""
    step = stride or kernel

    def matrix(d: int, size: int, out: int) -> Array:
        result = np.zeros((out, size))
        for row in range(out):
            start = row * step[d] - padding[d]
            end = min(start + kernel[d], size + padding[d])
            inside = slice(max(start, 0), min(end, size))
            among = end - start if include_pad else inside.stop - inside.start
            result[row, inside] = 1 / (1 if divisor else among)
        return result

    return _pull_back(grad, shape, matrix, len(kernel)) / (divisor or 1)


def adaptive_avg_adjoint(grad: Array, shape: Sizes, dims: int) -> Array:
    """The adjoint of adaptive average pooling over the last `dims` dimensions."""

    def matrix(_: int, size: int, out: int) -> Array:
        result = np.zeros((out, size))
        for row in range(out):
            start, end = row * size // out, -(-(row + 1) * size // out)
            result[row, start:end] = 1 / (end - start)
        return result

    return _pull_back(grad, shape, matrix, dims)


def nearest_adjoint(grad: Array, shape: Sizes, dims: int) -> Array:
    """The adjoint of nearest-neighbour upsampling of the last `dims` dimensions."""

    def matrix(_: int, size: int, out: int) -> Array:
        result = np.zeros((out, size))
        for row in range(out):
            result[row, min(row * size // out, size - 1)] = 1
        return result

    return _pull_back(grad, shape, matrix, dims)


def linear_adjoint(grad: Array, shape: Sizes, dims: int, align_corners: bool) -> Array:
    """The adjoint of linear (bilinear, trilinear) upsampling of the last `dims` dimensions."""

    def matrix(_: int, size: int, out: int) -> Array:
        result = np.zeros((out, size))
        for row in range(out):
            if align_corners:
                at = row * (size - 1) / (out - 1) if out > 1 else 0.0
            else:
                at = max((row + 0.5) * size / out - 0.5, 0.0)
            low = min(int(at), size - 1)
            result[row, low] += 1 - (at - low)
            result[row, min(low + 1, size - 1)] += at - low
        return result

    return _pull_back(grad, shape, matrix, dims)


def pad_adjoint(grad: Array, shape: Sizes, pad: Sizes, mode: str) -> Array:
    """The adjoint of padding; `pad` is torch's (last dimension first); modes: constant, reflect, replicate."""

    def matrix(d: int, size: int, out: int) -> Array:
        before = pad[2 * (len(pad) // 2 - 1 - d)]
        result = np.zeros((out, size))
        for row in range(out):
            at = row - before
            if mode == "reflect":
                at = abs(at) if at < size else 2 * (size - 1) - at
            elif mode == "replicate":
                at = min(max(at, 0), size - 1)
            if 0 <= at < size:
                result[row, at] = 1
        return result

    return _pull_back(grad, shape, matrix, len(pad) // 2)


def pixel_unshuffle(x: Array, factor: int) -> Array:
    """Space to depth, the adjoint of pixel_shuffle."""
    *lead, channels, height, width = x.shape
    split = x.reshape(*lead, channels, height // factor, factor, width // factor, factor)
    n = len(lead)
    order = (*range(n + 1), n + 2, n + 4, n + 1, n + 3)
    return split.transpose(order).reshape(*lead, channels * factor**2, height // factor, width // factor)


def pixel_shuffle(x: Array, factor: int) -> Array:
    """Depth to space, the adjoint of pixel_unshuffle."""
    *lead, channels, height, width = x.shape
    split = x.reshape(*lead, channels // factor**2, factor, factor, height, width)
    n = len(lead)
    order = (*range(n + 1), n + 3, n + 1, n + 4, n + 2)
    return split.transpose(order).reshape(*lead, channels // factor**2, height * factor, width * factor)


def channel_unshuffle(x: Array, groups: int) -> Array:
    """The adjoint of channel_shuffle."""
    samples, channels = x.shape[:2]
    split = x.reshape(samples, channels // groups, groups, *x.shape[2:])
    return split.swapaxes(1, 2).reshape(x.shape)

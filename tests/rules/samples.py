"""One or more small forward computations for each op that has a formula: label -> (what to compute, its outputs used).

Each gives the output of the op itself, on random float64 inputs (`r`: normal, `p`: in 0.5 .. 1.5).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

F = nn.functional

D = torch.float64
C = torch.complex128


def r(*shape: int, dtype: torch.dtype = D) -> Tensor:
    return torch.randn(shape, dtype=dtype, requires_grad=True)


def c(*shape: int) -> Tensor:
    return r(*shape, dtype=C)


def p(*shape: int) -> Tensor:
    return (torch.rand(shape, dtype=D) + 0.5).requires_grad_()


def u(*shape: int) -> Tensor:
    """In 0.1 .. 0.9."""
    return (torch.rand(shape, dtype=D) * 0.8 + 0.1).requires_grad_()


def k(*shape: int) -> Tensor:
    return torch.rand(shape, dtype=D)


def spd(n: int) -> Tensor:
    root = torch.randn(n, n, dtype=D)
    return (root @ root.T + n * torch.eye(n)).requires_grad_()


def well(n: int) -> Tensor:
    """Well conditioned."""
    return (torch.randn(n, n, dtype=D) + 3 * torch.eye(n, dtype=D)).requires_grad_()


ROWS = torch.tensor([0, 2])
REPEATED = torch.tensor([1, 1, 0])
COLUMNS = torch.tensor([[0, 0], [2, 1]])
ONE_EACH = torch.tensor([[0], [2]])
MASK = torch.tensor([[True, False, True], [False, True, False]])
CLASSES = torch.tensor([0, 2])

ARITHMETIC: dict[str, Callable[[], Any]] = {
    "add": lambda: torch.add(r(2, 3), r(3), alpha=2),
    "add one": lambda: r(2) + 1,
    "add number": lambda: torch.ops.aten.add.Scalar(r(2), 2.0),
    "sub number": lambda: torch.ops.aten.sub.Scalar(r(2), 2.0),
    "sub": lambda: torch.sub(r(2, 3), r(3), alpha=2),
    "sub outer": lambda: r(3) - r(2, 1),
    "rsub": lambda: torch.rsub(r(2), r(2), alpha=3),
    "rsub scalar": lambda: 1 - r(2),
    "mul": lambda: r(2, 3) * r(3),
    "mul outer": lambda: r(2, 1) * r(1, 3),
    "mul number": lambda: r(2) * 4,
    "mul complex": lambda: c(2) * c(2),
    "mul float": lambda: torch.ops.aten.mul.Scalar(r(2), 3.0),
    "div": lambda: r(2) / p(2),
    "div complex": lambda: c(2) / c(2),
    "div float": lambda: torch.ops.aten.div.Scalar(r(2), 3.0),
    "div floor": lambda: torch.div(r(2), p(2), rounding_mode="floor"),
    "div number floor": lambda: torch.ops.aten.div.Scalar_mode(r(2), 2.0, rounding_mode="floor"),
    "neg": lambda: -r(2),
    "pow 3": lambda: r(2) ** 3,
    "pow 2.5": lambda: p(2) ** 2.5,
    "pow 0": lambda: r(2) ** 0,
    "pow complex": lambda: c(2) ** 2,
    "pow tensor": lambda: p(2) ** r(2),
    "pow of number": lambda: 2 ** r(2),
    "remainder": lambda: r(2) % 2,
    "remainder tensor": lambda: r(2) % p(2),
    "fmod": lambda: torch.fmod(r(2), 2),
    "fmod tensor": lambda: torch.fmod(r(2), p(2)),
    "reciprocal": lambda: r(2).reciprocal(),
    "sqrt": lambda: p(2).sqrt(),
    "sqrt complex": lambda: c(2).sqrt(),
    "rsqrt": lambda: p(2).rsqrt(),
    "abs": lambda: r(3).abs(),
    "abs complex": lambda: c(3).abs(),
    "sign": lambda: r(2).sign(),
    "sgn": lambda: r(2).sgn(),
    "floor": lambda: r(2).floor(),
    "ceil": lambda: r(2).ceil(),
    "round": lambda: r(2).round(),
    "round decimals": lambda: r(2).round(decimals=1),
    "trunc": lambda: r(2).trunc(),
    "frac": lambda: r(2).frac(),
    "clamp": lambda: r(6).clamp(-0.5, 0.5),
    "clamp low": lambda: r(6).clamp(min=0),
    "clamp tensors": lambda: torch.clamp(r(6), -k(6).requires_grad_(), k(6).requires_grad_()),
    "clamp crossed": lambda: torch.clamp(r(6), r(6), r(6)),
    "clamp low tensor": lambda: torch.clamp(r(6), r(6)),
    "clamp high tensor": lambda: torch.clamp(r(6), max=r(6)),
    "clamp_min": lambda: torch.clamp_min(r(6), 0.0),
    "clamp_min tensor": lambda: torch.clamp_min(r(6), r(6)),
    "clamp_max": lambda: torch.clamp_max(r(6), 0.0),
    "clamp_max tensor": lambda: torch.clamp_max(r(6), r(6)),
    "maximum": lambda: torch.maximum(r(6), r(6)),
    "maximum tie": lambda: torch.maximum(
        torch.ones(3, dtype=D).requires_grad_(), r(3).detach().sign().requires_grad_()
    ),
    "minimum": lambda: torch.minimum(r(6), r(6)),
    "fmax": lambda: torch.fmax(r(6), r(6)),
    "fmin": lambda: torch.fmin(r(6), r(6)),
    "lerp": lambda: torch.lerp(r(2), r(2), 0.3),
    "lerp tensor": lambda: torch.lerp(r(2), r(2), r(2)),
    "addcmul": lambda: torch.addcmul(r(2), r(2), r(2), value=2),
    "addcdiv": lambda: torch.addcdiv(r(2), r(2), p(2), value=2),
    "hypot": lambda: torch.hypot(r(2), r(2)),
    "atan2": lambda: torch.atan2(r(2), r(2)),
    "copysign": lambda: torch.copysign(r(4), r(4)),
    "ldexp": lambda: torch.ldexp(r(2), torch.tensor([1, 2])),
    "where": lambda: torch.where(MASK, r(2, 3), r(3)),
    "masked_fill": lambda: r(2, 3).masked_fill(MASK, 0.0),
    "masked_fill tensor": lambda: r(2, 3).masked_fill(MASK, r()),
    "nan_to_num": lambda: torch.tensor([1.0, float("nan"), float("inf")], dtype=D).requires_grad_().nan_to_num(),
    "clone": lambda: r(2).clone(),
    "copy_": lambda: torch.zeros(2, dtype=D).copy_(r(2)),
    "copy_ over": lambda: (r(2) * 1).copy_(r(2)),
    "to": lambda: r(2).to(torch.float32),
    "alias": lambda: torch.ops.aten.alias(r(2)),
}

FUNCTIONS: dict[str, Callable[[], Any]] = {
    "exp": lambda: r(2).exp(),
    "exp complex": lambda: c(2).exp(),
    "exp2": lambda: r(2).exp2(),
    "expm1": lambda: r(2).expm1(),
    "log": lambda: p(2).log(),
    "log complex": lambda: c(2).log(),
    "log2": lambda: p(2).log2(),
    "log10": lambda: p(2).log10(),
    "log1p": lambda: p(2).log1p(),
    "logaddexp": lambda: torch.logaddexp(r(2), r(2)),
    "logaddexp2": lambda: torch.logaddexp2(r(2), r(2)),
    "xlogy": lambda: torch.xlogy(r(2), p(2)),
    "xlogy number first": lambda: torch.xlogy(2.0, p(2)),
    "xlogy number": lambda: torch.xlogy(r(2), 2.0),
    "sin": lambda: r(2).sin(),
    "sin complex": lambda: c(2).sin(),
    "cos": lambda: r(2).cos(),
    "tan": lambda: r(2).tan(),
    "asin": lambda: u(2).asin(),
    "acos": lambda: u(2).acos(),
    "atan": lambda: r(2).atan(),
    "sinh": lambda: r(2).sinh(),
    "cosh": lambda: r(2).cosh(),
    "tanh": lambda: r(2).tanh(),
    "tanh complex": lambda: c(2).tanh(),
    "asinh": lambda: r(2).asinh(),
    "acosh": lambda: (p(2).detach() + 1).requires_grad_().acosh(),
    "atanh": lambda: u(2).atanh(),
    "sinc": lambda: p(2).sinc(),
    "deg2rad": lambda: r(2).deg2rad(),
    "rad2deg": lambda: r(2).rad2deg(),
    "erf": lambda: r(2).erf(),
    "erfc": lambda: r(2).erfc(),
    "erfinv": lambda: u(2).erfinv(),
    "lgamma": lambda: p(2).lgamma(),
    "digamma": lambda: p(2).digamma(),
    "logit": lambda: u(2).logit(),
    "logit eps": lambda: torch.logit(u(6), eps=0.3),
}

ACTIVATIONS: dict[str, Callable[[], Any]] = {
    "sigmoid": lambda: r(2).sigmoid(),
    "logsigmoid": lambda: F.logsigmoid(r(2)),
    "relu": lambda: r(6).relu(),
    "threshold": lambda: F.threshold(r(6), 0.1, 2.0),
    "leaky_relu": lambda: F.leaky_relu(r(6), 0.2),
    "elu": lambda: F.elu(r(6), 1.5),
    "selu": lambda: F.selu(r(6)),
    "celu": lambda: F.celu(r(6), 2.0),
    "gelu": lambda: F.gelu(r(6)),
    "gelu tanh": lambda: F.gelu(r(6), approximate="tanh"),
    "silu": lambda: F.silu(r(6)),
    "mish": lambda: F.mish(r(6)),
    "softplus": lambda: F.softplus(r(6), 2.0, 1.0),
    "hardtanh": lambda: F.hardtanh(r(6)),
    "relu6": lambda: F.relu6(r(6)),
    "hardsigmoid": lambda: F.hardsigmoid(r(6) * 1),
    "hardsigmoid far": lambda: F.hardsigmoid(torch.tensor([-4.0, -1.0, 4.0], dtype=D).requires_grad_()),
    "hardswish": lambda: F.hardswish(torch.tensor([-4.0, -1.0, 2.0, 4.0], dtype=D).requires_grad_()),
    "softshrink": lambda: F.softshrink(r(6)),
    "hardshrink": lambda: F.hardshrink(r(6)),
    "prelu": lambda: F.prelu(r(2, 3), r(3)),
    "prelu one": lambda: F.prelu(r(2, 3), r(1)),
    "glu": lambda: F.glu(r(2, 4)),
    "softmax": lambda: r(2, 3).softmax(-1),
    "softmax 0": lambda: r(2, 3).softmax(0),
    "log_softmax": lambda: r(2, 3).log_softmax(-1),
    "native_dropout": lambda: torch.native_dropout(r(6), 0.5, True),
}


def _losses(name: str, loss: Callable[..., Tensor]) -> dict[str, Callable[[], Any]]:
    return {f"{name} {how}": (lambda how=how: loss(r(2, 3), r(2, 3), reduction=how)) for how in ("none", "mean", "sum")}


LOSSES: dict[str, Callable[[], Any]] = {
    **_losses("mse", F.mse_loss),
    **_losses("smooth_l1", lambda a, b, reduction: F.smooth_l1_loss(a, b, reduction=reduction, beta=0.7)),
    **_losses("huber", lambda a, b, reduction: F.huber_loss(a, b, reduction=reduction, delta=0.7)),
    "nll": lambda: F.nll_loss(r(2, 3), CLASSES),
    "nll sum": lambda: F.nll_loss(r(2, 3), CLASSES, reduction="sum"),
    "nll none": lambda: F.nll_loss(r(2, 3), CLASSES, reduction="none"),
    "nll weights": lambda: F.nll_loss(r(2, 3), CLASSES, weight=k(3)),
    "nll ignored": lambda: F.nll_loss(r(2, 3), torch.tensor([1, -100])),
    "nll one": lambda: F.nll_loss(r(3), torch.tensor(2)),
    "nll 2d": lambda: F.nll_loss(r(1, 3, 2, 2), torch.tensor([[[0, 1], [2, 2]]]), weight=k(3)),
    "nll 2d none": lambda: F.nll_loss(r(1, 3, 2, 2), torch.tensor([[[0, 1], [2, 2]]]), reduction="none"),
    "bce": lambda: F.binary_cross_entropy(u(3), u(3)),
    "bce weighted": lambda: F.binary_cross_entropy(u(3), u(3), weight=k(3), reduction="sum"),
    "bce logits": lambda: F.binary_cross_entropy_with_logits(r(3), u(3)),
    "bce logits pos": lambda: F.binary_cross_entropy_with_logits(r(3), u(3), pos_weight=k(3), weight=k(3)),
    "soft margin": lambda: F.soft_margin_loss(r(3), torch.tensor([1.0, -1.0, 1.0], dtype=D)),
}

REDUCTIONS: dict[str, Callable[[], Any]] = {
    "sum": lambda: r(2, 3).sum(),
    "sum 1": lambda: r(2, 3).sum(1),
    "sum keep": lambda: r(2, 3, 2).sum((0, -1), keepdim=True),
    "nansum": lambda: torch.tensor([1.0, float("nan")], dtype=D).requires_grad_().nansum(),
    "mean": lambda: r(2, 3).mean(),
    "mean 1": lambda: r(2, 3).mean(-1),
    "prod": lambda: r(2, 3).prod(),
    "prod with zero": lambda: torch.tensor([2.0, 0.0, 3.0], dtype=D).requires_grad_().prod(),
    "prod 1": lambda: r(2, 3).prod(1),
    "var": lambda: r(2, 3).var(1),
    "var all": lambda: r(2, 3).var(unbiased=False),
    "std": lambda: r(2, 3).std(),
    "std keep": lambda: r(2, 3).std(1, keepdim=True),
    "var_mean": lambda: torch.var_mean(r(2, 3), 1),
    "std_mean": lambda: torch.std_mean(r(2, 3), 1),
    "norm": lambda: r(2, 3).norm(),
    "norm 1": lambda: r(2, 3).norm(p=1, dim=1),
    "norm 3": lambda: torch.linalg.vector_norm(r(2, 3), 3, dim=1, keepdim=True),
    "norm at zero": lambda: torch.zeros(3, dtype=D).requires_grad_().norm(),
    "old norm": lambda: torch.ops.aten.norm.Scalar(r(2, 3), 2),
    "old norm 3": lambda: torch.ops.aten.norm.Scalar(r(2, 3), 3),
    "old norm dim": lambda: torch.ops.aten.norm.ScalarOpt_dim(r(2, 3), 3, [1]),
    "pairwise": lambda: torch.ops.aten.norm.ScalarOpt_dim(r(2, 3), 2, [1], True),
    "dist": lambda: torch.dist(r(2), r(2)),
    "dist 3": lambda: torch.dist(r(2), r(2), 3),
    "max": lambda: r(2, 3).max(),
    "max 1": lambda: r(2, 3).max(1),
    "min": lambda: r(2, 3).min(),
    "min 1": lambda: r(2, 3).min(1, keepdim=True),
    "amax": lambda: r(2, 3).amax(1),
    "amax tie": lambda: torch.ones(2, 2, dtype=D).requires_grad_().amax(1),
    "amin": lambda: r(2, 3).amin((0, 1)),
    "max tie": lambda: torch.ones(3, dtype=D).requires_grad_().max(),
    "median": lambda: r(5).median(),
    "median 1": lambda: r(2, 3).median(1),
    "nanmedian": lambda: r(5).nanmedian(),
    "nanmedian 1": lambda: r(2, 3).nanmedian(1),
    "mode": lambda: r(2, 3).mode(1),
    "kthvalue": lambda: r(2, 3).kthvalue(2, 1),
    "sort": lambda: r(2, 3).sort(1),
    "sort stable": lambda: torch.sort(r(2, 3), dim=0, stable=True),
    "topk": lambda: r(2, 3).topk(2),
    "cummax": lambda: r(2, 4).cummax(1),
    "cummin": lambda: r(2, 4).cummin(1),
    "cumsum": lambda: r(2, 3).cumsum(-1),
    "cumprod": lambda: r(2, 3).cumprod(1),
    "logcumsumexp": lambda: r(2, 3).logcumsumexp(1),
    "logsumexp": lambda: r(2, 3).logsumexp(1),
    "logsumexp keep": lambda: r(2, 3).logsumexp((0, 1), keepdim=True),
    "trace": lambda: r(3, 3).trace(),
}

MATRICES: dict[str, Callable[[], Any]] = {
    "mm": lambda: r(2, 3) @ r(3, 2),
    "mm complex": lambda: c(2, 3) @ c(3, 2),
    "bmm": lambda: torch.bmm(r(2, 2, 3), r(2, 3, 2)),
    "mv": lambda: r(2, 3) @ r(3),
    "mv complex": lambda: c(2, 3) @ c(3),
    "dot": lambda: r(3) @ r(3),
    "vdot": lambda: torch.vdot(r(3), r(3)),
    "vdot complex": lambda: torch.vdot(c(3), c(3)),
    "addmm": lambda: torch.addmm(r(2), r(3, 2), r(2, 2), beta=2, alpha=3),
    "addmv": lambda: torch.addmv(r(2), r(2, 3), r(3), beta=2, alpha=3),
    "addbmm": lambda: torch.addbmm(r(2, 2), r(2, 2, 3), r(2, 3, 2), beta=2, alpha=3),
    "baddbmm": lambda: torch.baddbmm(r(2, 2, 2), r(2, 2, 3), r(2, 3, 2), beta=2, alpha=3),
    "addr": lambda: torch.addr(r(2, 3), r(2), r(3), beta=2, alpha=3),
    "cross": lambda: torch.linalg.cross(r(2, 3), r(2, 3)),
}


def _batch_norm(training: bool, affine: bool = True) -> Tensor:
    weight, bias = (r(3), r(3)) if affine else (None, None)
    return F.batch_norm(r(4, 3), k(3), k(3) + 0.5, weight, bias, training=training)


LAYERS: dict[str, Callable[[], Any]] = {
    "layer_norm": lambda: F.layer_norm(r(2, 3), (3,), r(3), r(3)),
    "layer_norm 2": lambda: F.layer_norm(r(2, 2, 3), (2, 3), r(2, 3), r(2, 3)),
    "layer_norm plain": lambda: F.layer_norm(r(2, 3), (3,)),
    "batch_norm": lambda: _batch_norm(True),
    "batch_norm eval": lambda: _batch_norm(False),
    "batch_norm plain": lambda: _batch_norm(True, False),
    "batch_norm image": lambda: F.batch_norm(r(2, 2, 2, 2), None, None, r(2), r(2), training=True),
    "group_norm": lambda: F.group_norm(r(2, 4, 2), 2, r(4), r(4)),
    "group_norm plain": lambda: F.group_norm(r(2, 4, 2), 2),
    "conv1d": lambda: F.conv1d(r(1, 2, 5), r(2, 2, 3), r(2), stride=2, padding=1),
    "conv2d groups": lambda: F.conv2d(r(2, 2, 4, 4), r(2, 1, 3, 3), r(2), groups=2),
    "conv2d dilated": lambda: F.conv2d(r(1, 2, 5, 6), r(3, 2, 2, 2), r(3), stride=(2, 1), padding=(0, 1), dilation=2),
    "conv3d": lambda: F.conv3d(r(1, 1, 2, 2, 2), r(1, 1, 2, 1, 2), r(1)),
    "conv_transpose": lambda: F.conv_transpose2d(r(1, 2, 3, 3), r(2, 3, 2, 2), r(3), stride=2, padding=1),
    "conv_transpose groups": lambda: F.conv_transpose1d(
        r(1, 2, 3), r(2, 2, 3), r(4), stride=2, groups=2, output_padding=1
    ),
    "max_pool2d": lambda: torch.ops.aten.max_pool2d_with_indices(r(1, 2, 4, 4), [2, 2]),
    "max_pool3d": lambda: torch.ops.aten.max_pool3d_with_indices(r(1, 1, 2, 2, 4), [2, 2, 2]),
    "adaptive_max_pool2d": lambda: F.adaptive_max_pool2d(r(1, 1, 4, 5), 2, return_indices=True),
    "avg_pool2d": lambda: F.avg_pool2d(r(1, 1, 5, 4), 2),
    "avg_pool2d padded": lambda: F.avg_pool2d(r(1, 1, 5, 4), 3, 2, 1),
    "avg_pool2d valid": lambda: F.avg_pool2d(r(1, 1, 5, 4), 3, 2, 1, ceil_mode=True, count_include_pad=False),
    "avg_pool2d divisor": lambda: F.avg_pool2d(r(1, 1, 4, 4), 2, divisor_override=3),
    "avg_pool3d": lambda: F.avg_pool3d(r(1, 1, 2, 2, 2), 2),
    "adaptive_avg_pool2d": lambda: F.adaptive_avg_pool2d(r(1, 1, 5, 4), (2, 3)),
    "adaptive_avg_pool3d": lambda: F.adaptive_avg_pool3d(r(1, 1, 3, 4, 2), (2, 3, 2)),
    "nearest 1d": lambda: F.interpolate(r(1, 1, 3), size=7),
    "nearest 2d": lambda: F.interpolate(r(1, 1, 2, 3), scale_factor=2),
    "nearest 3d": lambda: F.interpolate(r(1, 1, 2, 1, 2), scale_factor=2),
    "linear 1d": lambda: F.interpolate(r(1, 1, 3), size=7, mode="linear"),
    "bilinear": lambda: F.interpolate(r(1, 1, 2, 3), scale_factor=2, mode="bilinear"),
    "bilinear corners": lambda: F.interpolate(r(1, 1, 2, 3), size=(5, 4), mode="bilinear", align_corners=True),
    "trilinear": lambda: F.interpolate(r(1, 1, 2, 2, 2), scale_factor=2, mode="trilinear"),
    "pad": lambda: F.pad(r(2, 3), (1, 2, 0, 1)),
    "pad negative": lambda: F.pad(r(2, 4), (-1, 2)),
    "pad reflect 1d": lambda: F.pad(r(1, 2, 4), (1, 2), mode="reflect"),
    "pad reflect 2d": lambda: F.pad(r(1, 1, 3, 4), (1, 2, 1, 0), mode="reflect"),
    "pad reflect 3d": lambda: F.pad(r(1, 1, 2, 3, 2), (1, 0, 1, 2, 1, 1), mode="reflect"),
    "pad replicate 1d": lambda: F.pad(r(1, 2, 3), (1, 2), mode="replicate"),
    "pad replicate 2d": lambda: F.pad(r(1, 1, 2, 3), (1, 2, 1, 0), mode="replicate"),
    "pad replicate 3d": lambda: F.pad(r(1, 1, 2, 2, 2), (1, 2, 1, 0, 1, 1), mode="replicate"),
    "unfold image": lambda: F.unfold(r(1, 2, 3, 3), 2, padding=1, stride=2),
    "fold image": lambda: F.fold(r(1, 4, 4), (3, 3), 2),
    "pixel_shuffle": lambda: F.pixel_shuffle(r(1, 8, 2, 1), 2),
    "pixel_unshuffle": lambda: F.pixel_unshuffle(r(1, 2, 4, 2), 2),
    "channel_shuffle": lambda: F.channel_shuffle(r(1, 6, 2, 2), 2),
    "embedding": lambda: F.embedding(REPEATED, r(4, 2)),
    "embedding padding": lambda: F.embedding(REPEATED, r(4, 2), padding_idx=1),
    "attention": lambda: F.scaled_dot_product_attention(r(1, 1, 3, 2), r(1, 1, 3, 2), r(1, 1, 3, 2)),
    "attention causal": lambda: F.scaled_dot_product_attention(
        r(1, 2, 3, 2), r(1, 2, 3, 2), r(1, 2, 3, 2), is_causal=True, scale=0.3
    ),
    "attention mask": lambda: F.scaled_dot_product_attention(
        r(1, 1, 3, 2), r(1, 1, 3, 2), r(1, 1, 3, 2), attn_mask=torch.randn(3, 3, dtype=D)
    ),
}

INDEXING: dict[str, Callable[[], Any]] = {
    "select": lambda: r(2, 3)[1],
    "select last": lambda: r(2, 3).select(-1, -1),
    "slice": lambda: r(4)[1:3],
    "slice step": lambda: r(2, 7)[:, 1:6:2],
    "index": lambda: r(3, 2)[ROWS],
    "index repeated": lambda: r(3, 2)[REPEATED],
    "index pair": lambda: r(3, 3)[ROWS, ROWS],
    "index mask": lambda: r(2, 3)[MASK],
    "index_select": lambda: r(3, 2).index_select(0, REPEATED),
    "index_select 1": lambda: r(2, 3).index_select(1, ROWS),
    "gather": lambda: r(2, 3).gather(1, COLUMNS),
    "scatter": lambda: r(2, 3).scatter(1, ONE_EACH, r(2, 1)),
    "scatter number": lambda: r(2, 3).scatter(1, ONE_EACH, 1.0),
    "scatter_add": lambda: r(2, 3).scatter_add(1, ONE_EACH, r(2, 1)),
    "index_add": lambda: r(3, 2).index_add(0, ROWS, r(2, 2), alpha=2),
    "index_put": lambda: r(3, 2).index_put((ROWS,), r(2, 2)),
    "index_put one": lambda: r(3, 2).index_put((ROWS,), r(2)),
    "index_put add": lambda: r(3, 2).index_put((ROWS,), r(2, 2), accumulate=True),
    "index_copy": lambda: r(3, 2).index_copy(0, ROWS, r(2, 2)),
    "index_fill": lambda: r(3, 2).index_fill(0, ROWS, 1.0),
    "masked_select": lambda: r(2, 3).masked_select(MASK),
    "masked_select row": lambda: r(3).masked_select(MASK),
    "masked_scatter": lambda: r(2, 3).masked_scatter(MASK, r(6)),
    "take": lambda: r(2, 3).take(torch.tensor([0, 5, 5])),
    "diagonal": lambda: r(3, 3).diagonal(1),
    "diagonal dims": lambda: r(2, 3, 2).diagonal(0, -1, 0),
    "diagonal_scatter": lambda: torch.diagonal_scatter(r(3, 3), r(3)),
    "diag": lambda: torch.diag(r(3)),
    "diag_embed": lambda: torch.diag_embed(r(2, 2), 1),
    "select_scatter": lambda: torch.select_scatter(r(2, 3), r(3), 0, 1),
    "slice_scatter": lambda: torch.slice_scatter(r(4), r(2), 0, 1, 3),
    "tril": lambda: r(3, 3).tril(-1),
    "triu": lambda: r(3, 3).triu(1),
    "roll": lambda: r(2, 3).roll(1, 1),
    "roll flat": lambda: r(2, 3).roll(2),
    "flip": lambda: r(2, 3).flip(1),
    "rot90": lambda: r(2, 3).rot90(),
    "repeat": lambda: r(2).repeat(2, 3),
    "unfold": lambda: r(2, 5).unfold(1, 3, 1),
}

VIEWS: dict[str, Callable[[], Any]] = {
    "view": lambda: r(2, 3).view(6),
    "unsafe_view": lambda: torch.ops.aten._unsafe_view(r(2, 3), [3, 2]),
    "reshape_alias": lambda: torch.ops.aten._reshape_alias(r(2, 3), [3, 2], [2, 1]),
    "unsqueeze": lambda: r(2).unsqueeze(0),
    "unsqueeze_": lambda: r(2).clone().unsqueeze_(1),
    "squeeze": lambda: r(1, 2).squeeze(),
    "squeeze 0": lambda: r(1, 2).squeeze(0),
    "squeeze dims": lambda: r(1, 2, 1).squeeze((0, 2)),
    "t": lambda: r(2, 3).t(),
    "transpose": lambda: r(2, 3, 2).transpose(0, -1),
    "permute": lambda: r(2, 3, 1).permute(2, 0, 1),
    "expand": lambda: r(1, 2).expand(3, 2),
    "expand new": lambda: r(2).expand(3, 2),
    "unbind": lambda: r(2, 3).unbind(1),
    "split": lambda: r(5).split(2),
    "unsafe_split": lambda: torch.unsafe_split(r(5), 2),
    "split sizes": lambda: r(2, 4).split([1, 3], 1),
    "stack": lambda: torch.stack([r(2), r(2)], 1),
    "cat": lambda: torch.cat([r(2), r(3)]),
    "cat 1": lambda: torch.cat([r(2, 1), r(2, 3)], -1),
    "view_as_real": lambda: torch.view_as_real(c(2)),
    "view_as_complex": lambda: torch.view_as_complex(r(3, 2)),
    "conj": lambda: torch.ops.aten._conj(c(2)),
    "complex": lambda: torch.complex(r(2), r(2)),
    "fft": lambda: torch.fft.fft(c(4)),
    "ifft": lambda: torch.fft.ifft(c(4)),
    "fft ortho": lambda: torch.fft.fft2(c(2, 3), norm="ortho"),
}

LINALG: dict[str, Callable[[], Any]] = {
    "eigh": lambda: torch.linalg.eigh(r(3, 3)),
    "eigh complex": lambda: torch.linalg.eigh(c(3, 3)),
    "solve": lambda: torch.linalg.solve(well(3), r(3, 2)),
    "solve vector": lambda: torch.linalg.solve(well(3), r(3)),
    "inv": lambda: torch.linalg.inv(well(3)),
    "det": lambda: torch.linalg.det(well(3)),
    "slogdet": lambda: torch.linalg.slogdet(well(3)),
    "cholesky": lambda: torch.linalg.cholesky(spd(3)),
    "solve_triangular": lambda: torch.linalg.solve_triangular(
        well(3).detach().tril().requires_grad_(), r(3, 2), upper=False
    ),
    "solve_triangular upper": lambda: torch.linalg.solve_triangular(
        well(3).detach().triu().requires_grad_(), r(3, 2), upper=True
    ),
    "qr": lambda: torch.linalg.qr(well(3)),
    "qr tall": lambda: torch.linalg.qr(r(4, 2)),
    "svd": lambda: torch.linalg.svd(well(3), full_matrices=False),
    "matrix_exp": lambda: torch.linalg.matrix_exp(r(3, 3)),
    "cdist": lambda: torch.cdist(r(2, 3), r(4, 3)),
}

SAMPLES = ARITHMETIC | FUNCTIONS | ACTIVATIONS | LOSSES | REDUCTIONS | MATRICES | LAYERS | INDEXING | VIEWS | LINALG

# Which outputs get a gradient, where it is not the first (or all of them).
DEFINED: dict[str, tuple[int, ...]] = {"slogdet": (1,), "eigh complex": (0,)}
# torch itself keeps 1/6 in single precision here.
TOLERANCES: dict[str, float] = {"hardsigmoid": 1e-7, "hardsigmoid far": 1e-7}
# Ops whose formulas hold for the nodes that other machines make; no CPU op here makes such a node.
ELSEWHERE = {"LinearBackward0"}

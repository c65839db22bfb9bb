"""Networks of the benchmarks, written out so that no model library is needed."""

from __future__ import annotations

import itertools

import torch
from torch import nn


class Bottleneck(nn.Module):
    """The block of ResNet-50: 1x1, 3x3, 1x1 convolutions and a shortcut."""

    def __init__(self, channels: int, width: int, stride: int) -> None:
        super().__init__()
        out = 4 * width
        self.branch = nn.Sequential(
            *(nn.Conv2d(channels, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU()),
            *(nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU()),
            *(nn.Conv2d(width, out, 1, bias=False), nn.BatchNorm2d(out)),
        )
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or channels != out:
            self.shortcut = nn.Sequential(nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.branch(x) + self.shortcut(x))


class ResNet50(nn.Module):
    """50 layers with 64 channels at first, ten classes."""

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU()]
        layers.append(nn.MaxPool2d(3, 2, 1))
        channels = 64
        for stage, depth in enumerate((3, 4, 6, 3)):
            width = 64 << stage
            for position in range(depth):
                layers.append(Bottleneck(channels, width, 2 if stage and not position else 1))
                channels = 4 * width
        self.body = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 10))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.body(x)


class Block(nn.Module):
    """One transformer block with causal self-attention."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        parts = self.qkv(self.before(x)).split(width, dim=2)
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in parts)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.after(x))


class GPT(nn.Module):
    """A decoder-only transformer."""

    def __init__(self, layers: int, width: int, heads: int, block: int, vocabulary: int) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(block, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.tokens(tokens) + self.places(torch.arange(tokens.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class Unrolled(nn.Module):
    """An LSTM cell, step by step: 15 nodes a step; each output counts, as in the prediction of a series."""

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        self.cell, self.hidden = nn.LSTMCell(inputs, hidden), hidden

    def forward(self, series: torch.Tensor) -> torch.Tensor:
        h = c = torch.zeros(series.shape[1], self.hidden)
        outputs = []
        for x in series:
            h, c = self.cell(x, (h, c))
            outputs.append(h)
        return torch.stack(outputs)


class ScalarMLP(nn.Module):
    """A network of single numbers, as in micrograd: every product and sum is a node."""

    def __init__(self, sizes: tuple[int, ...], samples: int) -> None:
        super().__init__()
        self.weights = nn.ParameterList(
            nn.Parameter(torch.randn(())) for a, b in itertools.pairwise(sizes) for _ in range(a * b)
        )
        self.sizes, self.samples = sizes, samples

    def forward(self) -> torch.Tensor:
        weights = iter(self.weights)
        layer = [torch.tensor(float(i)) for i in range(self.sizes[0])]
        for width in self.sizes[1:]:
            following = []
            for _ in range(width):
                total = torch.tensor(0.0)
                for x in layer:
                    total = total + next(weights) * x
                following.append(total.tanh())
            layer = following
        return layer[0]

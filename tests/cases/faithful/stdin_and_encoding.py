# -*- coding: latin-1 -*-
"""Reads its standard input; is itself written in Latin-1."""
import sys

import torch

name = input("name? ")
rest = sys.stdin.read().split()
w = torch.tensor([float(part) for part in rest], requires_grad=True)
(w * 2).sum().backward()
print(name, w.grad.tolist(), "café", len("café"), flush=True)

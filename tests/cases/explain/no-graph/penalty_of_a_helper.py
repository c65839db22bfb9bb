"""Imported by `cut_in_a_helper.py`: makes no node of its own."""

import torch

def penalty(w):
    return torch.tensor(float((w ** 2).sum()))

"""Imports torch and never goes backward."""
import torch

print(torch.ones(3).sum().item())

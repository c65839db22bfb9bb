"""Asks, where nobody answers."""
import torch

rate = float(input("rate? "))

"""A hidden state that is carried on: the second backward walks into a graph that is gone."""
import torch

w = torch.tensor(0.9, requires_grad=True)
hidden = torch.tensor(1.0)

for step in range(2):
    hidden = torch.tanh(w * hidden)
    loss = (hidden - 1) ** 2
    loss.backward()

"""The cut is in a module beside the script."""

import torch
from penalty_of_a_helper import penalty
w = torch.ones(3, requires_grad=True)
loss = penalty(w)
loss.backward()

from dataclasses import dataclass

import torch


@dataclass
class Batch:
    data: list


batch = Batch(data=[1.0, 2.0])
x = torch.tensor(batch.data, requires_grad=True)
loss = torch.nn.functional.mse_loss(x, torch.zeros(2), reduction="sum")
loss.backward()
print(loss.item(), batch.data[0])

"""Two ranks of a torchrun job; each has its own data, the gradients are averaged."""
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = DistributedDataParallel(torch.nn.Linear(2, 1, bias=False))
model(torch.full((1, 2), float(rank + 1))).sum().backward()
print(f"rank {rank} {model.module.weight.grad.tolist()}\n", end="", flush=True)
dist.barrier()
del model
dist.destroy_process_group()

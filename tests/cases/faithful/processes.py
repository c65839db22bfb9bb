"""Other processes: DataLoader workers (fork), spawn, a pool, a plain fork. None of them is recorded."""
import multiprocessing
import os
import pickle

import torch
from torch.utils.data import DataLoader, TensorDataset


class Config:
    def __init__(self, rate):
        self.rate = rate


def square_gradient(number):
    x = torch.tensor(float(number), requires_grad=True)
    (x * x).backward()
    return x.grad.item()


if __name__ == "__main__":
    config = pickle.loads(pickle.dumps(Config(0.5)))
    print(type(config).__module__, config.rate)
    w = torch.ones(1, requires_grad=True)
    for (batch,) in DataLoader(TensorDataset(torch.arange(4.0).reshape(4, 1)), batch_size=2, num_workers=2):
        (batch @ w).sum().backward()
    print("w", w.grad.item())
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print("spawned", pool.map(square_gradient, [1, 2]))
    with multiprocessing.get_context("fork").Pool(1) as pool:
        print("forked", pool.map(square_gradient, [3]))
    child = os.fork()
    if child == 0:
        torch.set_num_threads(1)
        print("child", square_gradient(5), flush=True)
        os._exit(3)
    print("status", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    (w * 3).sum().backward()
    print("w", w.grad.item())

import argparse
import torch
import torch.nn as nn

def build(n):
    return nn.Sequential(nn.Linear(n, n), nn.Tanh(), nn.Linear(n, 1))

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.1)
    args = parser.parse_args([])
    torch.manual_seed(0)
    net = build(3)
    opt = torch.optim.SGD(net.parameters(), lr=args.lr)
    for epoch in range(3):
        x = torch.randn(8, 3)
        loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()
        loss.backward()
        opt.step()
        print(epoch, loss.item())

if __name__ == "__main__":
    main()

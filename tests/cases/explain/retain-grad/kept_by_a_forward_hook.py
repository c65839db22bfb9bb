import torch
torch.manual_seed(0)
acts = []
def keep(m, i, o):
    acts.append(o)
net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU(), torch.nn.Linear(2, 1))
for m in net: m.register_forward_hook(keep)
net(torch.ones(1, 2)).sum().backward()
for a in acts:
    print(a.grad)

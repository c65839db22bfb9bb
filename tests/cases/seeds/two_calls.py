import torch

t1 = torch.tensor(3.0, requires_grad=True)
print("t1", t1.item(), t1.grad)
t2 = t1 * 4
t2.retain_grad()
print("t2", t2.item(), t2.grad)
t2.backward(retain_graph=True)
print("after call 1", t1.grad, t2.grad)
t3 = t2 * 5
t3.retain_grad()
print("t3", t3.item(), t3.grad)
t3.backward()
print("after call 2", t1.grad, t2.grad, t3.grad)

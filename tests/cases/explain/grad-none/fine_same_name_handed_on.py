import torch
def make():
    t = torch.ones(2, requires_grad=True)
    return t
def gradient():
    t = make()
    (t * 2).sum().backward()
    return t.grad
print(gradient())
t = make()
(t * 2).sum().backward()
t = t.detach().requires_grad_()
w = make()
(w * 2).sum().backward()
print(w.grad)

"""What the script lets go of goes at once, as under plain python: nothing of ours holds its tensors."""
import gc, torch, weakref
gc.disable()
def check(name, make, run):
    t = make(); r = weakref.ref(t)
    out = run(t)
    o = weakref.ref(out) if isinstance(out, torch.Tensor) else (lambda: None)
    del out, t
    print(name, "leaf alive" if r() is not None else "gone", "out alive" if o() is not None else "gone")
one = lambda: torch.ones(3, requires_grad=True)
def non_scalar(t):
    y = t * 2
    try: y.backward()
    except RuntimeError: pass
    return y
def wrong(t):
    y = t * 2
    try: y.backward(torch.ones(2))
    except RuntimeError: pass
    return y
def twice(t):
    y = (t * t).sum(); y.backward()
    try: y.backward()
    except RuntimeError: pass
    return y
def grad(t):
    y = (t * t).sum(); g, = torch.autograd.grad(y, t); return g
def double(t):
    y = (t ** 3).sum(); g, = torch.autograd.grad(y, t, create_graph=True); g.sum().backward(); return g
def retain(t):
    y = t * 2; y.retain_grad(); y.sum().backward(); return y
def hook(t):
    y = t * 2; y.register_hook(lambda g: g * 2); y.sum().backward(); return y
def kept(t):
    y = (t * 2).sum(); y.backward(retain_graph=True); y.backward(); return y
def inplace(t):
    y = t.exp(); z = y * y; y.add_(1)
    try: z.sum().backward()
    except RuntimeError: pass
    return z
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): ctx.save_for_backward(x); return x * 2
    @staticmethod
    def backward(ctx, g): x, = ctx.saved_tensors; return g * 2
def custom(t):
    y = F.apply(t); y.sum().backward(); return y
def boom(t):
    y = t * 2
    def h(g): raise ValueError("x")
    y.register_hook(h)
    try: y.sum().backward()
    except ValueError: pass
    return y
def jac(t): return torch.autograd.functional.jacobian(lambda x: x * 2, t)
def opt(t):
    o = torch.optim.Adam([t], lr=.1); (t * 2).sum().backward(); o.step(); o.zero_grad(); return t
def clip(t):
    (t * 2).sum().backward(); torch.nn.utils.clip_grad_norm_([t], 1.0); return t.grad
def mod(t):
    m = torch.nn.Linear(3, 1); y = m(t); y.sum().backward(); return y
def ckpt(t):
    from torch.utils.checkpoint import checkpoint
    y = checkpoint(lambda x: x * 2, t, use_reentrant=False); y.sum().backward(); return y
def ckpt2(t):
    from torch.utils.checkpoint import checkpoint
    y = checkpoint(lambda x: x * 2, t, use_reentrant=True); y.sum().backward(); return y
for f in (non_scalar, wrong, twice, grad, double, retain, hook, kept, inplace, custom, boom, jac, opt, clip, mod, ckpt, ckpt2):
    check(f.__name__, one, f)
for k in range(40): check(f"loop {k}", one, kept)

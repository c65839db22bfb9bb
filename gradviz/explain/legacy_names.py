"""What names of older PyTorch, Python 2 and its modules are called today. Tables only."""

from __future__ import annotations

# Functions of `torch` (or methods of a tensor) that raise today, and what is written instead; `{0}` and `{1}` are the
# first arguments.
REMOVED = {
    "symeig": "torch.linalg.eigh({0})",
    "eig": "torch.linalg.eig({0})",
    "lstsq": "torch.linalg.lstsq({1}, {0})",
    "solve": "torch.linalg.solve({1}, {0})",
    "matrix_rank": "torch.linalg.matrix_rank({0})",
    "gesv": "torch.linalg.solve({1}, {0})",
    "potrf": "torch.linalg.cholesky({0})",
    "trtrs": "torch.linalg.solve_triangular({1}, {0}, upper=True)",
    "gels": "torch.linalg.lstsq({1}, {0})",
    "btrifact": "torch.linalg.lu_factor({0})",
    "rfft": "torch.fft.rfft({0})",
    "irfft": "torch.fft.irfft({0})",
    "ifft": "torch.fft.ifft({0})",
    "fft": "torch.fft.fft({0})",
}
# Functions of `torch` that still work, with a warning or without.
DEPRECATED = {
    "qr": "torch.linalg.qr({0})",
    "cholesky": "torch.linalg.cholesky({0})",
    "svd": "torch.linalg.svd({0}, full_matrices=False)",
    "lu": "torch.linalg.lu_factor({0})",
    "ger": "torch.outer({0}, {1})",
    "chain_matmul": "torch.linalg.multi_dot([{0}, {1}])",
    "triangular_solve": "torch.linalg.solve_triangular({1}, {0}, upper=True)",
    "range": "torch.arange({0}, {1} + 1)",
}
# By dotted name, with `torch.nn.` written as `nn.` and `nn.functional.` as `F.`.
RENAMED = {
    "nn.utils.clip_grad_norm": "torch.nn.utils.clip_grad_norm_",
    "torch.autograd.variable": "torch.tensor",
    "F.tanh": "torch.tanh",
    "F.sigmoid": "torch.sigmoid",
    "F.upsample": "F.interpolate",
    "F.upsample_bilinear": "F.interpolate",
    "F.upsample_nearest": "F.interpolate",
    "nn.NLLLoss2d": "nn.NLLLoss",
    "torch.cuda.amp.GradScaler": "torch.amp.GradScaler",
    "torch.cuda.amp.autocast": "torch.amp.autocast",
    **{
        f"nn.init.{name}": f"nn.init.{name}_"
        for name in ("uniform", "normal", "constant", "eye", "dirac", "xavier_uniform", "xavier_normal",
                     "kaiming_uniform", "kaiming_normal", "orthogonal", "sparse")
    },
}  # fmt: skip
WITHOUT_DIM = ("F.softmax", "F.log_softmax", "F.softmin", "nn.Softmax", "nn.LogSoftmax", "nn.Softmin")
# Arguments that have another name, by the old one.
KEYWORDS = {
    "retain_variables": "retain_graph",
    "grad_variables": "grad_tensors",
}
SCALAR_FIRST = ("add_", "sub_", "add", "sub")
# Names of Python 2.
PYTHON2 = {
    "xrange": "range", "raw_input": "input", "unicode": "str", "long": "int", "basestring": "str",
    "reduce": "functools.reduce", "unichr": "chr", "file": "open", "cmp": "(a > b) - (a < b)",
}  # fmt: skip
METHODS2 = {
    "iteritems": "items()",
    "itervalues": "values()",
    "iterkeys": "keys()",
    "has_key": "in",
    "next": "next(...)",
}
MODULES2 = {
    "cPickle": "pickle", "Queue": "queue", "urllib2": "urllib.request", "ConfigParser": "configparser",
    "StringIO": "io", "Tkinter": "tkinter", "torch._six": "collections.abc",
}  # fmt: skip

# torch.autograd: gradients, backward over the nodes that tape.c recorded.
#
# A rule has the parameters of its function behind the node and the gradient of
# the result; it returns the gradients of its tensors in that order. What is
# read of a tensor goes through n.use(), which refuses what was changed since.
import math

import torch
import torch.nn.functional as F
from _pytest import param_names
from _tape import (grad_enabled, key_of, no_rule, node_of, of_function,
                   output_of, retains, set_grad, tracked)


class FunctionCtx:
    saved_tensors = ()
    needs_input_grad = ()

    def save_for_backward(self, *tensors):
        self.saved_tensors = tensors

    def mark_non_differentiable(self, *tensors):
        pass

    def mark_dirty(self, *tensors):
        pass

    def set_materialize_grads(self, value):
        pass


class Function:
    @classmethod
    def apply(cls, *args):
        ctx = FunctionCtx()
        ctx.needs_input_grad = tuple(tracked(a) for a in args)
        with torch.no_grad():
            if hasattr(cls, "setup_context"):
                out = cls.forward(*args)
                cls.setup_context(ctx, args, out)
            else:
                out = cls.forward(ctx, *args)
        if grad_enabled() and any(ctx.needs_input_grad):
            of_function(cls, ctx, args, out)
        return out


# ---- walking backward -------------------------------------------------------


class Walk:
    def __init__(self, wanted):
        self.pending = {}
        self.wanted = wanted
        self.found = {}         # key -> gradient so far
        self.leaves = {}        # key -> tensor

    def give(self, t, g):
        if g is None or not tracked(t):
            return
        if tuple(g.shape) != tuple(t.shape):
            g = unbroadcast(g, t.shape)
        g = g.to(t.dtype)
        node, key = node_of(t), key_of(t)
        if key in self.wanted if self.wanted is not None else \
                node is None or retains(t):
            self.found[key] = self.found[key] + g if key in self.found else g
            self.leaves[key] = t
        if node is not None:
            entry = self.pending.get(node.id)
            if entry is None:
                entry = (node, [None] * len(node.outs))
                self.pending[node.id] = entry
            old = entry[1][output_of(t)]
            entry[1][output_of(t)] = g if old is None else old + g

    def run(self):
        while self.pending:
            node, grads = self.pending.pop(max(self.pending))
            self.step(node, grads)

    def keep(self):
        for key, t in self.leaves.items():
            g = self.found[key]
            set_grad(t, g.clone() if t.grad is None else t.grad + g)

    def step(self, node, grads):
        if node.name == "Function":
            given = function_rule(node, grads)
            pairs = zip(node.args, given)
        elif node.name in lists:
            pairs = lists[node.name](node, grads[0])
        elif node.name in several:
            pairs = call_rule(several[node.name], node, grads)
        elif node.name in rules:
            pairs = call_rule(rules[node.name], node, grads[0])
        else:
            no_rule(node)
        for t, g in pairs:
            self.give(t, g)


def call_rule(rule, n, g):
    names = param_names(rule)[2:]
    values = dict(zip(names, n.args))
    values.update(n.kw)
    out = rule(n, g, *n.args, **n.kw)
    out = out if isinstance(out, tuple) else (out,)
    return [(values.get(name), each) for name, each in zip(names, out)]


def function_rule(n, grads):
    full = [torch.zeros_like(o) if g is None else g
            for o, g in zip(n.outs, grads)]
    out = n.kw["cls"].backward(n.kw["ctx"], *full)
    return out if isinstance(out, (tuple, list)) else (out,)


def start(outputs, gradients, wanted):
    walk = Walk(wanted)
    for t, g in zip(outputs, gradients):
        if not tracked(t):
            raise RuntimeError("element 0 of tensors does not require grad "
                               "and does not have a grad_fn")
        if g is None and t.numel() != 1:
            raise RuntimeError("grad can be implicitly created only for "
                               "scalar outputs")
        with torch.no_grad():
            walk.give(t, torch.ones_like(t) if g is None else g)
    with torch.no_grad():
        walk.run()
    return walk


def as_tuple(x):
    return tuple(x) if isinstance(x, (tuple, list)) else (x,)


def tensor_backward(self, gradient=None, retain_graph=None,
                    create_graph=False, inputs=None):
    backward(self, gradient, retain_graph, create_graph)


def backward(tensors, grad_tensors=None, retain_graph=None,
             create_graph=False):
    if create_graph:
        no_rule(None, "a gradient of gradients (create_graph)")
    tensors = as_tuple(tensors)
    given = (None,) * len(tensors) if grad_tensors is None else \
        as_tuple(grad_tensors)
    walk = start(tensors, given, None)
    with torch.no_grad():
        walk.keep()


def grad(outputs, inputs, grad_outputs=None, retain_graph=None,
         create_graph=False, allow_unused=False):
    if create_graph:
        no_rule(None, "a gradient of gradients (create_graph)")
    outputs, inputs = as_tuple(outputs), as_tuple(inputs)
    if not all(tracked(t) for t in inputs):
        raise RuntimeError("One of the differentiated Tensors does not "
                           "require grad")
    given = (None,) * len(outputs) if grad_outputs is None else \
        as_tuple(grad_outputs)
    walk = start(outputs, given, [key_of(t) for t in inputs])
    out = tuple(walk.found.get(key_of(t)) for t in inputs)
    if not allow_unused and any(g is None for g in out):
        raise RuntimeError("One of the differentiated Tensors appears to not "
                           "have been used in the graph")
    return out


# ---- shapes -----------------------------------------------------------------


def unbroadcast(g, shape):
    shape = tuple(shape)
    extra = len(g.shape) - len(shape)
    if extra > 0:
        g = g.sum(dim=tuple(range(extra)))
    dims = tuple(i for i, n in enumerate(shape) if n == 1 and g.shape[i] != 1)
    return g.sum(dim=dims, keepdim=True) if dims else g


def is_tensor(x):
    return isinstance(x, torch.Tensor)


# g of a reduction, with the dimensions that it lost.
def widened(g, input, dim, keepdim):
    if dim is None:
        return g.reshape((1,) * len(input.shape))
    rank = len(input.shape)
    for d in sorted(x % rank for x in as_tuple(dim)):
        g = g if keepdim else g.unsqueeze(d)
    return g


# ---- rules ------------------------------------------------------------------


def add(n, g, input, other, alpha=1):
    return g, g * alpha if is_tensor(other) else None


def sub(n, g, input, other, alpha=1):
    return g, -g * alpha if is_tensor(other) else None


def mul(n, g, input, other):
    return (g * n.use(other) if tracked(input) else None,
            g * n.use(input) if tracked(other) else None)


def div(n, g, input, other, rounding_mode=None):
    if rounding_mode is not None:
        return None, None
    b = n.use(other)
    return (g / b if tracked(input) else None,
            -g * n.use(input) / (b * b) if tracked(other) else None)


def pow_rule(n, g, input, exponent):
    x, p = n.use(input), n.use(exponent)
    dx = dp = None
    if tracked(input):
        dx = g * (p * x ** (p - 1))
        if not is_tensor(p) and p == 0:
            dx = torch.zeros_like(x)
    if tracked(exponent):
        out = n.use(n.outs[0])
        dp = g * out * (x.log() if is_tensor(x) else math.log(x))
    return dx, dp


def remainder(n, g, input, other):
    if tracked(other):
        no_rule(n, "by its second argument")
    return g, None


def clamp(n, g, input, min=None, max=None):
    x, inside = n.use(input), torch.ones_like(input, dtype=torch.bool)
    if min is not None:
        inside = inside & (x >= min)
    if max is not None:
        inside = inside & (x <= max)
    return g.masked_fill(~inside, 0)


# max(a, b) elementwise: where both are the same each has a half.
def of_larger(n, g, a, b, larger):
    a, b = n.use(a), n.use(b)
    won = (a > b if larger else a < b).to(g.dtype)
    half = (a == b).to(g.dtype) * 0.5
    share = won + half
    return g * share, g * (1 - share)


def maximum(n, g, input, other):
    return of_larger(n, g, input, other, True)


def minimum(n, g, input, other):
    return of_larger(n, g, input, other, False)


def where(n, g, condition, input, other):
    c = n.use(condition)
    return None, g.masked_fill(~c, 0), g.masked_fill(c, 0)


# x.where(c, y)
def masked_fill(n, g, input, mask, value):
    m = n.use(mask)
    lost = g.masked_fill(~m, 0).sum() if tracked(value) else None
    return g.masked_fill(m, 0), None, lost


def same(n, g, input, *args, **kw):
    return g


def reshaped(n, g, input, *args, **kw):
    return g.reshape(input.shape)


def transpose(n, g, input, dim0, dim1):
    return g.transpose(dim0, dim1)


def transposed(n, g, input):
    return g.mT if len(g.shape) > 1 else g


def reversed_dims(n, g, input):
    return g.permute(*range(len(g.shape) - 1, -1, -1))


def permute(n, g, input, *dims):
    dims = dims[0] if len(dims) == 1 and not isinstance(dims[0], int) else dims
    rank = len(dims)
    back = [0] * rank
    for i, d in enumerate(dims):
        back[d % rank] = i
    return g.permute(*back)


def expand(n, g, input, *sizes):
    return unbroadcast(g, input.shape)


def repeat_interleave(n, g, input, repeats, dim=None):
    if is_tensor(repeats) or dim is None:
        no_rule(n, "by a tensor, or of all elements")
    d = dim % len(input.shape)
    shape = list(input.shape)
    return g.reshape(shape[:d + 1] + [repeats] + shape[d + 1:]).sum(d + 1)


def repeat(n, g, input, *sizes):
    sizes = as_tuple(sizes[0]) if len(sizes) == 1 else sizes
    shape = [1] * (len(sizes) - len(input.shape)) + list(input.shape)
    parts = []
    for times, size in zip(sizes, shape):
        parts += [times, size]
    g = g.reshape(parts).sum(dim=tuple(range(0, len(parts), 2)))
    return g.reshape(input.shape)


def sum_rule(n, g, input, dim=None, keepdim=False, dtype=None):
    return widened(g, input, dim, keepdim).expand(input.shape)


def mean(n, g, input, dim=None, keepdim=False, dtype=None):
    whole = widened(g, input, dim, keepdim)
    return (whole / (input.numel() / whole.numel())).expand(input.shape)


# amax, and max of everything: places that are the same share.
def extreme(n, g, input, dim=None, keepdim=False):
    out = widened(n.use(n.outs[0]), input, dim, keepdim)
    at = (n.use(input) == out).to(g.dtype)
    share = at.sum() if dim is None else at.sum(dim=dim, keepdim=True)
    return widened(g, input, dim, keepdim) * at / share


# max(dim), min(dim), topk: (values, places), along one dimension
def placed(n, g, input, dim, keepdim):
    places, g = n.outs[1], g[0]
    if not keepdim:
        places, g = places.unsqueeze(dim), g.unsqueeze(dim)
    return torch.zeros_like(input).scatter(dim, places, g)


def max_rule(n, g, input, dim=None, keepdim=False):
    if is_tensor(dim):
        return of_larger(n, g[0], input, dim, n.name == "max")
    if len(n.outs) == 1:
        return extreme(n, g[0], input)
    return placed(n, g, input, dim, keepdim)


def topk(n, g, input, k, dim=-1, largest=True, sorted=True):
    return placed(n, g, input, dim, True)


def sort(n, g, input, dim=-1, descending=False, stable=False):
    return placed(n, g, input, dim, True)


def cumsum(n, g, input, dim, dtype=None):
    return g.flip(dim).cumsum(dim).flip(dim)


def softmax(n, g, input, dim=None, dtype=None, **kw):
    out = n.use(n.outs[0])
    return out * (g - (g * out).sum(dim=dim, keepdim=True))


def log_softmax(n, g, input, dim=None, dtype=None, **kw):
    return g - n.use(n.outs[0]).exp() * g.sum(dim=dim, keepdim=True)


def logsumexp(n, g, input, dim, keepdim=False):
    out = widened(n.use(n.outs[0]), input, dim, keepdim)
    return widened(g, input, dim, keepdim) * (n.use(input) - out).exp()


def matmul(n, g, input, other):
    a, b = n.use(input), n.use(other)
    flat_a, flat_b = len(a.shape) == 1, len(b.shape) == 1
    a = a.unsqueeze(0) if flat_a else a
    b = b.unsqueeze(1) if flat_b else b
    g = g.unsqueeze(-1) if flat_b else g
    g = g.unsqueeze(-2) if flat_a else g
    da = db = None
    if tracked(input):
        da = unbroadcast(g @ b.mT, a.shape)
        da = da.squeeze(0) if flat_a else da
    if tracked(other):
        db = unbroadcast(a.mT @ g, b.shape)
        db = db.squeeze(1) if flat_b else db
    return da, db


def linear(n, g, input, weight, bias=None):
    x, w = n.use(input), n.use(weight)
    rows = g.reshape(-1, g.shape[-1])
    return (g @ w if tracked(input) else None,
            rows.mT @ x.reshape(-1, x.shape[-1]) if tracked(weight) else None,
            rows.sum(0) if tracked(bias) else None)


def triangle(n, g, input, diagonal=0):
    return getattr(torch, n.name)(g, diagonal)


def has_tensor(index):
    return any(is_tensor(i) or isinstance(i, list) for i in as_tuple(index))


# Places that are asked for more than once add up.
def getitem(n, g, input, index):
    out = torch.zeros_like(input, dtype=g.dtype)
    if not has_tensor(index):
        out[index] = g
        return out
    number = torch.arange(input.numel()).reshape(input.shape)[index]
    flat = out.reshape(-1).index_add(0, number.reshape(-1), g.reshape(-1))
    return flat.reshape(input.shape)


def setitem(n, g, input, index, value):
    rest = g.clone()
    rest[index] = 0
    return rest, None, unbroadcast(g[index], value.shape) if is_tensor(value) \
        else None


def replaced(n, g, input, other=None, non_blocking=False):
    return torch.zeros_like(g), g if is_tensor(other) else None


def gather(n, g, input, dim, index):
    out = torch.zeros_like(input, dtype=g.dtype)
    return out.scatter_add(dim, n.use(index), g)


def index_select(n, g, input, dim, index):
    out = torch.zeros_like(input, dtype=g.dtype)
    return out.index_add(dim, n.use(index), g)


def masked_select(n, g, input, mask):
    return getitem(n, g, input, n.use(mask))


def flip(n, g, input, *dims):
    return g.flip(*dims)


def narrow(n, g, input, dim, start, length):
    out = torch.zeros_like(input, dtype=g.dtype)
    out.narrow(dim, start, length).copy_(g)
    return out


def pad(n, g, input, pad, mode="constant", value=None):
    for i in range(0, len(pad), 2):
        d = len(input.shape) - 1 - i // 2
        g = g.narrow(d, pad[i], input.shape[d])
    return g


def elementwise(slope):
    def rule(n, g, input):
        return g * slope(n.use(input))

    return rule


# The slope in terms of the result.
def by_result(slope):
    def rule(n, g, input):
        return g * slope(n.use(n.outs[0]))

    return rule


def silu_slope(x):
    s = x.sigmoid()
    return s * (1 + x * (1 - s))


def relu_rule(n, g, input, inplace=False):
    return g.masked_fill(n.use(n.outs[0]) <= 0, 0)


def silu_rule(n, g, input, inplace=False):
    return g * silu_slope(n.use(input))


# ---- functions written in terms of others -----------------------------------


def composed(forward):
    def rule(n, g):
        def leaf(x):
            if not tracked(x):
                return x
            return n.use(x).detach().requires_grad_()

        args = [leaf(x) for x in n.args]
        kw = {name: leaf(x) for name, x in n.kw.items()}
        with torch.enable_grad():
            out = forward(*args, **kw)
        old = list(n.args) + [n.kw[name] for name in kw]
        new = args + list(kw.values())
        pairs = [(t, x) for t, x in zip(old, new) if tracked(t)]
        grads = grad(out, [x for t, x in pairs], g, allow_unused=True)
        return [(t, d) for (t, x), d in zip(pairs, grads)]

    return rule


def var(input, dim=None, unbiased=True, keepdim=False, correction=None):
    off = correction if correction is not None else 1 if unbiased else 0
    mid = input.mean() if dim is None else input.mean(dim=dim, keepdim=True)
    square = (input - mid) * (input - mid)
    total = square.sum() if dim is None else square.sum(dim=dim,
                                                        keepdim=keepdim)
    return total / (input.numel() / total.numel() - off)


def std(input, *args, **kw):
    return var(input, *args, **kw).sqrt()


def norm(input, p=2, dim=None, keepdim=False):
    if p not in (2, "fro", None):
        no_rule(None, "the gradient of a norm of another order than 2")
    square = input * input
    total = square.sum() if dim is None else square.sum(dim=dim,
                                                        keepdim=keepdim)
    return total.sqrt()


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    dims = tuple(range(-len(as_tuple(normalized_shape)), 0))
    x = input.float() if input.dtype != torch.float64 else input
    out = (x - x.mean(dim=dims, keepdim=True)) * (var(
        x, dims, False, True) + eps).rsqrt()
    out = out if weight is None else out * weight
    return (out if bias is None else out + bias).to(input.dtype)


def rms_norm(input, normalized_shape, weight=None, eps=None):
    dims = tuple(range(-len(as_tuple(normalized_shape)), 0))
    eps = torch.finfo(input.dtype).eps if eps is None else eps
    x = input.float() if input.dtype != torch.float64 else input
    out = x * ((x * x).mean(dim=dims, keepdim=True) + eps).rsqrt()
    return (out if weight is None else out * weight).to(input.dtype)


def attention(query, key, value, attn_mask=None, dropout_p=0.0,
              is_causal=False, scale=None, enable_gqa=False):
    if dropout_p:
        no_rule(None, "the gradient of attention with dropout")
    if enable_gqa:
        times = query.shape[-3] // key.shape[-3]
        key = key.repeat_interleave(times, -3)
        value = value.repeat_interleave(times, -3)
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    scores = (query @ key.mT) * scale
    if is_causal:
        attn_mask = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        scores = scores.masked_fill(~attn_mask, -math.inf)
    elif attn_mask is not None:
        scores = scores + attn_mask
    return scores.softmax(dim=-1) @ value


def normalize(input, p=2.0, dim=1, eps=1e-12):
    if p != 2:
        no_rule(None, "the gradient of a norm of another order than 2")
    size = norm(input, 2, dim, True)
    return input / size.clamp(min=eps)


def kl_div(input, target, size_average=None, reduce=None, reduction="mean",
           log_target=False):
    if log_target:
        each = target.exp() * (target - input)
    else:
        safe = target.clamp(min=1e-45)
        each = torch.where(target > 0, target * (safe.log() - input), 0.0)
    if reduction == "batchmean":
        return each.sum() / input.shape[0]
    return each.mean() if reduction == "mean" else \
        each.sum() if reduction == "sum" else each


def mse_loss(input, target, reduction="mean", **kw):
    each = (input - target) * (input - target)
    return each.mean() if reduction == "mean" else \
        each.sum() if reduction == "sum" else each


def gelu(input, approximate="none"):
    if approximate == "tanh":
        inner = 0.7978845608028654 * (input + 0.044715 * input ** 3)
        return 0.5 * input * (1 + inner.tanh())
    return 0.5 * input * (1 + (input * 0.7071067811865476).erf())


def softplus(input, beta=1, threshold=20):
    scaled = input * beta
    soft = scaled.clamp(max=threshold).exp().log1p() / beta
    return torch.where(scaled > threshold, input, soft)


def addmm(input, mat1, mat2, beta=1, alpha=1):
    return input * beta + (mat1 @ mat2) * alpha


# ---- lists of tensors -------------------------------------------------------


def cat(n, g):
    tensors = n.args[0]
    dim = n.args[1] if len(n.args) > 1 else n.kw.get("dim", 0)
    sizes = [t.shape[dim] for t in tensors]
    return zip(tensors, g.split(sizes, dim))


def stack(n, g):
    dim = n.args[1] if len(n.args) > 1 else n.kw.get("dim", 0)
    return zip(n.args[0], g.unbind(dim))


# The gradients of parts, zeros where nobody used one.
def parts(n, grads):
    return [torch.zeros_like(o) if g is None else g
            for o, g in zip(n.outs, grads)]


def split(n, g, input, sizes, dim=0):
    return torch.cat(parts(n, g), dim)


def unbind(n, g, input, dim=0):
    return torch.stack(parts(n, g), dim)


# ---- einsum and einops ------------------------------------------------------


def contract(n, g, terms, right, tensors):
    for i, t in enumerate(tensors):
        if not tracked(t):
            continue
        others = [x for j, x in enumerate(terms) if j != i]
        known = right + "".join(others)
        have = "".join(c for c in terms[i] if c in known)
        if len(set(terms[i])) != len(terms[i]):
            no_rule(n, "of a diagonal")
        values = [g] + [n.use(x) for j, x in enumerate(tensors) if j != i]
        d = torch.einsum(",".join([right] + others) + "->" + have, *values)
        shape = list(t.shape)
        for place, c in enumerate(terms[i]):
            if c in known:                  # larger, where t was broadcast
                shape[place] = d.shape[place]
            else:
                d = d.unsqueeze(place)
        yield t, d.expand(shape)


def einsum(n, g):
    left, arrow, right = n.args[0].replace(" ", "").partition("->")
    tensors = n.args[1:]
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tensors[0]
    terms = left.split(",")
    if not arrow:
        right = "".join(sorted(c for c in set(left) - {","}
                               if left.count(c) == 1))
    if "." in left:
        dots = max(len(t.shape) - len(x.replace(".", ""))
                   for x, t in zip(terms, tensors) if "." in x)
        room = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
        free = "".join(c for c in room if c not in left)[:dots]
        if any("." in x and len(t.shape) - len(x.replace(".", "")) != dots
               for x, t in zip(terms, tensors)):
            no_rule(n, "that broadcasts")
        terms = [x.replace("...", free) for x in terms]
        right = right.replace("...", free)
    return contract(n, g, terms, right, tensors)


def einops_einsum(n, g):
    tensors, pattern = n.args[:-1], n.args[-1]
    left, arrow, right = pattern.partition("->")
    letters = {}
    room = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

    def term(text):
        for name in text.split():
            if name == "...":
                no_rule(n, "with '...'")
            if name not in letters:
                letters[name] = room[len(letters)]
        return "".join(letters[name] for name in text.split())

    terms = [term(x) for x in left.split(",")]
    return contract(n, g, terms, term(right), tensors)


# "b (h d) ..." as [["b"], ["h", "d"]]
def groups(text):
    out, inside = [], None
    for word in text.replace("(", " ( ").replace(")", " ) ").split():
        if word == "(":
            inside = []
        elif word == ")":
            out.append(inside)
            inside = None
        elif inside is not None:
            inside.append(word)
        else:
            out.append([word])
    return out


def spelled(pattern, rank):
    if "..." not in pattern:
        return pattern
    left = pattern.partition("->")[0]
    count = rank - (len(groups(left)) - 1)
    return pattern.replace("...", " ".join("_%d" % i for i in range(count)))


def axis_sizes(left, shape, known):
    sizes = dict(known)
    for names, size in zip(left, shape):
        rest = [x for x in names if x not in sizes and not x.isdigit()]
        for x in names:
            if x.isdigit():
                sizes[x] = int(x)
            if x in sizes:
                size //= sizes[x]
        if rest:
            sizes[rest[0]] = size
    return sizes


def rearrange(n, g):
    input = n.args[0]
    left, arrow, right = spelled(n.args[1], len(input.shape)).partition("->")
    left, right = groups(left), groups(right)
    sizes = axis_sizes(left, input.shape, n.kw)
    order = [x for names in right for x in names]
    kept = [x for names in left for x in names if x != "1"]
    for x in order:
        if x.isdigit():
            sizes[x] = int(x)
    g = g.reshape([sizes[x] for x in order])
    more = tuple(i for i, x in enumerate(order) if x not in kept)
    g = g.sum(dim=more) if more else g
    order = [x for x in order if x in kept]
    g = g.permute(*[order.index(x) for x in kept]) if kept else g
    return [(input, g.reshape(input.shape))]


# ---- the tables -------------------------------------------------------------

rules = {
    "add": add, "sub": sub, "subtract": sub, "mul": mul, "multiply": mul,
    "div": div, "divide": div, "true_divide": div, "pow": pow_rule,
    "remainder": remainder, "clamp": clamp, "clip": clamp, "maximum": maximum,
    "minimum": minimum, "where": where, "masked_fill": masked_fill,
    "permute": permute, "transpose": transpose, "swapaxes": transpose,
    "t": transposed, "mT": transposed, "T": reversed_dims,
    "expand": expand, "expand_as": expand, "broadcast_to": expand,
    "repeat_interleave": repeat_interleave, "repeat": repeat,
    "tile": repeat, "sum": sum_rule, "mean": mean, "amax": extreme,
    "amin": extreme, "cumsum": cumsum, "softmax": softmax,
    "log_softmax": log_softmax, "logsumexp": logsumexp, "matmul": matmul,
    "mm": matmul, "bmm": matmul, "mv": matmul, "dot": matmul,
    "linear": linear, "tril": triangle, "triu": triangle, "getitem": getitem,
    "setitem": setitem, "copy_": replaced, "fill_": replaced,
    "zero_": replaced, "gather": gather, "index_select": index_select,
    "masked_select": masked_select, "flip": flip, "narrow": narrow,
    "pad": pad, "relu": relu_rule, "silu": silu_rule,
    "neg": elementwise(lambda x: -1), "negative": elementwise(lambda x: -1),
    "abs": elementwise(lambda x: x.sign()),
    "square": elementwise(lambda x: 2 * x),
    "log": elementwise(lambda x: 1 / x),
    "log2": elementwise(lambda x: 1 / (x * math.log(2))),
    "log10": elementwise(lambda x: 1 / (x * math.log(10))),
    "log1p": elementwise(lambda x: 1 / (1 + x)),
    "sin": elementwise(lambda x: x.cos()),
    "cos": elementwise(lambda x: -x.sin()),
    "erf": elementwise(lambda x: 2 / math.pi ** 0.5 * (-x * x).exp()),
    "logsigmoid": elementwise(lambda x: (-x).sigmoid()),
    "exp": by_result(lambda y: y),
    "exp2": by_result(lambda y: y * math.log(2)),
    "expm1": by_result(lambda y: y + 1),
    "sqrt": by_result(lambda y: 0.5 / y),
    "rsqrt": by_result(lambda y: -0.5 * y * y * y),
    "reciprocal": by_result(lambda y: -y * y),
    "sigmoid": by_result(lambda y: y * (1 - y)),
    "tanh": by_result(lambda y: 1 - y * y),
}
for name in ("to", "type", "type_as", "float", "double", "half", "bfloat16",
             "clone", "contiguous", "cpu", "cuda"):
    rules[name] = same
for name in ("view", "view_as", "reshape", "reshape_as", "flatten",
             "unflatten", "squeeze", "unsqueeze", "ravel"):
    rules[name] = reshaped

several = {
    "max": max_rule, "min": max_rule, "topk": topk, "sort": sort,
    "split": split, "chunk": split, "unbind": unbind,
}

lists = {
    "cat": cat, "concat": cat, "concatenate": cat, "stack": stack,
    "einsum": einsum, "einops.einsum": einops_einsum,
    "einops.rearrange": rearrange, "einops.repeat": rearrange,
    "var": composed(var), "std": composed(std), "norm": composed(norm),
    "normalize": composed(normalize), "layer_norm": composed(layer_norm),
    "rms_norm": composed(rms_norm),
    "scaled_dot_product_attention": composed(attention),
    "kl_div": composed(kl_div), "mse_loss": composed(mse_loss),
    "gelu": composed(gelu), "softplus": composed(softplus),
    "addmm": composed(addmm), "baddbmm": composed(addmm),
}

# torch_script.py - the cases of torch_cases.py as one program.
#
# The text runs unchanged under torch and under tilesim: it loads inputs.<ext>,
# evaluates each case and saves the tensors; numbers and errors are printed.
import hashlib

from tensors import values

PRELUDE = '''{imports}import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file

INPUTS = load_file("{folder}/inputs.safetensors")
OUT = {{}}


def arranged(name, layout):
    x = INPUTS[name]
    if layout == "t":
        return x.permute(*range(x.dim() - 1, -1, -1))
    if layout == "s":
        return x[..., ::2]
    if layout == "e":
        return x.expand(x.size(0), *([-1] * (x.dim() - 1))) \\
            if x.dim() < 2 else x.expand(-1, x.size(1) * 3, *([-1] * (x.dim() - 2)))
    return x.clone()


def keep(name, r):
    if isinstance(r, torch.Tensor):
        OUT[name] = r.contiguous().clone()
    elif isinstance(r, (tuple, list)):
        print(name, "items", len(r))
        for i in range(len(r)):
            keep(name + "." + str(i), r[i])
    else:
        print(name, "value", repr(r))


def run(name, f, *inputs):
    try:
        keep(name, f(*[arranged(name + "." + i, layout)
                       for i, layout in inputs]))
    except Exception as e:
        print(name, "error", type(e).__name__)


'''


def stored_shape(shape, layout):
    """What is kept in the file, so that the layout gives `shape`."""
    if layout == "t":
        return shape[::-1]
    if layout == "s":
        return shape[:-1] + [shape[-1] * 2]
    if layout == "e" and len(shape) > 1:
        return [shape[0], 1] + shape[2:]
    return shape


def used_shape(shape, layout):
    if layout == "e" and len(shape) > 1:
        return [shape[0], 3] + shape[2:]
    return shape


def is_expression(body):
    try:
        compile(body, "case", "eval")
        return True
    except SyntaxError:
        return False


def inputs_of(cases, first_seed=1):
    out, seed = {}, first_seed
    for c in cases:
        for name, dtype, shape, domain, layout in c["inputs"]:
            seed += 1
            out[f"{c['id']}.{name}"] = values(domain, dtype,
                                              stored_shape(shape, layout), seed)
    return out


def text_of(cases, folder, imports=""):
    parts = [PRELUDE.format(folder=folder, imports=imports)]
    for c in cases:
        names = ", ".join(i[0] for i in c["inputs"])
        body = c["body"]
        body = "return " + body if is_expression(body) else body
        lines = [s.strip() for s in body.split(";")]
        parts.append(f"def case_{c['id']}({names}):\n"
                     + "".join(f"    {s}\n" for s in lines))
        pairs = "".join(f', ("{i[0]}", "{i[4]}")' for i in c["inputs"])
        parts.append(f'run("{c["id"]}", case_{c["id"]}{pairs})\n')
    parts.append(f'save_file(OUT, "{folder}/outputs.safetensors")\n')
    return "\n".join(parts)


def stamp(cases):
    """Changes when a case does: the stored answers are for these cases."""
    text = repr([(c["body"], c["inputs"], c["tol"] == 0) for c in cases])
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()

// prelude.c - small parts of libraries, most of them in Python: classes that
// programs derive from, and the like.
//
// A torch.autograd.Function runs forward; nothing here differentiates. A
// torch.nn.Module calls its forward and holds no parameters.
#include "host/host.h"

static const char autograd[] =
    "class FunctionCtx:\n"
    "    saved_tensors = ()\n"
    "    needs_input_grad = ()\n"
    "    def save_for_backward(self, *tensors):\n"
    "        self.saved_tensors = tensors\n"
    "    def mark_non_differentiable(self, *tensors):\n"
    "        pass\n"
    "    def mark_dirty(self, *tensors):\n"
    "        pass\n"
    "    def set_materialize_grads(self, value):\n"
    "        pass\n"
    "\n"
    "class Function:\n"
    "    @classmethod\n"
    "    def apply(cls, *args):\n"
    "        return cls.forward(FunctionCtx(), *args)\n";

static const char modules[] =
    "class Module:\n"
    "    training = True\n"
    "    def __init__(self, *args, **kwargs):\n"
    "        pass\n"
    "    def __call__(self, *args, **kwargs):\n"
    "        return self.forward(*args, **kwargs)\n"
    "    def to(self, *args, **kwargs):\n"
    "        return self\n"
    "    def cuda(self, *args):\n"
    "        return self\n"
    "    def half(self):\n"
    "        return self\n"
    "    def eval(self):\n"
    "        self.training = False\n"
    "        return self\n"
    "    def train(self, mode=True):\n"
    "        self.training = mode\n"
    "        return self\n"
    "    def register_buffer(self, name, tensor, persistent=True):\n"
    "        setattr(self, name, tensor)\n"
    "    def parameters(self):\n"
    "        return []\n"
    "\n"
    "def Parameter(data, requires_grad=True):\n"
    "    return data\n";

static const char version[] =
    "def parse(text):\n"
    "    numbers = []\n"
    "    for part in text.split('+')[0].split('.'):\n"
    "        if not part.isdigit():\n"
    "            break\n"
    "        numbers.append(int(part))\n"
    "    return tuple(numbers)\n"
    "\n"
    "Version = parse\n";

// ---- inspect ----------------------------------------------------------------------

// The parameters of a Python function by name; of anything else none are known.
static Value signature(Lang *l, void *ctx, const Args *args)
{
    static const char *const fields[] = {"parameters"};
    static const char *const each[] = {"name", "default"};
    Value all = v_dict(l), fn = args->count ? args->at[0] : V_NONE;

    (void)ctx;
    for (int i = 0; fn.kind == VAL_FUNCTION
                    && i < function_param_count(fn.function); i++) {
        Value parts[2];
        bool has;

        parts[0] = v_str(function_param(fn.function, i, &parts[1], &has));
        if (!has)
            parts[1] = V_NONE;
        dict_set(l, all.dict, parts[0],
                 v_named_tuple(l, "Parameter", each, parts, 2));
    }
    return v_named_tuple(l, "Signature", fields, &all, 1);
}

static Value inspect_module(Lang *l)
{
    Module *m = lang_module(l, "inspect");

    module_set(l, m, "signature", v_builtin(l, "signature", signature, NULL));
    return (Value){.kind = VAL_MODULE, .module = m};
}

// ---- modules -----------------------------------------------------------------------

static const struct {
    const char *name, *text;
} preludes[] = {
    {"torch.autograd", autograd},
    {"torch.nn.modules", modules},
    {"packaging.version", version},
};

bool prelude_import(Host *h, Text name, Value *out)
{
    if (text_is(name, "inspect")) {
        *out = inspect_module(h->lang);
        return true;
    }
    if (text_is(name, "packaging")) {
        *out = (Value){.kind = VAL_MODULE,
                       .module = lang_module(h->lang, "packaging")};
        return true;
    }
    for (size_t i = 0; i < countof(preludes); i++) {
        Module *m;
        uint32_t file;

        if (!text_is(name, preludes[i].name))
            continue;
        file = sources_add(h->options.sources, preludes[i].name,
                           text_of(preludes[i].text));
        if (!lang_run_file(h->lang, file, name, &m))
            return false;
        *out = (Value){.kind = VAL_MODULE, .module = m};
        return true;
    }
    return false;
}

// lang.h - runs the Python-level code of a program and stages its kernels.
#ifndef LANG_LANG_H
#define LANG_LANG_H

#include <stdarg.h>

#include "lang/foreign.h"
#include "lang/value.h"

typedef struct {
    Arena *arena;
    Diag *diag;
    SourceSet *sources;
    const OpTable *ops;
    const Device *device;       // --target: T.get_num_sms-like queries
    FILE *out;                  // print()
    void *ctx;                  // the host's own state
    // Called for `import name`; fills `out` or returns false (then a sibling
    // file name.py / name.tile is tried, then an opaque module is made).
    bool (*import)(Lang *l, Text name, Value *out);
    // Arguments of the script after its name: sys.argv[1:].
    const Text *argv;
    int argc;
    // Asked when an exception ends the program outside a kernel: true when the
    // host has what it came for, and a warning will do. May be NULL.
    bool (*may_stop)(Lang *l);
    // Statements, calls and loop turns before the program is stopped (exit 4),
    // and bytes its Python values may take; 0: no limit, and 4 GiB.
    uint64_t max_steps;
    size_t max_bytes;
    // A decorator or call that makes a callable kernel object from a traced
    // prim_func or eager function is the host's: tilelang.jit & co. live in
    // modules that `import` returns.
} LangOptions;

Lang *lang_create(const LangOptions *options);
void lang_destroy(Lang *l);                     // sweeps all foreign objects
const LangOptions *lang_options(const Lang *l);
Arena *lang_arena(Lang *l);

// Lexes, parses and runs a file as module `name` ("__main__" or another:
// `if __name__ == "__main__"` parts run only under that name). False after
// reporting; uncaught exceptions are reported with the Python call stack.
// sys.exit() reports nothing: it is true for code 0, and false with the code
// kept for lang_exit_code otherwise; so is a stop by parallel_cancel (130, or
// 4 for a timeout).
bool lang_run_file(Lang *l, uint32_t file, Text name, Module **out);
int lang_exit_code(const Lang *l);
// What the program checked itself: asserts that held, and comparisons of the
// host, which says so.
int64_t lang_checks(const Lang *l);
void lang_checked(Lang *l);
// Comparisons of the host that did not hold: lang_raise_exit, EXIT_FINDINGS.
int64_t lang_differences(const Lang *l);
// What a program asks of upstream's compiler and nobody here knows, such as the
// text of a kernel: see unseen.c. An assert on it is counted as not compared;
// a branch on it is a guess.
Value v_unseen(Lang *l);
Value v_unseen_text(Lang *l, Text text);        // text: when it is printed
bool v_is_unseen(Value v);
void lang_not_compared(Lang *l, Span at);
typedef struct {
    int64_t made, not_compared;
    int guesses;                // since lang_forget_guesses, not in asserts
} Unseen;
Unseen lang_unseen(const Lang *l);
void lang_forget_guesses(Lang *l);
// Is there an `if __name__ == "__main__":` part?
bool lang_has_main(const Lang *l, uint32_t file);

// Calls from the host into the program. lang_try runs body under a handler:
// false when an exception escaped, which has then been reported to the diag
// (or is kept in *error when that is not NULL).
typedef void LangBody(Lang *l, void *ctx);
typedef struct {
    Text type, message;         // "ValueError", "..."; type "" when it was
    Span at;                    // reported already (lang_unsupported)
} LangError;
bool lang_try(Lang *l, LangBody *body, void *ctx, LangError *error);
Value lang_call(Lang *l, Value callee, const Args *args);
// A Python literal (a number, text, True, [1, 2], ...) or, when `text` is none,
// the text itself: what -D name=value means.
Value lang_literal(Lang *l, Text text);
// Evaluates an expression whose names are those of module `names` and Python's
// own. False after reporting to d. The value is pinned: see lang_pins.
bool lang_evaluate(Lang *l, Diag *d, Text expression, Module *names,
                   Value *out);
// "name(a, b, ...)": finds an attribute of any value; false: none.
bool lang_getattr(Lang *l, Value v, Text name, Value *out, Span at);
// Results of lang_call and objects of lang_adopt stay alive until the host
// function that the program called returns. A host that loops, or is called by
// no program, gives them up by itself: mark = lang_pins(l); ...
// lang_unpin(l, mark).
int lang_pins(const Lang *l);
void lang_pin(Lang *l, Value v);
void lang_unpin(Lang *l, int mark);
bool lang_module_get(Module *m, Text name, Value *out);
// The module of the file that is run.
Module *lang_main(const Lang *l);
// As `import name` finds it; NULL: nobody knows it.
Module *lang_find_module(Lang *l, Text name, Span at);
// isinstance(v, type), where type may be a tuple.
bool lang_is_instance(Lang *l, Value v, Value type, Span at);

// Raising. `type` is Python's class name ("ValueError"). Does not return.
_Noreturn void lang_raise(Lang *l, const char *type, Span at,
                          const char *format, ...) PRINTF_LIKE(4, 5);
// The same with the exit code that reporting it shall cause (EXIT_FINDINGS for
// a mismatch); others cause EXIT_PROGRAM.
_Noreturn void lang_raise_exit(Lang *l, ExitCode exit, const char *type,
                               Span at, const char *format, ...)
    PRINTF_LIKE(5, 6);
// sys.exit(code): ends the program unless it catches SystemExit.
_Noreturn void lang_exit(Lang *l, int code, Span at);
// Ends the program without a word: the caller says why.
_Noreturn void lang_stop(Lang *l, ExitCode exit);
// A construct that is known and not built: reported at once, exit 4; cannot
// be caught by the program.
_Noreturn void lang_unsupported(Lang *l, Span at, const char *format, ...)
    PRINTF_LIKE(3, 4);

// Making values.
Value v_text(Lang *l, const char *format, ...) PRINTF_LIKE(2, 3);
Value v_list(Lang *l, const Value *at, int count);
Value v_tuple(Lang *l, const Value *at, int count);
// A tuple whose items have names as well, like torch's max(dim).
Value v_named_tuple(Lang *l, const char *type, const char *const *fields,
                    const Value *at, int count);
Value v_dict(Lang *l);
void list_append(Lang *l, List *list, Value v);
void dict_set(Lang *l, Dict *d, Value key, Value v);
bool dict_get(Lang *l, const Dict *d, Value key, Value *out);
bool dict_get_text(Lang *l, const Dict *d, const char *key, Value *out);
Value v_builtin(Lang *l, const char *name,
                Value (*call)(Lang *, void *, const Args *), void *ctx);
Module *lang_module(Lang *l, const char *name);         // new and empty
void module_set(Lang *l, Module *m, const char *name, Value v);

// Reading values; raise TypeError naming `what` when it is something else.
int64_t value_to_int(Lang *l, Value v, const char *what, Span at);
double value_to_float(Lang *l, Value v, const char *what, Span at);
bool value_truth(Lang *l, Value v, Span at);
bool value_equal(Lang *l, Value a, Value b);
void value_repr(Lang *l, TextBuf *out, Value v);
void value_str(Lang *l, TextBuf *out, Value v);
const char *value_type_name(Value v);
// A dtype from a dtype object or its name; raises.
DType value_to_dtype(Lang *l, Value v, Span at);
// Iterates anything iterable: materialised to a list, which is v's own where v
// is a list or tuple, and not to be changed.
List *value_to_list(Lang *l, Value v, Span at);

// Arguments of a host function: binds them to `names` ("a", "b=", "*", "c=":
// a trailing '=' means optional, "*" starts the keyword-only ones); missing
// ones are UNBOUND in `out`. Raises TypeError in Python's words.
void args_bind(Lang *l, const char *function, const Args *args,
               const char *const *names, int count, Value *out);

// The modules of the language itself, for `import tilelang.language as T` and
// `from tilelang.layout import make_swizzled_layout`.
Module *lang_language_module(Lang *l);
Module *lang_layout_module(Lang *l);

// ---- kernels ---------------------------------------------------------------

// Kernel functions: what @T.prim_func makes is VAL_KERNEL directly. An eager
// function (with T.Kernel in its own body, T.const sizes) is traced per set of
// argument shapes: `bound` gives tensors as TENSORSPEC values with INT shapes
// and other parameters as stage values, by name; `consts` binds T.const names
// that no tensor gives. NULL after reporting.
bool lang_is_eager(const Function *f);          // T.Kernel in its own body
// Is parameter i a tensor by its annotation, or by a line of the body?
bool lang_declares_tensor(const Function *f, int i);
IrKernel *lang_trace_eager(Lang *l, Value function, const Args *args,
                           const Dict *consts, Span at);
// A value as an attribute of the IR: what the kernel's configuration holds.
IrAttrValue lang_attr_value(Lang *l, Value v, Span at);
// Parameter names and default values of a Python function, for -D.
int function_param_count(const Function *f);
Text function_param(const Function *f, int i, Value *fallback,
                    bool *has_fallback);
#endif

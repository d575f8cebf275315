// lang_int.h - what the files of lang/ share: the evaluator on one side, the
// tracer that turns kernel bodies into IR on the other.
#ifndef LANG_LANG_INT_H
#define LANG_LANG_INT_H

#include <setjmp.h>

#include "lang/foreign.h"
#include "lang/lang.h"
#include "lang/parse.h"
#include "lang/value.h"

typedef struct Trace Trace;

#define SPAN_NONE ((Span){0})

// How a statement ended.
typedef enum { FLOW_NEXT, FLOW_BREAK, FLOW_CONTINUE, FLOW_RETURN } Flow;

// One setjmp per `try`, lang_try and generator; raising jumps to the innermost.
typedef struct Handler {
    jmp_buf jump;
    struct Handler *outer;
    Frame *frame;
    Trace *trace;
    int depth;
    int temps, pins, texts, import_guards;
    Value raised;
} Handler;

struct Lang {
    LangOptions options;
    Frame *frame;               // innermost
    Handler *handler;
    Value raised;               // the exception being handled: an INSTANCE
    Module *builtins, *language;
    Map modules;                // name -> Module*
    Trace *trace;               // the kernel being built, or NULL
    IrKernel *scratch;          // see trace_kernel
    Foreign *foreign;           // all host objects
    size_t foreign_bytes, foreign_swept;
    Value returned;             // with FLOW_RETURN
    int depth;                  // of frames, bounded
    int exit_code;
    Module *main;
    struct LangMore *more;      // evaluator's private state
};

// Frames; the C stack is watched besides (RecursionError either way).
enum { LANG_MAX_DEPTH = 1000 };

// ---- eval.c, exec.c: the evaluator -----------------------------------------
Value eval(Lang *l, Frame *f, const Ast *e);
Flow exec_block(Lang *l, Frame *f, const AstList *body);
// Binds a Name, Tuple, Attribute, Subscript or Starred target the Python way.
void assign_target(Lang *l, Frame *f, const Ast *target, Value v);
// Item i of a `with`, whose value is `manager`: entered, the rest run by
// `next` (from item i + 1), left.
typedef Flow WithNext(Lang *l, Frame *f, const Ast *s, int i);
Flow with_manager(Lang *l, Frame *f, const Ast *s, int i, Value manager,
                  WithNext *next);
void name_bind(Lang *l, Frame *f, Text name, Value v);  // honours nonlocal
bool name_find(Lang *l, Frame *f, Text name, Value *out);
Frame *frame_new(Lang *l, const Ast *scope, Frame *closure, Module *m);
void frame_enter(Lang *l, Frame *f, Span call_at);      // pushes on l->frame
void frame_leave(Lang *l);
// Evaluates the arguments of a CALL node, star-args spread. They live until
// the statement, or the call around them, ends.
Args eval_args(Lang *l, Frame *f, const Ast *call);
// Binds args to the parameters of `fn` in frame `f` in Python's way.
void bind_params(Lang *l, Frame *f, Function *fn, const Args *args);
Value binary_op(Lang *l, AstOp op, Value a, Value b, Span at);  // any operands

// ---- unseen.c --------------------------------------------------------------
// True where a positional argument is unseen, and with it the result.
bool unseen_argument(Lang *l, const char *function, const Args *args,
                     Value *out);

// ---- vector.c ---------------------------------------------------------------
bool v_is_vector(const Lang *l, Value v);
Value vector_of(Lang *l, const Value *lanes, int n);
// T.float16x2 and the like, by their names without "T."
bool vectype_find(Text name, Value *out);
Text vectype_name(Lang *l, Value v);
bool vectype_getattr(Lang *l, Value v, Text name, Value *out);
Value vectype_call(Lang *l, Value type, const Args *args);
Value vector_of_vars(Lang *l, Value type,
                     Value (*var)(Lang *l, DType t, Span at), Span at);
Value vector_binary(Lang *l, AstOp op, Value a, Value b, Span at);

// ---- trace.c, trace_stmt.c, device.c, prim.c: the tracer -------------------
// In frames with `traced` set exec_statement asks here first; false: not a
// statement with rules of its own, run it the Python way. Nested blocks are
// run through exec_block.
bool trace_statement(Lang *l, Frame *f, const Ast *s, Flow *flow);
// +1 before evaluating an operand that need not be evaluated (the right side
// of `and`, the branches of `x if c else y`), -1 after: no statements there.
void trace_lazy(Lang *l, int by);
// Operators with a device operand (EXPR, BUFFER of scope VAR, REGION). op is
// an arithmetic, comparison or AST_OP_BOOL_* operator; both sides evaluated.
Value device_binary(Lang *l, AstOp op, Value a, Value b, Span at);
Value device_unary(Lang *l, AstOp op, Value a, Span at);
Value device_select(Lang *l, Value c, Value t, Value e, Span at);
Value device_getitem(Lang *l, Value base, Value index, Span at);
void device_setitem(Lang *l, Value base, Value index, Value v, Span at);
bool device_getattr(Lang *l, Value v, Text name, Value *out, Span at);
bool device_method(Lang *l, Value v, Text name, const Args *args, Value *out);
// `T.name(...)`, T.float16(x), a macro, T.Tensor[...]: calls and subscripts of
// PRIM, DTYPE, MACRO values.
Value prim_call(Lang *l, Op op, const Args *args);
Value prim_getitem(Lang *l, Op op, Value index, Span at);
Value dtype_call(Lang *l, DType t, const Args *args);
bool unsigned_literal(Lang *l, Value callee, const Ast *call, Value *out);
Value macro_call(Lang *l, Function *macro, const Args *args);
// Module tilelang.language; `from tilelang.language import *` works as well.
Module *language_module(Lang *l);
// Raises for a name that tilelang.language does not have, with a suggestion.
_Noreturn void language_unknown(Lang *l, Text name, Span at);
// Attributes of KERNEL, INDEXMAP, TENSORSPEC, POLICY, LOOPFRAME values.
bool trace_getattr(Lang *l, Value v, Text name, Value *out, Span at);
bool policy_getattr(Lang *l, Value policy, Text name, Value *out);
#endif

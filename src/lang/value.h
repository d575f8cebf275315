// value.h - what a Python expression can be while staging.
//
// Stage values are Python's own; device values (EXPR, BUFFER, REGION) become
// code. All live in the Lang's arena except foreign objects (tensors, parsers,
// profilers), which the host defines through foreign.h.
#ifndef LANG_VALUE_H
#define LANG_VALUE_H

#include "ir/ir.h"
#include "lang/ast.h"

typedef struct Lang Lang;
typedef struct Frame Frame;
typedef struct Foreign Foreign;
typedef struct Function Function;
typedef struct Class Class;
typedef struct Instance Instance;
typedef struct Module Module;
typedef struct Value Value;

typedef enum {
    VAL_UNBOUND,        // a name without a value yet; never seen by programs
    VAL_NONE, VAL_BOOL, VAL_INT, VAL_FLOAT, VAL_STR, VAL_BYTES, VAL_ELLIPSIS,
    VAL_TUPLE, VAL_LIST, VAL_DICT, VAL_SET,
    VAL_RANGE, VAL_SLICE, VAL_ITER,
    VAL_FUNCTION,       // def or lambda
    VAL_BUILTIN,        // C function
    VAL_BOUND,          // method: self and callee
    VAL_CLASS, VAL_INSTANCE, VAL_MODULE,
    VAL_TYPE,           // int, float, str, list...: callable and for isinstance
    VAL_DTYPE,          // T.float16, torch.float16, dtype objects
    VAL_VECTYPE,        // T.float16x2: a dtype of several lanes
    VAL_PRIM,           // T.<name>: a row of the op table
    VAL_POLICY,         // T.GemmWarpPolicy.FullRow: text
    VAL_EXPR,           // device expression
    VAL_BUFFER,         // device buffer
    VAL_REGION,         // slice of a buffer
    VAL_INDEXMAP,       // T.Layout, T.Fragment, make_swizzled_layout(...)
    VAL_TENSORSPEC,     // T.Tensor(shape, dtype): an annotation
    VAL_LOOPFRAME,      // what T.Parallel(...) returns
    VAL_KERNELFRAME,    // what T.Kernel(...) returns
    VAL_KERNEL,         // a traced prim_func
    VAL_MACRO,          // @T.macro function
    VAL_FOREIGN,        // a host object
    VAL_DESCRIPTOR,     // property, staticmethod, classmethod in a class
    VAL_SUPER,          // super(): attributes of the classes after one
    VAL_TYPING,         // Optional[int], int | None: only for annotations
    VAL_KIND_COUNT
} ValueKind;

typedef struct List {
    Value *at;
    int len, room;
    bool fixed;                 // a tuple
    Class *cls;                 // a namedtuple's class, else NULL
    uint32_t seen;              // by the last mark phase (foreign.c)
} List;

typedef struct Dict {
    Value *keys, *values;       // insertion order; deleted keys are UNBOUND
    int len, room, live;
    int *slots, slot_count;
    bool fixed;                 // a frozenset
    Value *missing;             // a defaultdict's factory, else NULL
    const char *kind;           // "defaultdict", "Counter", else NULL
    uint32_t seen;
} Dict;

typedef struct {
    Value *start, *stop, *step; // NONE when left out
} SliceValue;

// Positional arguments, then keyword ones. The arrays live as long as the
// call: who keeps an argument copies it.
typedef struct {
    Value *at;
    int count;
    Text *names;                // keyword arguments: names and values
    Value *values;
    int keyword_count;
    Span at_span;               // the call
    Span *spans;                // of each positional argument, or NULL
} Args;

struct Value {
    ValueKind kind;
    union {
        bool b;
        int64_t i;
        double f;
        Text s;                 // STR BYTES POLICY
        List *list;             // TUPLE LIST
        Dict *dict;             // DICT SET
        struct { int64_t *r; } range;   // start, stop, step
        SliceValue *slice;
        struct IterState *iter;
        Function *function;     // FUNCTION MACRO
        const struct BuiltinFn *builtin;
        struct BoundMethod *bound;
        Class *cls;
        Instance *instance;
        Module *module;
        DType dtype;
        struct { DType dtype; int lanes; } vec;     // VECTYPE
        Op prim;
        ValueKind type;         // TYPE
        IrExpr *expr;
        IrBuffer *buffer;
        IrRegion *region;
        IrIndexMap *indexmap;
        struct TensorSpec *spec;
        struct LoopFrame *loop;
        struct KernelFrame *frame;
        IrKernel *kernel;
        Foreign *foreign;
        struct Descriptor *descriptor;
        struct SuperValue *super;
        struct TypingValue *typing;
    };
};

// Raises instead of returning an error (lang_raise does not return).
typedef struct BuiltinFn {
    const char *name;
    Value (*call)(Lang *l, void *ctx, const Args *args);
    void *ctx;
    struct Held *held;          // values that ctx refers to, or NULL
} BuiltinFn;

// What the sweep of foreign objects must see of a builtin.
typedef struct Held {
    Value value;                // a tuple, list or dict of them
    Map attributes;             // Text -> Value*: cache_clear, __name__ ...
    uint32_t seen;
} Held;

typedef struct Descriptor {
    enum { DESC_PROPERTY, DESC_STATIC, DESC_CLASS } kind;
    Value get, set;             // UNBOUND when there is none
} Descriptor;

typedef struct SuperValue {
    Class *after;
    Value self;
} SuperValue;

typedef struct TypingValue {
    Text name;                  // "Optional", "Union"
    List *members;              // of a union, or NULL
} TypingValue;

typedef struct BoundMethod {
    Value self, callee;
} BoundMethod;

struct Function {
    Text name;
    const Ast *def;             // FUNCTION or LAMBDA
    Frame *closure;             // the frame it was defined in
    Module *module;
    Value *defaults;            // per parameter, UNBOUND when none
    bool traced;                // a kernel body or macro: trace.c's rules
    bool is_prim_func, is_macro;
    Class *owner;               // methods
    Map attributes;             // Text -> Value*: f.name = ...
    uint32_t seen;
};

struct Class {
    Text name;
    Class *base;
    const char *foreign_base;   // "torch.autograd.Function" and the like
    Map attributes;             // Text -> Value*
    Module *module;
    Class **mro;                // itself, then its bases; less `object`
    int mro_len;
    const struct ExceptionRow *exception;   // nearest built-in exception
    enum { CLASS_PLAIN, CLASS_ENUM, CLASS_NAMEDTUPLE, CLASS_DATA } form;
    struct DataClass *data;     // of CLASS_DATA
    bool built_in;
    bool mixin;                 // an enum whose members are int or str too
    uint32_t seen;
};

struct Instance {
    Class *cls;
    Map attributes;             // Text -> Value*
    struct Trouble *trouble;    // where an exception was raised, or NULL
    uint32_t seen;
};

struct Module {
    Text name;                  // "math", "torch.nn.functional", "__main__"
    Map members;                // Text -> Value*
    // Looked up when `members` has no such name; false: no such attribute.
    bool (*lookup)(Lang *l, Module *m, Text name, Value *out);
    bool opaque;                // unknown import: any use is exit 4 there
    uint32_t file;              // of its source, 0: none
    uint32_t seen;
};

// An annotation T.Tensor(shape, dtype), T.StridedTensor, T.Buffer...
typedef struct TensorSpec {
    List *shape;                // INT or EXPR (symbol, T.const) values
    List *strides;              // or NULL
    DType dtype;
    int lanes;                  // of a vector dtype, which the last size counts
    IrScope scope;              // GLOBAL; FragmentBuffer and the like for macros
    Span at;
} TensorSpec;

// A scope at run time. Names are looked up here, then in closures, then in the
// module, then among the builtins.
struct Frame {
    Frame *closure;
    Module *module;
    const Ast *scope;           // FUNCTION, LAMBDA, CLASS, comprehension, MODULE
    Map names;                  // Text -> Value*
    Function *function;
    Frame *caller;
    Span call_at;
    bool traced;
    bool captured;              // something outlives the call
    List *yielded;              // of a generator function, else NULL
    Class *made;                // of a class body: the class it became
    Frame *spare;               // next frame to be used again
    Value *cells;               // the memory behind `names`
    int cell_count, cell_room;
    uint32_t seen;
};

#define V_NONE ((Value){.kind = VAL_NONE})
static inline Value v_bool(bool b)
{
    return (Value){.kind = VAL_BOOL, .b = b};
}
static inline Value v_int(int64_t i)
{
    return (Value){.kind = VAL_INT, .i = i};
}
static inline Value v_float(double f)
{
    return (Value){.kind = VAL_FLOAT, .f = f};
}
static inline Value v_str(Text s)
{
    return (Value){.kind = VAL_STR, .s = s};
}
static inline Value v_dtype(DType t)
{
    return (Value){.kind = VAL_DTYPE, .dtype = t};
}
static inline Value v_expr(IrExpr *e)
{
    return (Value){.kind = VAL_EXPR, .expr = e};
}
static inline Value v_buffer(IrBuffer *b)
{
    return (Value){.kind = VAL_BUFFER, .buffer = b};
}
static inline Value v_foreign(Foreign *f)
{
    return (Value){.kind = VAL_FOREIGN, .foreign = f};
}
static inline bool v_is_device(Value v)
{
    return v.kind == VAL_EXPR || v.kind == VAL_BUFFER || v.kind == VAL_REGION;
}
#endif

// foreign.h - objects the host lends to programs: tensors, parsers, kernels.
//
// Lang knows them only through this table. Life: an object is registered when
// made and swept when no frame, container or pending expression can reach it;
// the sweep runs between statements. C code need not care: what lang_call
// returned and lang_adopt registered is kept until the host function that the
// program called returns (see lang_pins). A type whose objects keep Values has
// `mark`. A fresh result that was never bound to a
// name is freed as soon as the operation that consumed it returns, and may be
// consumed in place: see foreign_may_steal.
#ifndef LANG_FOREIGN_H
#define LANG_FOREIGN_H

#include "lang/value.h"

typedef struct {
    const char *name;                           // type name in messages
    bool has_more;      // the real one has attributes that this one lacks: what
                        // is asked for in vain is not supported
    // Each may be NULL: then the operation is a TypeError. `at` is the place.
    bool (*getattr)(Lang *l, Foreign *self, Text name, Value *out, Span at);
    bool (*setattr)(Lang *l, Foreign *self, Text name, Value v, Span at);
    // A method `name` of self; false: no such method. The preferred way:
    // `x.name(...)` does not build a bound object.
    bool (*method)(Lang *l, Foreign *self, Text name, const Args *args,
                   Value *out);
    Value (*call)(Lang *l, Foreign *self, const Args *args);
    // index: INT, SLICE, TUPLE, NONE, ELLIPSIS, FOREIGN...
    Value (*getitem)(Lang *l, Foreign *self, Value index, Span at);
    void (*setitem)(Lang *l, Foreign *self, Value index, Value v, Span at);
    // op is AST_OP_ADD ... AST_OP_GE; called when either operand is of this
    // type. False: not for these operands.
    bool (*binary)(Lang *l, AstOp op, Value a, Value b, Value *out, Span at);
    bool (*inplace)(Lang *l, AstOp op, Foreign *self, Value b, Span at);
    Value (*unary)(Lang *l, AstOp op, Foreign *self, Span at);
    bool (*truth)(Lang *l, Foreign *self, Span at);
    int64_t (*length)(Lang *l, Foreign *self, Span at);
    void (*repr)(Lang *l, Foreign *self, TextBuf *out);
    // `with self as x:`; exit always runs.
    Value (*enter)(Lang *l, Foreign *self, Span at);
    void (*exit)(Lang *l, Foreign *self, Span at);
    // Instead of exit: sees the exception, or NONE, and may have it forgotten
    // by returning true, unless it is one that cannot be caught.
    bool (*leave)(Lang *l, Foreign *self, Value e, bool catchable, Span at);
    // Values held inside (a profiler's kernel): calls mark on each.
    void (*mark)(Foreign *self, void (*mark)(Lang *l, Value v), Lang *l);
    // Does it hold any now? NULL: it may.
    bool (*holds)(const Foreign *self);
    void (*release)(Foreign *self);             // frees what it owns
} ForeignType;

// Embed as the first member of every host object (malloc'd; the registry
// frees the object itself after `release`).
struct Foreign {
    const ForeignType *type;
    Foreign *next;
    size_t bytes;               // memory it holds, steers the sweep
    bool bound;                 // reachable by name or container: not a temporary
    bool marked;
};

// Registers a new object; bytes as in Foreign.
Value lang_adopt(Lang *l, Foreign *f, const ForeignType *type, size_t bytes);
// True while the object is a temporary that nobody else can see: its memory
// may be taken over by the operation it was passed to.
bool foreign_may_steal(const Foreign *f);
// The object behind v when it has this type, else NULL.
Foreign *foreign_as(Value v, const ForeignType *type);
#endif

// eval_int.h - what the evaluator's own files share; the tracer sees only
// lang_int.h.
#ifndef LANG_EVAL_INT_H
#define LANG_EVAL_INT_H

#include "lang/lang_int.h"

typedef enum {
#define EXCEPTION(id, ...) EXC_##id,
#include "lang/exception.def"
    EXC_COUNT,
    EXC_NONE = EXC_COUNT
} ExceptionId;

typedef struct ExceptionRow {
    const char *name;
    ExceptionId base;
    const char *report;
} ExceptionRow;

// A method of a built-in type.
typedef struct Method {
    const char *name;
    Value (*call)(Lang *l, Value self, const Args *args);
} Method;

enum {
    TEMPS_ROOM = 1 << 16,       // values held by pending expressions
    MOST_ELEMENTS = 1 << 24,    // of one list, tuple, dict or set
    MOST_TEXT = 1 << 26,        // bytes of one str
    MOST_YIELDS = 1000000,      // of one generator function
};

// The evaluator's private state.
typedef struct LangMore {
    // What pending expressions hold, so that the sweep sees it; arguments of
    // calls lie here. Never moves.
    Value *temps;
    int temp_len;
    struct {                    // see lang_pins
        Value *at;
        int len, room;
    } pins;
    int64_t checks;             // see lang_checks
    int64_t unseen_made, not_compared;          // see lang_unseen
    int guesses;                // since lang_forget_guesses
    int guessed_in_asserts;     // of these, so that nothing else follows them
    int64_t differences;        // see lang_differences
    Map methods[VAL_KIND_COUNT];        // name -> const Method *
    Class *exceptions[EXC_COUNT];
    Class *object, *named_tuple;
    Class *vector;              // marks tuples that are one: see vector.c
    struct {                    // texts being put together
        TextBuf **at;
        int len, room, depth;
    } texts;
    Span at;                    // last place evaluated, for errors without one
    uint32_t epoch;             // of the last mark phase
    Frame *spare;               // frames to be used again
    uint64_t steps;
    int import_guards;          // try statements around that expect ImportError
    int loading;                // files being imported, one in another
    char *stack_end;            // C stack: RecursionError beyond
    Map parsed;                 // path -> Ast *, NULL value never
    Text main_folder;
} LangMore;

// ---- value.c ---------------------------------------------------------------
bool value_is(Value a, Value b);                // `a is b`
bool as_int(Value v, int64_t *out);             // INT or BOOL
bool as_number(Value v, double *out);           // INT, BOOL or FLOAT
// An int, what __index__ gives, or a member of an IntEnum.
bool as_index(Lang *l, Value v, int64_t *out, Span at);
int64_t need_int(Lang *l, Value v, Span at);
// Members of IntEnum and (str, Enum) classes stand for their values.
Value mixin_value(Value v);
static inline bool v_is_text(Value v)
{
    return v.kind == VAL_STR;
}
static inline bool v_is_sequence(Value v)
{
    return v.kind == VAL_TUPLE || v.kind == VAL_LIST;
}
Value v_of_list(List *list);                    // LIST or TUPLE by `fixed`
Value v_of_dict(ValueKind kind, Dict *d);
Value v_type(ValueKind kind);
Value v_class(Class *c);
Value v_instance(Instance *i);
Value v_module(Module *m);
Value v_typing(Lang *l, Text name);
Value v_cstr(const char *literal);              // not copied
Value v_buf(Lang *l, TextBuf *b);               // copies and releases b
// A text that is put together by code that may raise: its buffer is the
// Lang's, and given back by text_end, or by the handler of the exception.
TextBuf *text_begin(Lang *l);
Value text_end(Lang *l);
const char *kind_name(ValueKind k);
void opaque_check(Lang *l, Value v, Span at);   // exit 4 for an unknown module
// Names of `map` near to `name`; empty when none is.
Text nearest_name(const Map *map, Text name, Text best);

// ---- number.c --------------------------------------------------------------
// Arithmetic of numbers; UNBOUND when an operand is none.
Value number_binary(Lang *l, AstOp op, Value a, Value b, Span at);
Value int_power_mod(Lang *l, int64_t a, int64_t b, int64_t m, Span at);
int number_compare(Value a, Value b);           // -1 0 1, 2 for NaN
int64_t float_to_int(Lang *l, double f, Span at);
bool text_to_int(Text t, int base, int64_t *out, bool *too_big);
bool text_to_float(Text t, double *out);        // Python's float(str)
void float_repr(TextBuf *out, double f);
double float_round(double f, int digits);
int64_t int_round(Lang *l, int64_t v, int64_t digits, Span at);
_Noreturn void int_overflow(Lang *l, Span at);

// ---- list.c, dict.c --------------------------------------------------------
List *list_new(Lang *l, int room, bool fixed);
void list_reserve(Lang *l, List *list, int64_t room, Span at);
List *list_slice(Lang *l, const List *list, const SliceValue *s, Span at);
void list_assign_slice(Lang *l, List *list, const SliceValue *s, Value v,
                       Span at);
void list_remove_at(List *list, int i);
void list_sort(Lang *l, List *list, Value key, bool reverse, Span at);
// start, stop, step and count of a slice of `len` elements.
typedef struct {
    int64_t start, stop, step, count;
} SliceRange;
SliceRange slice_range(Lang *l, const SliceValue *s, int64_t len, Span at);
// A negative index counts from the end; raises IndexError naming `what`.
int64_t index_in(Lang *l, Value index, int64_t len, const char *what, Span at);
uint64_t value_hash(Lang *l, Value v, Span at); // raises for unhashable
Dict *dict_new(Lang *l);
bool dict_find(Lang *l, const Dict *d, Value key, int *at);
bool dict_remove(Lang *l, Dict *d, Value key);
void dict_clear(Dict *d);
Dict *dict_copy(Lang *l, const Dict *d);
void set_add(Lang *l, Dict *d, Value v);
Dict *set_of(Lang *l, Value v, Span at);        // of any iterable
Value set_binary(Lang *l, AstOp op, const Dict *a, const Dict *b);
bool set_subset(Lang *l, const Dict *a, const Dict *b);
Value dict_index(Lang *l, Value d, Value key, Span at); // d[key]

// ---- text_value.c: str by code points --------------------------------------
int64_t str_len(Text t);
size_t str_offset(Text t, int64_t i);           // byte offset of code point i
Value str_index(Lang *l, Text t, int64_t i);
Value str_slice(Lang *l, Text t, const SliceValue *s, Span at);
// Simple case mappings of the Latin, Greek and Cyrillic letters.
int32_t point_upper(int32_t p);
int32_t point_lower(int32_t p);
void str_append_point(TextBuf *b, int32_t point);
int32_t str_point(Text t, size_t at, int *bytes);
void str_repr(TextBuf *out, Text t);
void bytes_repr(TextBuf *out, Text t);
Value str_repeat(Lang *l, Text t, int64_t n, Span at);
Value str_concat(Lang *l, Text a, Text b, Span at);
// Offset of `part` in t at or after `from`; -1: none.
int64_t text_find(Text t, Text part, size_t from);
int64_t text_rfind(Text t, Text part);

// ---- format.c --------------------------------------------------------------
// format(v, spec) and the pieces of f-strings.
void format_value(Lang *l, TextBuf *out, Value v, Text spec, Span at);
Value format_percent(Lang *l, Text format, Value v, Span at);
Value format_method(Lang *l, Value self, const Args *args);    // str.format
Value format_map_method(Lang *l, Value self, const Args *args);
void int_digits(TextBuf *out, uint64_t v, int base, bool upper);

// ---- iter.c ----------------------------------------------------------------
typedef struct IterState IterState;
struct IterState {
    const char *name;           // "zip", "generator"
    bool (*next)(Lang *l, IterState *it, Value *out);
    Value source, extra;
    IterState **inner;
    int inner_count;
    int64_t at, stop, step;
    bool flag;
    bool view;                  // dict.items() ...: iterating starts afresh
    Frame *frame;               // generator expressions
    const Ast *node;
    int level;
    uint32_t seen;
};
IterState *iter_of(Lang *l, Value v, Span at);  // raises when not iterable
bool iter_next(Lang *l, IterState *it, Value *out);
IterState *iter_new(Lang *l, const char *name,
                    bool (*next)(Lang *, IterState *, Value *));
Value v_iter(IterState *it);
Value iter_view(Lang *l, const char *name, Value dict);
int64_t view_len(const IterState *it);
Value iter_generator(Lang *l, Frame *f, const Ast *node, IterState *first);
bool value_contains(Lang *l, Value container, Value item, Span at);
int64_t range_len(const int64_t *r);
Value v_range(Lang *l, int64_t start, int64_t stop, int64_t step);

// ---- eval files ------------------------------------------------------------
Value eval_comprehension(Lang *l, Frame *f, const Ast *e);
Value eval_attribute(Lang *l, Frame *f, const Ast *e);
Value eval_call(Lang *l, Frame *f, const Ast *e);
Value eval_fstring(Lang *l, Frame *f, const Ast *e);
Value eval_name(Lang *l, Frame *f, const Ast *e);
Value function_new(Lang *l, Frame *f, const Ast *def);
Value unary_op(Lang *l, AstOp op, Value v, Span at);
// Any comparison; the result need not be a bool (device values, tensors).
Value compare_op(Lang *l, AstOp op, Value a, Value b, Span at);
bool value_less(Lang *l, Value a, Value b, Span at);
bool inplace_op(Lang *l, AstOp op, Value a, Value b, Value *out, Span at);
Value getitem(Lang *l, Value base, Value index, Span at);
void setitem(Lang *l, Value base, Value index, Value v, Span at);
void delitem(Lang *l, Value base, Value index, Span at);
void setattr(Lang *l, Value base, Text name, Value v, Span at);
bool delattr(Lang *l, Value base, Text name);
int64_t value_len(Lang *l, Value v, Span at);
bool value_callable(Value v);
// Raises AttributeError, with the nearest name.
Value getattr_or_raise(Lang *l, Value v, Text name, Span at, Span name_at);
// Is there a value in a class (instances: their class) under this name?
bool instance_method(Lang *l, Value v, const char *name, Value *out);
// Calls v.name(args...) when there is such a method.
bool call_dunder(Lang *l, Value v, const char *name, const Value *at, int count,
                 Value *out, Span span);
Value call_value(Lang *l, Value callee, const Args *args);
Value call_method(Lang *l, Value self, Text name, const Args *args,
                  Span name_at);
Value call1(Lang *l, Value callee, Value arg, Span at);
Value v_bound(Lang *l, Value self, Value callee);
// kind: DESC_PROPERTY, DESC_STATIC or DESC_CLASS.
Value v_descriptor(Lang *l, int kind, Value get, Value set);
const Method *method_find(const Lang *l, ValueKind k, Text name);
void exec_import(Lang *l, Frame *f, const Ast *s);
Flow exec_try(Lang *l, Frame *f, const Ast *s);
Flow exec_with(Lang *l, Frame *f, const Ast *s);
void exec_raise(Lang *l, Frame *f, const Ast *s);
// Loops and calls pass here: counts, and stops a program that is to stop.
void lang_step(Lang *l, Span at);
void stack_check(Lang *l, Span at);

// ---- frame.c ---------------------------------------------------------------
void map_bind(Lang *l, Map *m, Text name, Value v);     // into a new cell
bool map_value(const Map *m, Text name, Value *out);
bool map_remove(Map *m, Text name);             // sets UNBOUND; false: absent
Map *frame_map(Frame *f);                       // where f's names live
void frame_give_back(Lang *l, Frame *f);        // when nothing captured it
void frame_capture(Frame *f);
Frame *frame_function(Frame *f);                // past comprehension frames
static inline void value_bind(Value v)          // no longer a temporary
{
    if (v.kind == VAL_FOREIGN)
        v.foreign->bound = true;
}

// ---- foreign.c -------------------------------------------------------------
static inline int temps_top(const Lang *l)
{
    return l->more->temp_len;
}
static inline void temps_cut(Lang *l, int top)
{
    l->more->temp_len = top;
}
_Noreturn void temps_full(Lang *l);
static inline void temp_push(Lang *l, Value v)
{
    LangMore *m = l->more;

    if (m->temp_len == TEMPS_ROOM)
        temps_full(l);
    m->temps[m->temp_len++] = v;
}
Value *temps_take(Lang *l, int n);              // n of them, UNBOUND
// A consumed operand: freed when it was a temporary and the result cannot
// refer to it.
void temp_drop(Lang *l, Value v, Value result);
void foreign_sweep(Lang *l);
void foreign_sweep_if_due(Lang *l);
void foreign_free_all(Lang *l);

// What @dataclass knows of a class.
typedef struct DataField {
    Text name;
    Value fallback, factory;    // UNBOUND when there is none
    bool no_init, no_repr, no_compare, keyword_only;
} DataField;
typedef struct DataClass {
    DataField *at;
    int len, room;
    bool frozen, order, no_eq;
} DataClass;

// Where an exception was raised, and the calls that led there.
enum { TROUBLE_CALLS = 8 };
typedef struct Trouble {
    Span at;
    ExitCode exit;
    bool uncatchable, reported;
    bool in_kernel;             // while a kernel was being staged
    bool forgiven;              // it ends a module that is being imported, only
    int call_count, calls_hidden;
    struct {
        Text name;
        Span at;
        int times;              // in a row
    } calls[TROUBLE_CALLS];     // innermost first; the middle may be hidden
    Text suggestion;
    Span suggestion_at;
} Trouble;

// ---- class.c, class_make.c, exception.c ------------------------------------
Class *class_new(Lang *l, Text name, Class *const *bases, int count);
bool class_find(const Class *c, Text name, Value *out); // along the mro
bool class_is(const Class *c, const Class *base);
bool class_getattr(Lang *l, Class *c, Text name, Value *out, Span at);
// What was found in class c as an attribute of self: methods get bound,
// properties called. Always true.
bool bind_attribute(Lang *l, Value self, Class *c, Value *out, Span at);
bool instance_getattr(Lang *l, Value v, Text name, Value *out, Span at);
Value class_call(Lang *l, Class *c, const Args *args);
Value class_define(Lang *l, Frame *f, const Ast *s);
void class_finish(Lang *l, Class *c, Span at);  // enum members, NamedTuple
Value enum_members(Lang *l, const Class *c);
Value enum_lookup(Lang *l, Class *c, const Args *args);
Value namedtuple_make(Lang *l, Class *c, const Args *args);
void data_init(Lang *l, Value self, const Args *args);
Instance *instance_new(Lang *l, Class *c);
bool is_instance(Lang *l, Value v, Value type, Span at);
bool is_subclass(Lang *l, Value c, Value type, Span at);
Value class_of(Lang *l, Value v);               // type(v)
void class_init_object(Lang *l);
void exceptions_init(Lang *l);
Value exception_new(Lang *l, Class *c, const Value *args, int count);
// Unwinds to the innermost handler with exception `e`.
_Noreturn void exception_throw(Lang *l, Value e);
// Like exception_throw, from the place `at` with the frames of now.
_Noreturn void exception_raise(Lang *l, Value e, Span at);
void exception_report(Lang *l, Value e);
_Noreturn void lang_raise_near(Lang *l, const char *type, Span at, Text near,
                               const char *format, ...) PRINTF_LIKE(5, 6);
bool exception_is(const Lang *l, Value e, ExceptionId id);
bool exception_uncatchable(Value e);
Value exception_args(Lang *l, Value e);
// Runs body under a handler; false: *error is the exception.
bool protect(Lang *l, LangBody *body, void *ctx, Value *error);

// ---- modules ---------------------------------------------------------------
void builtins_init(Lang *l);                    // fills l->builtins
void methods_init(Lang *l);
extern const Method str_methods[], str_part_methods[], bytes_methods[],
    list_methods[], tuple_methods[], dict_methods[], set_methods[],
    int_methods[], float_methods[];
Text method_text(Lang *l, const char *method, Value v, Span at);  // a str
Value type_call(Lang *l, ValueKind k, const Args *args);        // int("3")
Value dict_fromkeys(Lang *l, void *ctx, const Args *args);
Value range_make(Lang *l, const Args *args);
Value slice_make(Lang *l, const Args *args);
void dict_fill(Lang *l, Dict *d, const Args *args);     // dict(...), update
void builtins_add_types(Lang *l, Module *m);
void builtins_add_sequences(Lang *l, Module *m);
// A module of Python's library, made when first asked for; NULL: none.
Module *library_module(Lang *l, Text name);
Module *module_of_file(Lang *l, uint32_t file, Text name);
void module_run(Lang *l, Module *m, const Ast *ast);
Ast *lang_parse(Lang *l, uint32_t file);        // NULL after reporting

typedef struct Library {
    const char *name;
    void (*fill)(Lang *l, Module *m);
} Library;
// A C function that keeps values: its ctx is its Held.
Value v_keeper(Lang *l, const char *name,
               Value (*call)(Lang *, void *, const Args *), Value keeps);
// A tuple whose items have names.
Value v_record(Lang *l, const char *name, const char *const *names,
               const Value *fields, int count);
void named_tuple_init(Lang *l);
void fill_math(Lang *l, Module *m);
void fill_itertools(Lang *l, Module *m);
void fill_functools(Lang *l, Module *m);
void fill_collections(Lang *l, Module *m);
void fill_dataclasses(Lang *l, Module *m);
void fill_enum(Lang *l, Module *m);
void fill_operator(Lang *l, Module *m);
void fill_typing(Lang *l, Module *m);
void fill_sys(Lang *l, Module *m);
void fill_os(Lang *l, Module *m);
void fill_warnings(Lang *l, Module *m);
void fill_logging(Lang *l, Module *m);
void fill_copy(Lang *l, Module *m);
void fill_random(Lang *l, Module *m);
void fill_re(Lang *l, Module *m);
void fill_types(Lang *l, Module *m);
void fill_time(Lang *l, Module *m);
void fill_abc(Lang *l, Module *m);
void fill_future(Lang *l, Module *m);

// Arguments: exactly between least and most, no keywords; TypeError if not.
void args_count(Lang *l, const char *function, const Args *args, int least,
                int most);
bool args_keyword(const Args *args, const char *name, Value *out);
bool args_named(const Args *args, Text name, Value *out);
#endif

// unseen.c - what a program asks of upstream's compiler and nobody here knows:
// the text it would generate, what its passes make of a kernel.
//
// Such a value has any attribute, can be called, indexed and compared, and all
// of it is as little known. An assert on it is passed over and counted as not
// compared. A branch on it is a guess, that it is true, of which a warning
// tells: a loop over it runs once, and a function that is to visit it is called
// once. What is asserted after a guess, without being a comparison of tensors,
// is no longer counted as a check.
#include <string.h>

#include "lang/eval_int.h"

enum {
    MOST_GUESSES = 10000        // until a loop is taken for endless
};

typedef struct {
    Foreign foreign;
    bool asserts;               // named assert_...: calling it is an assert
    Text text;                  // what stands for it when it is printed
} UnseenValue;

static const ForeignType unseen_type;

static Value make(Lang *l, bool asserts)
{
    UnseenValue *u = xcalloc(1, sizeof *u);

    u->asserts = asserts;
    return lang_adopt(l, &u->foreign, &unseen_type, sizeof *u);
}

// What is made of it: as little known.
static Value made_of(Lang *l, Foreign *self)
{
    return ((UnseenValue *)self)->text.len ? make(l, false) : v_foreign(self);
}

static void guess(Lang *l, Span at)
{
    if (l->more->guesses++ >= MOST_GUESSES)
        lang_unsupported(l, at, "a loop that ends by what upstream's compiler "
                         "generates");
    diag_warning(l->options.diag, at.file ? at : l->more->at, "guessed",
                 "a guess: this is about what upstream's compiler generates");
}

static void visit(Lang *l, Foreign *self, const Function *f, Span at)
{
    Args args = {.at_span = at};
    Value fallback;
    bool has;

    args.at = new_array(l->options.arena, Value, function_param_count(f) + 1);
    for (int i = 0; i < function_param_count(f); i++) {
        function_param(f, i, &fallback, &has);
        if (!has)
            args.at[args.count++] = made_of(l, self);
    }
    guess(l, at);
    lang_call(l, (Value){.kind = VAL_FUNCTION, .function = (Function *)f},
              &args);
}

// What upstream's compiler would make is not there to be run on tensors.
static void check_call(Lang *l, Foreign *self, const Args *args)
{
    for (int i = 0; i < args->count; i++) {
        Value v = args->at[i];

        if (v.kind == VAL_FUNCTION)
            visit(l, self, v.function, args->at_span);
        if (v.kind == VAL_FOREIGN
            && strcmp(v.foreign->type->name, "Tensor") == 0) {
            l->more->guesses++;
            lang_unsupported(l, args->at_span, "running what upstream's "
                             "compiler generates");
        }
    }
}

static bool unseen_getattr(Lang *l, Foreign *self, Text name, Value *out,
                           Span at)
{
    (void)at;
    if (text_starts(name, "__") && !text_is(name, "__name__"))
        return false;
    *out = text_starts(name, "assert") ? make(l, true) : made_of(l, self);
    return true;
}

static bool unseen_setattr(Lang *l, Foreign *self, Text name, Value v,
                           Span at)
{
    (void)l, (void)self, (void)name, (void)v, (void)at;
    return true;
}

static bool unseen_method(Lang *l, Foreign *self, Text name, const Args *args,
                          Value *out)
{
    if (text_starts(name, "assert"))
        lang_not_compared(l, args->at_span);
    else
        check_call(l, self, args);
    *out = made_of(l, self);
    return true;
}

static Value unseen_call(Lang *l, Foreign *self, const Args *args)
{
    if (((UnseenValue *)self)->asserts)
        lang_not_compared(l, args->at_span);
    else
        check_call(l, self, args);
    return made_of(l, self);
}

static Value unseen_getitem(Lang *l, Foreign *self, Value index, Span at)
{
    (void)index, (void)at;
    return made_of(l, self);
}

static void unseen_setitem(Lang *l, Foreign *self, Value index, Value v,
                           Span at)
{
    (void)l, (void)self, (void)index, (void)v, (void)at;
}

static bool unseen_binary(Lang *l, AstOp op, Value a, Value b, Value *out,
                          Span at)
{
    (void)l, (void)op, (void)at;
    *out = v_is_unseen(a) ? a : b;
    return true;
}

static Value unseen_unary(Lang *l, AstOp op, Foreign *self, Span at)
{
    (void)op, (void)at;
    return made_of(l, self);
}

static bool unseen_truth(Lang *l, Foreign *self, Span at)
{
    (void)self;
    guess(l, at);
    return true;
}

static int64_t unseen_length(Lang *l, Foreign *self, Span at)
{
    (void)self;
    guess(l, at);
    return 1;
}

static void unseen_repr(Lang *l, Foreign *self, TextBuf *out)
{
    const UnseenValue *u = (UnseenValue *)self;

    (void)l;
    if (u->text.len)
        buf_text(out, u->text);
    else
        buf_puts(out, "// no device source: run on the CPU\n");
}

static Value unseen_enter(Lang *l, Foreign *self, Span at)
{
    (void)at;
    return made_of(l, self);
}

static void unseen_exit(Lang *l, Foreign *self, Span at)
{
    (void)l, (void)self, (void)at;
}

static const ForeignType unseen_type = {
    .name = "generated code", .getattr = unseen_getattr,
    .setattr = unseen_setattr, .method = unseen_method, .call = unseen_call,
    .getitem = unseen_getitem, .setitem = unseen_setitem,
    .binary = unseen_binary, .unary = unseen_unary, .truth = unseen_truth,
    .length = unseen_length, .repr = unseen_repr, .enter = unseen_enter,
    .exit = unseen_exit,
};

Value v_unseen(Lang *l)
{
    l->more->unseen_made++;
    return make(l, false);
}

Value v_unseen_text(Lang *l, Text text)
{
    Value v = v_unseen(l);

    ((UnseenValue *)v.foreign)->text = text;
    return v;
}

bool v_is_unseen(Value v)
{
    return foreign_as(v, &unseen_type) != NULL;
}

static Value first_unseen(const Args *args)
{
    for (int i = 0; i < args->count; i++)
        if (v_is_unseen(args->at[i]))
            return args->at[i];
    return (Value){.kind = VAL_UNBOUND};
}

// What a built-in function makes of it is as little known.
bool unseen_argument(Lang *l, const char *function, const Args *args,
                     Value *out)
{
    *out = first_unseen(args);
    if (out->kind == VAL_UNBOUND || strcmp(function, "print") == 0)
        return false;
    if (strstr(function, "assert"))
        lang_not_compared(l, args->at_span);
    l->more->unseen_made++;
    return true;
}

void lang_not_compared(Lang *l, Span at)
{
    l->more->not_compared++;
    diag_warning(l->options.diag, at, "not-compared", "not compared: this is "
                 "about what upstream's compiler generates");
}

void lang_forget_guesses(Lang *l)
{
    l->more->guesses = l->more->guessed_in_asserts = 0;
}

Unseen lang_unseen(const Lang *l)
{
    return (Unseen){l->more->unseen_made, l->more->not_compared,
                    l->more->guesses - l->more->guessed_in_asserts};
}

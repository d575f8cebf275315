// parse_scope.c - which names belong to which scope.
//
// Walks the tree with a stack of its own: chains of operators may be deep.
// Also finds what Python's compiler refuses in a tree that parses: return
// outside a function, break outside a loop, nonlocal without a binding.
#include "lang/parse_int.h"

#include <string.h>

typedef struct Scope {
    Ast *node;                  // its MODULE, FUNCTION, LAMBDA, CLASS or comp.
    struct Scope *outer;
    Map locals, globals, nonlocals;
    Map uses;                   // name -> first NAME that reads it
} Scope;

typedef enum {
    ROLE_LOAD, ROLE_STORE,
    ROLE_BODY,                  // a scope's own parts, seen from inside
} Role;

enum {
    IN_LOOP = 1,                // break and continue have a meaning
    IN_EXCEPT_STAR = 2,         // and neither they nor return may leave it
    IN_ITERABLE = 4,            // of a comprehension: no ':='
};

typedef struct {
    Ast *n;
    Scope *s;
    Role role;
    int flags;
} Item;

typedef struct {
    Parser *p;
    bool silent;                // the tree has holes: facts only
    struct {
        Item *at;
        int len, room;
    } todo;
    struct {
        Item *at;
        int len, room;
    } nonlocals;                // NAMEs of nonlocal statements
} Walk;

static bool error(Walk *w, Span at, const char *format, ...)
    PRINTF_LIKE(3, 4);

static bool error(Walk *w, Span at, const char *format, ...)
{
    TextBuf b = {0};
    va_list args;

    if (w->silent)
        return false;
    va_start(args, format);
    buf_vprintf(&b, format, args);
    va_end(args);
    diag_error(w->p->diag, EXIT_PROGRAM, at, "syntax-scope", "%.*s",
               TEXT_ARG(buf_view(&b)));
    buf_release(&b);
    return true;
}

static void push(Walk *w, const Item *from, Ast *n, Role role)
{
    Item i = *from;

    if (!n)
        return;
    i.n = n;
    i.role = role;
    vec_push(w->p->arena, &w->todo, i);
}

static void push_list(Walk *w, const Item *from, AstList list, Role role)
{
    for (int i = 0; i < list.len; i++)
        push(w, from, list.at[i], role);
}

static void push_all(Walk *w, const Item *from)
{
    push(w, from, from->n->a, ROLE_LOAD);
    push(w, from, from->n->b, ROLE_LOAD);
    push(w, from, from->n->c, ROLE_LOAD);
    push_list(w, from, from->n->x, ROLE_LOAD);
    push_list(w, from, from->n->y, ROLE_LOAD);
}

static bool is_comprehension(const Ast *n)
{
    return n->kind == AST_LISTCOMP || n->kind == AST_SETCOMP ||
           n->kind == AST_DICTCOMP || n->kind == AST_GENERATOR;
}

static bool is_function(const Ast *n)
{
    return n->kind == AST_FUNCTION || n->kind == AST_LAMBDA;
}

static bool declared(const Scope *s, Text name)
{
    return map_find(&s->globals, name) || map_find(&s->nonlocals, name);
}

static void bind(Walk *w, Scope *s, Text name, Ast *at)
{
    if (name.len && !declared(s, name) && !map_find(&s->locals, name))
        map_set(w->p->arena, &s->locals, name, at);
}

static void use(Walk *w, Scope *s, Ast *name)
{
    if (!map_find(&s->uses, name->text))
        map_set(w->p->arena, &s->uses, name->text, name);
}

static Scope *open_scope(Walk *w, Ast *n, Scope *outer)
{
    Scope *s = new(w->p->arena, Scope);

    s->node = n;
    s->outer = outer;
    if (n->kind == AST_MODULE)
        return s;
    n->locals = &s->locals;
    n->globals = &s->globals;
    n->nonlocals = &s->nonlocals;
    return s;
}

// A scope's node is met twice: from outside, and then its inside.
static void push_inside(Walk *w, const Item *from)
{
    Item i = {.n = from->n, .role = ROLE_BODY};

    i.s = open_scope(w, from->n, from->s);
    vec_push(w->p->arena, &w->todo, i);
}

static void bind_params(Walk *w, Scope *s, const Ast *params)
{
    for (int i = 0; i < params->x.len; i++)
        bind(w, s, params->x.at[i]->text, params->x.at[i]);
}

static void visit_function(Walk *w, const Item *i)
{
    Ast *n = i->n;

    if (i->role != ROLE_BODY) {
        if (n->kind == AST_FUNCTION) {
            bind(w, i->s, n->text, n);
            push_list(w, i, n->y, ROLE_LOAD);
            push(w, i, n->a, ROLE_LOAD);
            push(w, i, n->c, ROLE_LOAD);
        }
        push(w, i, n->b, ROLE_LOAD);
        push_inside(w, i);
        return;
    }
    bind_params(w, i->s, n->b);
    push_list(w, i, n->x, ROLE_LOAD);
    if (n->kind == AST_LAMBDA)
        push(w, i, n->a, ROLE_LOAD);
}

static void visit_class(Walk *w, const Item *i)
{
    if (i->role == ROLE_BODY) {
        push_list(w, i, i->n->x, ROLE_LOAD);
        return;
    }
    bind(w, i->s, i->n->text, i->n);
    push_list(w, i, i->n->y, ROLE_LOAD);
    push(w, i, i->n->a, ROLE_LOAD);
    push(w, i, i->n->b, ROLE_LOAD);
    push_inside(w, i);
}

static void push_iterable(Walk *w, const Item *from, Ast *iterable)
{
    Item i = *from;

    i.flags |= IN_ITERABLE;
    push(w, &i, iterable, ROLE_LOAD);
}

static void check_async_comp(Walk *w, const Item *i, const Ast *clause)
{
    const Ast *around = i->s->outer->node;

    if (clause->is_async && i->n->kind != AST_GENERATOR &&
        !is_comprehension(around) &&
        !(around->kind == AST_FUNCTION && around->is_async))
        error(w, clause->at, "an asynchronous comprehension outside of an "
              "async function");
}

// The first iterable belongs to the scope outside.
static void visit_comprehension(Walk *w, const Item *i)
{
    Ast *n = i->n;

    if (i->role != ROLE_BODY) {
        if (n->x.len)
            push_iterable(w, i, n->x.at[0]->b);
        push_inside(w, i);
        return;
    }
    for (int k = 0; k < n->x.len; k++) {
        Ast *clause = n->x.at[k];

        check_async_comp(w, i, clause);
        push(w, i, clause->a, ROLE_STORE);
        if (k)
            push_iterable(w, i, clause->b);
        push_list(w, i, clause->x, ROLE_LOAD);
    }
    push(w, i, n->a, ROLE_LOAD);
    push(w, i, n->b, ROLE_LOAD);
}

static void visit_named(Walk *w, const Item *i)
{
    Ast *name = i->n->a;
    Scope *s = i->s;

    push(w, i, i->n->b, ROLE_LOAD);
    if (i->flags & IN_ITERABLE)
        error(w, i->n->at, "':=' cannot be used in the iterable of a "
              "comprehension");
    for (; is_comprehension(s->node); s = s->outer)
        if (map_find(&s->locals, name->text))
            error(w, name->at, "':=' cannot assign to '%.*s', which the "
                  "comprehension iterates over", TEXT_ARG(name->text));
    if (s != i->s && s->node->kind == AST_CLASS)
        error(w, i->n->at, "':=' cannot be used in a comprehension in the "
              "body of a class");
    if (name->kind == AST_NAME)
        bind(w, s, name->text, name);
}

static void visit_name(Walk *w, const Item *i)
{
    if (i->role == ROLE_STORE)
        bind(w, i->s, i->n->text, i->n);
    else
        use(w, i->s, i->n);
}

static const char *verb(AstKind k)
{
    return k == AST_GLOBAL ? "global" : "nonlocal";
}

// What a global or nonlocal statement contradicts.
static void check_declaration(Walk *w, const Item *i, Ast *name)
{
    const Ast *bound = map_get(&i->s->locals, name->text);
    const Ast *used = map_get(&i->s->uses, name->text);
    const char *how = verb(i->n->kind);

    if (bound && bound->kind == AST_PARAM)
        error(w, name->at, "'%.*s' is a parameter and cannot be %s",
              TEXT_ARG(name->text), how);
    else if (bound || used)
        if (error(w, name->at, "'%.*s' is %s before it is declared %s",
                  TEXT_ARG(name->text), bound ? "assigned to" : "used", how))
            diag_note(w->p->diag, (bound ? bound : used)->name_at, "here");
}

static void visit_declaration(Walk *w, const Item *i)
{
    bool global = i->n->kind == AST_GLOBAL;
    Map *into = global ? &i->s->globals : &i->s->nonlocals;
    Map *other = global ? &i->s->nonlocals : &i->s->globals;

    if (!global && i->s->node->kind == AST_MODULE)
        error(w, i->n->at, "nonlocal outside of a function");
    for (int k = 0; k < i->n->x.len; k++) {
        Ast *name = i->n->x.at[k];
        Item item = {.n = name, .s = i->s};

        if (map_find(other, name->text))
            error(w, name->at, "'%.*s' is both nonlocal and global",
                  TEXT_ARG(name->text));
        check_declaration(w, i, name);
        map_set(w->p->arena, into, name->text, name);
        if (!global)
            vec_push(w->p->arena, &w->nonlocals, item);
    }
}

static Text first_component(Text dotted)
{
    const char *dot = dotted.len ? memchr(dotted.at, '.', dotted.len) : NULL;

    return dot ? text_slice(dotted, 0, (size_t)(dot - dotted.at)) : dotted;
}

static void visit_import(Walk *w, const Item *i)
{
    for (int k = 0; k < i->n->x.len; k++) {
        Ast *n = i->n->x.at[k];

        if (!text_is(n->text, "*"))
            bind(w, i->s, n->as.len ? n->as : first_component(n->text), n);
        else if (i->s->node->kind != AST_MODULE)
            error(w, n->at, "'import *' is possible outside of functions and "
                  "classes only");
    }
}

static const char *comprehension_word(AstKind k)
{
    return k == AST_LISTCOMP ? "list comprehension"
         : k == AST_SETCOMP ? "set comprehension"
         : k == AST_DICTCOMP ? "dict comprehension" : "generator expression";
}

static void visit_yield(Walk *w, const Item *i)
{
    Ast *around = i->s->node;

    push_all(w, i);
    if (is_comprehension(around))
        error(w, i->n->at, "yield inside a %s",
              comprehension_word(around->kind));
    else if (!is_function(around))
        error(w, i->n->at, "yield outside of a function");
    else if (i->n->kind == AST_YIELDFROM && around->is_async &&
             around->kind == AST_FUNCTION)
        error(w, i->n->at, "'yield from' inside an async function");
    around->is_generator = true;
}

static void check_async(Walk *w, const Item *i, const char *what)
{
    const Ast *around = i->s->node;

    if (is_comprehension(around) ||
        (around->kind == AST_FUNCTION && around->is_async))
        return;
    error(w, i->n->at, "%s outside of an async function", what);
}

static void check_leaves(Walk *w, const Item *i)
{
    if (i->flags & IN_EXCEPT_STAR)
        error(w, i->n->at, "break, continue and return cannot leave an "
              "'except*' block");
}

static void visit_return(Walk *w, const Item *i)
{
    if (i->s->node->kind != AST_FUNCTION)
        error(w, i->n->at, "return outside of a function");
    check_leaves(w, i);
    push_all(w, i);
}

static void visit_jump(Walk *w, const Item *i)
{
    const char *word = i->n->kind == AST_BREAK ? "break" : "continue";

    if (!(i->flags & IN_LOOP))
        error(w, i->n->at, "%s outside of a loop", word);
    else
        check_leaves(w, i);
}

static void visit_loop(Walk *w, const Item *i)
{
    Item body = *i;

    body.flags = (i->flags | IN_LOOP) & ~IN_EXCEPT_STAR;
    if (i->n->kind == AST_WHILE) {
        push(w, i, i->n->a, ROLE_LOAD);
    } else {
        if (i->n->is_async)
            check_async(w, i, "'async for'");
        push(w, i, i->n->b, ROLE_LOAD);
        push(w, i, i->n->a, ROLE_STORE);
    }
    push_list(w, &body, i->n->x, ROLE_LOAD);
    push_list(w, i, i->n->y, ROLE_LOAD);
}

static void visit_try(Walk *w, const Item *i)
{
    Item handler = *i;

    if (i->n->except_star)
        handler.flags |= IN_EXCEPT_STAR;
    push_list(w, i, i->n->x, ROLE_LOAD);
    push_list(w, &handler, i->n->y, ROLE_LOAD);
    push(w, i, i->n->a, ROLE_LOAD);
    push(w, i, i->n->b, ROLE_LOAD);
}

static void visit_annassign(Walk *w, const Item *i)
{
    Ast *target = i->n->a;
    bool name = target->kind == AST_NAME;

    if (name && map_find(&i->s->globals, target->text) &&
        i->s->node->kind != AST_MODULE)
        error(w, target->at, "'%.*s' is global and cannot have an annotation "
              "here", TEXT_ARG(target->text));
    if (!name || !target->grouped || i->n->c)
        push(w, i, target, ROLE_STORE);
    push(w, i, i->n->b, ROLE_LOAD);
    push(w, i, i->n->c, ROLE_LOAD);
}

static void visit_target_list(Walk *w, const Item *i)
{
    push(w, i, i->n->a, i->role);
    push_list(w, i, i->n->x, i->role);
}

static void visit(Walk *w, const Item *i)
{
    Ast *n = i->n;

    switch (n->kind) {
    case AST_NAME:
        visit_name(w, i);
        break;
    case AST_FUNCTION: case AST_LAMBDA:
        visit_function(w, i);
        break;
    case AST_CLASS:
        visit_class(w, i);
        break;
    case AST_LISTCOMP: case AST_SETCOMP: case AST_DICTCOMP: case AST_GENERATOR:
        visit_comprehension(w, i);
        break;
    case AST_NAMEDEXPR:
        visit_named(w, i);
        break;
    case AST_TUPLE: case AST_LIST: case AST_STARRED:
        visit_target_list(w, i);
        break;
    case AST_ASSIGN:
        push(w, i, n->a, ROLE_LOAD);
        push_list(w, i, n->x, ROLE_STORE);
        break;
    case AST_AUGASSIGN:
        push(w, i, n->a, ROLE_STORE);
        push(w, i, n->b, ROLE_LOAD);
        break;
    case AST_ANNASSIGN:
        visit_annassign(w, i);
        break;
    case AST_DELETE:
        push_list(w, i, n->x, ROLE_STORE);
        break;
    case AST_FOR: case AST_WHILE:
        visit_loop(w, i);
        break;
    case AST_WITH:
        if (n->is_async)
            check_async(w, i, "'async with'");
        push_all(w, i);
        break;
    case AST_WITHITEM:
        push(w, i, n->a, ROLE_LOAD);
        push(w, i, n->b, ROLE_STORE);
        break;
    case AST_TRY:
        visit_try(w, i);
        break;
    case AST_HANDLER:
        push(w, i, n->a, ROLE_LOAD);
        bind(w, i->s, n->text, n);
        push_list(w, i, n->x, ROLE_LOAD);
        break;
    case AST_IMPORT: case AST_IMPORTFROM:
        visit_import(w, i);
        break;
    case AST_GLOBAL: case AST_NONLOCAL:
        visit_declaration(w, i);
        break;
    case AST_TYPEALIAS:
        bind(w, i->s, n->text, n);
        push_all(w, i);
        break;
    case AST_RETURN:
        visit_return(w, i);
        break;
    case AST_BREAK: case AST_CONTINUE:
        visit_jump(w, i);
        break;
    case AST_YIELD: case AST_YIELDFROM:
        visit_yield(w, i);
        break;
    case AST_AWAIT:
        check_async(w, i, "await");
        push_all(w, i);
        break;
    default:
        push_all(w, i);
    }
}

// visit() pushes in the order of the text; the stack gives back the last.
static void reverse(Item *at, int n)
{
    for (int i = 0; i < n / 2; i++) {
        Item t = at[i];

        at[i] = at[n - 1 - i];
        at[n - 1 - i] = t;
    }
}

// A class binds __class__ for its methods.
static bool binds_for_inner(const Scope *s, Text name)
{
    if (s->node->kind == AST_CLASS)
        return text_is(name, "__class__");
    return is_function(s->node) &&
           (map_find(&s->locals, name) || map_find(&s->nonlocals, name));
}

static void check_nonlocal(Walk *w, const Item *i)
{
    for (const Scope *s = i->s->outer; s; s = s->outer)
        if (binds_for_inner(s, i->n->text))
            return;
    if (i->s->node->kind != AST_MODULE)
        error(w, i->n->at, "no function around this one binds the nonlocal "
              "name '%.*s'", TEXT_ARG(i->n->text));
}

void parse_scopes(Parser *p, Ast *module)
{
    Walk w = {.p = p, .silent = p->errors};
    Item first = {.n = module};

    first.s = open_scope(&w, module, NULL);
    vec_push(p->arena, &w.todo, first);
    while (w.todo.len) {
        Item i = w.todo.at[--w.todo.len];
        int base = w.todo.len;

        visit(&w, &i);
        reverse(w.todo.at + base, w.todo.len - base);
    }
    for (int i = 0; i < w.nonlocals.len; i++)
        check_nonlocal(&w, &w.nonlocals.at[i]);
}

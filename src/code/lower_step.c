// lower_step.c - the places where a debugger stops, and the names it knows.
#include "code/code_int.h"

// A name and those around it; a step for each statement in between.
struct Scope {
    const Scope *outer;
    const IrVar *var;           // or
    const IrBuffer *buffer;     // or neither: a statement around
};

static const Scope *enter(Lower *l, const Scope *outer, const IrVar *var,
                          const IrBuffer *buffer)
{
    Scope *s = new (l->arena, Scope);

    *s = (Scope){outer, var, buffer};
    return s;
}

// What the statements behind s see.
static const Scope *behind(Lower *l, const Scope *at, const IrStmt *s)
{
    if (s->kind == STMT_LET)
        return enter(l, at, s->var, NULL);
    if (s->kind == STMT_ALLOC)
        return enter(l, at, NULL, s->buffer);
    return at;
}

// The statements inside of s are given their scopes.
static void visit(Lower *l, const Scope *at, const IrStmt *s)
{
    if (!s)
        return;
    if (s->kind == STMT_BLOCK) {
        for (int i = 0; i < s->len; i++) {
            visit(l, at, s->body[i]);
            at = behind(l, at, s->body[i]);
        }
        return;
    }
    l->scope[s->id] = at;
    if (s->kind != STMT_FOR && s->kind != STMT_LAUNCH && s->kind != STMT_IF &&
        s->kind != STMT_WHILE)
        return;
    at = enter(l, at, NULL, NULL);
    for (int i = 0; s->kind != STMT_IF && s->kind != STMT_WHILE &&
                    i < s->var_count; i++)
        at = enter(l, at, s->vars[i], NULL);
    visit(l, at, s->then);
    visit(l, at, s->otherwise);
}

static void find_scopes(Lower *l)
{
    const Scope *all = NULL;

    l->scope = new_array(l->arena, const Scope *, (size_t)l->k->next_stmt);
    for (int i = 0; i < l->k->symbol_count; i++)
        all = enter(l, all, l->k->symbols[i], NULL);
    for (int i = 0; i < l->k->param_count; i++)
        all = enter(l, all, l->k->params[i].var, l->k->params[i].buffer);
    visit(l, all, l->k->body);
}

static bool name_of(const Lower *l, const Scope *s, CodeName *out)
{
    if (s->var) {
        const Binding *b = &l->binding[s->var->id];

        *out = (CodeName){s->var->name, s->var->dtype, -1, b->val.reg};
        return b->kind == BIND_VAL && b->val.level == AT_SLOT;
    }
    if (!s->buffer)
        return false;
    *out = (CodeName){s->buffer->name, s->buffer->dtype, s->buffer->id, -1};
    if (!is_slot_var(l, s->buffer))
        return true;
    out->buffer = -1;
    out->slot = l->var_slot[s->buffer->id];
    return out->slot >= 0;
}

static void put_step(Lower *l, CodeStep step, const Scope *at)
{
    LIST(CodeName) names = {0};
    CodeName n;

    for (const Scope *s = at; s; s = s->outer) {
        step.depth += !s->var && !s->buffer;
        if (name_of(l, s, &n))
            vec_push(l->arena, &names, n);
    }
    for (int i = 0; i < names.len / 2; i++) {
        n = names.at[i];
        names.at[i] = names.at[names.len - 1 - i];
        names.at[names.len - 1 - i] = n;
    }
    step.name = names.at;
    step.name_count = names.len;
    vec_push(l->arena, &l->step, step);
    emit(l, (Instr){.op = INSTR_STEP, .a = l->step.len - 1});
}

void lower_step(Lower *l, const IrStmt *s)
{
    if (l->launch < 0 || (l->par && !in_thread_code(l)))
        return;
    if (s->kind == STMT_BLOCK || s->kind == STMT_ALLOC)
        return;
    if (!l->scope)
        find_scopes(l);
    put_step(l, (CodeStep){.stmt = s->id, .at = s->at}, l->scope[s->id]);
}

// Sees what the launch's last statement saw.
void lower_last_step(Lower *l)
{
    if (l->mode != CODE_STEPPED || !l->step.len)
        return;
    CodeStep last = l->step.at[l->step.len - 1];

    last.stmt = -1;
    last.depth = 0;
    vec_push(l->arena, &l->step, last);
    emit(l, (Instr){.op = INSTR_STEP, .a = l->step.len - 1});
}

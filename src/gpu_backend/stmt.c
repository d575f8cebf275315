// stmt.c - statements: control, variables, single stores, T.Parallel.
#include "gpu_backend/emit_int.h"

// ---- allocations -----------------------------------------------------------

static int64_t element_count(const IrBuffer *b)
{
    int64_t n = 1;

    for (int d = 0; d < b->rank; d++)
        n *= fixed_extent(b, d) < 0 ? 0 : fixed_extent(b, d);
    return n;
}

static void private_array(Emit *e, IrBuffer *b)
{
    const char *type = type_of(b->dtype);
    Text name = e->buffer[b->id];

    if (b->scope == SCOPE_VAR) {
        line(e, "%s %.*s = {};", type, TEXT_ARG(name));
        return;
    }
    if (element_count(b) < 1) {
        refuse(e, "'%.*s', whose size is not constant",
                    TEXT_ARG(b->name));
        return;
    }
    line(e, "%s %.*s[%lld];", type, TEXT_ARG(name),
         (long long)element_count(b));
}

static void alias(Emit *e, IrBuffer *b)
{
    IrBuffer *root = root_buffer(b);

    if (in_registers(e, root) ||
        (b->dtype != root->dtype && !is_packed(root) &&
         (is_nibble(b->dtype) || is_nibble(root->dtype))))
        refuse(e, "another view of '%.*s'", TEXT_ARG(root->name));
    line(e, "%s *const %.*s = (%s *)%s%.*s;", type_of(b->dtype),
         TEXT_ARG(e->buffer[b->id]), type_of(b->dtype),
         root->scope == SCOPE_VAR ? "&" : "", TEXT_ARG(e->buffer[root->id]));
}

static void alloc(Emit *e, IrStmt *s)
{
    IrBuffer *b = s->buffer;

    if (!type_of(b->dtype)) {
        refuse(e, "'%.*s' of %s", TEXT_ARG(b->name),
                    dtype_info(b->dtype)->name);
        return;
    }
    if (s->value)
        line(e, "%s *const %.*s = (%s *)(u64)(%.*s);", type_of(b->dtype),
             TEXT_ARG(e->buffer[b->id]), type_of(b->dtype),
             TEXT_ARG(expr(e, s->value)));
    else if (b->alias_of)
        alias(e, b);
    else if (in_registers(e, b))
        line(e, "%s %.*s[%d];", type_of(b->dtype), TEXT_ARG(e->buffer[b->id]),
             e->plan->fragments[b->id]->locals);
    else if (is_private(e, b))
        private_array(e, b);
    else if (b->scope == SCOPE_REDUCER && !arena_of(e, b))
        refuse(e, "T.alloc_reducer as upstream's compiler plans it");
}

// ---- lets and stores -------------------------------------------------------

static void let(Emit *e, IrStmt *s)
{
    if (!e->dist)
        sync_before(e, s);
    Text v = expr(e, s->value);

    e->range[s->var->id] = interval_of(e, s->value);
    line(e, "const %s %.*s = %.*s;", type_of(s->var->dtype),
         TEXT_ARG(e->var[s->var->id]), TEXT_ARG(v));
}

static bool is_uniform(const Emit *e, const IrStmt *s)
{
    bool v = expr_varies(e, s->value);

    for (int i = 0; i < s->index_count; i++)
        v |= expr_varies(e, s->index[i]);
    // A fragment is the block's, whoever is named elsewhere.
    return !v && !e->divergent &&
           (!e->by_thread || s->buffer->scope == SCOPE_FRAGMENT);
}

static void store_stmt(Emit *e, IrStmt *s)
{
    bool is_public = !is_private(e, s->buffer) && !in_registers(e, s->buffer);

    if (!e->dist)
        sync_before(e, s);
    Spot p = place_of(e, s->buffer, s->index);
    Text v = convert(e, s->buffer->dtype, s->value->dtype, false,
                     expr(e, s->value), true);
    bool once = is_public && !e->dist && is_uniform(e, s);
    if (once)
        open_brace(e, "if (tid == 0) {");
    store(e, &p, v);
    if (once)
        close_brace(e);
}

// ---- control ---------------------------------------------------------------

// Emits a loop's body knowing what earlier iterations leave behind: dry runs
// until nothing is added.
void loop_body(Emit *e, IrStmt *s, LoopBody *body)
{
    bool quiet = e->quiet;
    int temps = e->temps;
    Hazards outer_left = e->left;
    Hazards entry = hazards_copy(e, &e->hazards);

    for (int i = 0; !e->dist && i < 8; i++) {
        e->left = hazards_copy(e, &(Hazards){0});
        e->hazards = hazards_copy(e, &entry);
        e->quiet = true;
        body(e, s);
        e->quiet = quiet;
        hazards_join(e, &e->hazards, &e->left);
        bool settled = hazards_hold(e, &entry, &e->hazards);
        hazards_join(e, &entry, &e->hazards);
        e->temps = temps;
        if (settled)
            break;
    }
    e->left = hazards_copy(e, &(Hazards){0});
    e->hazards = hazards_copy(e, &entry);
    body(e, s);
    hazards_join(e, &e->hazards, &e->left);
    hazards_join(e, &e->hazards, &entry);
    e->left = outer_left;
}

static void body_of(Emit *e, IrStmt *s)
{
    ahead_renew(e, s);
    block(e, s->then);
}

static Text count_text(Emit *e, IrExpr *x)
{
    return expr(e, x);
}

static void one_loop(Emit *e, IrStmt *s, int at);

static void inner(Emit *e, IrStmt *s, int at)
{
    if (at + 1 < s->var_count)
        one_loop(e, s, at + 1);
    else if (at == 0)
        loop_body(e, s, body_of);
    else
        block(e, s->then);
}

static void nest_body(Emit *e, IrStmt *s)
{
    one_loop(e, s, 1);
}

// for v = start + i * step, i in [0, extent).
static void one_loop(Emit *e, IrStmt *s, int at)
{
    IrVar *v = s->vars[at];
    Range first = interval_of(e, s->start[at]), trips = interval_of(e, s->extent[at]);
    int64_t step = 1;
    bool plain = !s->step || (ir_is_int(s->step, &step) && step == 1);
    Text name = e->var[v->id], start = expr(e, s->start[at]);
    Text count = count_text(e, s->extent[at]);
    const char *type = type_of(v->dtype);

    e->range[v->id] = (Range){0};
    if (first.known && trips.known && step >= 0 && trips.high > 0 &&
        (plain || ir_is_int(s->step, &step)))
        e->range[v->id] = (Range){true, first.low,
                                  first.high + (trips.high - 1) * step};
    else if (first.known && step > 0 && first.low >= 0)
        e->range[v->id] = (Range){true, first.low, INT32_MAX};
    if (s->loop == LOOP_UNROLL || s->loop == LOOP_VECTORIZED)
        line(e, "#pragma unroll");
    if (plain && text_is(start, "0")) {
        open_brace(e, "for (%s %.*s = 0; %.*s < %.*s; %.*s++) {", type,
                   TEXT_ARG(name), TEXT_ARG(name), TEXT_ARG(count),
                   TEXT_ARG(name));
    } else {
        Text i = fresh(e, "i"), by = plain ? TEXT("1") : expr(e, s->step);
        open_brace(e, "for (%s %.*s = 0; %.*s < %.*s; %.*s++) {", type,
                   TEXT_ARG(i), TEXT_ARG(i), TEXT_ARG(count), TEXT_ARG(i));
        line(e, "const %s %.*s = (%.*s) + %.*s * (%.*s);", type,
             TEXT_ARG(name), TEXT_ARG(start), TEXT_ARG(i), TEXT_ARG(by));
    }
    if (at == 0 && s->var_count > 1)
        loop_body(e, s, nest_body);
    else
        inner(e, s, at);
    close_brace(e);
}

static void bounds_read(Emit *e, IrStmt *s)
{
    for (int i = 0; i < s->var_count && !e->dist; i++) {
        sync_read(e, s->start[i]);
        sync_read(e, s->extent[i]);
    }
}

static void serial(Emit *e, IrStmt *s)
{
    bool varies = expr_varies(e, s->start[0]) || expr_varies(e, s->extent[0]);

    bounds_read(e, s);
    e->divergent += varies;
    one_loop(e, s, 0);
    e->divergent -= varies;
}

static void parallel(Emit *e, IrStmt *s)
{
    Dist d = {.stmt = s, .layout = loop_layout(e, s), .rank = s->var_count};

    if (e->dist) {                  // inside another: each point's own
        serial(e, s);
        return;
    }
    if (e->divergent) {
        refuse(e, "a T.Parallel that only some threads reach");
        return;
    }
    bounds_read(e, s);
    sync_before(e, s);
    for (int i = 0; i < d.rank; i++) {
        d.var[i] = s->vars[i];
        if (!ir_is_int(s->extent[i], &d.extent[i])) {
            d.extent[i] = -1;
            d.size[i] = expr(e, s->extent[i]);
        }
    }
    dist_open(e, &d);
    block(e, s->then);
    dist_close(e, &d);
}

// ---- T.Persistent ----------------------------------------------------------

static Text ceil_div(Emit *e, Text a, Text b)
{
    return text_format(e->arena, "(%.*s + %.*s - 1) / %.*s", TEXT_ARG(a),
                       TEXT_ARG(b), TEXT_ARG(b));
}

static Text define(Emit *e, const char *stem, Text value)
{
    Text name = fresh(e, stem);

    line(e, "const i64 %.*s = %.*s;", TEXT_ARG(name), TEXT_ARG(value));
    return name;
}

static void persistent_body(Emit *e, IrStmt *s)
{
    ahead_renew(e, s);
    block(e, s->then);
}

// Tiles in groups of the last dimension; a tile that the last group does not
// have is left out.
static void persistent(Emit *e, IrStmt *s)
{
    int n = s->var_count;
    Text size[IR_MAX_RANK], total, group, wave, at;

    open_brace(e, "{");
    for (int d = 0; d < n; d++)
        size[d] = define(e, "size", expr(e, s->extent[d]));
    group = s->group_size ? expr(e, s->group_size) : TEXT("8");
    group = define(e, "group",
                   text_format(e->arena, "max_of((i64)1, min_of((i64)(%.*s), "
                               "%.*s))", TEXT_ARG(group), TEXT_ARG(size[n - 1])));
    total = text_format(e->arena, "%.*s * %.*s",
                        TEXT_ARG(define(e, "groups",
                                        ceil_div(e, size[n - 1], group))),
                        TEXT_ARG(group));
    for (int d = 0; d < n - 1; d++)
        total = text_format(e->arena, "%.*s * %.*s", TEXT_ARG(total),
                            TEXT_ARG(size[d]));
    total = define(e, "total", total);
    wave = define(e, "wave",
                  text_format(e->arena, "max_of((i64)1, (i64)(%.*s))",
                              TEXT_ARG(s->wave_size ? expr(e, s->wave_size)
                                                    : TEXT("1"))));
    at = fresh(e, "tile");
    open_brace(e, "for (i64 %.*s = %.*s; %.*s < %.*s; %.*s += %.*s) {",
               TEXT_ARG(at), TEXT_ARG(s->wave_index ? expr(e, s->wave_index)
                                                    : TEXT("0")),
               TEXT_ARG(at), TEXT_ARG(total), TEXT_ARG(at), TEXT_ARG(wave));
    Text rest = define(e, "rest", text_format(e->arena, "%.*s / %.*s",
                                              TEXT_ARG(at), TEXT_ARG(group)));
    for (int d = n - 2; d >= 0; d--) {
        e->range[s->vars[d]->id] = (Range){0};
        line(e, "const %s %.*s = (%s)(%.*s %% %.*s);",
             type_of(s->vars[d]->dtype), TEXT_ARG(e->var[s->vars[d]->id]),
             type_of(s->vars[d]->dtype), TEXT_ARG(rest), TEXT_ARG(size[d]));
        rest = define(e, "rest", text_format(e->arena, "%.*s / %.*s",
                                             TEXT_ARG(rest),
                                             TEXT_ARG(size[d])));
    }
    IrVar *last = s->vars[n - 1];
    e->range[last->id] = (Range){0};
    line(e, "const %s %.*s = (%s)(%.*s * %.*s + %.*s %% %.*s);",
         type_of(last->dtype), TEXT_ARG(e->var[last->id]), type_of(last->dtype),
         TEXT_ARG(rest), TEXT_ARG(group), TEXT_ARG(at), TEXT_ARG(group));
    line(e, "if (%.*s >= %.*s)", TEXT_ARG(e->var[last->id]),
         TEXT_ARG(size[n - 1]));
    line(e, "    continue;");
    loop_body(e, s, persistent_body);
    close_brace(e);
    close_brace(e);
}

static void for_stmt(Emit *e, IrStmt *s)
{
    switch (s->loop) {
    case LOOP_PARALLEL:
        parallel(e, s);
        return;
    case LOOP_PERSISTENT:
        persistent(e, s);
        return;
    case LOOP_THREAD:
        refuse(e, "a loop over threads");
        return;
    default:
        held_operands(e, s);
        if (s == e->launch->feed.loop)
            fed_loop(e, s);
        else if (ring_of(e, s) && !e->in_ring && !e->divergent)
            ring_loop(e, s, ring_of(e, s));
        else if (ahead_of(e, s))
            ahead_loop(e, s, ahead_of(e, s));
        else
            serial(e, s);
        return;
    }
}

// ---- while and if ----------------------------------------------------------

static void while_body(Emit *e, IrStmt *s)
{
    if (!e->dist)
        sync_read(e, s->cond);
    line(e, "if (!(%.*s))", TEXT_ARG(expr(e, s->cond)));
    line(e, "    break;");
    ahead_renew(e, s);
    block(e, s->then);
}

static void while_stmt(Emit *e, IrStmt *s)
{
    bool varies = expr_varies(e, s->cond);

    e->divergent += varies;
    open_brace(e, "while (true) {");
    loop_body(e, s, while_body);
    close_brace(e);
    e->divergent -= varies;
}

static void if_stmt(Emit *e, IrStmt *s)
{
    bool varies = !e->dist && expr_varies(e, s->cond);

    if (!e->dist)
        sync_read(e, s->cond);
    if (!e->dist && (group_of_branch(e, s->then) ||
                     group_of_branch(e, s->otherwise)))
        sync_apart(e, s);
    Hazards before = hazards_copy(e, &e->hazards);
    e->divergent += varies;
    open_brace(e, "if (%.*s) {", TEXT_ARG(expr(e, s->cond)));
    group_block(e, s->then);
    Hazards after = hazards_copy(e, &e->hazards);
    e->hazards = before;
    if (s->otherwise && s->otherwise->len) {
        e->indent--;
        open_brace(e, "} else {");
        group_block(e, s->otherwise);
    }
    close_brace(e);
    e->divergent -= varies;
    hazards_join(e, &e->hazards, &after);
}

static void leave(Emit *e, const char *word)
{
    if (e->left.read)
        hazards_join(e, &e->left, &e->hazards);
    line(e, "%s;", word);
}

static void assert_stmt(Emit *e, IrStmt *s)
{
    if (!e->dist)
        sync_read(e, s->cond);
    line(e, "if (!(%.*s))", TEXT_ARG(expr(e, s->cond)));
    line(e, "    %s;", e->dialect->trap);
}

static void eval_stmt(Emit *e, IrStmt *s)
{
    if (!e->dist)
        sync_before(e, s);
    line(e, "(void)(%.*s);", TEXT_ARG(expr(e, s->value)));
}

void block(Emit *e, IrStmt *s)
{
    for (int i = 0; s && i < s->len && !e->failed; i++) {
        stmt(e, s->body[i]);
        ahead_after(e, s->body[i]);
    }
}

static bool tells_line(const Emit *e, const IrStmt *s)
{
    return s->kind != STMT_BLOCK && s->kind != STMT_ALLOC &&
           !(s->kind == STMT_TILE && gpu_is_hint(e, s));
}

void fill_stmt(Emit *e, IrStmt *s)
{
    if (s->kind == STMT_FOR)
        for_stmt(e, s);
    else
        tile(e, s);
}

void stmt(Emit *e, IrStmt *s)
{
    e->at = s->at;
    if ((e->in_ring && ring_copies(e, s)) || ahead_skips(e, s))
        return;
    if (tells_line(e, s))
        note_line(e, s);
    if (feed_waits(e, s))
        return;
    switch (s->kind) {
    case STMT_BLOCK:    block(e, s);        break;
    case STMT_ALLOC:    alloc(e, s);        break;
    case STMT_LET:      let(e, s);          break;
    case STMT_STORE:    store_stmt(e, s);   break;
    case STMT_IF:       if_stmt(e, s);      break;
    case STMT_FOR:      for_stmt(e, s);     break;
    case STMT_WHILE:    while_stmt(e, s);   break;
    case STMT_BREAK:    leave(e, "break");  break;
    case STMT_CONTINUE: leave(e, "continue"); break;
    case STMT_ASSERT:   assert_stmt(e, s);  break;
    case STMT_EVAL:     eval_stmt(e, s);    break;
    case STMT_TILE:     tile(e, s);         break;
    case STMT_LAUNCH:   refuse(e, "a launch inside a launch"); break;
    }
}

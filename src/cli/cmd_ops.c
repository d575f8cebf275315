// cmd_ops.c - `tilesim ops`: the primitives, as the op table has them.
#include "cli/cli.h"

int cmd_ops(Cli *c)
{
    TextBuf b = {0};
    Text name = c->operands.len ? c->operands.at[0] : (Text){0};
    if (c->operands.len > 1)
        cli_usage(c, "one name at a time");
    if (text_starts(name, "T."))
        name = text_slice(name, 2, name.len);
    ops_print(&b, c->ops, name);
    if (b.len == 0) {
        Text near = op_suggest(c->ops, name);
        if (near.len)
            cli_usage(c, "no primitive has '%.*s' in its name; did you mean "
                      "'T.%.*s'?", TEXT_ARG(name), TEXT_ARG(near));
        cli_usage(c, "no primitive has '%.*s' in its name", TEXT_ARG(name));
    }
    buf_write(&b, stdout);
    buf_release(&b);
    return EXIT_CLEAN;
}

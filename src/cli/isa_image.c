// isa_image.c - what a code object says of its kernels.
#include "cli/isa_device.h"
#include "cli/isa_orders.h"

bool isa_image_put(TextBuf *out, Arena *a, Text image)
{
    const char *why;
    const GfxObject *o = gfx_object_read(a, image.at, image.len, &why);

    for (int i = 0; o && i < o->kernel_count; i++) {
        buf_printf(out, "%s%s:\n", i ? "\n" : "", o->kernels[i].name);
        isa_disassemble(out, o, &o->kernels[i]);
    }
    return o != NULL;
}

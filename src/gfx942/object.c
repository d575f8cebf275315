// object.c - reads an ELF code object; no offset in it is trusted.
#include "gfx942/object.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "gfx942/msgpack.h"

enum {
    MACHINE_AMDGPU = 224, MACH_GFX942 = 0x4c, NOTE_METADATA = 32,
    RELOC_ABS64 = 3, RELOC_RELATIVE64 = 13, DESCRIPTOR_BYTES = 64,
    IMAGE_MOST = 1 << 28,
};

typedef struct {
    Arena *arena;
    const uint8_t *at;
    size_t len;
    Elf64_Ehdr head;
    GfxObject *object;
    const char *why;
} Loader;

static bool refuse(Loader *l, const char *why)
{
    l->why = why;
    return false;
}

static const uint8_t *bytes_at(const Loader *l, uint64_t offset, uint64_t size)
{
    return offset <= l->len && size <= l->len - offset ? l->at + offset : NULL;
}

// ---- headers ----------------------------------------------------------------

static bool read_head(Loader *l)
{
    if (l->len < sizeof l->head || memcmp(l->at, ELFMAG, SELFMAG))
        return refuse(l, "is not an ELF file");
    memcpy(&l->head, l->at, sizeof l->head);
    const Elf64_Ehdr *h = &l->head;
    if (h->e_ident[EI_CLASS] != ELFCLASS64
        || h->e_ident[EI_DATA] != ELFDATA2LSB || h->e_machine != MACHINE_AMDGPU)
        return refuse(l, "is an ELF file, but not for an AMD GPU");
    if ((h->e_flags & 0xff) != MACH_GFX942)
        return refuse(l, "is a code object for another GPU than gfx942");
    if (h->e_phentsize != sizeof(Elf64_Phdr)
        || h->e_shentsize != sizeof(Elf64_Shdr)
        || !bytes_at(l, h->e_phoff, h->e_phnum * sizeof(Elf64_Phdr))
        || !bytes_at(l, h->e_shoff, h->e_shnum * sizeof(Elf64_Shdr)))
        return refuse(l, "is damaged: a header table lies outside the file");
    return true;
}

static Elf64_Phdr program_header(const Loader *l, int i)
{
    Elf64_Phdr p;
    memcpy(&p, l->at + l->head.e_phoff + i * sizeof p, sizeof p);
    return p;
}

static Elf64_Shdr section_header(const Loader *l, int i)
{
    Elf64_Shdr s;
    memcpy(&s, l->at + l->head.e_shoff + i * sizeof s, sizeof s);
    return s;
}

// ---- the image --------------------------------------------------------------

static bool measure_image(Loader *l, uint64_t *top)
{
    *top = 0;
    for (int i = 0; i < l->head.e_phnum; i++) {
        Elf64_Phdr p = program_header(l, i);
        if (p.p_type != PT_LOAD)
            continue;
        if (p.p_filesz > p.p_memsz || !bytes_at(l, p.p_offset, p.p_filesz))
            return refuse(l, "is damaged: a segment lies outside the file");
        if (p.p_vaddr > IMAGE_MOST || p.p_memsz > IMAGE_MOST - p.p_vaddr)
            return refuse(l, "is damaged: a segment beyond 256 MiB");
        if (p.p_vaddr + p.p_memsz > *top)
            *top = p.p_vaddr + p.p_memsz;
    }
    return *top > 0 || refuse(l, "has nothing to load");
}

static bool load_image(Loader *l)
{
    uint64_t top;
    if (!measure_image(l, &top))
        return false;
    GfxObject *o = l->object;
    o->image_bytes = (top + 3) & ~3ull;
    o->image = new_array(l->arena, uint8_t, o->image_bytes);
    for (int i = 0; i < l->head.e_phnum; i++) {
        Elf64_Phdr p = program_header(l, i);
        if (p.p_type == PT_LOAD)
            memcpy(o->image + p.p_vaddr, l->at + p.p_offset, p.p_filesz);
    }
    return true;
}

static bool image_holds(const GfxObject *o, uint64_t address, uint64_t size)
{
    return address <= o->image_bytes && size <= o->image_bytes - address;
}

static bool relocate_one(Loader *l, const Elf64_Rela *r, uint64_t symbol)
{
    GfxObject *o = l->object;
    uint64_t value = OBJECT_BASE + r->r_addend + symbol;
    if (ELF64_R_TYPE(r->r_info) != RELOC_ABS64
        && ELF64_R_TYPE(r->r_info) != RELOC_RELATIVE64)
        return refuse(l, "has a kind of relocation that is not supported");
    if (!image_holds(o, r->r_offset, sizeof value))
        return refuse(l, "is damaged: a relocation lies outside the image");
    memcpy(o->image + r->r_offset, &value, sizeof value);
    return true;
}

static bool read_symbol(const Loader *l, const Elf64_Shdr *table, uint64_t i,
                        Elf64_Sym *out)
{
    if (i >= table->sh_size / sizeof *out)
        return false;
    const uint8_t *at =
        bytes_at(l, table->sh_offset, (i + 1) * sizeof *out);
    if (at)
        memcpy(out, at + i * sizeof *out, sizeof *out);
    return at;
}

static bool relocate(Loader *l)
{
    for (int i = 0; i < l->head.e_shnum; i++) {
        Elf64_Shdr s = section_header(l, i);
        const uint8_t *at = bytes_at(l, s.sh_offset, s.sh_size);
        if (s.sh_type != SHT_RELA || s.sh_link >= l->head.e_shnum)
            continue;
        if (!at)
            return refuse(l, "is damaged: relocations outside the file");
        Elf64_Shdr symbols = section_header(l, s.sh_link);
        for (uint64_t k = 0; k < s.sh_size / sizeof(Elf64_Rela); k++) {
            Elf64_Rela r;
            Elf64_Sym symbol = {0};
            memcpy(&r, at + k * sizeof r, sizeof r);
            if (ELF64_R_SYM(r.r_info)
                && !read_symbol(l, &symbols, ELF64_R_SYM(r.r_info), &symbol))
                return refuse(l, "is damaged: a relocation has no symbol");
            if (!relocate_one(l, &r, symbol.st_value))
                return false;
        }
    }
    return true;
}

static void decode_image(Loader *l)
{
    GfxObject *o = l->object;
    uint32_t *words = xmalloc(o->image_bytes);
    o->words = o->image_bytes / 4;
    memcpy(words, o->image, o->image_bytes);
    o->code = new_array(l->arena, IsaInstr, o->words);
    for (int i = 0; i < l->head.e_phnum; i++) {
        Elf64_Phdr p = program_header(l, i);
        if (p.p_type != PT_LOAD || !(p.p_flags & PF_X))
            continue;
        size_t end = (p.p_vaddr + p.p_filesz) / 4;
        for (size_t w = p.p_vaddr / 4; w < end; w++)
            isa_decode(words + w, end - w, &o->code[w]);
    }
    free(words);
}

// ---- metadata ---------------------------------------------------------------

static const PackNode *find_metadata(const Loader *l)
{
    for (int i = 0; i < l->head.e_phnum; i++) {
        Elf64_Phdr p = program_header(l, i);
        const uint8_t *at = bytes_at(l, p.p_offset, p.p_filesz);
        if (p.p_type != PT_NOTE || !at)
            continue;
        uint64_t left = p.p_filesz;
        while (left >= sizeof(Elf64_Nhdr)) {
            Elf64_Nhdr n;
            memcpy(&n, at, sizeof n);
            uint64_t name = (n.n_namesz + 3ull) & ~3ull;
            uint64_t size = sizeof n + name + ((n.n_descsz + 3ull) & ~3ull);
            if (sizeof n + name + n.n_descsz > left)
                break;
            if (n.n_type == NOTE_METADATA && n.n_namesz == 7
                && !memcmp(at + sizeof n, "AMDGPU", 7))
                return pack_read(l->arena, at + sizeof n + name, n.n_descsz);
            if (size > left)
                break;
            at += size;
            left -= size;
        }
    }
    return NULL;
}

static Text symbol_name(const Loader *l, const Elf64_Shdr *table,
                        const Elf64_Sym *symbol)
{
    if (table->sh_link >= l->head.e_shnum)
        return (Text){0};
    Elf64_Shdr s = section_header(l, table->sh_link);
    const uint8_t *at = bytes_at(l, s.sh_offset, s.sh_size);
    if (!at || symbol->st_name >= s.sh_size)
        return (Text){0};
    const char *name = (const char *)at + symbol->st_name;
    return (Text){name, strnlen(name, s.sh_size - symbol->st_name)};
}

static bool find_symbol(const Loader *l, Text name, Elf64_Sym *out)
{
    for (int i = 0; i < l->head.e_shnum; i++) {
        Elf64_Shdr s = section_header(l, i);
        if (s.sh_type != SHT_SYMTAB && s.sh_type != SHT_DYNSYM)
            continue;
        for (uint64_t k = 0; read_symbol(l, &s, k, out); k++)
            if (text_eq(symbol_name(l, &s, out), name))
                return true;
    }
    return false;
}

static uint32_t word_of(const uint8_t *at)
{
    uint32_t w;
    memcpy(&w, at, sizeof w);
    return w;
}

static bool read_descriptor(Loader *l, GfxKernel *k, Text symbol)
{
    Elf64_Sym s;
    int64_t offset;
    if (!find_symbol(l, symbol, &s)
        || !image_holds(l->object, s.st_value, DESCRIPTOR_BYTES))
        return refuse(l, "is damaged: a kernel has no descriptor");
    const uint8_t *d = l->object->image + s.st_value;
    memcpy(&offset, d + 16, sizeof offset);
    uint64_t entry = s.st_value + (uint64_t)offset;
    if (entry % 4 || !image_holds(l->object, entry, 4))
        return refuse(l, "is damaged: a kernel starts outside the image");
    k->entry = OBJECT_BASE + entry;
    k->end = OBJECT_BASE + l->object->image_bytes;
    if (find_symbol(l, text_of(k->name), &s) && s.st_value == entry
        && image_holds(l->object, entry, s.st_size))
        k->end = k->entry + s.st_size;
    k->lds_bytes = (int)(word_of(d) & 0xffffff);
    k->scratch_bytes = (int)(word_of(d + 4) & 0xffffff);
    k->kernarg_size = (int)(word_of(d + 8) & 0xffff);
    k->rsrc3 = word_of(d + 44);
    k->rsrc1 = word_of(d + 48);
    k->rsrc2 = word_of(d + 52);
    k->properties = word_of(d + 56) & 0xffff;
    k->preload = word_of(d + 56) >> 16;
    return true;
}

static int small(const PackNode *map, const char *key, int fallback)
{
    int64_t v = pack_int(map, key, fallback);
    return v < 0 || v > 1 << 20 ? fallback : (int)v;
}

static bool read_args(Loader *l, GfxKernel *k, const PackNode *args)
{
    if (!args || args->type != PACK_ARRAY)
        return true;
    k->args = new_array(l->arena, GfxArg, args->count);
    k->arg_count = args->count;
    for (int i = 0; i < args->count; i++) {
        const PackNode *n = &args->items[i];
        GfxArg *arg = &k->args[i];
        *arg = (GfxArg){
            .offset = small(n, ".offset", -1), .size = small(n, ".size", -1),
            .kind = text_copy(l->arena, pack_text(n, ".value_kind")),
            .name = text_copy(l->arena, pack_text(n, ".name")),
            .type = text_copy(l->arena, pack_text(n, ".type_name")),
        };
        if (arg->offset < 0 || arg->size < 0
            || arg->offset + arg->size > k->kernarg_size)
            return refuse(l, "is damaged: an argument lies outside the "
                             "kernel's argument block");
    }
    return true;
}

static bool read_kernel(Loader *l, GfxKernel *k, const PackNode *n)
{
    Text name = pack_text(n, ".name"), symbol = pack_text(n, ".symbol");
    if (!name.len || !symbol.len)
        return refuse(l, "is damaged: a kernel has no name");
    k->name = text_cstr(l->arena, name);
    if (!read_descriptor(l, k, symbol))
        return false;
    k->kernarg_size = small(n, ".kernarg_segment_size", k->kernarg_size);
    k->vgprs = small(n, ".vgpr_count", 0);
    k->agprs = small(n, ".agpr_count", 0);
    k->sgprs = small(n, ".sgpr_count", 0);
    k->vgpr_spills = small(n, ".vgpr_spill_count", 0);
    k->sgpr_spills = small(n, ".sgpr_spill_count", 0);
    k->max_threads = small(n, ".max_flat_workgroup_size", 1024);
    return read_args(l, k, pack_get(n, ".args"));
}

static bool read_kernels(Loader *l)
{
    const PackNode *root = find_metadata(l);
    const PackNode *list = pack_get(root, "amdhsa.kernels");
    if (!root)
        return refuse(l, "has no AMDGPU metadata note that can be read");
    if (!list || list->type != PACK_ARRAY || list->count == 0)
        return refuse(l, "holds no kernel");
    l->object->kernels = new_array(l->arena, GfxKernel, list->count);
    l->object->kernel_count = list->count;
    for (int i = 0; i < list->count; i++)
        if (!read_kernel(l, &l->object->kernels[i], &list->items[i]))
            return false;
    return true;
}

// ---- offload bundles --------------------------------------------------------

static uint64_t long_of(const uint8_t *at)
{
    uint64_t v;
    memcpy(&v, at, sizeof v);
    return v;
}

static bool holds_name(Text id, const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i + n <= id.len; i++)
        if (!memcmp(id.at + i, name, n))
            return true;
    return false;
}

// Replaces the bundle by its gfx942 entry.
static bool open_bundle(Loader *l)
{
    static const char magic[] = "__CLANG_OFFLOAD_BUNDLE__";
    enum { MAGIC = sizeof magic - 1 };
    if (l->len < MAGIC + 8 || memcmp(l->at, magic, MAGIC))
        return true;
    uint64_t count = long_of(l->at + MAGIC), at = MAGIC + 8;
    for (uint64_t i = 0; i < count && bytes_at(l, at, 24); i++) {
        const uint8_t *entry = l->at + at;
        uint64_t offset = long_of(entry), size = long_of(entry + 8);
        uint64_t len = long_of(entry + 16);
        if (!bytes_at(l, at + 24, len))
            break;
        Text id = {(const char *)entry + 24, len};
        if (holds_name(id, "gfx942") && bytes_at(l, offset, size)) {
            l->at += offset;
            l->len = size;
            return true;
        }
        at += 24 + len;
    }
    return refuse(l, "is an offload bundle without code for gfx942");
}

GfxObject *gfx_object_read(Arena *a, const void *at, size_t len,
                           const char **why)
{
    Loader l = {.arena = a, .at = at, .len = len,
                .object = new(a, GfxObject)};
    bool ok = open_bundle(&l) && read_head(&l) && load_image(&l)
              && relocate(&l) && read_kernels(&l);
    *why = l.why;
    if (!ok)
        return NULL;
    decode_image(&l);
    return l.object;
}

const GfxKernel *gfx_kernel_find(const GfxObject *o, Text name)
{
    for (int i = 0; i < o->kernel_count; i++)
        if (text_is(name, o->kernels[i].name))
            return &o->kernels[i];
    return NULL;
}

const GfxKernel *gfx_kernel_at(const GfxObject *o, uint64_t address)
{
    for (int i = 0; i < o->kernel_count; i++)
        if (address >= o->kernels[i].entry && address < o->kernels[i].end)
            return &o->kernels[i];
    return NULL;
}

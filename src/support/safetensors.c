// safetensors.c - eight bytes of header length, a JSON header, the tensors.
//
// The header maps names to {dtype, shape, data_offsets}. As the format asks,
// the tensors cover the rest of the file without gap or overlap.
#include "support/support.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "support/json.h"
#include "support/support_int.h"

enum { LARGEST_HEADER = 16 << 20 };

static int item_size(const char *dtype)
{
    static const struct {
        const char *name;
        int size;
    } known[] = {
        {"BOOL", 1}, {"U8", 1}, {"I8", 1}, {"F8_E5M2", 1}, {"F8_E4M3", 1},
        {"F8_E5M2FNUZ", 1}, {"F8_E4M3FNUZ", 1}, {"F8_E8M0", 1}, {"I16", 2},
        {"U16", 2}, {"F16", 2}, {"BF16", 2}, {"I32", 4}, {"U32", 4},
        {"F32", 4}, {"F64", 8}, {"I64", 8}, {"U64", 8},
    };

    for (size_t i = 0; i < countof(known); i++)
        if (strcmp(dtype, known[i].name) == 0)
            return known[i].size;
    return 0;
}

// A JSON number that is an exact non-negative integer.
static bool get_size(const cJSON *j, int64_t *out)
{
    if (!cJSON_IsNumber(j) || !(j->valuedouble >= 0) ||
        j->valuedouble > 0x1p53)
        return false;
    *out = (int64_t)j->valuedouble;
    return (double)*out == j->valuedouble;
}

static bool read_shape(ArrayFile *f, const cJSON *shape, ArrayView *v)
{
    const cJSON *size;

    if (!cJSON_IsArray(shape))
        return array_refuse(f, "tensor '%s' has no shape", v->name.at);
    cJSON_ArrayForEach(size, shape) {
        if (v->rank == (int)countof(v->shape))
            return array_refuse(f, "tensor '%s' has more than %d dimensions",
                                v->name.at, v->rank);
        if (!get_size(size, &v->shape[v->rank++]))
            return array_refuse(f, "tensor '%s' has a size that is no "
                                   "non-negative integer", v->name.at);
    }
    return true;
}

// Sets data and bytes; `data` is where tensors start in the file.
static bool read_offsets(ArrayFile *f, const cJSON *offsets, size_t data,
                         int64_t want, ArrayView *v)
{
    int64_t begin, end, room = (int64_t)(f->len - data);

    if (cJSON_GetArraySize(offsets) != 2 ||
        !get_size(cJSON_GetArrayItem(offsets, 0), &begin) ||
        !get_size(cJSON_GetArrayItem(offsets, 1), &end) || begin > end)
        return array_refuse(f, "tensor '%s' has malformed data_offsets",
                            v->name.at);
    if (end > room)
        return array_refuse(f, "truncated: tensor '%s' ends at byte %lld, "
                               "%lld are there", v->name.at, (long long)end,
                            (long long)room);
    if (end - begin != want)
        return array_refuse(f, "tensor '%s' has %lld bytes, its shape and "
                               "dtype need %lld", v->name.at,
                            (long long)(end - begin), (long long)want);
    v->data = f->at + data + begin;
    v->bytes = (size_t)want;
    return true;
}

static bool read_tensor(ArrayFile *f, const cJSON *j, size_t data,
                        ArrayView *v)
{
    const cJSON *dtype = cJSON_GetObjectItemCaseSensitive(j, "dtype");
    const cJSON *shape = cJSON_GetObjectItemCaseSensitive(j, "shape");
    const cJSON *offs = cJSON_GetObjectItemCaseSensitive(j, "data_offsets");
    int64_t want;

    v->name = text_copy(f->arena, text_of(j->string));
    if (!cJSON_IsString(dtype))
        return array_refuse(f, "tensor '%s' has no dtype", v->name.at);
    v->dtype = text_copy(f->arena, text_of(dtype->valuestring));
    if (item_size(v->dtype.at) == 0)
        return array_refuse(f, "tensor '%s' has dtype '%s', which is not "
                               "supported", v->name.at, v->dtype.at);
    if (!read_shape(f, shape, v))
        return false;
    if (!array_size(v, item_size(v->dtype.at), &want))
        return array_refuse(f, "tensor '%s' has more elements than memory "
                               "can hold", v->name.at);
    return read_offsets(f, offs, data, want, v);
}

static int by_address(const void *a, const void *b)
{
    const ArrayView *const *v = a, *const *w = b;
    const char *at = (*v)->data, *bt = (*w)->data;
    size_t n = (*v)->bytes, m = (*w)->bytes;

    return at != bt ? (at > bt) - (at < bt) : (n > m) - (n < m);
}

static bool check_cover(ArrayFile *f, size_t data)
{
    const ArrayView **order = new_array(f->arena, const ArrayView *,
                                        (size_t)f->count);
    const unsigned char *next = f->at + data;

    for (int i = 0; i < f->count; i++)
        order[i] = &f->views[i];
    qsort(order, (size_t)f->count, sizeof *order, by_address);
    for (int i = 0; i < f->count; i++) {
        if ((const unsigned char *)order[i]->data != next)
            return array_refuse(f, "tensor '%s' %s", order[i]->name.at,
                                (const unsigned char *)order[i]->data < next
                                    ? "overlaps another"
                                    : "follows a gap that no tensor covers");
        next += order[i]->bytes;
    }
    if (next != f->at + f->len)
        return array_refuse(f, "overlong: %zu bytes follow the last tensor",
                            (size_t)(f->at + f->len - next));
    return true;
}

static bool check_names(ArrayFile *f)
{
    Map seen = {0};

    for (int i = 0; i < f->count; i++) {
        if (map_get(&seen, f->views[i].name))
            return array_refuse(f, "two tensors are named '%s'",
                                f->views[i].name.at);
        map_set(f->arena, &seen, f->views[i].name, &f->views[i]);
    }
    return true;
}

static bool read_header(ArrayFile *f, const cJSON *header, size_t data)
{
    const cJSON *j;

    if (!cJSON_IsObject(header))
        return array_refuse(f, "its .safetensors header is not valid JSON");
    f->views = new_array(f->arena, ArrayView,
                         (size_t)cJSON_GetArraySize(header));
    cJSON_ArrayForEach(j, header) {
        if (strcmp(j->string, "__metadata__") == 0)
            continue;
        if (!read_tensor(f, j, data, &f->views[f->count]))
            return false;
        f->count++;
    }
    return check_names(f) && check_cover(f, data);
}

bool safetensors_read(ArrayFile *f)
{
    uint64_t len = 0;
    cJSON *header;
    bool ok;

    if (f->len < 8)
        return array_refuse(f, "truncated in the .safetensors header");
    for (int i = 0; i < 8; i++)
        len |= (uint64_t)f->at[i] << (8 * i);
    if (len > LARGEST_HEADER)
        return array_refuse(f, "its header of %llu bytes is more than the 16 "
                               "MiB supported; is it a .safetensors file?",
                            (unsigned long long)len);
    if (len > f->len - 8)
        return array_refuse(f, "truncated in the .safetensors header");
    header = cJSON_ParseWithLength((const char *)f->at + 8, (size_t)len);
    ok = read_header(f, header, 8 + (size_t)len);
    cJSON_Delete(header);
    return ok;
}

static void put_tensor(Json *j, const ArrayView *v, size_t offset)
{
    json_key(j, v->name);
    json_begin_object(j);
    json_key(j, TEXT("dtype"));
    json_text(j, v->dtype);
    json_key(j, TEXT("shape"));
    json_begin_array(j);
    for (int i = 0; i < v->rank; i++)
        json_int(j, v->shape[i]);
    json_end_array(j);
    json_key(j, TEXT("data_offsets"));
    json_begin_array(j);
    json_int(j, (int64_t)offset);
    json_int(j, (int64_t)(offset + v->bytes));
    json_end_array(j);
    json_end_object(j);
}

static void put_header(TextBuf *b, const ArrayView *views, int count)
{
    Json j = json_start(b, false);
    size_t offset = 0;

    buf_add(b, "\0\0\0\0\0\0\0\0", 8);
    json_begin_object(&j);
    for (int i = 0; i < count; i++) {
        put_tensor(&j, &views[i], offset);
        offset += views[i].bytes;
    }
    json_end_object(&j);
    while (b->len % 8)
        buf_addc(b, ' ');
    for (int i = 0; i < 8; i++)
        b->at[i] = (char)((uint64_t)(b->len - 8) >> (8 * i) & 0xff);
}

bool safetensors_write(const char *path, const ArrayView *views, int count,
                       const char **why)
{
    TextBuf header = {0};
    FilePiece *pieces = xcalloc((size_t)count + 1, sizeof *pieces);
    bool ok;

    put_header(&header, views, count);
    pieces[0] = (FilePiece){header.at, header.len};
    for (int i = 0; i < count; i++)
        pieces[i + 1] = (FilePiece){views[i].data, views[i].bytes};
    ok = file_write_pieces(path, pieces, count + 1, why);
    free(pieces);
    buf_release(&header);
    return ok;
}

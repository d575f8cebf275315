// device.c - targets by name and number, their constants with sources.
#include "device/device.h"

#include <limits.h>

static const Device devices[] = {
#define DEVICE(id_, name_, title_, vendor_, arch_, fp8_)                      \
    {                                                                         \
        .id = DEVICE_##id_, .name = name_, .title = title_,                   \
        .vendor = VENDOR_##vendor_, .arch = ARCH_##arch_, .fp8 = FP8_##fp8_,
#define VALUE(field, value, source) .field = value,
#define DEVICE_END },
#include "device/device.def"
};

static const char *const sources[DEVICE_COUNT][DEVICE_FIELD_COUNT] = {
#define DEVICE(id, ...) [DEVICE_##id] = {
#define VALUE(field, value, source) [DEVICE_FIELD_##field] = source,
#define DEVICE_END },
#include "device/device.def"
};

static const struct {
    const char *name, *unit, *doc;
    size_t offset;
} fields[] = {
#define DEVICE_FIELD(name, unit, doc)                                         \
    {#name, unit, doc, offsetof(Device, name)},
#include "device/device_field.def"
};

const char *basis_name(Basis b)
{
    static const char *const names[] = {"none", "measured", "published",
                                        "estimate"};
    return names[b];
}

Basis basis_worse(Basis a, Basis b)
{
    return a > b ? a : b;
}

int device_count(void)
{
    return DEVICE_COUNT;
}

const Device *device_at(int i)
{
    return &devices[i];
}

const Device *device_find(Text name)
{
    for (int i = 0; i < DEVICE_COUNT; i++)
        if (text_is(name, devices[i].name))
            return &devices[i];
    return NULL;
}

const Device *device_nearest(Text name)
{
    const Device *best = NULL;
    int best_distance = INT_MAX;
    for (int i = 0; i < DEVICE_COUNT; i++) {
        int d = text_distance(name, text_of(devices[i].name));
        if (d < best_distance) {
            best_distance = d;
            best = &devices[i];
        }
    }
    return best;
}

const char *device_arch_name(const Device *d)
{
    static const char *const names[ARCH_COUNT] = {
        [ARCH_SM80] = "sm_80", [ARCH_SM90] = "sm_90a",
        [ARCH_GFX942] = "gfx942", [ARCH_GFX950] = "gfx950",
    };
    return names[d->arch];
}

int64_t device_value(const Device *d, DeviceField f)
{
    return *(const int64_t *)((const char *)d + fields[f].offset);
}

const char *device_field_name(DeviceField f)
{
    return fields[f].name;
}

const char *device_field_unit(DeviceField f)
{
    return fields[f].unit;
}

const char *device_field_doc(DeviceField f)
{
    return fields[f].doc;
}

const char *device_source(const Device *d, DeviceField f)
{
    return sources[d->id][f];
}

static int64_t flop_per_clock(const Device *d, MmaType operand)
{
    switch (operand) {
    case MMA_F16: case MMA_BF16:
        return d->flop_f16;
    case MMA_TF32:
        return d->flop_tf32;
    case MMA_E4M3: case MMA_E5M2: case MMA_E4M3FNUZ: case MMA_E5M2FNUZ:
        return d->flop_f8;
    case MMA_S8: case MMA_U8:
        return d->flop_i8;
    case MMA_F64:
        return d->flop_f64;
    case MMA_F32:
        return d->vendor == VENDOR_AMD ? d->flop_f32 : 0;
    default:
        return 0;
    }
}

double device_peak(const Device *d, MmaType operand)
{
    return 1e-6 * (double)(d->sms * d->clock * flop_per_clock(d, operand));
}

int device_warps(const Device *d, int threads)
{
    return (int)((threads + d->warp_lanes - 1) / d->warp_lanes);
}

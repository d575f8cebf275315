// exec_im2col.c - T.im2col: rows of convolution windows (tilelang_surface 4.4).
#include "interp/interp_int.h"

typedef struct {
    const Im2col *m;
    const Tensor *img;
    int64_t out_h, out_w;
} Windows;

static int64_t windows_along(const Im2col *m, int64_t size)
{
    int64_t reach = (m->kernel - 1) * m->dilation + 1;
    int64_t room = size + 2 * m->pad - reach;

    return room < 0 ? 0 : room / m->stride + 1;
}

// The offset of the image element that row m, column k of the matrix shows.
static bool window_element(const Windows *x, int64_t m, int64_t k, int64_t *at)
{
    const Tensor *t = x->img;
    int64_t channels = t->shape[3], area = x->out_h * x->out_w;
    int64_t n, h, c;

    if (m < 0 || k < 0 || area <= 0 || channels <= 0)
        return false;
    n = m / area;
    h = m % area / x->out_w * x->m->stride +
        k / (x->m->kernel * channels) * x->m->dilation - x->m->pad;
    c = m % x->out_w * x->m->stride +
        k / channels % x->m->kernel * x->m->dilation - x->m->pad;
    if (n >= t->shape[0] || h < 0 || h >= t->shape[1] || c < 0 ||
        c >= t->shape[2])
        return false;
    *at = n * t->stride[0] + h * t->stride[1] + c * t->stride[2] +
          k % channels * t->stride[3];
    return true;
}

static int64_t tile_origin(int64_t step, int64_t size)
{
    int64_t at;

    return __builtin_mul_overflow(step, size, &at) || at < 0 ||
                   at > INT64_MAX / 4
               ? -1
               : at;
}

const Instr *exec_IM2COL(Worker *w, const Instr *i)
{
    const Im2col *m = &w->code->im2col[i->a];
    Tensor *col = &w->buffer[m->dst];
    Windows x = {.m = m, .img = &w->buffer[m->src]};
    int64_t rows = col->shape[0], cols = col->shape[1];
    int64_t m0 = tile_origin(w->slot[m->step_m].i, rows);
    int64_t k0 = tile_origin(w->slot[m->step_k].i, cols), at;

    x.out_h = windows_along(m, x.img->shape[1]);
    x.out_w = windows_along(m, x.img->shape[2]);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++) {
            Slot one = {0};

            if (m0 >= 0 && k0 >= 0 && window_element(&x, m0 + r, k0 + c, &at))
                load_elements(w, x.img, &one, at, 1);
            store_elements(w, col, r * cols + c, &one, 1);
        }
    return i + 1;
}

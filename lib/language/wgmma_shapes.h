/* wgmma_shapes.h: the shapes of wgmma, used in two tables of words: m64, n, and the k of the type.
 */
#pragma once

/* SHAPE(n, k) for every n of floating-point types after the first, 8. */
#define WGMMA_BEHIND_8(SHAPE, k)                                                                   \
    SHAPE(16, k)                                                                                   \
    WGMMA_SEVEN(SHAPE, 24, 32, 40, 48, 56, 64, 72, k)                                              \
    WGMMA_SEVEN(SHAPE, 80, 88, 96, 104, 112, 120, 128, k)                                          \
    WGMMA_SEVEN(SHAPE, 136, 144, 152, 160, 168, 176, 184, k)                                       \
    WGMMA_SEVEN(SHAPE, 192, 200, 208, 216, 224, 232, 240, k)                                       \
    SHAPE(248, k) SHAPE(256, k)

/* The same for integers and single bits. */
#define WGMMA_INTEGERS_BEHIND_8(SHAPE, k)                                                          \
    SHAPE(24, k)                                                                                   \
    SHAPE(16, k)                                                                                   \
    SHAPE(32, k)                                                                                   \
    WGMMA_SEVEN(SHAPE, 48, 64, 80, 96, 112, 128, 144, k)                                           \
    WGMMA_SEVEN(SHAPE, 160, 176, 192, 208, 224, 240, 256, k)

#define WGMMA_SEVEN(SHAPE, a, b, c, d, e, f, g, k)                                                 \
    SHAPE(a, k) SHAPE(b, k) SHAPE(c, k) SHAPE(d, k) SHAPE(e, k) SHAPE(f, k) SHAPE(g, k)

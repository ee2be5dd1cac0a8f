/* random.h: numbers that look random, and are the same in every run. */
#pragma once

#include <stdint.h>

/* A number below `bound` (splitmix64); *state is the seed, and what becomes of it. */
static inline unsigned random_below(uint64_t *state, unsigned bound)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (unsigned)((z ^ z >> 31) % bound);
}

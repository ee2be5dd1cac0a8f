/* target.c: the version tables (minilink-internals(7), Phases, 4 and 5), as ptxas 13.0 was measured
 * to apply them: every PTX version of --list-version with every .target, and every .target with
 * every --gpu-name. */
#include "toy/language/target.h"

#include <stddef.h>

/* How many minor versions each major one has. */
static const uint8_t minor_versions[] = {0, 6, 4, 3, 4, 2, 6, 9, 9, 1};

static const struct row {
    uint16_t sm;
    char suffix;
    bool is_compiled_for; /* else only .target can name it */
    uint16_t first_ptx;   /* 10 * major + minor */
} rows[] = {
    {10, 0, false, 10},    {11, 0, false, 10},   {12, 0, false, 12},   {13, 0, false, 12},
    {20, 0, false, 20},    {21, 0, false, 20},   {30, 0, false, 30},   {32, 0, false, 40},
    {35, 0, false, 31},    {37, 0, false, 41},   {50, 0, false, 40},   {52, 0, false, 41},
    {53, 0, false, 42},    {60, 0, false, 50},   {61, 0, false, 50},   {62, 0, false, 50},
    {70, 0, false, 51},    {72, 0, false, 61},   {75, 0, true, 63},    {80, 0, true, 70},
    {82, 0, false, 62},    {86, 0, true, 71},    {87, 0, true, 74},    {88, 0, true, 73},
    {89, 0, true, 78},     {90, 0, true, 78},    {90, 'a', true, 80},  {100, 0, true, 86},
    {100, 'a', true, 86},  {100, 'f', true, 88}, {101, 0, false, 86},  {101, 'a', false, 86},
    {101, 'f', false, 88}, {103, 0, true, 88},   {103, 'a', true, 88}, {103, 'f', true, 88},
    {110, 0, true, 90},    {110, 'a', true, 90}, {110, 'f', true, 90}, {120, 0, true, 87},
    {120, 'a', true, 87},  {120, 'f', true, 88}, {121, 0, true, 88},   {121, 'a', true, 88},
    {121, 'f', true, 88},
};

static const struct row *find(struct arch arch)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].sm == arch.sm && rows[i].suffix == arch.suffix)
            return &rows[i];
    return NULL;
}

bool target_ptx_is_known(unsigned major, unsigned minor)
{
    return major < sizeof minor_versions && minor < minor_versions[major];
}

uint16_t target_first_ptx(struct arch target)
{
    const struct row *row = find(target);
    return row ? row->first_ptx : 0;
}

bool target_is_compiled_for(struct arch arch)
{
    const struct row *row = find(arch);
    return row && row->is_compiled_for;
}

/* CUDA 13.0 calls the former sm_101 sm_110, and accepts the old names with a suffix for the new
 * ones; sm_101 without a suffix is treated by its number (measured). */
enum target_fit target_fit(struct arch target, struct arch arch)
{
    if (target.sm == 101 && target.suffix)
        target.sm = 110;
    if (target.sm > arch.sm)
        return TARGET_HIGHER;
    if (target.suffix == 'a' && target.sm < arch.sm)
        return TARGET_FUTURE;
    if (target.suffix == 'a' && arch.suffix != 'a')
        return TARGET_OTHER_CHIP;
    if (target.suffix == 'f' && target.sm / 10 != arch.sm / 10)
        return TARGET_OTHER_FAMILY;
    return TARGET_FITS;
}

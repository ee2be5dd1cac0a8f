/* unit.h: one chunk on its way through the assembler. */
#ifndef MINILINK_BUILTIN_UNIT_H
#define MINILINK_BUILTIN_UNIT_H

#include <stddef.h>
#include <stdint.h>

#include "assembler/builtin/compile.h"
#include "assembler/builtin/data.h"
#include "assembler/builtin/scope.h"
#include "assembler/builtin/switches.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "cubin/image.h"
#include "minilink/assembler.h"
#include "ptx/module.h"

struct room;

/* Everything that has to be let go of when the chunk is done, however that comes about. Start with
 * {0}. */
struct unit {
    const struct minilink_job *job; /* with the switches applied */
    struct minilink_job own_job;
    struct switches switches;
    struct arena arena; /* results, but for those of functions */
    struct room *rooms; /* kernels.c: memory of the threads that assemble functions */
    size_t room_count;
    struct buffer code; /* for contents of sections */
    struct ptx_module module;
    struct scope scope;
    struct function_code *functions; /* in order of the text */
    size_t function_count;
    struct data data;
    uint32_t parameter_base; /* of kernels, in constant bank 0 */
    struct image image;
    struct image_strings strings;
    struct buffer cubin;
};

#endif

/* inputs.c: what tool_damage makes of whatever may be an input of a link. */
#include <stdlib.h>
#include <string.h>

#include "damage/trial.h"
#include "input/member.h"
#include "input/used.h"

static void add_members(struct buffer *out, const struct members *members)
{
    buffer_printf(out, "%u%c %d %d %d %d %zu %zu %zu %zu\n", members->arch.sm, members->arch.suffix,
                  members->is_virtual, members->has_lto, members->has_host_code,
                  members->has_lto_only, members->cubin_count, members->ptx_count,
                  members->lto_count, members->bitcode_count);
    for (size_t i = 0; i < members->count; i++) {
        const struct member *m = &members->list[i];

        buffer_printf(out, "%s %s %s %u %d %d %s %s\n", m->name, m->file, m->object_name, m->group,
                      m->is_system, m->is_whole, member_role_name(m->role), m->reason);
    }
}

/* What a library says of a damaged compressed member is its own matter, and changes with it. */
static bool add_code(struct buffer *out, const struct members *members)
{
    struct arena arena = {0};
    bool ok = true;

    for (size_t i = 0; i < members->count; i++) {
        const struct member *m = &members->list[i];
        struct inflation inflation = {.limit = 1 << 20};
        struct bytes code = {0};

        if (m->entry.uncompressed_size > 0)
            continue;
        if (member_code(m, &inflation, &arena, &code))
            buffer_append(out, code.data, code.size);
        else
            ok = false;
    }
    arena_free(&arena);
    return ok;
}

static void add_used(struct buffer *out, const struct inputs *inputs)
{
    struct used_names used = {0};

    if (used_collect(&used, inputs, &(struct used_request){.is_lto = true})) {
        buffer_printf(out, "%d %d %d %d %zu %zu\n", used.is_ignored, used.has_lists, used.is_filter,
                      used.keeps_kernels, used.kernels.count, used.variables.count);
        for (size_t i = 0; i < used.kernels.count; i++)
            buffer_printf(out, "%.*s %d\n", TEXT_ARG(used.kernels.patterns[i].text),
                          (int)used.kernels.patterns[i].list);
        for (size_t i = 0; i < used.variables.count; i++)
            buffer_printf(out, "%.*s %d\n", TEXT_ARG(used.variables.patterns[i].text),
                          (int)used.variables.patterns[i].list);
    }
    used_free(&used);
}

bool trial_read(struct trial *trial)
{
    const char *letters = trial->options + strcspn(trial->options, "LBP");
    struct text target = {trial->options, (size_t)(letters - trial->options)};
    struct member_request request = {.toolkit = toolkits_find(130),
                                     .link_lto = strchr(letters, 'L'),
                                     .link_bitcode = strchr(letters, 'B'),
                                     .prefer_ptx = strchr(letters, 'P')};
    struct input_operand operands[TRIAL_MOST];
    struct inputs inputs = {0};
    struct members members = {0};
    struct arena arena = {0};
    bool ok;

    request.is_virtual =
        !arch_parse(target, "sm_", &request.arch) && arch_parse(target, "compute_", &request.arch);
    for (size_t i = 0; i < trial->count; i++)
        operands[i] = (struct input_operand){
            .name = arena_printf(&arena, "/%s", trial->names[i]), /* whatever folder this is in */
            .is_memory = true,
            .data = {(const uint8_t *)trial->inputs[i].data, trial->inputs[i].size}};
    ok = inputs_open(&inputs, operands, trial->count, NULL) && members_collect(&members, &inputs) &&
         members_select(&members, &request);
    if (ok) {
        add_members(&trial->made, &members);
        ok = add_code(&trial->made, &members);
        add_used(&trial->made, &inputs);
        modules_list(&trial->made, &inputs, NULL, false, false);
    }
    members_free(&members);
    inputs_close(&inputs);
    arena_free(&arena);
    return ok;
}

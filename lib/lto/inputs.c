/* inputs.c: the inputs of the compilation of LTO-IR. */
#include "lto/lto_steps.h"

#include <errno.h>

#include "diag/diag.h"
#include "os/descriptor.h"

/* Members of a group are adjacent. */
bool lto_refuse_alone(const struct members *members)
{
    size_t refused = 0;

    for (size_t i = 0, end; members->has_lto_only && i < members->count; i = end) {
        const struct member *lto = NULL;
        bool has_code = false;

        for (end = i; end < members->count && members->list[end].group == members->list[i].group;
             end++) {
            if (members->list[end].role == MEMBER_OPTIONS)
                lto = &members->list[end];
            has_code |=
                members->list[end].role == MEMBER_PTX || members->list[end].role == MEMBER_CUBIN;
        }
        if (!lto || has_code)
            continue;
        /* nvcc names libcudadevrt in every link, and most links do not need it. */
        if (lto->is_system) {
            diag_info("Member '%s' is left out: it is LTO-IR without PTX beside it", lto->name);
            continue;
        }
        if (refused++ > 0 && diag_folds())
            continue;
        diag_error("'%s' is LTO-IR without PTX beside it, which only NVIDIA's libraries can read; "
                   "build it with both (nvcc -dlto -arch=sm_%u), or link with -lto where a CUDA "
                   "toolkit is",
                   lto->name, members->arch.sm);
    }
    if (refused > 1 && diag_folds())
        diag_note("so are %zu more; -v names them", refused - 1);
    return refused == 0;
}

bool lto_is_other(const struct member *member)
{
    return !member->is_system && (member->role == MEMBER_PTX || member->role == MEMBER_CUBIN ||
                                  member->role == MEMBER_BITCODE);
}

bool lto_has_others(const struct members *members)
{
    bool has_lto = false, has_others = false;

    for (size_t i = 0; i < members->count; i++) {
        has_lto |= members->list[i].role == MEMBER_LTO && !members->list[i].is_system;
        has_others |= lto_is_other(&members->list[i]);
    }
    return has_lto && has_others;
}

bool lto_is_partial(const struct members *members)
{
    const char *last = NULL;

    for (size_t i = 0; i < members->count; i++) {
        const struct member *member = &members->list[i];

        if (!lto_is_other(member) || (last && strcmp(last, member->object_name) == 0))
            continue;
        last = member->object_name;
        diag_info("requested LTO but '%s' not built for LTO so doing partial LTO",
                  member->object_name);
    }
    return last != NULL;
}

void lto_warn_useless(const struct members *members)
{
    if (members->has_lto || members->ptx_count > 0)
        return;
    lto_is_partial(members);
    diag_warning("Ignoring -dlto option because no LTO objects found");
}

/* Entries and containers begin at multiples of this. */
#define ALIGNMENT 8u

struct writer {
    int fd;
    uint64_t size; /* written so far */
};

static void write_bytes(struct writer *writer, const void *data, size_t size)
{
    if (!descriptor_write(writer->fd, data, size))
        context_raise(LINK_NO_MEMORY);
    writer->size += size;
}

static void write_member(struct writer *writer, struct job_input *input,
                         const struct member *member, bool wants_key)
{
    static const char zeros[ALIGNMENT];
    uint8_t head[FATBIN_HEADER_SIZE] = {0x50, 0xED, 0x55, 0xBA, 1, 0, FATBIN_HEADER_SIZE, 0};
    const struct fatbin_entry *entry = &member->entry;
    bool is_fatbin = entry->whole.size > 0;
    uint64_t follows;

    *input = (struct job_input){.member = member,
                                .data = is_fatbin ? entry->whole : entry->payload,
                                .offset = writer->size,
                                .is_fatbin = is_fatbin};
    if (wants_key)
        input->key = part_input_key(input->data, is_fatbin);
    follows = input->data.size;
    memcpy(head + 8, &follows, sizeof follows);
    if (is_fatbin) /* with a single entry */
        write_bytes(writer, head, sizeof head);
    write_bytes(writer, input->data.data, input->data.size);
    input->size = writer->size - input->offset;
    write_bytes(writer, zeros, (size_t)(-writer->size % ALIGNMENT));
}

int lto_inputs_open(void)
{
    int fd = descriptor_memory_file("minilink-lto-inputs");

    if (fd >= 0)
        return fd;
    if (errno == ENOMEM)
        context_raise(LINK_NO_MEMORY);
    diag_fatal("Could not open a file in memory: %s", strerror(errno));
    context_raise(LINK_ENVIRONMENT);
}

void lto_inputs_write(struct part_list *run, enum member_role role)
{
    const struct members *members = run->link->members;
    size_t most = role == MEMBER_LTO ? members->lto_count : members->bitcode_count;
    struct job_input *list = arena_alloc(&run->arena, most, sizeof *list);
    struct writer writer = {.fd = run->inputs_fd = lto_inputs_open()};
    size_t count = 0;

    for (size_t i = 0; i < members->count; i++)
        if (members->list[i].role == role)
            write_member(&writer, &list[count++], &members->list[i], run->link->cache != NULL);
    run->inputs = (struct job_inputs){list, count, role == MEMBER_BITCODE};
}

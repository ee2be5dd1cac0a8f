/* results.c: the results of a link, in memory that the link owns. */

#include "library/handle.h"
#include "merge/merge.h"

static const char *bytes_of(const struct minilink *link, bool is_ptx, size_t *size)
{
    bool is_there = link && link->product.size > 0 && link->options.link.emit_ptx == is_ptx;

    if (size)
        *size = is_there ? link->product.size : 0;
    return is_there ? link->product.bytes.data : NULL;
}

const void *minilink_cubin(const struct minilink *link, size_t *size)
{
    return bytes_of(link, false, size);
}

const char *minilink_ptx(const struct minilink *link, size_t *size)
{
    return bytes_of(link, true, size);
}

static const char *text_in(const struct buffer *log, size_t *size)
{
    if (size)
        *size = log && log->size ? log->size : 0;
    return log && log->size ? log->data : "";
}

const char *minilink_error_log(const struct minilink *link, size_t *size)
{
    return text_in(link ? &link->errors : NULL, size);
}

const char *minilink_info_log(const struct minilink *link, size_t *size)
{
    return text_in(link ? &link->infos : NULL, size);
}

size_t minilink_kernel_count(const struct minilink *link)
{
    return minilink_cubin(link, NULL) ? link->product.kernel_count : 0;
}

int minilink_kernel(const struct minilink *link, size_t index, struct minilink_kernel *kernel,
                    size_t size)
{
    const struct kernel_report *known;
    struct minilink_kernel filled;

    if (!kernel || index >= minilink_kernel_count(link))
        return MINILINK_USAGE;
    known = &link->product.kernels[index];
    filled = (struct minilink_kernel){
        .name = known->name.data,
        .is_kernel = known->is_kernel,
        .registers = known->registers,
        .barriers = known->barriers,
        .parameters = known->constant0,
        .constants = known->constant2,
        .shared = known->shared,
        .stack = known->stack == UINT32_MAX ? UINT64_MAX : known->stack,
        .code = known->code,
    };
    memset(kernel, 0, size);
    memcpy(kernel, &filled, size < sizeof filled ? size : sizeof filled);
    return MINILINK_OK;
}

const char *minilink_version(void)
{
    return MINILINK_VERSION;
}

const char *minilink_code_name(int code)
{
    static const struct {
        int code;
        const char *name;
    } names[] = {
        {MINILINK_OK, "MINILINK_OK"},
        {MINILINK_INTERNAL, "MINILINK_INTERNAL"},
        {MINILINK_FAILED, "MINILINK_FAILED"},
        {MINILINK_NVVM_ERROR, "MINILINK_NVVM_ERROR"},
        {MINILINK_NOT_RELOCATABLE, "MINILINK_NOT_RELOCATABLE"},
        {MINILINK_NO_MEMORY, "MINILINK_NO_MEMORY"},
        {MINILINK_CANCELLED, "MINILINK_CANCELLED"},
        {MINILINK_ENVIRONMENT, "MINILINK_ENVIRONMENT"},
        {MINILINK_USAGE, "MINILINK_USAGE"},
        {MINILINK_WRONG_INPUT, "MINILINK_WRONG_INPUT"},
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].code == code)
            return names[i].name;
    return "unknown";
}

/* lto_cache.c: stores an answer's file, the output, and the peak of memory as the parts of an
 * entry. */
#include "lto/lto_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/context.h"
#include "cache/file_hash.h"
#include "distribute/distribute.h"
#include "lto/lto.h"
#include "os/descriptor.h"
#include "os/exec.h"

enum { PART_ANSWER, PART_OUTPUT, PART_PEAK };

/* Measured: the variables that libnvJitLink reads from its environment; and those of the loader. */
static const char *const variables[] = {
    "AS_SECURE_LOG_FILE",       "LIBNVVM_DISABLE_CONCURRENT_API",
    "LIBNVVM_NVVM_VERSION",     "LLVM_OVERRIDE_PRODUCER",
    "NVJITLINK_TRACE_MESSAGES", "NVVM_IR_VER_CHK",
    "NV_NVVM_VERSION",          "bar",
    "LD_LIBRARY_PATH",          "LD_PRELOAD"};

bool lto_cache_identify(struct cache_key *library, const char *name, const char *path,
                        struct cache *cache)
{
    struct key key = {0};

    key_begin(&key, name);
    CONTEXT_DEFER(key_free, &key);
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        key_variable(&key, variables[i]);
    if (!file_hash_add(&key, cache, path)) {
        cache_give_up(cache, "%s '%s' cannot be read: %s", name, path, strerror(errno));
        return false;
    }
    if (!file_hash_add_program(&key, cache))
        return false;
    *library = key_end(&key);
    return true;
}

struct cache_key lto_cache_common(const struct lto_request *link, const struct job_inputs *inputs)
{
    struct key key;

    if (!link->cache)
        return (struct cache_key){0};
    key_begin(&key, "LTO");
    key_key(&key, link->library_key);
    /* A report verifies what minilink wrote on the other machine, not which libnvJitLink it found
     * there. */
    if (link->distribution)
        distribute_add_to_key(&key, link->distribution);
    for (size_t i = 0; i < inputs->count; i++) {
        key_number(&key, inputs->list[i].is_fatbin);
        key_bytes(&key, inputs->list[i].data);
    }
    return key_end(&key);
}

struct cache_key lto_cache_key(const struct cache_key *common, const char *const *options)
{
    struct key key;

    key_begin(&key, "LTO part");
    key_key(&key, common);
    key_strings(&key, options);
    return key_end(&key);
}

/* Takes the output in exec_run()'s form: NULL is empty. */
static bool take_kept_output(struct exec_result *result, struct bytes output)
{
    if (output.size == 0)
        return true;
    result->output = malloc(output.size + 1);
    if (!result->output)
        return false;
    memcpy(result->output, output.data, output.size);
    result->output[output.size] = '\0';
    result->output_size = output.size;
    return true;
}

/* Fills the part. If its answer cannot be put into memory, it counts as missing. */
static bool take_kept(struct part *part, const struct cache_value *value)
{
    const struct bytes *peak = &value->parts[PART_PEAK];
    int answer = descriptor_memory_file("minilink-lto");

    part->result = (struct exec_result){.end = EXEC_EXITED};
    if (answer >= 0 && peak->size == sizeof part->result.peak &&
        descriptor_write(answer, value->parts[PART_ANSWER].data, value->parts[PART_ANSWER].size) &&
        take_kept_output(&part->result, value->parts[PART_OUTPUT])) {
        memcpy(&part->result.peak, peak->data, peak->size);
        part->answer_fd = answer;
        return true;
    }
    if (answer >= 0)
        close(answer);
    part->result = (struct exec_result){0};
    return false;
}

bool lto_cache_find(struct cache *cache, struct part *part)
{
    struct cache_value value;

    part->started = clock_now();
    if (!cache || !cache_lookup(cache, CACHE_LTO, &part->key, &value))
        return false;
    part->succeeded = part->is_found = take_kept(part, &value);
    cache_value_free(&value);
    part->nanoseconds = clock_now() - part->started;
    return part->is_found;
}

/* The whole contents of the file, malloc'ed; NULL when memory runs out. */
static uint8_t *read_answer(int fd, size_t *size)
{
    struct stat status;
    uint8_t *data;

    if (fstat(fd, &status) || status.st_size <= 0)
        return NULL;
    *size = (size_t)status.st_size;
    data = malloc(*size);
    if (data && !descriptor_read(fd, data, *size, 0)) {
        free(data);
        return NULL;
    }
    return data;
}

void lto_cache_keep(struct cache *cache, const struct part *part)
{
    const struct exec_result *result = &part->result;
    struct cache_value value = {
        .parts[PART_OUTPUT] = {(const uint8_t *)result->output, result->output_size},
        .parts[PART_PEAK] = {(const uint8_t *)&result->peak, sizeof result->peak},
        .nanoseconds = part->nanoseconds,
    };
    size_t size = 0;
    uint8_t *answer;

    if (!cache)
        return;
    answer = read_answer(part->answer_fd, &size);
    if (!answer)
        return;
    value.parts[PART_ANSWER] = (struct bytes){answer, size};
    cache_store(cache, CACHE_LTO, &part->key, &value);
    free(answer);
}

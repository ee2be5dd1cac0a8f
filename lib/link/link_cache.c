/* link_cache.c: builds a key of everything that the stages after stage_agree() use. */
#include "link/stages.h"

#include "base/clock.h"
#include "base/context.h"
#include "base/memory.h"
#include "cache/cache.h"
#include "diag/diag.h"

/* Largest output that is stored: a larger one is made faster from its cached chunks. */
#define MOST_OUTPUT ((uint64_t)512 << 20)

enum { PART_OUTPUT, PART_MESSAGES, PART_NOTES };

/* Facts that the list of modules depends on, and that only a complete link finds out. */
enum { NOTE_SYSTEM_UNUSED = 1, NOTE_LAST_FIRST = 2 };

static void add_member_key(struct key *key, const struct member *member)
{
    const struct fatbin_entry *entry = &member->entry;

    key_string(key, member->name);
    key_string(key, member->file);
    key_string(key, member->object_name);
    KEY_NUMBERS(key, member->group, member->role, member->is_system, member->is_whole, entry->kind,
                entry->arch.sm, (uint8_t)entry->arch.suffix, entry->flags,
                entry->uncompressed_size);
    key_text(key, entry->options);
    key_text(key, entry->identity);
    key_bytes(key, entry->whole.size ? entry->whole : entry->payload);
}

/* Adds the members. Only members that take part are used later. */
static void add_members(struct key *key, const struct members *members)
{
    char arch[ARCH_NAME_SIZE];

    key_string(key, arch_name(members->arch, arch));
    KEY_NUMBERS(key, members->has_lto, members->has_host_code, members->has_lto_only,
                members->cubin_count, members->ptx_count, members->lto_count);
    for (size_t i = 0; i < members->count; i++)
        if (members->list[i].role != MEMBER_UNUSED)
            add_member_key(key, &members->list[i]);
}

static void add_used_set(struct key *key, const struct used_set *set)
{
    key_number(key, set->count);
    for (size_t i = 0; i < set->count; i++) {
        key_text(key, set->patterns[i].text);
        key_number(key, set->patterns[i].list);
    }
}

/* Adds the names that host code uses. The kernels that -Xptxas -e selects are already in the key as
 * words of the command line. */
static void add_used_names(struct key *key, const struct used_names *used)
{
    KEY_NUMBERS(key, used->is_ignored, used->has_parts, used->has_lists, used->is_filter,
                used->keeps_kernels, used->is_selection);
    add_used_set(key, &used->kernels);
    add_used_set(key, &used->variables);
}

static bool add_assembler(struct key *key, struct link *link)
{
    struct assembler *assembler = &link->assembled.assembler;
    struct cached_result *cached = &link->cached;

    key_string(key, link->request->assembler.name);
    if (!state_has_ptx(link))
        return true;
    /* It stays open for the link. If it cannot be opened, stage_open_assembler() reports that. */
    if (!assembler_try(assembler, &link->request->assembler))
        return false;
    watch_add_tool(link->watch, assembler_file(assembler, &link->request->assembler));
    cached->has_identity = assembler_identity_find(
        &cached->identity, assembler, groups_all_words(link, &link->arena), link->cache);
    key_key(key, &cached->identity);
    return cached->has_identity;
}

/* Adds a compiler. Its path counts, as messages contain it. */
static bool add_compiler(struct key *key, const struct link *link, struct compiler *compiler,
                         const char *name)
{
    key_string(key, compiler->path);
    if (!state_identify(link, compiler, name))
        return !compiler->path;
    key_key(key, &compiler->key);
    return true;
}

/* Adds the ptxas that could have been used, as an info names it. */
static void add_other_assembler(struct key *key, const struct link_request *request)
{
    char *path = NULL;

    if (!request->options.lto || request->assembler.name)
        return;
    CONTEXT_DEFER(memory_cleanup, &path);
    path = ptxas_find(&request->assembler, NULL);
    key_string(key, path);
}

/* False when the link's result cannot be stored. */
static bool make_key(struct key *key, struct link *link)
{
    const struct link_request *request = link->request;

    key_key(key, &request->cache.command);
    key_number(key, link->toolkit->version);
    key_variable(key, "LIBNVVM_DISABLE_CONCURRENT_API");
    key_number(key, (uint64_t)state_split_policy(link));
    key_string(key, link->agreement.debug ? request->output : NULL); /* a note contains its name */
    key_number(key, diag_folds()); /* whether similar messages are folded into one */
    add_other_assembler(key, request);
    add_members(key, &link->members);
    add_used_names(key, &link->used);
    return file_hash_add_program(key, link->cache) &&
           add_compiler(key, link, &link->nvjitlink, "libnvJitLink") &&
           add_compiler(key, link, &link->llvm, "libLLVM") && add_assembler(key, link);
}

static bool find_key(struct link *link)
{
    struct key key = {0};

    key_begin(&key, "link");
    CONTEXT_DEFER(key_free, &key);
    if (!make_key(&key, link))
        return false;
    link->cached.key = key_end(&key);
    return true;
}

static bool take_notes(struct link *link, struct bytes notes)
{
    if (notes.size != 1)
        return false;
    link->is_system_unused = (notes.data[0] & NOTE_SYSTEM_UNUSED) != 0;
    link->cached.lists_last_first = (notes.data[0] & NOTE_LAST_FIRST) != 0;
    return true;
}

bool link_cache_find(struct link *link)
{
    struct cached_result *cached = &link->cached;
    const struct bytes *parts = cached->value.parts;

    if (!link->cache || !link->request->cache.has_command || !find_key(link))
        return false;
    cached->is_found = cache_lookup(link->cache, CACHE_LINK, &cached->key, &cached->value) &&
                       take_notes(link, parts[PART_NOTES]) &&
                       diag_record_play(parts[PART_MESSAGES]);
    cached->output = parts[PART_OUTPUT];
    if (cached->is_found)
        return true;
    cached->started = clock_now();
    cached->is_wanted = true;
    diag_state_get()->record = &cached->record;
    return false;
}

static void store_result(const struct link *link, struct bytes output)
{
    const struct cached_result *cached = &link->cached;
    const uint8_t notes = (uint8_t)((link->is_system_unused ? NOTE_SYSTEM_UNUSED : 0) |
                                    (state_lists_last_first(link) ? NOTE_LAST_FIRST : 0));
    const struct cache_value value = {
        .parts[PART_OUTPUT] = output,
        .parts[PART_MESSAGES] = buffer_bytes(&cached->record.bytes),
        .parts[PART_NOTES] = {&notes, 1},
        .nanoseconds = clock_now() - cached->started,
    };

    cache_store(link->cache, CACHE_LINK, &cached->key, &value);
}

static enum link_code keep_result(void *argument)
{
    const struct link *link = argument;
    const struct merged *merged = &link->merged;
    struct buffer output = {0};

    if (merged->finished) {
        store_result(link, chunk_cubin_bytes(merged->finished));
    } else if (merged->image.file_size <= MOST_OUTPUT) {
        CONTEXT_DEFER(buffer_cleanup, &output);
        image_bytes(&merged->image, &output);
        store_result(link, buffer_bytes(&output)); /* nothing if an input has changed by now */
    }
    return LINK_OK;
}

void link_cache_keep(struct link *link)
{
    diag_state_get()->record = NULL;
    /* The output is written already: that there is no memory for a copy is no error. */
    if (link->cached.is_wanted && !link->cached.record.is_incomplete)
        context_run(keep_result, link);
}

/* llvm_parts.c: instructions are counted, uses followed to the functions that they are in. */
#include "lto/llvm_parts.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"

/* Measured on libLLVM 19: code of so many instructions takes 60 ms to make, as long as a child
 * takes to start. Each part reads the whole program: more parts than these cost more than they
 * give. */
#define INSTRUCTIONS_OF_PART 5000u
#define MOST_PARTS           8u

/* Other than a part's number. */
#define PART_NONE    UINT32_MAX
#define PART_SEVERAL (UINT32_MAX - 1)

/* What constants are nested in each other. */
#define DEEPEST 16u

struct plan {
    const struct llvm_api *api;
    llvm_module module;
    struct table functions; /* to their parts; those that are defined */
};

static struct text name_of(const struct llvm_api *api, llvm_value value)
{
    struct text name = {NULL, 0};

    name.data = api->get_name(value, &name.size);
    return name;
}

static uint64_t count_instructions(const struct llvm_api *api, llvm_value function)
{
    uint64_t count = 1;

    for (llvm_value b = api->first_block(function); b; b = api->next_block(b))
        for (llvm_value i = api->first_instruction(b); i; i = api->next_instruction(i))
            count++;
    return count;
}

static uint64_t count_all(const struct llvm_api *api, llvm_module module)
{
    uint64_t total = 0;

    for (llvm_value f = api->first_function(module); f; f = api->next_function(f))
        if (!api->is_declaration(f))
            total += count_instructions(api, f);
    return total;
}

/* Other names of functions, and what runs before kernels do, are made for a module. */
unsigned llvm_parts_count(const struct llvm_api *api, llvm_module module, unsigned wanted)
{
    uint64_t count = count_all(api, module) / INSTRUCTIONS_OF_PART;

    if (api->first_alias(module) || api->named_global(module, "llvm.global_ctors") ||
        api->named_global(module, "llvm.global_dtors"))
        return 1;
    if (wanted || count < 2)
        return wanted ? wanted : 1;
    return count < MOST_PARTS ? (unsigned)count : MOST_PARTS;
}

static void make_plan(struct plan *plan, const struct llvm_api *api, llvm_module module,
                      unsigned count)
{
    uint64_t total = count_all(api, module), done = 0;

    *plan = (struct plan){.api = api, .module = module};
    for (llvm_value f = api->first_function(module); f; f = api->next_function(f)) {
        uint64_t own;

        if (api->is_declaration(f))
            continue;
        own = count_instructions(api, f);
        table_set(&plan->functions, name_of(api, f), (uint32_t)((done + own / 2) * count / total));
        done += own;
    }
}

static uint32_t join(uint32_t a, uint32_t b)
{
    return a == PART_NONE || a == b ? b : b == PART_NONE ? a : PART_SEVERAL;
}

/* The part whose functions use the value. What initialises variables is used by several. */
static uint32_t part_of_users(const struct plan *plan, llvm_value value, unsigned depth)
{
    const struct llvm_api *api = plan->api;
    uint32_t part = PART_NONE;

    for (llvm_value use = api->first_use(value); use && part != PART_SEVERAL;
         use = api->next_use(use)) {
        llvm_value user = api->get_user(use);

        if (api->as_instruction(user))
            part = join(
                part, table_find(&plan->functions,
                                 name_of(api, api->block_function(api->instruction_block(user)))));
        else if (api->as_expression(user) && depth < DEEPEST)
            part = join(part, part_of_users(plan, user, depth + 1));
        else
            part = PART_SEVERAL;
    }
    return part;
}

static uint32_t part_of_variable(const struct plan *plan, llvm_value variable)
{
    uint32_t part = part_of_users(plan, variable, 0);

    return part == PART_NONE || part == PART_SEVERAL ? 0 : part;
}

static bool is_local(const struct llvm_api *api, llvm_value value)
{
    int linkage = api->get_linkage(value);

    return !api->is_declaration(value) && (linkage == LLVM_INTERNAL || linkage == LLVM_PRIVATE);
}

/* NVPTX mends names of what is local only, in this way. */
static void mend_name(const struct llvm_api *api, llvm_value value)
{
    struct text name = name_of(api, value);
    struct buffer mended = {0};

    if (name.size == 0)
        buffer_string(&mended, "unnamed");
    for (size_t i = 0; i < name.size; i++) {
        char c = name.data[i];

        if (c == '.' || c == '@' || c == '<' || c == '>')
            buffer_string(&mended, "_$_");
        else
            buffer_char(&mended, c);
    }
    /* LLVM puts a full stop and a number behind a name that is taken. */
    for (;;) {
        api->set_name(value, mended.data, mended.size);
        if (text_equal(name_of(api, value), buffer_view(&mended)))
            break;
        buffer_char(&mended, '_');
    }
    buffer_free(&mended);
}

/* Each part would give those without names the same ones. */
static void name_all(const struct llvm_api *api, llvm_module module)
{
    for (llvm_value g = api->first_global(module); g; g = api->next_global(g))
        if (name_of(api, g).size == 0)
            mend_name(api, g);
    for (llvm_value f = api->first_function(module); f; f = api->next_function(f))
        if (name_of(api, f).size == 0)
            mend_name(api, f);
}

static void promote(const struct llvm_api *api, llvm_value value, struct buffer *names)
{
    mend_name(api, value);
    api->set_linkage(value, LLVM_EXTERNAL);
    buffer_text(names, name_of(api, value));
    buffer_char(names, '\n');
}

/* Lists that keep what optimisation would drop, which is over. */
static void drop_list(const struct llvm_api *api, llvm_module module, const char *name)
{
    llvm_value list = api->named_global(module, name);

    if (list)
        api->delete_global(list);
}

/* What others than its own part name. */
static bool is_shared(const struct plan *plan, llvm_value function)
{
    uint32_t own = table_find(&plan->functions, name_of(plan->api, function));
    uint32_t users = part_of_users(plan, function, 0);

    return is_local(plan->api, function) && users != PART_NONE && users != own;
}

void llvm_parts_promote(const struct llvm_api *api, llvm_module module, unsigned count,
                        struct buffer *names)
{
    struct plan plan;
    llvm_value *shared;
    size_t shared_count = 0;

    name_all(api, module);
    drop_list(api, module, "llvm.used");
    drop_list(api, module, "llvm.compiler.used");
    make_plan(&plan, api, module, count);
    /* Functions are looked up by their names: these change behind the last look. */
    shared = memory_zalloc(plan.functions.count + 1, sizeof *shared);
    for (llvm_value f = api->first_function(module); f; f = api->next_function(f))
        if (!api->is_declaration(f) && is_shared(&plan, f))
            shared[shared_count++] = f;
    for (llvm_value g = api->first_global(module); g; g = api->next_global(g))
        if (is_local(api, g) && part_of_users(&plan, g, 0) == PART_SEVERAL)
            promote(api, g, names);
    for (size_t i = 0; i < shared_count; i++)
        promote(api, shared[i], names);
    free(shared);
    table_free(&plan.functions);
}

void llvm_parts_keep(const struct llvm_api *api, llvm_module module, unsigned count, unsigned part)
{
    struct plan plan;

    make_plan(&plan, api, module, count);
    for (llvm_value g = api->first_global(module); g; g = api->next_global(g))
        if (!api->is_declaration(g) && part_of_variable(&plan, g) != part)
            api->set_linkage(g, LLVM_AVAILABLE_EXTERNALLY);
    for (llvm_value f = api->first_function(module); f; f = api->next_function(f))
        if (!api->is_declaration(f) && table_find(&plan.functions, name_of(api, f)) != part)
            api->set_linkage(f, LLVM_AVAILABLE_EXTERNALLY);
    table_free(&plan.functions);
}

/* fuzz_ptx.c: hostile PTX through parser, linker and splitter. Half of the input is a second
 * source, so that modules meet; a chunk that comes out must be accepted by the parser again. */
#include "ptx/declaration.h"
#include "ptx/module.h"
#include "split/split.h"
#include "fuzz.h"

static void decode_all(struct program *program)
{
    for (size_t m = 0; m < program->module_count; m++) {
        const struct ptx_module *module = program->modules[m];

        for (size_t i = 0; i < module->item_count; i++) {
            struct initialiser value;

            if (module->items[i].kind == PTX_VARIABLE &&
                module->items[i].variable.size < (1u << 20))
                initialiser_decode(&value, &program->arena, module, &module->items[i]);
        }
    }
}

static void check_chunks(const struct chunks *chunks)
{
    for (size_t i = 0; i < chunks->count; i++) {
        struct arena arena = {0};
        struct ptx_module module;
        struct module_cursor cursor = {0};
        const char *member;
        uint32_t line;

        while (!module_at_end(chunks->list[i].text, cursor.offset))
            if (!module_parse(&module, &arena, "chunk", chunks->list[i].text, &cursor))
                abort();
        for (uint32_t at = 0; at < 20; at++)
            chunk_origin(chunks, &chunks->list[i], at, &member, &line);
        arena_free(&arena);
    }
}

static void fuzz(struct bytes rest)
{
    struct program_source whole = {"a", {(const char *)rest.data, rest.size}};
    struct text first = {whole.text.data, rest.size - rest.size / 2};
    struct text second = {whole.text.data + first.size, rest.size / 2};
    struct program_source halves[] = {{"a", first}, {"b", second}};
    struct program_request link = {.arch = {90, 'a'}, .allow_undefined = true};

    for (uint32_t wanted = 1; wanted <= 7; wanted += 3) {
        struct split_request request = {.policy = wanted == 7 ? SPLIT_STABLE : SPLIT_BALANCED,
                                        .wanted = wanted,
                                        .minimum_bytes = 1,
                                        .arch = link.arch};
        struct program program = {0};
        struct chunks chunks = {0};

        link.wants_marks = wanted == 7;
        if (program_link(&program, wanted == 1 ? halves : &whole, wanted == 1 ? 2 : 1, &link)) {
            split_program(&chunks, &program, &request);
            check_chunks(&chunks);
        }
        decode_all(&program);
        chunks_free(&chunks);
        program_free(&program);
        link.keep_dead = true;
    }
}

/* mercury_code.c: finds loads from constant banks in the twin of code, which minilink-cubin(5)
 * describes. Measured on ptxas: behind its words (three; of 12.8 two) and the bits the first byte
 * of each instruction tells its size: 1 means 16 bytes, 2 means 32, 0x41 and 0x42 mean 4, others
 * with the low six bits 0x10 or 0x11 are 2 bytes. Loads from constant banks have 32, and the offset
 * in the bank from byte 28 on; the bank is in byte 12. */
#include "merge/relocate.h"

#define PREFIX      0x11 /* low bits of two bytes that belong to the next instruction */
#define LOAD_OPCODE 0x22
#define LOAD_SIZE   32u
#define LOAD_FORM   2
#define LOAD_BANK   12
#define LOAD_OFFSET 28

struct load_kind {
    uint8_t form; /* byte 2 */
    uint8_t bank; /* byte LOAD_BANK */
};

static const struct load_kind load_kinds[MERCURY_LOAD_COUNT] = {
    [MERCURY_LOAD_UNIFORM] = {0x08, 0x42},
    [MERCURY_LOAD_USER] = {0x0e, 0x42},
    [MERCURY_LOAD_OPTIMIZER] = {0x0c, 0x41},
    [MERCURY_LOAD_REFERENCE] = {0x08, 0x49},
};

static size_t instruction_size(uint8_t first)
{
    switch (first) {
    case 0x01:
        return 16;
    case 0x02:
        return LOAD_SIZE;
    case 0x41:
    case 0x42:
        return 4;
    default:
        return (first & 0x3e) == 0x10 ? 2 : 0;
    }
}

/* Offset of the first instruction, and how many the section holds; 0: not made as expected. */
static size_t first_record(const uint8_t *data, size_t size, size_t *records)
{
    bool is_short = size >= CUBIN_TWIN_CODE_HEADER && data[7] >> 6 == 1;
    size_t head = CUBIN_TWIN_CODE_HEADER - (is_short ? 4 : 0);
    uint32_t count;

    if (size < CUBIN_TWIN_CODE_HEADER || (!is_short && little_u32(data + 4) != 0xc0000001u))
        return 0;
    count = is_short ? little_u32(data + 4) & 0x3fffffff : little_u32(data + 8);
    if (((uint64_t)count + 31) / 32 * 4 > size - head)
        return 0;
    *records = 0;
    for (uint32_t i = 0; i < count; i++)
        *records += !(data[head + i / 8] >> i % 8 & 1);
    return head + ((size_t)count + 31) / 32 * 4;
}

/* The kind of a load, or MERCURY_LOAD_COUNT for another instruction. */
static enum mercury_load load_at(const uint8_t *at)
{
    enum mercury_load load = 0;

    if (at[0] != 0x02 || at[1] != LOAD_OPCODE)
        return MERCURY_LOAD_COUNT;
    while (load < MERCURY_LOAD_COUNT &&
           (at[LOAD_FORM] != load_kinds[load].form || at[LOAD_BANK] != load_kinds[load].bank))
        load++;
    return load;
}

bool mercury_code_patch(uint8_t *data, size_t size, const struct mercury_operand *operands,
                        size_t count)
{
    const struct mercury_operand *next[MERCURY_LOAD_COUNT] = {0}; /* by kind of load */
    size_t records = 0, found = 0, count_of_records = 0;
    size_t at = first_record(data, size, &count_of_records);

    if (at == 0)
        return false;
    for (size_t i = count; i-- > 0;)
        next[operands[i].load] = &operands[i];
    while (at < size) {
        size_t step = instruction_size(data[at]);
        enum mercury_load load;

        if (step == 0 || step > size - at)
            return false;
        load = load_at(data + at);
        if (load < MERCURY_LOAD_COUNT && next[load]) {
            if (next[load] == operands + count || next[load]->load != load)
                return false;
            memcpy(data + at + LOAD_OFFSET, &next[load]++->value, sizeof operands->value);
            found++;
        }
        records += (data[at] & 0x3f) != PREFIX;
        at += step;
    }
    return records == count_of_records && found == count;
}

/* The next relocation of the target's code against a constant, or NULL. Measured: both forms list
 * theirs in the same order. */
static const struct cubin_relocation *next_plain(struct relocation_list *list)
{
    while (list->plain && list->plain_next < list->plain->relocation_count) {
        const struct cubin_relocation *plain = &list->plain->relocations[list->plain_next++];
        const struct cubin_symbol *symbol = &list->cubin->symbols[plain->symbol];

        if (symbol->type == STT_CUDA_OBJECT && (symbol->other & STO_CUDA_SPACE) == STO_CUDA_CONST)
            return plain;
    }
    return NULL;
}

static void add_operand(struct relocation_list *list, uint64_t value, enum mercury_load load)
{
    ARENA_PUSH(&list->m->arena, list->operands, list->operand_count, list->operand_capacity) =
        (struct mercury_operand){list->relocation->offset, (uint16_t)value, (uint8_t)load};
}

bool mercury_code_add_constant(struct relocation_list *list, uint32_t symbol)
{
    const struct placed_symbol *constant = &list->m->out->placed[symbol];
    const struct cubin_relocation *plain = next_plain(list);
    bool is_internal = ELF64_ST_VISIBILITY(constant->other) == STV_INTERNAL;
    enum mercury_load load = MERCURY_LOAD_OPTIMIZER;
    bool is_known = true;

    if (!plain || plain->symbol != list->relocation->symbol || constant->section == MERGE_NONE) {
        mercury_leave_out(list->m, list->file,
                          "a relocation against a constant has no counterpart");
        return true;
    }
    if (plain->type == R_CUDA_ABS16_32 && !is_internal)
        return true; /* a plain move of it, which the target's instructions have */
    if (plain->type == R_CUDA_CONST_FIELD22_37 && !is_internal)
        load = MERCURY_LOAD_UNIFORM;
    else if (plain->type == R_CUDA_CONST_FIELD21_38)
        load = is_internal ? MERCURY_LOAD_OPTIMIZER : MERCURY_LOAD_USER;
    else
        is_known = false;
    add_operand(list, constant->value + (uint64_t)list->relocation->addend, load);
    return is_known;
}

void mercury_code_add_reference(struct relocation_list *list, uint32_t symbol)
{
    const struct textures *textures = &list->m->out->textures;

    add_operand(list, textures->offset[symbol] - textures->base, MERCURY_LOAD_REFERENCE);
}

COMPARISON(compare_operands, struct mercury_operand,
           COMPARE(a->load, b->load) ?: COMPARE(a->offset, b->offset));

void mercury_code_fill(struct relocation_list *list)
{
    SORT(list->operands, list->operand_count, compare_operands);
    if (!mercury_code_patch(layout_writable(list->m, list->place.section),
                            list->m->out->sections[list->place.section].size, list->operands,
                            list->operand_count))
        mercury_leave_out(list->m, list->file, "a load from a constant bank is not found in them");
}

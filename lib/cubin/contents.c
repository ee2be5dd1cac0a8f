/* contents.c: notes, frames, and a cubin of notes alone. */
#include "cubin/contents.h"

#include <elf.h>

#define NOTE_TYPE    2000u
#define TARGET_TYPE  1000u
#define NOTE_VERSION 2u
#define NOTE_OWNER   "NVIDIA Corp"

enum { NOTE_TEXTS = 5 };

static struct text text_at(struct bytes texts, uint32_t place)
{
    const char *start = (const char *)texts.data + place;

    return place < texts.size ? (struct text){start, strnlen(start, texts.size - place)}
                              : (struct text){"", 0};
}

bool tool_note_next(struct bytes *rest, struct tool_note *note)
{
    const size_t head = 12 + sizeof NOTE_OWNER, first = 4 * (1 + NOTE_TEXTS);
    struct bytes record, texts;
    size_t size;

    if (rest->size < head + first || info_word(*rest, 0) != sizeof NOTE_OWNER ||
        info_word(*rest, 2) != NOTE_TYPE ||
        memcmp(rest->data + 12, NOTE_OWNER, sizeof NOTE_OWNER) != 0)
        return false;
    size = info_word(*rest, 1);
    if (size < first || !bytes_slice(*rest, head, size, &record))
        return false;
    texts = (struct bytes){record.data + first, size - first};
    *note = (struct tool_note){
        .output = text_at(texts, info_word(record, 1)),
        .tool = text_at(texts, info_word(record, 2)),
        .release = text_at(texts, info_word(record, 3)),
        .build = text_at(texts, info_word(record, 4)),
        .command = text_at(texts, info_word(record, 5)),
        .version = info_word(record, 0),
    };
    size = head + (size + 3) / 4 * 4;
    *rest = size < rest->size ? (struct bytes){rest->data + size, rest->size - size}
                              : (struct bytes){0};
    return true;
}

size_t tool_note_begin(struct buffer *out, const char *owner, uint32_t type)
{
    size_t start = out->size;
    uint32_t size = (uint32_t)strlen(owner) + 1;

    buffer_u32(out, size);
    buffer_u32(out, 0);
    buffer_u32(out, type);
    buffer_append(out, owner, size);
    buffer_align(out, 4);
    return start;
}

void tool_note_end(struct buffer *out, size_t start)
{
    uint32_t owner, size;

    buffer_align(out, 4);
    memcpy(&owner, out->data + start, sizeof owner);
    size = (uint32_t)(out->size - start) - 12 - (owner + 3) / 4 * 4;
    memcpy(out->data + start + 4, &size, sizeof size);
}

void tool_note_put(struct buffer *out, const struct tool_note *note)
{
    const struct text texts[NOTE_TEXTS] = {note->output, note->tool, note->release, note->build,
                                           note->command};
    size_t start = tool_note_begin(out, NOTE_OWNER, NOTE_TYPE);
    uint32_t place = 0;

    buffer_u32(out, note->version ?: NOTE_VERSION);
    for (size_t i = 0; i < NOTE_TEXTS; place += (uint32_t)texts[i++].size + 1)
        buffer_u32(out, place);
    for (size_t i = 0; i < NOTE_TEXTS; i++) {
        buffer_append(out, texts[i].data, texts[i].size);
        buffer_append(out, "", 1);
    }
    tool_note_end(out, start);
}

void tool_note_put_target(struct buffer *out, unsigned sm, unsigned version)
{
    size_t start = tool_note_begin(out, NOTE_OWNER, TARGET_TYPE);

    buffer_u32(out, (version ? NOTE_VERSION : 1) | sm << 16);
    buffer_u32(out, version ? version & 0xffff : 1);
    if (!version)
        buffer_u32(out, 1);
    tool_note_end(out, start);
}

/* What follows the next blank. */
static struct text drop_word(struct text words)
{
    const char *end = memchr(words.data, ' ', words.size);

    return text_drop(words, end ? (size_t)(end - words.data) + 1 : words.size);
}

void tool_note_forget_files(struct tool_note *note, struct buffer *out)
{
    static const struct text option = TEXT("-o ");
    struct text command = note->command, rest = {0};
    const char *output;

    if (!note->output.size)
        return;
    note->output = TEXT("elf.o");
    if (command.size && *command.data != '-' && memchr(command.data, ' ', command.size))
        command = drop_word(command);
    output = memmem(command.data, command.size, option.data, option.size);
    if (output) {
        rest = drop_word(text_drop(command, (size_t)(output - command.data) + option.size));
        command.size = (size_t)(output - command.data);
    }
    buffer_text(out, command);
    buffer_text(out, rest);
    note->command = buffer_view(out);
}

#define FRAME_HEAD (FRAMES_CIE_POINTER + 8u)

/* The bytes of the entry at `at`, or 0. */
static size_t entry_size(struct bytes data, size_t at)
{
    uint32_t escape;
    uint64_t length;

    if (at >= data.size || data.size - at < FRAME_HEAD)
        return 0;
    memcpy(&escape, data.data + at, sizeof escape);
    length = little_u64(data.data + at + sizeof escape);
    if (escape != UINT32_MAX || length < 8 || length > data.size - at - FRAMES_CIE_POINTER)
        return 0;
    return (size_t)length + FRAMES_CIE_POINTER;
}

bool frames_next(struct bytes data, size_t *at, struct frame *frame)
{
    size_t common = entry_size(data, *at);
    size_t own = common ? entry_size(data, *at + common) : 0;

    if (own < FRAMES_ADDRESS + 8 || little_u64(data.data + *at + FRAMES_CIE_POINTER) != UINT64_MAX)
        return false;
    *frame = (struct frame){.begin = *at, .fde = *at + common, .end = *at + common + own};
    frame->cie = little_u64(data.data + frame->fde + FRAMES_CIE_POINTER);
    *at = frame->end;
    return frame->cie != UINT64_MAX;
}

/* What nvlink 13.0 to 13.5 writes for inputs without device code (measured). A cubin has Mercury's
 * symbol table from sm_100 on. */
enum { EMPTY_STRINGS = 1, EMPTY_SYMTAB, EMPTY_TKINFO, EMPTY_CUINFO, EMPTY_TWIN, EMPTY_SECTIONS };

/* The null symbol and those of both notes. */
enum { EMPTY_SYMBOLS = 3 };

/* Mercury's table has the same symbols. */
static void put_symbols(struct cubin *cubin, Elf64_Sym *twins)
{
    cubin->symbol_count = EMPTY_SYMBOLS;
    cubin->symbols = arena_zalloc(&cubin->arena, EMPTY_SYMBOLS, sizeof *cubin->symbols);
    for (uint16_t i = 1; i < EMPTY_SYMBOLS; i++) {
        uint16_t section = (uint16_t)(EMPTY_TKINFO + i - 1);

        cubin->symbols[i] = (struct cubin_symbol){
            .name = cubin->sections[section].name, .type = STT_SECTION, .section = section};
        twins[i].st_info = ELF64_ST_INFO(STB_LOCAL, STT_SECTION);
        twins[i].st_shndx = section;
    }
}

void cubin_make_empty(struct cubin *cubin, struct arch arch, const struct toolkit_facts *toolkit)
{
    const struct section_facts *const rows[] = {
        [EMPTY_STRINGS] = sections_of_kind(KIND_STRINGS, false),
        [EMPTY_SYMTAB] = sections_find(SHT_SYMTAB, 0, (struct text){0}),
        [EMPTY_TKINFO] = sections_of_kind(KIND_TOOLS, false),
        [EMPTY_CUINFO] = sections_of_kind(KIND_TARGET, false),
        [EMPTY_TWIN] = sections_of_class(CLASS_TWIN_SYMTAB),
    };
    struct bytes contents[EMPTY_SECTIONS] = {[EMPTY_STRINGS] = {(const uint8_t *)"", 1}};
    Elf64_Sym *twins = arena_zalloc(&cubin->arena, EMPTY_SYMBOLS, sizeof *twins);
    LOCAL_BUFFER(note);

    tool_note_put_target(&note, arch.sm, toolkit->version);
    contents[EMPTY_CUINFO] =
        (struct bytes){arena_copy(&cubin->arena, note.data, note.size, 1), note.size};
    contents[EMPTY_TWIN] = (struct bytes){(uint8_t *)twins, EMPTY_SYMBOLS * sizeof *twins};
    cubin->name = "lto.cubin";
    cubin->type = ET_REL;
    cubin->flags = format_target_flags(arch.sm) | (uint32_t)EMPTY_CUINFO << CUBIN_FLAGS_NOTE_SHIFT;
    cubin->has_twins = targets_have(arch.sm, TARGET_HAS_MERCURY);
    cubin->twin_symtab = cubin->has_twins ? EMPTY_TWIN : 0;
    cubin->section_count = cubin->has_twins ? EMPTY_SECTIONS : EMPTY_TWIN;
    cubin->sections = arena_zalloc(&cubin->arena, EMPTY_SECTIONS, sizeof *cubin->sections);
    for (size_t i = 1; i < cubin->section_count; i++)
        cubin->sections[i] = (struct cubin_section){
            .name = rows[i]->name,
            .type = rows[i]->type,
            .flags = rows[i]->flags,
            .link = rows[i]->link == SECTION_LINK_STRINGS ? EMPTY_STRINGS : 0,
            .facts = rows[i],
            .alignment = 4,
            .size = contents[i].size,
            .data = contents[i]};
    if (targets_have(arch.sm, TARGET_HAS_COMPAT))
        cubin->sections[EMPTY_CUINFO].flags |= SHF_INFO_LINK;
    cubin->strings = contents[EMPTY_STRINGS];
    cubin->symtab = EMPTY_SYMTAB;
    put_symbols(cubin, twins);
}

/* tool_note.c: reads and writes records of .note.nv.tkinfo. */
#include "cubin/tool_note.h"

#include <string.h>

#include "cubin/cubin.h"

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

    buffer_u32(out, NOTE_VERSION);
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

    buffer_u32(out, NOTE_VERSION | sm << 16);
    buffer_u32(out, version & 0xffff);
    tool_note_end(out, start);
}

void tool_note_forget_files(struct tool_note *note, struct buffer *out)
{
    static const struct text option = TEXT("-o ");
    struct text command = note->command;
    const char *output;

    if (!note->output.size)
        return;
    note->output = TEXT("elf.o");
    if (command.size && *command.data != '-' && memchr(command.data, ' ', command.size))
        command = text_drop(
            command,
            (size_t)((const char *)memchr(command.data, ' ', command.size) - command.data) + 1);
    output = memmem(command.data, command.size, option.data, option.size);
    if (output) {
        struct text rest = text_drop(command, (size_t)(output - command.data) + option.size);
        const char *end = memchr(rest.data, ' ', rest.size);

        buffer_append(out, command.data, (size_t)(output - command.data));
        rest = text_drop(rest, end ? (size_t)(end - rest.data) + 1 : rest.size);
        buffer_append(out, rest.data, rest.size);
    } else {
        buffer_append(out, command.data, command.size);
    }
    note->command = buffer_view(out);
}

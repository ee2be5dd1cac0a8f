/* verdict.h: what the built-in assembler says of small programs: shared by check_language.c and
 * tool_verdict.c. A frame is a PTX text in which @@ stands for a program's one line and @target for
 * its target (fixtures/language/frame.ptx). */
#pragma once

#include <stdio.h>
#include <stdlib.h>

#include "facts/targets.h"
#include "base/memory.h"
#include "toy/builtin.h"

/* The whole file and a NUL, freed by the caller; NULL when it cannot be read. */
static inline char *verdict_read(const char *path)
{
    struct buffer text = {0};
    char block[4096];
    FILE *file = fopen(path, "r");
    size_t size;

    if (!file)
        return NULL;
    while ((size = fread(block, 1, sizeof block, file)) > 0)
        buffer_append(&text, block, size);
    fclose(file);
    buffer_char(&text, '\0');
    return buffer_take(&text, NULL);
}

/* "ok", or all messages; freed by the caller. */
static inline char *verdict_messages(const char *ptx, size_t size, const char *arch)
{
    struct minilink_result result = {.size = sizeof result};
    struct arch target = {0};
    int code;

    if (!arch_parse(text_of(arch), "sm_", &target))
        return strdup("unknown target");
    struct minilink_job job = {.size = sizeof job,
                               .name = "p",
                               .ptx = ptx,
                               .ptx_size = size,
                               .arch = arch,
                               .sm = target.sm};
    code = builtin_assembler.assemble(builtin_assembler.state, &job, &result);
    if (code == MINILINK_WARNED && result.cubin)
        code = MINILINK_OK;
    free(result.cubin);
    if (code == MINILINK_OK) {
        free(result.log);
        return strdup("ok");
    }
    return result.log ? result.log : strdup("");
}

/* The first message without its file and place: "p:17:4: error: text". */
static inline char *verdict_of(const char *ptx, size_t size, const char *arch)
{
    char *messages = verdict_messages(ptx, size, arch), *at = strstr(messages, "error"), *text;

    if (!at)
        at = messages;
    else if (strncmp(at, "error: ", 7) == 0)
        at += 7;
    text = strndup(at, strcspn(at, "\n"));
    free(messages);
    return text;
}

/* The program that a line makes in the frame. "sm_80: add.s32 ..." asks for another target, "sm_80
 * 9.1: ..." for another version, too; *arch becomes the target, in `own` when it is the line's.
 * Freed by the caller. */
static inline char *verdict_program(const char *frame, const char *line, const char **arch,
                                    char own[16])
{
    struct buffer text = {0};
    char version[16] = "9.0";
    const char *colon = strstr(line, ": ");

    if (colon && sscanf(line, "sm_%10[0-9a-z] %10[0-9.]", own + 3, version) >= 1) {
        memcpy(own, "sm_", 3);
        *arch = own;
        line = colon + 2;
    }
    for (const char *at = frame; *at;) {
        size_t plain = strcspn(at, "@.");

        buffer_append(&text, at, plain);
        at += plain;
        if (strncmp(at, "@target", 7) == 0) {
            buffer_string(&text, *arch);
            at += 7;
        } else if (strncmp(at, ".version 9.0", 12) == 0) {
            buffer_printf(&text, ".version %s", version);
            at += 12;
        } else if (strncmp(at, "@@", 2) == 0) {
            buffer_string(&text, line);
            at += 2;
        } else if (*at) {
            buffer_char(&text, *at++);
        }
    }
    buffer_char(&text, '\0');
    return buffer_take(&text, NULL);
}

/* The verdict on a line in the frame. */
static inline char *verdict_of_line(const char *frame, const char *line, const char *arch)
{
    char own[16];
    char *program = verdict_program(frame, line, &arch, own);
    char *verdict = verdict_of(program, strlen(program), arch);

    free(program);
    return verdict;
}

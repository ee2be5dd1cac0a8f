/* parse_label.h: labels, which may be used before they stand, and mean the innermost block's. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct parser;

enum label_event_kind { EVENT_OPEN, EVENT_CLOSE, EVENT_USE };

/* What happened to labels, in the text's order, replayed when all are known. */
struct label_event {
    uint8_t kind;   /* enum label_event_kind */
    uint32_t index; /* OPEN: newest label of the scope (filled in at its end); USE: a use */
};

struct label_use {
    struct text name;
    size_t offset;  /* in the text */
    uint32_t label; /* found by the replay */
};

struct label_place {
    size_t offset;   /* in the text */
    uint32_t next;   /* label before it in the same scope, or NO_INDEX */
    uint32_t hidden; /* used by the replay */
    uint32_t scope;  /* number of its scope's OPEN event */
};

struct labels {
    struct label_place *places; /* beside body.labels */
    size_t place_count;
    size_t place_capacity;
    struct label_use *uses;
    size_t use_count;
    size_t use_capacity;
    struct label_event *events;
    size_t event_count;
    size_t event_capacity;
    uint32_t *open; /* stack of OPEN events */
    size_t open_count;
    size_t open_capacity;
};

/* A block begins, which has labels of its own, and ends. */
void parse_label_open(struct parser *parser);
void parse_label_close(struct parser *parser);

/* Enters a label that stands before the next instruction; returns its index in body.labels. */
uint32_t parse_label_define(struct parser *parser, struct text name, size_t offset);

/* Notes a use; the number returned stands in operand.label until parse_label_resolve. */
uint32_t parse_label_use(struct parser *parser, struct text name, size_t offset);

/* Replaces the numbers in all operands by indices of body.labels; reports labels that are not
 * there and labels that are there twice. */
void parse_label_resolve(struct parser *parser);

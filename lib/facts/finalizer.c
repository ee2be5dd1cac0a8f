/* finalizer.c: searches the rows of finalizer.def. */
#include "facts/finalizer.h"

#include <stddef.h>

static const struct finalizer_record rows[] = {
#define RECORD(sm, attribute, value, first, last) {sm, attribute, value, {first, last}},
#include "facts/finalizer.def"
#undef RECORD
};

const struct finalizer_record *finalizer_next(const struct finalizer_record *last, unsigned sm,
                                              const struct toolkit_facts *toolkit)
{
    const struct finalizer_record *row = last ? last + 1 : rows;

    for (; row < rows + sizeof rows / sizeof *rows; row++)
        if (row->sm == sm && toolkit_is_in(toolkit, row->toolkits))
            return row;
    return NULL;
}

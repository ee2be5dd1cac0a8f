/* member_code.c: the code of one member. */
#include "input/member.h"

bool member_code(const struct member *member, struct inflation *inflation, struct arena *arena,
                 struct bytes *code)
{
    if (!inflate_entry(&member->entry, member->name, inflation, arena, code))
        return false;
    while (member->entry.kind == FATBIN_PTX && code->size > 0 && code->data[code->size - 1] == '\0')
        code->size--;
    return true;
}

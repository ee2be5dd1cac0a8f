/* nvjitlink.h: NVIDIA's libnvJitLink through its public C interface (nvJitLink.h of the toolkit).
 *
 * The only code that uses this interface. nvjitlink_run() is meant for a process of its own
 * (child.h): the library is large and not ours; it may crash, end the process, or print. The answer
 * goes to a file (job.h). */
#pragma once

#include "lto/job.h"

/* Name of an input for the library, by index. All have the same length, since the order in which
 * libnvvm writes private strings depends on memory addresses (measured). */
#define NVJITLINK_INPUT_NAME      NVJITLINK_INPUT_NAME_HEAD "%08zu"
#define NVJITLINK_INPUT_NAME_HEAD "input-"
#define NVJITLINK_INPUT_NAME_SIZE 14u /* of the first hundred million */

/* How -arch= begins in a job whose result is LTO-IR (libnvJitLink 13.4 and later), in place of PTX:
 * it is compiled no further. */
#define LTOIR_TARGET "-arch=lto_"

/* Runs the job. Returns the status of answer_write(). Raises LINK_NO_MEMORY when memory runs out on
 * our side, or while loading the library. */
int nvjitlink_run(const struct lto_job *job);

/* The nvJitLinkResult that says that a newer toolkit made the LTO-IR. */
#define NVJITLINK_CODE_OUTDATED 14

/* The description of an nvJitLinkResult, as in the header; never NULL. */
const char *nvjitlink_code_text(int32_t code);

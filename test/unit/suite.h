/* suite.h: what each check_*.c gives: the tests of one subject, which the shared main runs. */
#pragma once

#include <check.h>

/* How often a test of a table loops: once for each row. */
#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

/* The program's tests, each in a test case with its fixture and its time. One for each program. */
Suite *check_suite(void);

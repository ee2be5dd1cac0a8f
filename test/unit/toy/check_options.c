/* check_options.c: what options of the built-in assembler change, and what it says of them. What is
 * expected was measured on ptxas 13.0; test/diff/driver.sh compares where there is one. */

#include "job_fixture.h"

/* --- Phase 9, and what reading the options finds. --- */

#define KERNEL ".visible .entry k(.param .u64 p) { ret; }\n"
#define TWICE(name)                                                                                \
    "builtin: warning: incompatible redefinition for option '" name                                \
    "', the last value of this option was used\n"
#define DEPRECATED                                                                                 \
    "builtin: warning: '--legacy-bar-warp-wide-behavior' is a deprecated option, It will be "      \
    "removed in future release and is not recommended\n"

static const struct {
    const char *options;
    const char *log;
} said[] = {
    {"", ""},
    {"-O1 -O2", TWICE("opt-level")},
    {"-O2 -O2 --fmad=true --fmad true -c -c", ""},
    {"--fmad=true --fmad=false", TWICE("fmad")},
    {"-dlcm=ca -dlcm=cg", TWICE("def-load-cache")},
    {"-O1 -O2 -w", TWICE("opt-level")},
    {"-O -1 -O4", TWICE("opt-level")},
    {"-m64", ""},
    {"-m=32", "builtin: fatal error: Value '32' is not defined for option 'machine'\n"},
    {"-pic maybe", "builtin: fatal error: 'maybe': expected true or false\n"},
    {"--minnctapersm x", "builtin: fatal error: 'x': expected a number\n"},
    {"--split-compile=-3",
     "builtin: fatal error: Invalid value '-3' for option '--split-compile'\n"},
    {"-maxrregcount 1e3", "builtin: fatal error: Invalid value '1e3' for option 'maxrregcount'\n"},
    {"--verbose=1", "builtin: fatal error: no argument expected after '--verbose'\n"},
    {"-c=true", "builtin: fatal error: no argument expected after '-c'\n"},
    {"-e", "builtin: fatal error: Option 'entry' requires an argument\n"},
    {"--first-reserved-rreg=10", ""},
    {"--first-reserved-rreg=-10",
     "builtin: fatal error: Invalid value '-10' for option '--first-reserved-rreg'\n"},
    {"--assyscall", "builtin: fatal error: Unknown option '--assyscall'\n"},
    {"-g -O1", "builtin: fatal error: Optimized debugging not supported\n"},
    {"-g -O0", ""},
    {"-g -lineinfo", "builtin: warning: Conflicting options --device-debug and "
                     "--generate-line-info specified, ignoring --generate-line-info option\n"},
    {"-suppress-debug-info", "builtin: warning: Option suppress-debug-info requires option "
                             "device-debug or lineinfo; ignoring since latter is not specified\n"},
    {"-suppress-debug-info -lineinfo", ""},
    {"-Ofc=foo",
     "builtin: fatal error: Invalid value for --Ofast-compile/-Ofc (foo), is not 'max', "
     "'mid', 'min', or '0'\n"},
    {"-Ofc=max -O1", "builtin: fatal error: Conflicting options -opt-level=<1,2,3> and "
                     "--Ofast-compile=max specified\n"},
    {"-Ofc=mid -O1", ""},
    {"-Ofc=max -g", "builtin: warning: Conflicting options '--device-debug' and "
                    "'--Ofast-compile=<min,mid,max>' specified, ignoring "
                    "'--Ofast-compile=<min,mid,max>' option\n"},
    {"--fast-compile -g", "builtin: warning: Conflicting options '--device-debug' and "
                          "'--fast-compile' specified, ignoring '--fast-compile' option\n"},
    {"-regUsageLevel 11", "builtin: warning: Value of RegUsageLevel (11) is out of valid range "
                          "{0..10}, option will be ignored\n"},
    {"-regUsageLevel -1", "builtin: warning: Value of RegUsageLevel (-1) is out of valid range "
                          "{0..10}, option will be ignored\n"},
    {"-regUsageLevel 11 -w", ""},
    {"-maxrregcount 8", "builtin: warning: For profile sm_90 adjusting per thread register count "
                        "of 8 to lower bound of 24\n"},
    {"-maxrregcount 300",
     "builtin: warning: Too big maxrregcount value specified 300, will be ignored\n"},
    {"-maxrregcount archmin -c -func-maxrregcount archmax", ""},
    {"-func-maxrregcount 32",
     "builtin: warning: Command line option 'device-function-maxrregcount' not supported for "
     "'whole program compilation', will be ignored\n"},
    {"-maxrregcount 40 --minnctapersm 2 --maxntid 64",
     "builtin: warning: Conflicting options -maxrregcount and -minnctapersm specified, ignoring "
     "-minnctapersm option\n"
     "builtin: warning: Conflicting options -maxrregcount and -maxntid specified, ignoring "
     "-maxntid option\n"},
    {"--legacy-bar-warp-wide-behavior",
     DEPRECATED "builtin: warning: Command line option '--legacy-bar-warp-wide-behavior' not "
                "supported for '.target sm_70', will be ignored\n"},
    {"-gno-tmem-access-check",
     "builtin: info: Command line option '--g-tensor-memory-access-check / "
     "--gno-tensor-memory-access-check' not supported for '.target sm_80', will be ignored\n"},
    {"--preserve-relocs", "builtin: warning: '--preserve-relocs' option is not fully implemented "
                          "for 'sm_90' and may not work as expected\n"},
    {"-pic true -ewp",
     "builtin: warning: Conflicting options '--position-independent-code' and "
     "'--extensible-whole-program' specified, ignoring '--position-independent-code' option\n"},
    {"--sanitize foo", "builtin: fatal error: Value 'foo' is not defined for option 'sanitize'\n"},
    {"-dlcm=wb", "builtin: error: Invalid default cache modifier on load specified: wb\n"},
    {"-fscm=ca", "builtin: error: Invalid default cache modifier on store specified: ca\n"},
    {"-dlcm=cs -flcm=cg", "builtin: warning: Conflicting options force-load-cache and "
                          "def-load-cache specified, ignoring def-load-cache option\n"},
};

TEST_LOOP(options_are_judged_together, COUNT(said))
{
    OWNED_OUTCOME outcome = run(HEADER KERNEL, said[_i].options);
    ck_assert_str_eq(log_of(&outcome), said[_i].log);
    expect(&outcome, strstr(said[_i].log, "error: ") ? MINILINK_USAGE : MINILINK_OK, NULL);
}

TEST(a_warning_that_counts_as_an_error_ends_the_job)
{
    OWNED_OUTCOME outcome = run(HEADER KERNEL, "-Werror -regUsageLevel 11 --phase-trace");
    expect(&outcome, MINILINK_FAILED, "error: Value of RegUsageLevel (11)");
    ck_assert_ptr_nonnull(strstr(log_of(&outcome), "note: 09 "));
    ck_assert_ptr_null(strstr(log_of(&outcome), "note: 10 "));
}

TEST(old_targets_keep_their_barriers_and_new_ones_check_tensors)
{
    OWNED_OUTCOME old = run(".version 6.2\n.target sm_60\n.address_size 64\n" KERNEL,
                            "--legacy-bar-warp-wide-behavior");
    ck_assert_str_eq(log_of(&old), DEPRECATED);
    struct option_words words;
    OWNED_OUTCOME new = assemble_with(".version 9.0\n.target sm_100a\n.address_size 64\n" KERNEL,
                                      "sm_100a", split(&words, "-g-tmem-access-check"));
    ck_assert_str_eq(log_of(&new), "");
    expect(&new, MINILINK_OK, NULL);
}

TEST(lines_of_the_source_are_accepted_and_not_kept)
{
    static const char text[] = HEADER ".file 1 \"a.cu\"\n"
                                      ".visible .entry k() {\n.loc 1 5 1\nbar.sync 0;\nret; }\n";
    OWNED_OUTCOME outcome = run(text, "-lineinfo");

    expect(&outcome, MINILINK_OK, NULL);
    ck_assert_str_eq(log_of(&outcome), "");
    ck_assert(!has_section(&outcome, ".debug_line"));
}

/* --- Phase 12. --- */

TEST_LOOP(addresses_have_64_bits, 2)
{
    static const char *const archs[] = {"sm_75", "sm_90"};
    static const char *const messages[] = {"32-Bit compilation is no longer supported",
                                           "32-Bit ABI (--machine 32 or 32-Bit addressing) is not "
                                           "supported on sm_90 or higher architectures."};
    OWNED_OUTCOME narrow =
        assemble_with(".version 6.3\n.target sm_75\n.address_size 32\n" KERNEL, archs[_i], NULL);
    expect(&narrow, MINILINK_FAILED, messages[_i]);
    OWNED_OUTCOME plain = assemble_with(".version 6.3\n.target sm_75\n" KERNEL, archs[_i], NULL);
    expect(&plain, MINILINK_OK, NULL);
}

/* The limits that ptxas 13.0 gave as EIATTR_MAXREG_COUNT; 255: none. */
static const struct {
    const char *directives;
    const char *options;
    unsigned limit;
} bounds[] = {
    {"", "", 255},
    {"", "-maxrregcount 100", 100},
    {"", "-maxrregcount 8", 24},
    {".maxnreg 33", "-maxrregcount 100", 33},
    {".maxnreg 8", "", 24},
    {".maxntid 1024", "-maxrregcount 100", 64},
    {".maxntid 1024 .minnctapersm 2", "", 32},
    {".maxntid 300 .minnctapersm 2", "", 96},
    {".reqntid 768", "", 80},
    {".maxntid 1024 .minnctapersm 4", "", 64},
    {".minnctapersm 16", "", 255},
    {"", "--maxntid 1024", 64},
    {"", "--maxntid=1024 --override-directive-values", 64},
    {"", "--maxntid 256 --minnctapersm 4", 64},
    {"", "--maxntid=32,4", 255},
    {"", "--maxntid=16,16,4", 64},
    {"", "--maxntid=x", 255},
    {"", "--minnctapersm 8", 255},
    {"", "-maxrregcount 40 --maxntid 1024", 40},
    {".maxntid 512,1,1", "--maxntid 1024", 128},
    {".maxntid 512,1,1", "--maxntid 1024 --override-directive-values", 64},
    {".maxntid 512,1,1", "--minnctapersm 4 --override-directive-values", 32},
    {".maxntid 512,1,1", "--maxntid 256 --minnctapersm 4", 32},
    {".maxntid 512,1,1", "-maxrregcount 40", 128},
    {".maxntid 512,1,1", "-maxrregcount 40 --override-directive-values", 40},
    {".maxntid 512,1,1 .minnctapersm 2", "--maxntid 1024 --override-directive-values", 32},
    {".maxntid 512,1,1 .minnctapersm 2", "--minnctapersm 4", 64},
    {".reqntid 64,1,1", "--minnctapersm 8", 128},
    {".maxnreg 40", "--maxntid 1024", 40},
    {".maxnreg 40", "-maxrregcount 100", 40},
};

TEST_LOOP(registers_follow_directives_and_options, COUNT(bounds))
{
    struct info_record record;

    OWNED_OUTCOME outcome =
        run(suite_print(HEADER ".visible .entry k() %s { ret; }\n", bounds[_i].directives),
            bounds[_i].options);
    expect(&outcome, MINILINK_OK, NULL);
    ck_assert(find_record(&outcome, ".nv.info.k", EIATTR_MAXREG_COUNT, &record));
    ck_assert_uint_eq(record.value, bounds[_i].limit);
}

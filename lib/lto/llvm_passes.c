/* llvm_passes.c: two rows of passes for each generation of LLVM.
 *
 * They are those that LLVM 19 and 16 run for lto<O3>, but for such as only know profiles, other
 * targets or remarks. Measured on libLLVM 19: of 1,000 kernels the second row is 70 % of the work,
 * and the code of both rows is that of lto<O3> to the byte. */
#include "lto/llvm_steps.h"

/* The two differ in how instructions are combined, and in what stands beside that. */
#define PROGRAM(combine, constraints)                                                              \
    "openmp-opt,globaldce,inferattrs,function<eager-inv>(callsite-splitting),ipsccp,"              \
    "called-value-propagation,cgscc(function-attrs),rpo-function-attrs,globalsplit,"               \
    "wholeprogramdevirt,globalopt,function(mem2reg),constmerge,deadargelim,"                       \
    "function<eager-inv>(" combine ",aggressive-instcombine),"                                     \
    "cgscc(inline<only-mandatory>,inline),globalopt,openmp-opt,globaldce,cgscc(argpromotion),"     \
    "function<eager-inv>(" combine constraints ",jump-threading,sroa<modify-cfg>,tailcallelim),"   \
    "cgscc(function-attrs),cgscc(openmp-opt-cgscc),lowertypetests,elim-avail-extern,globaldce"

/* What is known of variables is found out anew: it is nothing that bitcode has. */
#define FUNCTIONS(combine, alignment, early_combine, late_combine, late)                           \
    "require<globals-aa>,function(invalidate<aa>),"                                                \
    "function<eager-inv>(loop-mssa(licm),gvn,memcpyopt,dse,mldst-motion,"                          \
    "loop(indvars,loop-deletion,loop-unroll-full),loop-distribute,loop-vectorize" alignment        \
    ",loop-unroll<O3>,sroa<preserve-cfg>," combine                                                 \
    ",simplifycfg<forward-switch-cond;switch-range-to-icmp;switch-to-lookup;no-keep-loops;"        \
    "hoist-common-insts;sink-common-insts>,sccp," combine                                          \
    ",bdce,slp-vectorizer,vector-combine" early_combine ",alignment-from-assumptions" late_combine \
    ",jump-threading),"                                                                            \
    "function(" late "simplifycfg<switch-range-to-icmp;hoist-common-insts>)"

#define COMBINE "instcombine<no-verify-fixpoint>"

static const struct llvm_passes rows[] = {
    {PROGRAM(COMBINE, ",constraint-elimination"),
     FUNCTIONS(COMBINE, ",infer-alignment", ",infer-alignment," COMBINE ",loop-mssa(licm)", "",
               "loop-sink,div-rem-pairs,")},
    {PROGRAM("instcombine", ""), FUNCTIONS("instcombine", "", "", ",instcombine", "")},
};

static bool takes(const struct llvm_api *api, llvm_machine machine, const char *passes)
{
    llvm_context context = api->create_context();
    llvm_error error = api->run_passes(api->create_module("probe", context), passes, machine,
                                       api->create_pass_options());

    if (error)
        api->error_message(error);
    api->dispose_context(context);
    return !error;
}

const struct llvm_passes *llvm_passes_find(const struct llvm_api *api, llvm_machine machine)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (takes(api, machine, rows[i].program) && takes(api, machine, rows[i].functions))
            return &rows[i];
    return NULL;
}

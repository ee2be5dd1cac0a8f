#!/bin/bash
# triton-ptxas-path: TRITON_PTXAS_PATH does not say which ptxas Triton runs, for sm_90 and every later GPU.
#
# Triton 3.9.0 takes the assembler from TRITON_PTXAS_PATH for targets before sm_90. For sm_90 and sm_100 it runs the
# ptxas-blackwell of its package, whatever that variable says, and prints nothing about it. What counts there is
# TRITON_PTXAS_BLACKWELL_PATH, also for sm_90, whose GPUs are called Hopper; and that one is nothing to sm_80.
# One would guess otherwise: the variable has the name of the tool, exists since there was one ptxas, and a path that is
# given and not used is worth a word; the other has the name of a family of GPUs that sm_90 is not of.
# What follows: who sets the variable to work around a bug of ptxas, or to compare two of them, measures the same
# assembler twice on an H100. Set both variables, and look for the release in .asm["cubin"].
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
python3 -m pip install -q --no-deps --target site triton==3.9.0 > pip.log 2>&1 ||
    { echo "SKIPPED: triton 3.9.0 cannot be fetched for this Python"; exit 2; }
cat > compile.py << 'END'
import sys
sys.path.insert(0, 'site')
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def double(p, n: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(p + i, tl.load(p + i) * 2)


source = ASTSource(fn=double, signature={'p': '*fp32', 'n': 'constexpr'}, constexprs={'n': 128})
for capability in (80, 90, 100):
    triton.compile(source, target=GPUTarget('cuda', capability, 32))
END
# A ptxas that writes down for which targets it is run.
bin=$work/site/triton/backends/nvidia/bin
mkdir other && cat > other/ptxas << END
#!/bin/bash
for word; do [ "\${word#--gpu-name=}" = "\$word" ] || echo "\${word#--gpu-name=}" >> "$work/targets"; done
exec "$bin/ptxas-blackwell" "\$@"
END
chmod +x other/ptxas
# used VARIABLE...: the targets for which the other ptxas was run, if these variables name it.
used() {
    rm -rf cache targets
    touch targets
    env -u TRITON_PTXAS_PATH -u TRITON_PTXAS_BLACKWELL_PATH "TRITON_CACHE_DIR=$work/cache" "${@/%/=$work/other/ptxas}" \
        python3 compile.py > compile.log 2>&1 || tail -n 1 compile.log
    xargs < targets
}
echo "expected: all three targets for TRITON_PTXAS_PATH"
see "no variable" "" "$(used)"
see TRITON_PTXAS_PATH sm_80 "$(used TRITON_PTXAS_PATH)"
see TRITON_PTXAS_BLACKWELL_PATH "sm_90a sm_100a" "$(used TRITON_PTXAS_BLACKWELL_PATH)"
see both "sm_80 sm_90a sm_100a" "$(used TRITON_PTXAS_PATH TRITON_PTXAS_BLACKWELL_PATH)"
exit $changed

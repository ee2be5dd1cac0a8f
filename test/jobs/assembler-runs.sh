#!/bin/bash
# assembler-runs.sh: how often a link runs ptxas, here a script that notes its words and hands them to minilink: once for
# what it assembles, and for its version only where that is told or part of a key. A ptxas that was replaced is another one
# for the cache, also behind a script that stays the same.
. "$(dirname "$0")/../prelude.sh"
cd "$work" || exit 1

# fake_ptxas VERSION [COMMENT]
fake_ptxas() {
    printf '#!/bin/sh\n# %s\necho "$*" >> %s/runs\n[ "$1" = --version ] && { echo release; echo "%s"; exit; }\n' "${2:-}" "$work" "$1"
    printf 'while [ $# -gt 3 ]; do shift; done\ncat "$1" > %s/text.ptx\nexec "%s" --assemble-chunk=relocatable -arch=sm_90 %s/text.ptx -o "$3"\n' "$work" "$BUILD/minilink" "$work"
}
link() {
    rm -f runs
    "$BUILD/minilink" -arch=sm_90 -r --behave-like=13.0 --assembler=ptxas --ptxas=./ptxas "$ROOT/fixtures/examples/scale.ptx" -o out.cubin "$@" > said 2>&1
}
runs() { if [ -e runs ]; then grep -c -e "$1" runs; else echo 0; fi; }

fake_ptxas one > ptxas
chmod +x ptxas
link
holds "a link works" [ $? = 0 ]
holds "it runs ptxas once" [ "$(runs .)" = 1 ]
holds "and not for its version" [ "$(runs --version)" = 0 ]
rm -f runs
env -u MINILINK_BEHAVE_LIKE minilink -arch=sm_90 -r --assembler=ptxas --ptxas=./ptxas "$ROOT/fixtures/examples/scale.ptx" -o out.cubin > said 2>&1
holds "a script is asked once which toolkit it is of" [ "$(runs --version)" = 1 ]
link -vv
holds "-vv tells the version" grep -q 'assembler ptxas release; one' said
link --report=out.json
holds "the report has the version" grep -q '"release; one"' out.json

# A script may run another program, so its version is asked for.
link --cache-dir=kept
holds "a first link with a cache assembles" [ "$(runs -o)" = 1 ]
link --cache-dir=kept
holds "a second does not" [ "$(runs -o)" = 0 ]
holds "it asks the script for its version" [ "$(runs --version)" = 1 ]
sed -i 's/^\[.*/[ "$1" = --version ] \&\& { echo release; cat version; exit; }/' ptxas
echo first > version
link --cache-dir=kept
holds "another script is another ptxas" [ "$(runs -o)" = 1 ]
echo second > version
link --cache-dir=kept
holds "another program behind the script, too" [ "$(runs -o)" = 1 ]

# NVIDIA's own has this text in its file, and is its contents.
fake_ptxas one "Cuda compilation tools, release 13.0" > ptxas
link --cache-dir=kept
holds "another file is another ptxas" [ "$(runs -o)" = 1 ]
holds "with NVIDIA's text it is not asked" [ "$(runs --version)" = 0 ]
link --cache-dir=kept
holds "and is known again without being run" [ ! -e runs ]
fake_ptxas two "Cuda compilation tools, release 13.0" > new
cat new > ptxas
link --cache-dir=kept
holds "a file that was written over is another ptxas" [ "$(runs -o)" = 1 ]

# While LTO-IR is compiled, a ptxas that can be copied is started for what comes of it; a script is run when there is text.
ptx_kernels k > made.ptx
make_ltoir made.ptx
lto() {
    rm -f runs
    "$BUILD/minilink" -w -disable-infos -arch=sm_90 --behave-like=13.0 -lto --nvjitlink="$BUILD/fake-nvjitlink.so" --assembler=ptxas --ptxas=./ptxas in.fatbin \
        -o "$@" > said 2>&1
    holds "a link of LTO-IR works" [ $? = 0 ]
}
fake_ptxas one > ptxas
lto alone.out --threads=1
holds "one run" [ "$(runs .)" = 1 ]
lto ahead.out
holds "it runs ptxas once" [ "$(runs .)" = 1 ]
holds "the bytes are the same" cmp alone.out ahead.out

# Whoever fails without a word of ptxas's is asked whether it is one.
printf '#!/bin/sh\nexit 3\n' > ptxas
link
holds "a program that is no ptxas is the environment's fault" [ $? = 3 ]
holds "and told" grep -q "fatal   : Could not ask './ptxas' for its version: it ended with status 3" said

# Options that ptxas does not take are the user's mistake: with them it assembles not even a module that holds nothing, which
# is all that the text says of itself, and without them it does.
cat > ptxas << END
#!/bin/sh
echo "\$*" >> $work/runs
case "\$*" in --version) echo one; exit ;; *--bad*) echo "ptxas fatal   : Unknown option '--bad'" >&2; exit 1 ;; esac
while [ \$# -gt 3 ]; do shift; done
[ "\$(grep -c -e '^\.version' -e '^\.target' -e '^\.address_size' "\$1")" = 3 ] && ! grep -q entry "\$1" ||
    { echo "ptxas fatal   : Ptx assembly aborted due to errors" >&2; exit 1; }
exec "$BUILD/minilink" --assemble-chunk=relocatable -arch=sm_90 "\$1" -o "\$3"
END
link -Xptxas=--bad
holds "an option that is not taken is a mistake of the user's" [ $? = 2 ]
holds "three runs tell" [ "$(runs -o)" = 3 ]
link -Xptxas=--good
holds "what fails with a good option is the program" [ $? = 1 ]
link
holds "and what fails without one" [ $? = 1 ]
# A ptxas that sees a kernel and a function in one text refuses more registers than the kernel has.
play_ptxas refusing << 'END'
case " $* " in *" -func-maxrregcount=32 "*) ;; *)
    echo "ptxas error   : Entry function 'k' with max regcount of 40 calls function 'g' with regcount of 140"
    echo "ptxas error   : Entry function 'l' with max regcount of 32 calls function 'g' with regcount of 140"
    exit 255 ;;
esac
while [ $# -gt 1 ]; do shift; done
cat made.cubin > "$1"
END
ptx_kernels k l > k.ptx
minilink -arch=sm_90 -r k.ptx -o made.cubin
fit() { minilink -arch=sm_90 --assembler=ptxas --ptxas=./refusing k.ptx -o fitted.cubin "$@" > said 2>&1; }
fit
holds "that is an error" [ $? = 1 ]
holds "with the smallest limit in its note" grep -q 'note .*-Xptxas=-func-maxrregcount=32 makes' said
fit -Xptxas=-func-maxrregcount=32
holds "which makes the functions fit" [ $? = 0 -a -s fitted.cubin ]
finish

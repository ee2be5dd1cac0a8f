#!/bin/bash
# reproduce.sh: a link that is packed into a tar and run again in another folder makes the same bytes, or fails in the
# same way; whatever its inputs are called, and wherever they are.
. "$(dirname "$0")/../prelude.sh"
minilink=$BUILD/minilink
mkdir "$work/here" "$work/elsewhere"
cd "$work/here" || exit 1

# again WHAT OPTION...: links here with --reproduce, and elsewhere from the tar; the inputs here are gone by then.
again() {
    what=$1
    shift
    "$minilink" "$@" --reproduce=again.tar > said 2>&1
    status=$?
    tar -xf again.tar -C "$work/elsewhere" || { fail "$what: no tar: $(cat said)"; return; }
    mv "$work/here" "$work/hidden"
    (cd "$work/elsewhere/again" && "$minilink" @response.txt > said 2>&1)
    check "$what: status" "$?" "$status"
    mv "$work/hidden" "$work/here"
    if [ $status = 0 ]; then
        check "$what: bytes" "$(cmp out.cubin "$work/elsewhere/again/out.cubin" && echo same)" same
    else
        # But for where the files are.
        check "$what: message" "$(sed -E "s#'[^']*/#'#g; s#inputs/##" "$work/elsewhere/again/said")" "$(sed -E "s#'[^']*/#'#g; s#inputs/##" said)"
    fi
    rm -rf "$work/elsewhere/again" out.cubin
}
examples=$ROOT/fixtures/examples
cp "$examples"/*.ptx .
mkdir -p "it's a/folder \"1\"" lib
cp scale.ptx "it's a/folder \"1\"/back\\slash \$x.ptx"
again "names" -arch=sm_90 "it's a/folder \"1\"/back\\slash \$x.ptx" "$work/here/./scaled.ptx" -o out.cubin
again "an output elsewhere" -arch=sm_90 scale.ptx ../here/scaled.ptx --output-file "$work/here/out.cubin"
ar rcs lib/libordinary.a scale.ptx
ar rcsT lib/libthin.a scaled.ptx
printf -- '-L lib -lordinary\n-lthin "-o" out.cubin' > words
again "libraries, a thin archive, a response file" -arch=sm_90 @words
mkfifo pipe
cat scaled.ptx > pipe &
again "a pipe" -arch=sm_90 scale.ptx pipe -o out.cubin
wait
again "options" -arch sm_80 scale.ptx scaled.ptx -o out.cubin -Xptxas -O1 --chunks=2 -kernels-used=scale -j2 --keep=kept -time times
again "a plug-in" -arch=sm_90 scale.ptx scaled.ptx -o out.cubin --assembler=plugin:"$BUILD/sample-plugin.so"
MINILINK_ASSEMBLER=plugin:$BUILD/sample-plugin.so again "a plug-in of the environment" -arch=sm_90 scale.ptx scaled.ptx -o out.cubin
echo '.version 8.0 .target sm_90 .address_size 64 .visible .entry k() { add.s33 %r1; }' > wrong.ptx
again "a link that fails" -arch=sm_90 wrong.ptx -o out.cubin
again "an input that fails later" -arch=sm_90 scaled.ptx words -o out.cubin

"$minilink" -arch=sm_90 scale.ptx scaled.ptx -o out.cubin --reproduce=a.tar
"$minilink" -arch=sm_90 scale.ptx scaled.ptx -o out.cubin --reproduce=b.tar
check "the same bytes each time, but for the folder's name" "$(mkdir a b; tar -xf a.tar -C a; tar -xf b.tar -C b; diff -r a/a b/b && echo same)" same
rm out.cubin
"$minilink" -arch=sm_90 scale.ptx scaled.ptx -o out.cubin --reproduce=/dev/full > said 2>&1
check "a full disk" "$? $(ls out.cubin 2> /dev/null) $(grep -c "^minilink fatal   : Could not write '/dev/full': " said)" "3  1"
"$minilink" -arch=sm_90 scale.ptx scaled.ptx -o out.cubin --reproduce=scale.ptx > said 2>&1
check "an input is not replaced" "$? $(cat said)" "2 minilink fatal   : Output file 'scale.ptx' (--reproduce) is input file 'scale.ptx'"
"$minilink" -arch=sm_90 scale.ptx missing.ptx -o out.cubin --reproduce=none.tar > said 2>&1
check "no tar of a link without inputs" "$? $(ls none.tar 2> /dev/null)" "1 "
finish

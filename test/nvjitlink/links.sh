# links.sh: the links of the table `links`, whose statuses were measured of NVIDIA's libraries by the client of each version.
# shellcheck shell=bash

# link_inputs: makes what they link, in the folder `links`, of fixtures/nvjitlink and fixtures/examples.
link_inputs() (
    mkdir links && cd links || exit
    tar xJf "$ROOT/fixtures/nvjitlink/inputs.tar.xz" && cp "$ROOT"/fixtures/examples/scale{,d}.ptx . || exit
    sed 's/\.version .*/.version 9.9/' scaled.ptx > newer.ptx
    sed 's/\.target .*/.target sm_100/; s/\.version .*/.version 8.6/' scaled.ptx > scaled.100.ptx
    cp scale.ptx fake.scale.ptx
    cp scaled.ptx fake.scaled.ptx
    { cat scaled.ptx && sed -n '/^\.visible \.entry/,$p' scale.ptx; } > fake.scalescaled.ptx
    printf '.version 6.3\n.target sm_75\n.address_size 64\nwhat is this\n' > bad.ptx
    head -c 1500 scaled.cubin > cut.cubin
    echo 'no device code' > text
    pack() { minifat --compress=none "${@:2}" -o "$1" 2> log; }
    for kind in fatbin o; do
        pack scale.$kind scale.cubin && pack scaled.$kind scaled.cubin && pack scaled.80.$kind scaled.80.cubin &&
            pack scaled.both.$kind scaled.80.cubin scaled.ptx && pack scaled.ptx.$kind scaled.ptx &&
            pack scaled.lto.$kind --arch=sm_90 --kind=nvvm scaled.ltoir && pack scale.lto.$kind --arch=sm_90 --kind=nvvm scale.ltoir &&
            pack scaled.multi.$kind scaled.cubin --arch=sm_90 --kind=nvvm scaled.ltoir || exit
    done
    pack bad.o bad.ptx --arch=sm_75
    head -c 300 scaled.fatbin > cut.fatbin
    head -c 16 scaled.fatbin > alone.fatbin
    cp "$ROOT/fixtures/fatbin/hostonly.o" host.o
    ar rc lib.a scale.o scaled.o && ar rc lib80.a scaled.80.o && ar rc libfirst.a scaled.o scaled.80.o &&
        ar rc liblast.a scaled.80.o scaled.o && ar rc libptx.a scaled.ptx.o && ar rc libbad.a bad.o &&
        ar rc liblto.a scale.lto.o scaled.lto.o && ar rc libhost.a host.o scaled.o && ar rc libtext.a text scaled.o && ar rc libempty.a &&
        head -c 2500 lib.a > libcut.a
)

# statuses LINE COMMAND...: what COMMAND, a client, says of the link in LINE: the numbers of nvJitLinkResult, as CREATE/ADD+ADD/COMPLETE/CUBIN/PTX,
# and with -lto /LTO-IR.
statuses() {
    local words said
    read -ra words <<< "$1"
    if [ "${words[0]}" = threads ]; then words[0]="threads 2"; else words=("ltoir out" "${words[@]}"); fi
    case $1 in *-lto*) ;; *) words[0]=${words[0]/ltoir/link} ;; esac
    # shellcheck disable=SC2086
    said=$(cd links && timeout 60 "${@:2}" ${words[0]} "${words[@]:1}" 2> /dev/null)
    [ $? -lt 2 ] || { echo crash; return; }
    awk '
        BEGIN {split("SUCCESS UNRECOGNIZED_OPTION MISSING_ARCH INVALID_INPUT PTX_COMPILE NVVM_COMPILE INTERNAL THREADPOOL UNRECOGNIZED_INPUT FINALIZE NULL_INPUT INCOMPATIBLE_OPTIONS INCORRECT_INPUT_TYPE ARCH_MISMATCH OUTDATED_LIBRARY MISSING_FATBIN UNRECOGNIZED_ARCH UNSUPPORTED_ARCH LTO_NOT_ENABLED", names, " ")
            for (i in names) number[names[i]] = i - 1}
        /has no function/ {result = result "/-"; next}
        /^(create|add|complete|cubin|ptx|ltoir|thread) / {
            value = $NF == "empty" ? number[substr($(NF - 1), 1, length($(NF - 1)) - 1)] "e" : number[$NF]
            result = result (NR == 1 ? "" : $1 == last && $1 == "add" ? "+" : "/") value
            last = $1
        }
        /the same$/ {result = result "/" $1}
        END {print result}' <<< "$said"
}

# links_of VERSION: the lines of `links`, each with its statuses in that version; link_lines: without these.
links_of() { recorded_of links "$1"; }
link_lines() { sed '/^#/d; s/: 12\.0 .*//' "$ROOT/test/nvjitlink/links"; }

# links_of_ours VERSION: what ours says in the place of 12.9 or 13.5: the same, but for the lines of `link-differences`; and a
# link that fails has no cubin, where NVIDIA's gives what there is by then.
links_of_ours() {
    awk -v major="${1%.*}" -F ': ' '
        NR == FNR {if ($0 !~ /^#/) {split($2, results, ", "); ours[$1] = results[major - 11]}; next}
        {
            said = $1 in ours && ours[$1] != "the same" ? ours[$1] : $2
            count = split(said, part, "/")
            cubin = count - ($1 ~ / -lto/) - 1
            if (count > 3 && part[cubin - 1]) {
                part[cubin] = 6
                said = part[1]
                for (i = 2; i <= count; i++) said = said "/" part[i]
            }
            print $1 ": " said
        }' "$ROOT/test/nvjitlink/link-differences" <(links_of "$1")
}

# link_by_stand_in LINE COMMAND...: statuses, where a stand-in (test/plugin/nvjitlink.c) compiles LTO-IR: it makes PTX that
# defines what the LTO-IR does, or fails where that defines a name twice.
link_by_stand_in() {
    local part="" way="" word
    for word in $1; do
        case ${word#*[:@]} in
        scale.*lto*) part=${part}scale ;;
        scaled.*lto* | scaled.multi.*) part=${part}scaled ;;
        liblto.a) part=scalescaled ;;
        esac
    done
    [ "$part" != scaledscaled ] || way=fail
    FAKE_WAY=$way FAKE_PTX=$PWD/links/fake.$part.ptx statuses "$@"
}

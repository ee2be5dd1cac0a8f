#!/bin/bash
# completions.sh: the scripts that shells complete minilink's options with. Each shell reads its own without a
# complaint, offers every option of the help and the words that an option may have. zsh and fish are skipped where they
# are not installed.
. "$(dirname "$0")/../prelude.sh"
minilink=$(cd "${BUILD:-build}" && pwd)/minilink
cd "$work" || exit 1
for shell in bash zsh fish; do "$minilink" --completions=$shell > $shell || exit 1; done
"$minilink" --help | sed -nE 's/^  (--?[A-Za-z-]+).*/\1/p' | sort > options
touch a.o unit.ptx
mkdir folder

# offered WORD...: what bash offers for the last word of a command line; it takes = for a word.
offered() {
    bash --norc -c '
        source ./bash
        COMP_WORDS=(minilink "$@")
        COMP_CWORD=$#
        word=${COMP_WORDS[COMP_CWORD]}
        [ "$word" != = ] || word=
        _minilink minilink "$word" "${COMP_WORDS[COMP_CWORD - 1]}" 2>&1
        printf "%s\n" "${COMPREPLY[@]}"' bash "$@"
}
check "bash: every option" "$(offered - | sed 's/=$//' | sort)" "$(cat options)"
check "bash: options that begin so" "$(offered --dependency- | paste -sd ' ')" "--dependency-file= --dependency-target="
check "bash: words behind =" "$(offered -Ofast-compile = m | paste -sd ' ')" "min mid max"
check "bash: words behind a blank" "$(offered --split-policy s)" stable
check "bash: nothing typed yet" "$(offered --split-mode = | paste -sd ' ')" "exact relocatable"
check "bash: a word that may be missing, behind =" "$(offered --jobserver = | paste -sd ' ')" "on auto off"
check "bash: a target" "$(offered -arch = sm_9 | paste -sd ' ')" "sm_90 sm_90a"
check "bash: a file" "$(offered -o a)" a.o
check "bash: a folder" "$(offered --keep = f)" folder
check "bash: an input" "$(offered -lto u)" unit.ptx
check "bash: any value" "$(offered --chunks = a)" ""
check "bash: a word that may be missing is none" "$(offered -dump-callgraph u)" unit.ptx
check "bash: a response file" "$(offered @u)" @unit.ptx
for program in minidump minifat minilink-shim; do
    PATH=${minilink%/*}:$PATH bash --norc -c 'source ./bash; _minilink_help "$1" --; printf "%s\n" "${COMPREPLY[@]}"' bash $program 2> /dev/null | sort > other
    check "bash: options of $program" "$(grep -cx -e --help -e --version other)" 2
done

if command -v zsh > /dev/null; then
    check "zsh: reads its script" "$(zsh -n zsh 2>&1)" ""
    # What the script gives zsh's own function is looked at, which checks its arguments only when it completes.
    zsh -f -c '_arguments() { printf "%s\n" "$@" }; source ./zsh' > arguments 2>&1
    check "zsh: every option" "$(sed -nE 's/^\*(--?[A-Za-z-]+)[]=+[-]*\[.*/\1/p' arguments | sed 's/=-$//' | sort | comm -13 - options)" ""
    check "zsh: words" "$(grep -c '^\*--split-policy=\[.*\]:.*:(balanced kernel stable)$' arguments)" 1
    check "zsh: every specification has a form" "$(grep -vE '^\*--?[A-Za-z-]+(=|=-|\+)?\[([^][]|\\[][])*\](::?([^:]|\\:)*:.*)?$' arguments)" "*:input:{ compset -P @; _files }"
    check "zsh: a colon in a word" "$(grep -c '^\*--assembler=.*:(builtin ptxas plugin\\:)$' arguments)" 1
    check "zsh: the other programs" "$(zsh -f -c '_gnu_generic() { echo generic; }; f() { service=minidump; source ./zsh; }; f')" generic
else
    echo "zsh is not installed: its completions are SKIPPED"
fi

# described NAME: what fish's script says of an option before its help.
described() { sed -nE "s/^complete -c minilink -(. $1( .*)?) -d '.*/\1/p" fish; }
check "fish: a file and a letter" "$(described output-file)" "o output-file -s o -r -F"
check "fish: a folder" "$(described keep)" "l keep -x -a '(__fish_complete_directories)'"
check "fish: a short word" "$(described options-file)" "o options-file -o optf -r -F"
check "fish: words" "$(described split-policy)" "l split-policy -x -a 'balanced kernel stable'"
check "fish: words that may be missing" "$(described dump-callgraph)" "o dump-callgraph -a 'text dot'"
check "fish: any value" "$(described chunks)" "l chunks -x"
check "fish: no value" "$(described keep-going)" "l keep-going"
if command -v fish > /dev/null; then
    complete() { HOME=$work fish --no-config -c "source ./fish; complete -C 'minilink $1'" 2>&1 | cut -f 1 | paste -sd ' '; }
    check "fish: options that begin so" "$(complete --dependency-)" "--dependency-file --dependency-target"
    check "fish: nvlink's" "$(complete -kernels)" "-kernels-used"
    check "fish: words behind =" "$(complete --split-policy=s)" "--split-policy=stable"
    check "fish: words behind a blank" "$(complete '-Ofast-compile m')" "max mid min"
    check "fish: a response file" "$(complete @u)" @unit.ptx
    check "fish: another program" "$(PATH=${minilink%/*}:$PATH fish --no-config -c "source ./fish; complete -C 'minidump --sec'")" "--sections"
    check "fish: every option" \
        "$( (HOME=$work fish --no-config -c "source ./fish; complete -C 'minilink -'; complete -C 'minilink --'") | cut -f 1 | sort | comm -13 - options)" ""
else
    echo "fish is not installed: its completions are SKIPPED"
fi
finish

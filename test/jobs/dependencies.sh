#!/bin/bash
# dependencies.sh: what test/install-dependencies installs for building, for compiling tests and for running them;
# where apt is not there or fails, a tool that only some tests need is no failure, all else is. The machine is one of
# links and scripts: nothing is looked for on this one, and nothing is installed.
. "$(dirname "$0")/../prelude.sh"
cd "$work" || exit 1

# machine PROGRAM...: one that has these, the libraries in $libraries, a libLLVM, and $apt: "none", or the packages that
# apt-get cannot install.
machine() {
    rm -rf bin lib log
    mkdir -p bin lib/machine
    touch lib/machine/libLLVM.so.19.1
    : > log
    for program in "$@"; do printf '#!/bin/sh\n' > "bin/$program"; done
    for program in sed sort tail; do printf '#!/bin/sh\nexec %s "$@"\n' "$(command -v $program)" > bin/$program; done
    printf '#!/bin/sh\necho %s\n' "$user" > bin/id
    printf '#!/bin/sh\ncase " %s " in *" $2 "*) exit 0 ;; *) exit 1 ;; esac\n' "$libraries" > bin/pkg-config
    if [ "$apt" != none ]; then
        printf '#!/bin/sh\nprintf "libllvm9\\nlibllvm19\\nlibllvm22\\nlibllvmlibc-23-dev\\n"\n' > bin/apt-cache
        printf '#!/bin/sh\necho "$*" >> log\nfor word; do case " %s " in *" $word "*) exit 100 ;; esac; done\n' "$apt" > bin/apt-get
    fi
    chmod +x bin/*
}

# expect WHAT STATUS KIND INSTALLED [SAID]: INSTALLED is what apt-get was called for, each time.
expect() {
    LIBRARIES=$work/lib PATH=$work/bin /bin/sh "$ROOT/test/install-dependencies" $3 > said 2>&1
    status=$?
    installed=$(sed -n 's/^install .*--no-install-recommends //p' log | paste -sd ,)
    if [ $status = "$2" ] && [ "$installed" = "$4" ] && { [ -z "${5:-}" ] || grep -qF -- "$5" said; }; then
        pass
    else
        fail "$1: status $status, installed '$installed', said:" said
    fi
}
built="libelf liblz4 libzstd libxxhash jansson" all="$built check"
user=0 apt='' libraries=$all
machine gcc make valgrind eu-elflint readelf python3 xz
expect "nothing is missing" 0 check ''
rm bin/valgrind bin/eu-elflint
expect "building needs none of the tests' tools" 0 build ''
expect "nor does compiling them" 0 tests ''
expect "running them does" 0 check 'valgrind elfutils'
machine gcc make valgrind eu-elflint readelf python3 xz
rm -r lib
expect "the newest libLLVM that there is" 0 check libllvm22
rm bin/apt-cache
expect "one that there may be, where no list of packages is" 0 check libllvm22,libllvm19
libraries=$built
machine gcc make valgrind eu-elflint readelf python3 xz
expect "building needs no Check" 0 build ''
expect "compiling tests does" 0 tests check
expect "and so does running them" 0 check check,check
libraries=''
machine make
expect "a bare machine" 0 build "gcc libelf-dev liblz4-dev libzstd-dev libxxhash-dev libjansson-dev libarchive-dev libc6-dev"
machine make
expect "looking installs nothing" 1 '--only-look build' '' \
    "(Debian's names): gcc libelf-dev liblz4-dev libzstd-dev libxxhash-dev libjansson-dev libarchive-dev libc6-dev"
libraries=$all
machine gcc make
expect "looking finds all that is needed" 0 '--only-look build' ''
machine gcc make valgrind eu-elflint readelf python3 xz mandoc ninja parallel meson cmake dpkg-buildpackage dh chromium sshd rsync \
    munged slurmctld slurmd sbatch
expect "large tools are installed when asked for" 0 all lintian
machine gcc make valgrind eu-elflint readelf python3 xz nvlink
expect "comparisons where nvlink is" 0 check cmake 'installing for the tests: cmake'
machine gcc make valgrind eu-elflint readelf python3
expect "recorded links are unpacked" 0 check xz-utils 'installing for the tests: xz-utils'
expect "a word is needed" 2 '' xz-utils Usage

apt=none libraries=$built
machine gcc make readelf python3 xz
expect "without apt, what must be there" 1 check '' 'please install them: check'
expect "without apt, for building" 0 build ''
libraries=$all
machine gcc make readelf python3 xz
expect "without apt, tools of some tests" 0 check '' "are SKIPPED: valgrind elfutils"

apt=elfutils
machine gcc make readelf python3 xz
expect "a package that cannot be had keeps no other away" 0 check \
    'valgrind elfutils,valgrind elfutils,valgrind,elfutils' 'elfutils cannot be installed: tests that need it are SKIPPED'
apt=check libraries=$built
machine gcc make readelf valgrind eu-elflint python3 xz
expect "a package that must be there" 100 tests 'check,check'
apt='' user=1000
machine gcc make readelf valgrind eu-elflint python3 xz
expect "no right to install" 1 tests '' 'please run as root: apt-get install check'
libraries=$all
machine gcc make readelf valgrind python3 xz
expect "no right to install what some tests need" 0 check '' 'elfutils cannot be installed'
machine gcc make readelf valgrind python3 xz
printf '#!/bin/sh\n[ "$1" = -n ] && exit 1\nexec "$@"\n' > bin/sudo
chmod +x bin/sudo
expect "nobody is asked for a password for it" 0 check '' 'elfutils cannot be installed'

# The Makefile asks for each in the right place. What has installed has looked, too, which make -n does not see.
asks() {
    asked=$(make -C "$ROOT" -n BUILD="$work/build" "$1" 2> /dev/null | sed -n 's/.*test\/install-dependencies //p' | sort -u | paste -sd ,)
    if [ "$asked" = "$2" ]; then pass; else fail "make $1 asks for '$asked', not '$2'"; fi
}
asks all '--only-look build'
asks deps build
asks demo '--only-look build,build'
asks install '--only-look build'
asks check '--only-look build,check'
asks lint '--only-look build,tests'
finish

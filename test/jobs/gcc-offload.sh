#!/bin/bash
# gcc-offload.sh: in the place of nvptx-none-ld, minilink links programs with OpenMP and OpenACC in C, C++ and Fortran:
# the same texts, which assemble together. Every text of GCC's libraries for nvptx with OpenMP assembles. Needs GCC's
# offload compiler; else SKIPPED.
. "$(dirname "$0")/../prelude.sh"
cd "$work" || exit 1
COUNT=29
gcc='' libraries=''
for version in $(seq 20 -1 9); do
    for folder in /usr/lib/gcc/*/"$version"/accel/nvptx-none; do
        [ -z "$gcc" ] && [ -e "$folder/libgomp.a" ] && command -v "gcc-$version" > /dev/null && gcc=$version libraries=$folder
    done
done
[ -n "$gcc" ] || skip_all $COUNT "GCC has no offload compiler for nvptx (gcc-12-offload-nvptx)"
command -v nvptx-none-ld > /dev/null || skip_all $COUNT "nvptx-none-ld is not there"
mkdir place && ln -s "$(command -v minilink)" place/ld

cat > sum.c << 'END'
int main(void)
{
    int s = 0;
#pragma omp target teams distribute parallel for reduction(+ : s) map(tofrom : s)
    for (int i = 0; i < 100; i++)
        s += i;
    return s == 4950;
}
END
cat > acc.c << 'END'
int main(void)
{
    double s = 0;
#pragma acc parallel loop reduction(+ : s)
    for (int i = 0; i < 100; i++)
        s += i * 0.5;
    return s > 0;
}
END
cp sum.c sum.cc && cp acc.c acc.cc
cat > sum.f90 << 'END'
program p
    integer :: i, s
    complex(8) :: z
    s = 0; z = (1d0, 2d0)
    !$omp target teams distribute parallel do reduction(+:s) map(tofrom:s)
    do i = 1, 100
        s = s + i
    end do
    !$omp target map(tofrom: z)
    z = z * z / (z + 1)
    !$omp end target
end program
END
cat > acc.f90 << 'END'
program p
    integer :: i
    real(8) :: s
    s = 0
    !$acc parallel loop reduction(+:s)
    do i = 1, 100
        s = s + sin(i * 0.5d0)
    end do
end program
END

# Constructors: GCC 15's and newer libgfortran and C++ programs have some, which libgcc runs.
cat > io.f90 << 'END'
program p
    character(20) :: line
    !$omp target map(from: line)
    write (line, '(I5,F9.3)') 7, 2.5d0
    !$omp end target
    print *, line
end program
END
cat > global.cc << 'END'
#pragma omp declare target
struct number { int value; number() : value(5) {} } global;
#pragma omp end declare target
int main()
{
    int r = 0;
#pragma omp target map(from : r)
    r = global.value;
    return r;
}
END

# names FILE: what the texts define, without the random numbers that GCC puts into names.
names() { tr '\0' '\n' < "$1" | grep -a '^// BEGIN GLOBAL .* DEF' | sed 's/_0x[0-9a-f]*$//' | sort; }

# A ptxas on PATH, which GCC's assembler would run, may know GCC's oldest target no more.
compile() { # compile FOLDER OPTIONS...
    local folder=$1
    shift
    mkdir "$folder" && (cd "$folder" && PATH=/usr/bin:/bin "$@" -foffload=nvptx-none -save-temps -o program)
}
# build NAME COMPILER OPTION SOURCE LIBRARIES...
build() {
    local name=$1 compiler=$2-$gcc option=$3 source=$4
    shift 4
    if ! command -v "$compiler" > /dev/null || ! compile "$name.theirs" "$compiler" "$option" "../$source" ${*:+"-foffload-options=$*"} > log 2>&1; then
        skip 3 "$compiler does not compile $source"
        return
    fi
    runs "$name" compile "$name.ours" "$compiler" "$option" "../$source" ${*:+"-foffload-options=$*"} "-foffload-options=-B$work/place/" || return
    check "$name: what is linked" "$(names "$name".ours/*.mkoffload)" "$(names "$name".theirs/*.mkoffload | grep . || echo something)"
    folder=$libraries
    [ "$option" != -fopenmp ] || folder=$libraries/mgomp
    # shellcheck disable=SC2086
    runs "$name: a cubin" minilink -w -arch=sm_75 "$name".ours/*.mkoffload.o -L"$folder" -L"$libraries" $* -lgomp -lgcc -lc -o "$name.cubin"
}
build omp-c gcc -fopenmp sum.c
build acc-c gcc -fopenacc acc.c
build omp-cc g++ -fopenmp sum.cc
build acc-cc g++ -fopenacc acc.cc
build omp-f gfortran -fopenmp sum.f90 -lgfortran -lm
build acc-f gfortran -fopenacc acc.f90 -lgfortran -lm
build io-f gfortran -fopenmp io.f90 -lgfortran -lm
build global-cc g++ -fopenmp global.cc

# The program has the texts, too; its object has only bytecode.
if [ -e omp-c.ours/program ]; then
    runs "a program" minilink -w -arch=sm_75 omp-c.ours/program -o program.cubin
    check "what is in the program" "$(minidump omp-c.ours/program | grep -c ': PTX for sm_')" "$(tr -cd '\0' < "$(echo omp-c.ours/*.mkoffload)" | wc -c)"
    minilink -w -arch=sm_75 omp-c.ours/*sum.o -o object.cubin 2> said
    holds "an object" grep -q "has GCC's bytecode" said
else
    skip 3 "no program was made"
fi

# Every member of the libraries for OpenMP (libg is libc once more), each on its own: for sm_75 and PTX 6.3, the oldest, where
# their own are older.
mkdir members
for library in "$libraries"/mgomp/*.a; do
    name=${library##*/}
    [ "$name" != libg.a ] || ! cmp -s "$library" "$libraries/mgomp/libc.a" || continue
    mkdir "members/$name" && (cd "members/$name" && ar x "$library" && grep -L '^\.version' ./*.o | xargs -r rm)
done
find members -name '*.o' -exec sed -s -i -E \
    's/^\.target[ \t]*sm_.*/.target sm_75/; s/^\.version[ \t]*([1-5]\.|6\.[0-2]).*/.version 6.3/' {} +
tool_verdict --files members/*/*.o > verdicts
echo "gcc-offload: $(grep -c ': ok$' verdicts) of $(wc -l < verdicts) texts of GCC's libraries assemble"
check "texts that do not assemble" "$(grep -v ': ok$' verdicts)" ""
if [ "$(wc -l < verdicts)" -gt 1000 ]; then pass; else fail "only $(wc -l < verdicts) texts were found"; fi
finish

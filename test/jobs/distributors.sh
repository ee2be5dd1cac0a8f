#!/bin/bash
# distributors.sh: the distributors that come with minilink make the bytes of a link alone: minilink-dist-parallel here and
# through a daemon of ssh on the loopback address, with keys, ports and folders of the test's own; minilink-dist-slurm with a
# controller and two nodes of Slurm, likewise. Jobs are killed, hosts are gone, jobs fail. Skipped where the tools are not.
. "$(dirname "$0")/../prelude.sh"
PATH="$BUILD:$PATH:/usr/sbin:/sbin"
export MINILINK_ASSEMBLER=builtin
daemons=()
end() {
    [ ${#daemons[@]} = 0 ] || kill "${daemons[@]}" 2> /dev/null
    [ ! -s munge.pid ] || kill "$(cat munge.pid)" 2> /dev/null
    wait 2> /dev/null
    rm -rf "$work"
}
trap end EXIT
cd "$work" || exit 1
folder=$'out \1put' # with what a separator might be taken for
mkdir "$folder" remote marks parallel
export PARALLEL_HOME=$work/parallel
has() { for tool; do command -v "$tool" > /dev/null 2>&1 || { missing=$tool; return 1; }; done; }

# What is wrong with the command line, the file or the machine is one line.
mkdir tools
! has python3 || find_python
! has python3 || ln -s "$(command -v python3)" tools/
printf '{"common": {"args": ["true"], "inputs": []}, "jobs": [{"args": [], "inputs": ["a", "b"], "outputs": ["c"]}]}' > jobs.json
lines() { (PATH=${only:-$PATH}; exec "$@") > lines < /dev/null 2>&1; sed -n '$=' lines; }
for by in parallel slurm; do
    has python3 || break
    holds "$by: help" grep -q 'JOBS.json: runs the jobs' <("minilink-dist-$by" --help)
    holds "$by: version" test "$("minilink-dist-$by" --version | sed 's/.* //')" = "$(minilink --version | sed -n 's/^minilink \([0-9.]*\).*/\1/p')"
    holds "$by: no words" test "$("minilink-dist-$by" > /dev/null; echo $?)" = 2
    holds "$by: no file" test "$(lines "minilink-dist-$by" gone.json)" = 1
    holds "$by: another file" test "$(echo 1 > one.json; lines "minilink-dist-$by" one.json)" = 1
    holds "$by: no $by" test "$(only=$work/tools lines "$BUILD/minilink-dist-$by" jobs.json)" = 1
done

# What a host sends is a tar file that may hold anything: nothing outside the folder is written, nothing else than files is
# unpacked, and what cannot be used is one line. This parallel is such a host's; it writes the tar files by itself.
mkdir hostile sent
cat > hostile/parallel << 'END'
#!/usr/bin/env python3
import io, os, sys, tarfile
if "--return" not in sys.argv: # the jobs that are run here
    sys.exit()
kind, back = os.environ["KIND"], sys.stdin.read().split("\0")[2]
with tarfile.open(back, "w") as file:
    def add(name, link=None, type=tarfile.SYMTYPE):
        member = tarfile.TarInfo(name)
        member.size, member.type, member.linkname = (0, type, link) if link else (4, tarfile.REGTYPE, "")
        file.addfile(member, io.BytesIO(b"sent"))
    if kind == "links":
        add("c", "../victim"), add("c.log", "../victim", tarfile.LNKTYPE), add("c.log/x", "..")
    if kind == "paths":
        add("../victim"), add(os.path.abspath("../victim")), add("c/../../victim"), add("c", "..", tarfile.DIRTYPE)
    add("other" if kind in ("links", "paths") else "c"), add("other")
data = bytearray(open(back, "rb").read())
if kind == "short":
    del data[514:]
if kind == "negative": # the size, and the sum of the header
    data[124:136] = (-1024).to_bytes(12, "big", signed=True)
    data[148:156] = b" " * 8
    data[148:156] = b"%06o\0 " % sum(data[:512])
open(back, "wb").write(data)
END
chmod +x hostile/parallel
touch sent/a sent/b
for kind in links paths short negative; do
    has python3 || break
    echo kept > victim
    (cd sent && KIND=$kind PATH=$work/hostile:$PATH exec minilink-dist-parallel -S one ../jobs.json) > said 2>&1
    holds "tar files with $kind: status" [ $? = 1 ]
    holds "tar files with $kind: one line at most ($(cat said))" [ "$(grep -vc 'run here' said)" = "$(case $kind in short | negative) echo 1 ;; *) echo 0 ;; esac)" ]
    holds "tar files with $kind: nothing else is written" [ "$(cat victim; find sent sent/.. -maxdepth 1 \( -name c -o -name c.log -o -name other \))" = kept ]
done

# It ends all jobs when it gets SIGTERM, also one that parallel has started, but does not know yet when it gets that itself,
# and with a parallel that does not take it at once.
# grep's status tells nothing: any process may end while it looks.
gone() {
    local end=$((SECONDS + 60))
    while left=$(grep -lszF "DISTRIBUTORS_MARK=$work" /proc/[0-9]*/environ); [ -n "$left" ] && [ $SECONDS -lt $end ]; do sleep 0.1; done
    [ -z "$left" ]
}
mkdir rude
cat > rude/parallel << 'END'
#!/bin/bash
set -m
sleep 600 &
trap '((++asked > 1)) && exit 255' TERM
touch begun
while :; do sleep 0.1; done
END
chmod +x rude/parallel
if has python3; then
    (cd rude && DISTRIBUTORS_MARK=$work PATH=$work/rude:$PATH exec minilink-dist-parallel ../jobs.json) > said 2>&1 &
    distributor=$!
    until [ -e rude/begun ] || ! kill -0 $distributor 2> /dev/null; do sleep 0.1; done
    kill $distributor
    holds "parallel, ended while it starts a job: all end" gone
    [ -z "$left" ] || kill -9 ${left//[!0-9 ]/ }
    wait $distributor
    holds "parallel, ended while it starts a job: status" [ $? = 143 ]
fi

{
    printf '.version 7.0\n.target sm_70\n.address_size 64\n'
    for i in $(seq 12); do
        printf '.visible .entry k%d(.param .u64 p)\n.minnctapersm 2\n{\n.reg .b64 q;\nld.param.u64 q, [p];\nst.u32 [q], %d;\nret;\n}\n' "$i" "$i"
    done
} > program.ptx
sed 's/st.u32 \[q\], 7;/st.u32 [q], c;/' program.ptx > wrong.ptx
# cut N: links of N chunks, into a folder whose name has a blank and a control character; and what they make and say alone.
cut() {
    split=(minilink -arch=sm_90 -Xptxas -v -split-compile-extended=2 --chunks="$1" --minimum-chunk=1 -o "$folder/x")
    "${split[@]}" program.ptx > said.alone 2>&1 && mv "$folder/x" alone || { cat said.alone; exit 1; }
    "${split[@]}" wrong.ptx > said.wrong 2>&1
}
cut 12

# The tool of jobs that are killed: the first time that they are run, ten of them, with what has started them.
cat > killed << END
#!/bin/sh
for word; do case \$word in *.ptx) name=\$(basename "\$word") ;; esac; done
case \$(mkdir "$work/marks/\$name" 2> /dev/null && ls "$work/marks" | wc -l) in
[1-5]) kill -9 \$\$ ;;
[6-9] | 10) kill -9 \${SLURM_ARRAY_TASK_ID:+\$PPID} \${PARALLEL_SEQ:+\$PPID} \$\$ ;;
esac
exec "$BUILD/minilink" "\$@"
END
chmod +x killed

# try WHAT DISTRIBUTOR ARG...: everything that is asked of a distributor.
try() {
    local what=$1 by=(--distributor="$2") word
    shift 2
    for word; do by+=(--distributor-arg="$word"); done
    rm -rf "$folder"/* marks/*
    "${split[@]}" program.ptx "${by[@]}" > said 2>&1
    holds "$what: status" [ $? = 0 ]
    holds "$what: bytes" cmp alone "$folder/x"
    holds "$what: messages" diff said.alone <(grep -v 'jobs are run here' said)
    holds "$what: leaves nothing" [ "$(ls -A "$folder"; ls -A remote 2> /dev/null)" = x ]
    rm -f "$folder/x"
    "${split[@]}" wrong.ptx "${by[@]}" > said 2>&1
    holds "$what: a job that fails: status" [ $? = 1 ]
    holds "$what: a job that fails: messages" diff said.wrong <(grep -v "The distributor '\|jobs are run here" said)
    [ "$what" != "GNU parallel over ssh" ] || return 0
    "${split[@]}" program.ptx "${by[@]}" --distributor-tool="$work/killed" > said 2>&1
    holds "$what: ten jobs are killed: status" [ $? = 0 ]
    holds "$what: ten jobs are killed: bytes" cmp alone "$folder/x"
    holds "$what: ten jobs were killed" [ "$(ls marks | wc -l)" -ge 10 ]
}

if ! has python3 parallel; then
    skip 1 "$missing is not installed: minilink-dist-parallel"
else
    try "GNU parallel" minilink-dist-parallel -j2
    # A link that is ended while its jobs run: they end, too.
    printf '#!/bin/sh\n[ "$1" = --version ] && { echo a; echo b; exit; }\ntouch "%s/begun"\nsleep 600 & sleep 600\n' "$work" > slow
    chmod +x slow
    rm -rf "$folder"/*
    DISTRIBUTORS_MARK=$work "${split[@]}" program.ptx --assembler=ptxas --ptxas=./slow --distributor=minilink-dist-parallel > said 2>&1 &
    link=$!
    until [ -e begun ] || ! kill -0 $link 2> /dev/null; do sleep 0.1; done
    kill $link
    wait $link
    holds "a link that is ended: status" [ $? = 143 ]
    holds "a link that is ended leaves nothing" [ -z "$(ls -A "$folder")" ]
    holds "a link that is ended: its jobs end" gone
fi

# start_ssh: a daemon of ssh on a port of its own. As root it wants /run/sshd, which need not be there, and is given in a
# view of the file system that only it has.
start_ssh() {
    ssh-keygen -q -t ed25519 -N '' -f host < /dev/null && ssh-keygen -q -t ed25519 -N '' -f user < /dev/null || return
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    printf '%s\n' "ListenAddress 127.0.0.1" "Port $port" "HostKey $work/host" "PidFile none" \
        "AuthorizedKeysFile $work/user.pub" "StrictModes no" "UsePAM no" "PasswordAuthentication no" \
        "SetEnv TAR_OPTIONS=--sparse SHLVL=1 \"PATH=$PATH\"" > sshd_config
    printf '%s\n' "Host gone" "Port 1" "Host *" "HostName 127.0.0.1" "Port $port" "User $(id -un)" "IdentityFile $work/user" \
        "IdentitiesOnly yes" "UserKnownHostsFile $work/known" "StrictHostKeyChecking accept-new" "LogLevel ERROR" \
        "ControlMaster auto" "ControlPath $work/c-%n" "ControlPersist 60" > ssh_config
    local daemon
    daemon=$(command -v sshd)
    if [ "$(id -u)" = 0 ] && [ ! -d /run/sshd ]; then
        unshare -m sh -c 'mount -t tmpfs none /run && mkdir /run/sshd && exec "$@"' sh "$daemon" -D -f "$work/sshd_config" -E "$work/sshd.log" &
    else
        "$daemon" -D -f "$work/sshd_config" -E "$work/sshd.log" &
    fi
    daemons+=($!)
    for _ in $(seq 100); do
        ssh -F ssh_config one true 2> /dev/null && return
        sleep 0.1
    done
    cat sshd.log
    return 1
}
if ! has python3 parallel ssh sshd ssh-keygen rsync; then
    skip 1 "$missing is not installed: minilink-dist-parallel over ssh"
elif ! start_ssh; then
    skip 1 "no daemon of ssh can be started here: minilink-dist-parallel over ssh"
else
    cut 3 # as each job costs some connections
    remote=(--ssh "ssh -F $work/ssh_config" --workdir "$work/remote")
    try "GNU parallel over ssh" minilink-dist-parallel "${remote[@]}" -S 2/one,2/two
    holds "files went over ssh" grep -q Accepted sshd.log
    for hosts in 1/gone,2/two 1/gone; do
        rm -f "$folder/x"
        "${split[@]}" program.ptx --distributor=minilink-dist-parallel $(printf -- '--distributor-arg=%s ' -S $hosts) \
            --distributor-arg=--ssh --distributor-arg="ssh -F $work/ssh_config" > said 2>&1
        holds "a host that is gone, of $hosts: bytes" cmp alone "$folder/x"
    done
    # A host that sends 40 GiB as a few bytes: they are refused, and the jobs are run here.
    printf '#!/bin/sh\n"%s/minilink" "$@" || exit\ncase $PWD in */remote/*) truncate -s 40G *.cubin ;; esac\n' "$BUILD" > sparse
    printf '#!/bin/sh\nexec minilink-dist-parallel "$@" 2> "%s/refused"\n' "$work" > telling
    chmod +x sparse telling
    rm -f "$folder/x"
    ({ [ -n "${SANITIZE:-}" ] || ulimit -v 4000000; } && exec "${split[@]}" program.ptx --distributor=./telling --distributor-tool="$work/sparse" \
        $(printf -- '--distributor-arg=%s ' -S 1/one --workdir "$work/remote") \
        --distributor-arg=--ssh --distributor-arg="ssh -F $work/ssh_config") > said 2>&1
    holds "sparse results: status" [ $? = 0 ]
    holds "sparse results: bytes" cmp alone "$folder/x"
    holds "sparse results: it says so" grep -q "cannot be used: .* is a sparse file" refused
    cut 12
    ssh -F ssh_config -O exit one 2> /dev/null
    ssh -F ssh_config -O exit two 2> /dev/null
fi

# start_slurm: a controller and two nodes, all here, by keys and folders of the test's own.
start_slurm() {
    local ports host
    ports=($(python3 -c 'import socket
s = [socket.socket() for _ in range(3)]
for one in s: one.bind(("127.0.0.1", 0))
print(*(one.getsockname()[1] for one in s))'))
    host=$(hostname -s)
    mkdir -m 700 munge state && head -c 1024 /dev/urandom > munge/key && chmod 400 munge/key
    munged --force --key-file="$work/munge/key" --socket="$work/munge/socket" --pid-file="$work/munge.pid" \
        --log-file="$work/munge/log" --seed-file="$work/munge/seed" > munge.said 2>&1 || { cat munge.said; return 1; }
    printf '%s\n' ClusterName=test "SlurmctldHost=$host(127.0.0.1)" "SlurmctldPort=${ports[0]}" "SlurmUser=$(id -un)" \
        "SlurmdUser=$(id -un)" AuthType=auth/munge "AuthInfo=socket=$work/munge/socket" CredType=cred/munge \
        "StateSaveLocation=$work/state" "SlurmdSpoolDir=$work/spool-%n" "SlurmctldPidFile=$work/ctld.pid" \
        "SlurmdPidFile=$work/slurmd-%n.pid" "SlurmctldLogFile=$work/ctld.log" "SlurmdLogFile=$work/slurmd-%n.log" \
        ProctrackType=proctrack/linuxproc TaskPlugin=task/none SelectType=select/cons_tres SelectTypeParameters=CR_Core \
        MpiDefault=none ReturnToService=2 SwitchType=switch/none JobAcctGatherType=jobacct_gather/none \
        AccountingStorageType=accounting_storage/none SchedulerParameters=batch_sched_delay=0,sched_interval=1 \
        "NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=${ports[1]} CPUs=2 RealMemory=1000" \
        "NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=${ports[2]} CPUs=2 RealMemory=1000" \
        "PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP" > slurm.conf
    export SLURM_CONF=$work/slurm.conf
    slurmctld -D > ctld.said 2>&1 &
    daemons+=($!)
    for node in n1 n2; do
        slurmd -D -N $node > $node.said 2>&1 &
        daemons+=($!)
    done
    for _ in $(seq 150); do
        [ "$(sinfo -h -N -t idle 2> /dev/null | wc -l)" = 2 ] && return
        sleep 0.2
    done
    tail -n 3 ctld.said ctld.log n1.said slurmd-n1.log 2> /dev/null
    return 1
}
if ! has python3 munged slurmctld slurmd sbatch sinfo; then
    skip 1 "$missing is not installed: minilink-dist-slurm"
elif ! start_slurm; then
    skip 1 "Slurm cannot be started here: minilink-dist-slurm"
else
    try "Slurm" minilink-dist-slurm --tasks=6
    holds "Slurm has run the jobs" grep -q WEXITSTATUS ctld.log
fi
finish

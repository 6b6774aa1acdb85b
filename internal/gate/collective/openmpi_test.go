package collective

import (
	"context"
	"encoding/base64"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/nccl"
)

// programsOfPods are ssh, which knows two pods by the names that a cluster's DNS has and starts the command of a session
// here, with the environment that sshd gives it, and a program that prints lines as NCCL does, more than mpirun reads at
// once. It keeps what it printed.
var programsOfPods = map[string]string{
	"sshd": "", "ssh-keygen": "",
	"ssh": `
while [[ $1 == -* ]]; do
  case "$1" in
  -p | -o) shift 2 ;;
  *) shift ;;
  esac
done
host=$1
shift
case "$host" in
collective-[01].collective) ;;
*)
  echo "ssh: Could not resolve hostname $host: Name or service not known" >&2
  exit 255
  ;;
esac
[[ $* == "touch /tmp/done" ]] && exit
mkdir -p "$HOME/$host" # a pod has its own
exec env -i HOME="$HOME" TMPDIR="$HOME/$host" $(<"$HOME/.ssh/environment") /bin/bash -c "$*"
`,
	"all_reduce_perf": `
[[ $* == "-b 8M -e 16G -f 2 -g 1" && $NCCL_DEBUG == INFO && $OMPI_COMM_WORLD_SIZE == 16 ]] || exit
rank=$OMPI_COMM_WORLD_RANK device=$OMPI_COMM_WORLD_LOCAL_RANK from=$(((rank + 8) % 16))
nccl="node-$((rank / 8)):$((100 + rank)):$((200 + rank)) [$device] NCCL INFO"
{
  for channel in {00..99}; do echo "$nccl Channel $channel/0 : $from[$device] -> $rank[$device] [receive] via NET/IB/$device/GDRDMA"; done
  echo "$nccl ncclCommInitRank comm 0x7f00 rank $rank nranks 16 cudaDev $device busId ${device}000 - Init COMPLETE"
} | tee "$HOME/printed-$rank"
`,
}

// The script runs under a real mpirun, of Open MPI 4: it starts eight ranks on each of two pods, by names that a cluster's
// DNS has, and the log has every line of every rank. Until November 2026 mpirun cut "collective-1.collective" to
// "collective-1", which no pod can resolve: no run of two nodes began, and a stub of mpirun did not show it.
func TestScriptUnderOpenMPI(t *testing.T) {
	t.Parallel()
	mpirun, err := exec.LookPath("mpirun")
	if err != nil {
		t.Skip("mpirun is missing: install openmpi-bin")
	}
	version, err := exec.CommandContext(t.Context(), mpirun, "--version").Output()
	if err != nil || !strings.HasPrefix(string(version), "mpirun (Open MPI) 4.") {
		t.Skipf("not Open MPI 4: %v %s", err, version)
	}
	dir := t.TempDir()
	for name, text := range programsOfPods {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/bash"+text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	text := strings.NewReplacer("/usr/sbin/sshd", filepath.Join(dir, "sshd"), "/run/sshd", filepath.Join(dir, "run"), "/tmp/hosts", filepath.Join(dir, "hosts")).Replace(script)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/bash", "-ec", text)
	cmd.Env = []string{
		"HOME=" + dir, "TMPDIR=" + dir, "PATH=" + dir + ":" + filepath.Dir(mpirun) + ":/usr/bin:/bin", "HOSTNAME=collective-0", "SSH_IDENTITY=" + base64.StdEncoding.EncodeToString([]byte("key")),
		"JOB_NAME=collective", "JOB_COMPLETION_INDEX=0", "NNODES=2", "GPUS_PER_NODE=8", "REPETITIONS=1", "MIN_BYTES=8M", "MAX_BYTES=16G", "NCCL_DEBUG=INFO",
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s%s", err, out, stderr.String())
	}
	files, err := filepath.Glob(filepath.Join(dir, "printed-*"))
	if err != nil || len(files) != 16 {
		t.Fatalf("%d of 16 ranks printed: %v\n%s", len(files), err, stderr.String())
	}
	var printed strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		printed.Write(text)
	}
	want, got := parsedLog(t, strings.NewReader(printed.String())), parsedLog(t, strings.NewReader(string(out)))
	if diff := cmp.Diff(want, got); diff != "" || len(got.Ranks) != 16 || got.Lines != 16*101 {
		t.Errorf("%d ranks and %d lines differ from what was printed:\n%s", len(got.Ranks), got.Lines, diff)
	}
}

func parsedLog(t *testing.T, r io.Reader) nccl.Log {
	t.Helper()
	log, err := nccl.ParseLog(r)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

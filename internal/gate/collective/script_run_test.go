package collective

import (
	"context"
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// stubs are the programs that the script starts, other than bash and coreutils. ssh keeps host and command; it reaches the names that
// the DNS of a cluster has from a pod in the namespace, and loses the first release of each host of LOST, and all of each host of GONE. mpirun keeps its arguments,
// one a line, starts a daemon on each host by the name that Open MPI 4.1.4 and 5.0.7 gave to ssh, and prints a line.
var stubs = map[string]string{
	"sshd": "exit 0", "ssh-keygen": "exit 0", "sleep": "exit 0",
	"ssh": `while [[ "$1" == -* ]]; do shift 2; done
echo "$*" >>"$RECORD.ssh"
[[ "$1" == *.collective ]] || { echo "ssh: Could not resolve hostname $1: Name or service not known" >&2; exit 255; }
if [[ "$*" == *touch* && " $LOST " == *" $1 "* && "$(grep -c "^$1 touch" "$RECORD.ssh")" == 1 ]]; then exit 255; fi
if [[ "$*" == *touch* && " $GONE " == *" $1 "* ]]; then exit 255; fi`,
	"mpirun": `if [ "$1" = --version ]; then echo "mpirun (Open MPI) $OPEN_MPI"; exit; fi
printf '%s\n' "$@" >>"$RECORD"
until [ "$1" = --hostfile ]; do shift; done
while read -r name _; do
  if [[ "$OPEN_MPI" == 4* && ! "$OMPI_MCA_orte_keep_fqdn_hostnames" =~ ^(1|t|true)$ ]]; then name="${name%%.*}"; fi
  ssh -p 2222 "$name" orted || { echo "ORTE was unable to reliably start one or more daemons." >&2; exit 1; }
done <"$2"
echo "# nccl-tests"`,
}

// launched is what a run of the script left.
type launched struct {
	stdout string
	// argv are the arguments of mpirun of all repetitions, one a line.
	argv []string
	// ssh are host and command of each call of it.
	ssh []string
	// sessions are the lines of the environment of SSH sessions.
	sessions []string
}

// passed are the variables that mpirun gives to the ranks.
func (l launched) passed() []string {
	var out []string
	for i, a := range l.argv {
		if a == "-x" {
			out = append(out, l.argv[i+1])
		}
	}
	return out
}

// launch runs the script of index 0 with these variables in its environment and stubs in its PATH.
func launch(t *testing.T, env map[string]string) launched {
	t.Helper()
	dir := t.TempDir()
	for name, text := range stubs {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/bash\n"+text+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	// the paths that the script has are those of a container
	text := strings.NewReplacer("/usr/sbin/sshd", filepath.Join(dir, "sshd"), "/run/sshd", filepath.Join(dir, "run"), "/tmp/hosts", filepath.Join(dir, "hosts")).Replace(script)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/bash", "-ec", text)
	cmd.Env = []string{
		"HOME=" + dir, "PATH=" + dir + ":/usr/bin:/bin", "RECORD=" + filepath.Join(dir, "record"), "HOSTNAME=collective-0", "SSH_IDENTITY=" + base64.StdEncoding.EncodeToString([]byte("key")),
		"JOB_NAME=collective", "JOB_COMPLETION_INDEX=0", "NNODES=2", "GPUS_PER_NODE=8", "REPETITIONS=3", "MIN_BYTES=8M", "MAX_BYTES=16G", "NCCL_DEBUG=INFO", "OPEN_MPI=4.1.6",
	}
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s %s", err, out, stderr.String())
	}
	lines := func(path string) []string {
		data, err := os.ReadFile(filepath.Join(dir, path))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	}
	return launched{stdout: string(out), argv: lines("record"), ssh: lines("record.ssh"), sessions: lines(".ssh/environment")}
}

// The variables of NCCL in a pod reach the ranks of every node. Sessions of sshd have nothing of a pod's environment: until November
// 2026 the ranks of the first node alone had those of the site and the image.
func TestEnvironmentOfRanks(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		env    map[string]string
		passed []string // with PATH and NCCL_DEBUG, which are always passed
	}{
		"only the gate's":     {nil, nil},
		"devices":             {map[string]string{"NCCL_IB_HCA": "=mlx5_0"}, []string{"NCCL_IB_HCA"}},
		"subsystems":          {map[string]string{"NCCL_DEBUG_SUBSYS": domainSubsystems}, []string{"NCCL_DEBUG_SUBSYS"}},
		"RoCE":                {map[string]string{"NCCL_IB_GID_INDEX": "3", "NCCL_IB_TC": "106"}, []string{"NCCL_IB_GID_INDEX", "NCCL_IB_TC"}},
		"interfaces":          {map[string]string{"NCCL_SOCKET_IFNAME": "=eth0,eth1"}, []string{"NCCL_SOCKET_IFNAME"}},
		"FasTrak":             {map[string]string{"NCCL_FASTRAK_CTRL_DEV": "eth0"}, []string{"NCCL_FASTRAK_CTRL_DEV"}},
		"libfabric":           {map[string]string{"FI_PROVIDER": "efa"}, []string{"FI_PROVIDER"}},
		"the plugin of AWS":   {map[string]string{"OFI_NCCL_PROTOCOL": "RDMA"}, []string{"OFI_NCCL_PROTOCOL"}},
		"UCX":                 {map[string]string{"UCX_TLS": "rc"}, []string{"UCX_TLS"}},
		"UCC":                 {map[string]string{"UCC_TLS": "nccl"}, []string{"UCC_TLS"}},
		"SHARP":               {map[string]string{"SHARP_COLL_LOG_LEVEL": "3"}, []string{"SHARP_COLL_LOG_LEVEL"}},
		"verbs":               {map[string]string{"RDMAV_FORK_SAFE": "1", "IBV_FORK_SAFE": "1", "MLX5_SINGLE_THREADED": "0"}, []string{"IBV_FORK_SAFE", "MLX5_SINGLE_THREADED", "RDMAV_FORK_SAFE"}},
		"CUDA":                {map[string]string{"CUDA_DEVICE_MAX_CONNECTIONS": "1"}, []string{"CUDA_DEVICE_MAX_CONNECTIONS"}},
		"libraries":           {map[string]string{"LD_LIBRARY_PATH": "/usr/local/nvidia/lib64"}, []string{"LD_LIBRARY_PATH"}},
		"an empty value":      {map[string]string{"NCCL_NET": ""}, []string{"NCCL_NET"}},
		"a value of lines":    {map[string]string{"NCCL_TOPO": "a\nNCCL_FORGED=1\n-x"}, []string{"NCCL_TOPO"}},
		"a value with blanks": {map[string]string{"NCCL_NET_PLUGIN": `a "b" -x c`}, []string{"NCCL_NET_PLUGIN"}},
		"the devices of a node, other files and other programs": {map[string]string{
			"CUDA_VISIBLE_DEVICES": "GPU-1", "NCCL_HOSTID": "node-1", "NVIDIA_VISIBLE_DEVICES": "GPU-1", "NCCL_DEBUG_FILE": "/tmp/nccl", "XNCCL_NET": "1", "FIRST": "1", "NCCLX": "1", "TOKEN": "secret",
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := launch(t, tt.env)
			want := append([]string{"NCCL_DEBUG", "PATH"}, tt.passed...)
			slices.Sort(want)
			passed := got.passed()
			once := slices.Sorted(slices.Values(passed[:len(passed)/3])) // each of three repetitions passes the same
			if !slices.Equal(once, want) || !slices.Equal(passed, slices.Repeat(passed[:len(passed)/3], 3)) {
				t.Errorf("mpirun passes %q, want %q in each of 3 repetitions", passed, want)
			}
			if i := slices.Index(got.argv, "all_reduce_perf"); i < 0 || !slices.Equal(got.argv[i:i+9], []string{"all_reduce_perf", "-b", "8M", "-e", "16G", "-f", "2", "-g", "1"}) {
				t.Errorf("mpirun runs %q", got.argv)
			}
			for _, secret := range []string{"secret", "GPU-1", "FORGED"} {
				if slices.ContainsFunc(got.argv, func(a string) bool { return strings.Contains(a, secret) }) {
					t.Errorf("a value is in the arguments: %q", got.argv)
				}
			}
		})
	}
}

// sshd takes the lines of ~/.ssh/environment as they are: quotes would be part of a path.
func TestEnvironmentOfSessions(t *testing.T) {
	t.Parallel()
	got := launch(t, map[string]string{"LD_LIBRARY_PATH": "/opt/a b/lib:/opt/$c", "NCCL_NET": "IB\nPATH=/forged"})
	if len(got.sessions) != 2 || !strings.HasPrefix(got.sessions[0], "PATH=/") || !strings.HasSuffix(got.sessions[0], ":/usr/bin:/bin") || got.sessions[1] != "LD_LIBRARY_PATH=/opt/a b/lib:/opt/$c" {
		t.Errorf("%q", got.sessions)
	}
	if got := launch(t, nil).sessions; len(got) != 1 || !strings.HasPrefix(got[0], "PATH=/") {
		t.Errorf("without LD_LIBRARY_PATH: %q", got)
	}
}

// The first line of the log shows that its beginning exists.
func TestLogBegins(t *testing.T) {
	t.Parallel()
	if got := launch(t, nil).stdout; got != beginning+"\n"+strings.Repeat("# nccl-tests\n", 3) {
		t.Errorf("%q", got)
	}
}

// mpirun reaches every pod by its whole name, and labels the pieces of its output where they can be joined again: mpirun of Open MPI 4
// cuts a name at its first dot (open-mpi/ompi issue 12089), and 5.0.7 puts pieces behind the labels of other ranks.
func TestOpenMPI(t *testing.T) {
	t.Parallel()
	for version, labels := range map[string]bool{"4.1.4": true, "4.1.7a1": true, "5.0.7": false, "5.1.4": false} {
		got := launch(t, map[string]string{"OPEN_MPI": version})
		if n := strings.Count(got.stdout, "# nccl-tests"); n != 3 {
			t.Errorf("%s: %d of 3 runs", version, n)
		}
		if slices.Contains(got.argv, "--tag-output") != labels {
			t.Errorf("%s: labels are not %t: %q", version, labels, got.argv)
		}
	}
}

// ownClock makes the waits of the script part of its clock alone: the second of sleep, and the five of a connection that is not made.
const ownClock = `sleep() { SECONDS=$((SECONDS + $1)); }
ssh() { command ssh "$@" || { SECONDS=$((SECONDS + 5)); return 255; }; }
`

// A worker is released again if that fails once, and the others do not wait for it. Each worker is tried once, however many do not
// answer, and then index 0 ends with the exit code of mpirun before the gate's timeout.
func TestRelease(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "clock")
	if err := os.WriteFile(file, []byte(ownClock), 0o600); err != nil {
		t.Fatal(err)
	}
	hosts := func(indices string) string { // their names
		var out []string
		for i := range strings.FieldsSeq(indices) {
			out = append(out, "collective-"+i+".collective")
		}
		return strings.Join(out, " ")
	}
	for name, tt := range map[string]struct{ nodes, lost, gone, order string }{
		"all answer":          {"4", "", "", "1 2 3"},
		"two answers lost":    {"4", "1 3", "", "1 2 3 1 3"},
		"three do not answer": {"5", "4", "1 2 3", "1 2 3 4 1 2 3 4"}, // a round of 20 s, and one of 15 s
		"many do not answer":  {"9", "", "1 2 3 4 5 6 7", "1 2 3 4 5 6 7 8"},
		"one node":            {"1", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := launch(t, map[string]string{"NNODES": tt.nodes, "LOST": hosts(tt.lost), "GONE": hosts(tt.gone), "BASH_ENV": file})
			var released []string
			for _, call := range got.ssh {
				if host, ok := strings.CutSuffix(call, ".collective touch /tmp/done"); ok {
					released = append(released, strings.TrimPrefix(host, "collective-"))
				}
			}
			if order := strings.Join(released, " "); order != tt.order {
				t.Errorf("the order of releases is %q, want %q", order, tt.order)
			}
		})
	}
}

package slurmjob

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// srun is a stand-in: it runs the tasks one after the other and labels their lines.
const srun = `#!/bin/bash
echo "srun $*" | head -n 1 >> "$LOG"
while [ "$1" != env ]; do shift; done
worst=0
for i in 0 1; do
  SLURM_NODEID=$i SLURMD_NODENAME=gpu-0$((i+1)) "$@" 2>&1 | sed "s/^/$i: /"
  code=${PIPESTATUS[0]}; [ "$code" = 0 ] || worst=$code
done
exit $worst
`

// runScript runs the batch script with stand-ins for Slurm's programs, and returns its output and exit code.
func runScript(t *testing.T, j Job, setup string) (output, log string, exit int) {
	t.Helper()
	bin, r := t.TempDir(), runner(t, healthy())
	r.Site.Slurm.OutputDirectory, r.Site.Slurm.Setup = t.TempDir(), setup
	for name, text := range map[string]string{"srun": srun, "scontrol": "#!/bin/sh\nprintf 'gpu-01\\ngpu-02\\n'\n"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	own, left, others := r.output(j, "7"), r.output(j, "6"), strings.Replace(r.output(j, "6"), "-r1-", "-r2-", 1)
	for _, file := range []string{own, left, others} {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	argv := r.command(j)
	wrap, ok := strings.CutPrefix(argv[len(argv)-1], "--wrap=")
	if !ok {
		t.Fatalf("%q", argv)
	}
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", wrap)
	cmd.Env = []string{"PATH=" + bin + ":/usr/bin:/bin", "SLURM_JOB_ID=7", "SLURM_JOB_NODELIST=gpu-[01-02]", "LOG=" + filepath.Join(bin, "log")}
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	for file, want := range map[string]bool{own: true, left: false, others: true} {
		if _, err := os.Stat(file); (err == nil) != want {
			t.Errorf("%s: %v", file, err)
		}
	}
	text, _ := os.ReadFile(filepath.Join(bin, "log")) // none is nothing to show
	return string(out), string(text), cmd.ProcessState.ExitCode()
}

// The batch script starts the job's script on each node with its index, and its output has the marks of all ends.
func TestBatchScript(t *testing.T) {
	t.Parallel()
	out, _, exit := runScript(t, job(), "B=5")
	p, err := parse([]byte(out), "7", 2)
	if err != nil || exit != 0 || p.exit == nil || *p.exit != 0 || len(p.messages) > 0 {
		t.Fatalf("%v, exit code %d: %+v: %s", err, exit, p, out)
	}
	for i, want := range []string{"it's 0 of mlx5_0,mlx5_1, gpu-01 gpu-02", "it's 1 of mlx5_0,mlx5_1, gpu-01 gpu-02"} {
		task := &p.tasks[i]
		if got := strings.TrimSpace(task.log.String()); got != want || task.node != job().Nodes[i] || task.exit == nil || *task.exit != 0 || time.Since(task.began).Abs() > time.Hour {
			t.Errorf("task %d: %q, want %q: %+v", i, got, want, task)
		}
	}
	j := job()
	j.Script = "echo $B; [ \"$JOB_COMPLETION_INDEX\" = 0 ] || exit 3; false; echo unreached"
	out, _, exit = runScript(t, j, "B=5")
	if p, err = parse([]byte(out), "7", 2); err != nil || exit == 0 || p.exit == nil || *p.exit != exit || *p.tasks[0].exit != 1 || *p.tasks[1].exit != 3 || strings.Contains(out, "unreached") || !strings.Contains(out, "0: 5\n") {
		t.Errorf("%v, exit code %d: %s", err, exit, out)
	}
}

// With Pyxis the tasks are in containers, with the directories that they need.
func TestContainers(t *testing.T) {
	t.Parallel()
	j := job()
	j.Image, j.Mounts = "registry.example.com#torchtitan:0.2.0", map[string]string{"/firstlight": "/mnt/checkpoints"}
	_, log, exit := runScript(t, j, "")
	for _, want := range []string{"--container-image=registry.example.com#torchtitan:0.2.0", "--container-mounts=/mnt/checkpoints:/firstlight", "--ntasks-per-node=1", "--label"} {
		if !slices.Contains(strings.Fields(log), want) || exit != 0 {
			t.Errorf("exit code %d, no %s in %s", exit, want, log)
		}
	}
}

// Every user of the login host can create a file with the name of the output in /tmp.
func TestOnlyTheUsersOutputIsRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(file("target"), link); err != nil {
		t.Fatal(err)
	}
	cases := map[string]string{file("own"): "own", link: "", filepath.Join(dir, "missing"): ""}
	if os.Geteuid() == 0 {
		other := file("other")
		if err := os.Chown(other, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		cases[other] = ""
	}
	for path, want := range cases {
		out, err := exec.CommandContext(t.Context(), "sh", "-c", readScript, path).Output()
		if string(out) != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", path, out, err)
		}
		if _, err := os.Lstat(path); (err == nil) != (filepath.Base(path) != "missing") {
			t.Errorf("%s after it was read: %v", path, err)
		}
		_ = exec.CommandContext(t.Context(), "sh", "-c", removeScript, path).Run() // refused for others
		if _, err := os.Lstat(path); (err == nil) != (want == "" && filepath.Base(path) != "missing") {
			t.Errorf("%s remains: %v", path, err)
		}
	}
}

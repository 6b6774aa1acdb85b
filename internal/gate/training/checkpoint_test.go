package training

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/trainer"
)

// checkpointLine is a pod's result.
func checkpointLine(index int, fileSystem, result string) string {
	return fmt.Sprintf("checkpoint test: {\"index\": %d, \"fileSystem\": %q, \"source\": \"server:/%s\", \"freeBytes\": 3221225472, %s}\n", index, fileSystem, fileSystem, result)
}

func TestCheckpoints(t *testing.T) {
	t.Parallel()
	const full, readOnly = `"bytes": 0, "error": "[Errno 28] No space left on device"`, `"bytes": 0, "error": "[Errno 30] Read-only file system"`
	const wrote = `"bytes": 17179869184, "writeSeconds": 8, "readSeconds": 4`
	whole := func(result string) map[int]string {
		out := map[int]string{}
		for i := range 4 {
			out[i] = checkpointLine(i, "lustre", result)
		}
		return out
	}
	for name, tt := range map[string]struct {
		lines    map[int]string
		verdict  check.Verdict
		suspects string
		message  string // of the first finding, or the reason of a pass
	}{
		"written by each":            {nil, check.Passed, "", "each pod wrote and read back 16 GiB in /mnt/checkpoints, the slowest at 3124 MB/s"},
		"one pod slower":             {map[int]string{2: checkpointLine(2, "lustre", wrote)}, check.Passed, "", "the slowest at 2147 MB/s"},
		"full":                       {whole(full), check.Failed, "directory for checkpoints", "no pod can write a checkpoint of 16 GiB in /mnt/checkpoints: [Errno 28] No space left on device on gpu-01; 3.0 GiB of server:/lustre were free"},
		"read-only on a node":        {map[int]string{2: checkpointLine(2, "lustre", readOnly)}, check.Failed, "gpu-03", "gpu-03 cannot write a checkpoint of 16 GiB in /mnt/checkpoints: [Errno 30] Read-only file system"},
		"fails after it has written": {map[int]string{1: checkpointLine(1, "lustre", `"bytes": 17179869184, "writeSeconds": 8, "readSeconds": 4, "error": "[Errno 5] Input/output error"`)}, check.Failed, "gpu-02", "Input/output error"},
		"not mounted on a node":      {map[int]string{2: checkpointLine(2, "ext4", wrote)}, check.Failed, "gpu-03", "on gpu-03 the directory for checkpoints is on ext4 (server:/ext4), on 3 of 4 nodes on another type of file system"},
		"not mounted on half":        {map[int]string{2: checkpointLine(2, "ext4", wrote), 3: checkpointLine(3, "ext4", wrote)}, check.Failed, "gpu-01 gpu-02 gpu-03 gpu-04", "on 2 of 4 nodes"},
		"a part only":                {map[int]string{2: checkpointLine(2, "lustre", `"bytes": 1073741824, "writeSeconds": 8, "readSeconds": 4`)}, check.Unobserved, "gpu-03", "wrote and read back 1073741824 bytes"},
		"no time":                    {map[int]string{2: checkpointLine(2, "lustre", `"bytes": 17179869184, "writeSeconds": 8`)}, check.Unobserved, "gpu-03", "in 8 and 0 s"},
		"no file system":             {map[int]string{2: checkpointLine(2, "", wrote)}, check.Unobserved, "gpu-03", `file system \"\"`},
		"no line":                    {map[int]string{2: ""}, check.Unobserved, "gpu-03", "did not report a test"},
		"the line of another pod":    {map[int]string{2: checkpointLine(1, "lustre", wrote)}, check.Unobserved, "gpu-03", "did not report a test"},
		"two lines":                  {map[int]string{2: checkpointLine(2, "lustre", wrote) + checkpointLine(2, "lustre", full)}, check.Unobserved, "gpu-03", "more than 1 lines"},
		"a line cut short":           {map[int]string{2: "checkpoint test: {\"index\": 2,\n"}, check.Unobserved, "gpu-03", "checkpoint test"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j, _ := observeAndJudge(t, testGate(t, testSite(frameworkTorchtitan)), fakeTrainer{checkpoint: tt.lines})
			var suspects []string
			lines := []string{j.Reason}
			for _, f := range j.Findings {
				if !slices.Contains(suspects, f.Suspect) {
					suspects = append(suspects, f.Suspect)
				}
				lines = append(lines, f.Message)
			}
			text := strings.Join(lines, "\n")
			if j.Verdict != tt.verdict || strings.Join(suspects, " ") != tt.suspects || !strings.Contains(strings.ReplaceAll(text, `"`, `\"`), tt.message) {
				t.Errorf("%s of %v: %s", j.Verdict, suspects, text)
			}
		})
	}
}

// Without a directory in the site nothing is mounted or written, and the reason of a pass reports it.
func TestWithoutADirectoryForCheckpoints(t *testing.T) {
	t.Parallel()
	s := testSite(frameworkTorchtitan)
	s.Workloads.Training.Checkpoint = nil
	g := testGate(t, s)
	spec := g.spec()
	if spec.HostDirectory != "" || strings.Contains(spec.Script, "checkpoint test") || spec.Env["CHECKPOINT_MIB"] != "" {
		t.Errorf("%+v", spec)
	}
	if j, _ := observeAndJudge(t, g, fakeTrainer{}); j.Verdict != check.Passed || !strings.Contains(j.Reason, "checkpoints were not tested") {
		t.Errorf("%s: %s", j.Verdict, j.Reason)
	}
}

// runCheckpointProgram runs the program with a real directory; before is put before it in the
// shell, site is a sitecustomize.py.
func runCheckpointProgram(t *testing.T, directory, before, site string) trainer.CheckpointTest {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip(err)
	}
	modules := t.TempDir()
	if err := os.WriteFile(filepath.Join(modules, "sitecustomize.py"), []byte(site), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), bash, "-c", before+"\n"+testCheckpoint()+"echo the trainer starts")
	cmd.Env = append(os.Environ(), "PYTHONPATH="+modules, "JOB_COMPLETION_INDEX=3", "CHECKPOINT_MIB=32", "CHECKPOINT_DIRECTORY="+directory)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || !bytes.HasSuffix(out, []byte("the trainer starts\n")) {
		t.Fatalf("%v: %s%s", err, out, &stderr)
	}
	tests, err := trainer.ParseCheckpointTests(bytes.NewReader(out))
	if err != nil || len(tests) != 1 || tests[0].Index != 3 {
		t.Fatalf("%v: %+v of %s%s", err, tests, out, &stderr)
	}
	if left, err := filepath.Glob(filepath.Join(directory, ".firstlight-*")); err != nil || len(left) > 0 {
		t.Errorf("left in the directory: %v, %v", left, err)
	}
	return tests[0]
}

// corrupt flips a bit of each second block that is read.
const corrupt = `
import builtins, io
real, reads = builtins.open, [0]
class Corrupt(io.BufferedRandom):
    def readinto(self, buffer):
        n = super().readinto(buffer)
        reads[0] += 1
        if reads[0] % 2 == 0:
            buffer[-1] ^= 1
        return n
builtins.open = lambda path, mode="r", **more: Corrupt(io.FileIO(path, "x+")) if mode == "x+b" else real(path, mode, **more)
`

// little leaves less space than the reserve.
const little = `
import os
real = os.statvfs
class Little:
    f_bavail, f_frsize = 1 << 18, 4095
os.statvfs = lambda path: Little
`

// The program's output with real files is parsed. A defect of the storage is its error.
func TestTheCheckpointProgramPrintsWhatIsRead(t *testing.T) {
	t.Parallel()
	got := runCheckpointProgram(t, t.TempDir(), "", "")
	if got.Error != "" || got.Bytes != 32<<20 || got.WriteSeconds <= 0 || got.ReadSeconds <= 0 || got.FileSystem == "" || got.FreeBytes == nil {
		t.Errorf("%+v", got)
	}
	for name, tt := range map[string]struct{ directory, before, site, want string }{
		"a directory that is missing": {"/nonexistent/checkpoints", "", "", "No such file or directory"},
		"a limit on the size":         {t.TempDir(), "ulimit -f 16384", "", "File too large"},
		"too little space":            {t.TempDir(), "", little, "No space left on device"},
		"a block read back differs":   {t.TempDir(), "", corrupt, "block 1 is not what was written"},
		"a file system without files": {"/proc", "", "", "[Errno"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := runCheckpointProgram(t, tt.directory, tt.before, tt.site); !strings.Contains(got.Error, tt.want) || got.Bytes == 32<<20 {
				t.Errorf("%+v, want error %q", got, tt.want)
			}
		})
	}
}

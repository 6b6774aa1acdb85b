package recipes_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/suite"
)

// TestNothingOutlivesATest: a test that is killed, or interrupted, leaves no
// process of its control plane, and the next one passes.
func TestNothingOutlivesATest(t *testing.T) {
	for name, sig := range map[string]syscall.Signal{"killed": syscall.SIGKILL, "interrupted": syscall.SIGINT} {
		t.Run(name, func(t *testing.T) {
			if sig != syscall.SIGKILL {
				suite.Require(t, suite.All)
			}
			evidence := filepath.Join(t.TempDir(), "evidence")
			cmd := program.Command(t.Context(), "recipe", "test", "--all", "--evidence", evidence)
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			polltest.Until(t, "a verdict in the journal", func() bool { return journaled(evidence, `"verdict"`) })
			if len(ofPlane(t)) == 0 {
				t.Fatal("no process of the control plane found")
			}
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err == nil {
				t.Errorf("it was %s, and exited 0:\n%s", name, out.String())
			}
			if code := cmd.ProcessState.ExitCode(); sig == syscall.SIGINT && code != 130 {
				t.Errorf("interrupted, it exited %d:\n%s", code, out.String())
			}
			polltest.Until(t, "the processes of the control plane to end", func() bool { return len(ofPlane(t)) == 0 })
		})
	}
	genericPass(t)
}

func journaled(evidence, what string) bool {
	files, err := filepath.Glob(filepath.Join(evidence, "*", "journal.jsonl"))
	if err != nil || len(files) == 0 {
		return false
	}
	data, err := os.ReadFile(files[0])
	return err == nil && strings.Contains(string(data), what)
}

// ofPlane are the processes whose command line names a directory of this test's home.
func ofPlane(t *testing.T) []string {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, file := range lines {
		if data, err := os.ReadFile(file); err == nil && bytes.Contains(data, []byte(program.Home)) {
			out = append(out, string(data))
		}
	}
	return out
}

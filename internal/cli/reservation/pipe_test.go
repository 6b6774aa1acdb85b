//go:build unix

package reservation

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
)

// asProgram makes a process of the test's binary be the program.
const asProgram = "FIRSTLIGHT_TEST_AS_PROGRAM"

// TestAsProgram runs main if the variable is set; it tests nothing itself.
func TestAsProgram(t *testing.T) {
	args, set := os.LookupEnv(asProgram)
	if !set {
		t.Skip("it is the program of the tests in this file")
	}
	os.Exit(execute(t, strings.Split(args, " "), cmdutil.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}

func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestAsProgram$")
	cmd.Env = append(os.Environ(), asProgram+"="+strings.Join(args, " "))
	cmd.WaitDelay = time.Minute
	return cmd
}

var piped = [][]string{
	{"reservation", "list", "--file", exampleRegistry, "-o", "json"},
	{"reservation", "list", "--file", exampleRegistry, "--daytime"},
	{"reservation", "list", "--file", exampleRegistry, "--name", "gcp-h100", "-o", "github"},
	{"reservation", "schedule", "check", "--file", exampleSchedule, "-o", "json"},
}

func TestProgramIntoAPipe(t *testing.T) {
	t.Parallel()
	for _, args := range piped {
		out, err := program(t, args...).Output()
		if err != nil || len(out) == 0 || out[len(out)-1] != '\n' {
			t.Errorf("%v: %v: %q", args, err, out)
		}
	}
}

// TestProgramIntoAClosedPipe closes the reading end before the program begins: it
// dies of SIGPIPE, as programs do (141 to a shell), or says that it could not write.
func TestProgramIntoAClosedPipe(t *testing.T) {
	t.Parallel()
	for _, args := range piped {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		var errs bytes.Buffer
		cmd := program(t, args...)
		cmd.Stdout, cmd.Stderr = w, &errs
		err = cmd.Run()
		w.Close()
		failed, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			t.Fatalf("%v: %v", args, err)
		}
		status, ok := failed.Sys().(syscall.WaitStatus)
		died := ok && status.Signaled() && status.Signal() == syscall.SIGPIPE
		if !died && failed.ExitCode() != cmdutil.ExitUnobserved {
			t.Errorf("%v ends with %v: %s", args, failed, &errs)
		}
	}
}

func TestProgramOntoAFullDisk(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	for _, args := range piped {
		var errs bytes.Buffer
		cmd := program(t, args...)
		cmd.Stdout, cmd.Stderr = full, &errs
		failed, ok := errors.AsType[*exec.ExitError](cmd.Run())
		if !ok || failed.ExitCode() != cmdutil.ExitUnobserved || !strings.Contains(errs.String(), "no space left on device") {
			t.Errorf("%v: %v: %s", args, failed, &errs)
		}
	}
}

// TestProgramOntoAFileThatMayNotGrow: a file size limit truncates the output; the file has no
// valid JSON, and the program reports the error.
func TestProgramOntoAFileThatMayNotGrow(t *testing.T) {
	t.Parallel()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	inner := program(t, piped[1]...)
	cmd := exec.CommandContext(t.Context(), sh, "-c", `trap "" XFSZ; ulimit -f 0; exec "$0" "$@" > "$OUT"`, inner.Path, inner.Args[1])
	cmd.Env = append(inner.Env, "OUT="+out)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	failed, ok := errors.AsType[*exec.ExitError](cmd.Run())
	if !ok || failed.ExitCode() != cmdutil.ExitUnobserved {
		t.Errorf("%v: %s", failed, &errs)
	}
	if data, err := os.ReadFile(out); err != nil || len(data) > 0 {
		t.Errorf("%q was written, %v", data, err)
	}
}

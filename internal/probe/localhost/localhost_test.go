package localhost_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/firstlight/firstlight/internal/probe/localhost"
	"github.com/firstlight/firstlight/internal/probe/sudo"
)

const name = "box"

func hosts() localhost.Hosts { return localhost.Hosts{Name: name, Timeout: time.Minute} }

// A command's exit code, both of its streams and its locale are those of a real program.
func TestRun(t *testing.T) {
	t.Parallel()
	out, err := hosts().Run(t.Context(), name, "sh", "-c", "echo $LC_ALL; echo bad >&2; exit 3")
	if err != nil {
		t.Fatal(err)
	}
	if string(out.Stdout) != "C\n" || string(out.Stderr) != "bad\n" || out.Exit != 3 || out.Origin != localhost.Origin || out.At.IsZero() || out.Took <= 0 {
		t.Errorf("%+v", out)
	}
}

// Commands inherit the named variables only: a job of Slurm has the environment of its submission.
func TestRunEnvironment(t *testing.T) {
	t.Parallel()
	h := hosts()
	h.Environment = []string{"PATH"}
	out, err := h.Run(t.Context(), name, "env")
	if err != nil || len(strings.Split(strings.TrimSpace(string(out.Stdout)), "\n")) != 2 || !strings.Contains(string(out.Stdout), "PATH=") || !strings.Contains(string(out.Stdout), "LC_ALL=C") {
		t.Errorf("%q, %v", out.Stdout, err)
	}
}

// Words are not split and not expanded, as if a shell were in between.
func TestRunWithoutShell(t *testing.T) {
	t.Parallel()
	out, err := hosts().Run(t.Context(), name, "printf", "%s|", "a b", "$HOME", "*")
	if err != nil || string(out.Stdout) != "a b|$HOME|*|" {
		t.Errorf("%q, %v", out.Stdout, err)
	}
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	if _, err := hosts().Run(t.Context(), "other", "true"); err == nil || !strings.Contains(err.Error(), "no other can be reached") {
		t.Errorf("another host: %v", err)
	}
	if _, err := hosts().Run(t.Context(), name); err == nil {
		t.Error("no command, no error")
	}
	out, err := hosts().Run(t.Context(), name, "no-such-program")
	if err != nil || out.Exit != 127 || !strings.Contains(string(out.Stderr), "command not found") {
		t.Errorf("a missing program: %+v, %v", out, err)
	}
	if _, err := hosts().Run(t.Context(), name, "sh", "-c", "kill -9 $$"); err == nil {
		t.Error("a command that a signal ended has no exit code")
	}
}

// After the timeout a command's children have ended, too, also if they ignore SIGTERM.
func TestTimeoutEndsDescendants(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "alive")
	if out, err := hosts().Run(t.Context(), name, "mkfifo", pipe); err != nil || out.Exit != 0 {
		t.Skipf("mkfifo: %v %s", err, out.Stderr)
	}
	// the grandchild holds the pipe open as long as it lives
	reader := make(chan error, 1)
	go func() {
		_, err := os.ReadFile(pipe)
		reader <- err
	}()
	brief := localhost.Hosts{Name: name, Timeout: time.Second}
	_, err := brief.Run(t.Context(), name, "sh", "-c", "sh -c 'trap \"\" TERM; exec 3>"+pipe+"; tail -f /dev/null' & wait")
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("%v, want %v", err, context.DeadlineExceeded)
	}
	if err := <-reader; err != nil {
		t.Fatal(err)
	}
}

// Two commands that wait for each other run at the same time.
func TestTwoAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if out, err := hosts().Run(t.Context(), name, "mkfifo", dir+"/a"); err != nil || out.Exit != 0 {
		t.Skipf("mkfifo: %v %s", err, out.Stderr)
	}
	both, ctx := errgroup.WithContext(t.Context())
	for _, script := range []string{"echo x >" + dir + "/a", "cat " + dir + "/a"} {
		both.Go(func() error {
			_, err := hosts().Run(ctx, name, "sh", "-c", script)
			return err
		})
	}
	if err := both.Wait(); err != nil {
		t.Error(err)
	}
}

// A sudo that refuses is an error with the line for the sudoers file. The program is a stand-in
// with the messages and exit codes of sudo: its own behaviour is tested with OpenSSH in package ssh.
func TestSudoRefuses(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\necho 'sudo: a password is required' >&2\nexit 1\n"
	if err := os.WriteFile(filepath.Join(dir, "sudo"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	_, err := hosts().Run(t.Context(), name, "sudo", "-n", "--", "dmesg")
	refused, ok := errors.AsType[*sudo.RefusedError](err)
	if !ok || refused.Host != name || refused.User == "" {
		t.Errorf("%v", err)
	}
}

package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/proctree"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/lease"
)

// program is a hook written in shell.
func program(t *testing.T, script string) *Program {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hook")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return &Program{Hook: Hook{Cloud: config.AWS, Command: []string{path, "an argument"}}, Grace: 30 * time.Second}
}

func run(t *testing.T, ctx context.Context, p *Program) (Output, error) { //nolint:revive // a test first
	t.Helper()
	r := asked(Teardown)
	return p.Run(ctx, r, []byte(text(t, r)))
}

func TestProgram(t *testing.T) {
	leakless(t)
	const gone = `{"apiVersion":"hooks.firstlight.dev/v1","deleted":true}`
	for _, tt := range []struct {
		name, script string
		status       int
		response     string
		log, err     string
	}{
		{"done", "cat > /dev/null; echo working >&2; echo '" + gone + "'", 0, gone, "working", ""},
		{"the request is on its input", `grep -q '"verb":"teardown"' && echo '` + gone + "'", 0, gone, "", ""},
		{"it does not read", "echo '" + gone + "'", 0, gone, "", ""},
		{"its arguments", `test "$1" = "an argument" || exit 9`, 0, "", "", ""},
		{"try again", "echo throttled >&2; exit 75", 75, "", "throttled", ""},
		{"failed", "echo one >&2; printf two >&2; exit 3", 3, "", "two", ""},
		{"killed", "kill -9 $$", 0, "", "", "signal: killed"},
		{"too much", "head -c 1100000 /dev/zero", 0, "", "", "larger than 1048576 bytes"},
		{"a long line", "head -c 100000 /dev/zero | tr '\\0' x >&2; exit 1", 1, "", strings.Repeat("x", 4096), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, err := run(t, t.Context(), program(t, tt.script))
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Fatalf("got %v, want %q", err, tt.err)
			}
			if err != nil {
				return
			}
			if out.Status != tt.status || strings.TrimSpace(string(out.Response)) != tt.response {
				t.Errorf("status %d, response %q", out.Status, out.Response)
			}
			if last := append([]string{""}, out.Log...); last[len(last)-1] != tt.log {
				t.Errorf("the log is %.200q", out.Log)
			}
		})
	}
}

func TestProgramThatIsNotThere(t *testing.T) {
	p := &Program{Hook: Hook{Cloud: config.AWS, Command: []string{"/nonexistent/hook"}}}
	if _, err := run(t, t.Context(), p); err == nil || !strings.Contains(err.Error(), "/nonexistent/hook") || errors.Is(err, ErrTemporary) {
		t.Errorf("got %v", err)
	}
}

// ownPID reads a process id that a script has written.
func ownPID(t *testing.T, path string) (pid int) {
	t.Helper()
	polltest.UntilNil(t, "a process to write "+path, func() error {
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		pid, err = strconv.Atoi(strings.TrimSpace(string(raw)))
		return err
	})
	return pid
}

func gone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

func awaitGone(t *testing.T, pid int) {
	t.Helper()
	polltest.Until(t, fmt.Sprintf("process %d to end", pid), func() bool { return gone(pid) })
}

// hidden leaves a process that is in a session of its own, has an environment of its own
// and no parent, and ignores SIGTERM.
const hidden = `env -i setsid sh -c 'trap "" TERM; sleep 600 & echo $$ > "$0.tmp"; mv "$0.tmp" "$0"; while :; do wait; sleep 600; done' "%s" > /dev/null 2>&1 < /dev/null &
until [ -s "%[1]s" ]; do :; done`

// At the limit all that the hook has started is ended, also what ignores SIGTERM.
func TestProgramIsEndedWithAllOfIt(t *testing.T) {
	leakless(t)
	for _, tt := range []struct {
		name, script string
		grace        time.Duration
		log          string
	}{
		{"it listens", `trap 'echo cleaning >&2; exit 1' TERM; sleep 600 & echo $! > "%s"; wait`, 30 * time.Second, "cleaning"},
		{"it does not", `trap '' TERM; sleep 600 & echo $! > "%s"; while :; do wait; sleep 600; done`, 100 * time.Millisecond, ""},
		{"it has ended", `sleep 600 > /dev/null 2>&1 & echo $! > "%s"`, 30 * time.Second, ""},
		{"it has ended, and left a session of its own", hidden, 30 * time.Second, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "pid")
			p := program(t, fmt.Sprintf(tt.script, file))
			p.Grace = tt.grace
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			over := errors.New("the limit")
			ended := strings.HasPrefix(tt.name, "it has ended")
			pid := make(chan int, 1)
			go func() {
				pid <- ownPID(t, file)
				if !ended {
					cancel(over)
				}
			}()
			out, err := run(t, ctx, p)
			if !ended && !errors.Is(err, over) {
				t.Errorf("got %v", err)
			}
			if tt.log != "" && (len(out.Log) == 0 || out.Log[0] != tt.log) {
				t.Errorf("the log is %q", out.Log)
			}
			awaitGone(t, <-pid)
		})
	}
}

// Under a lease with a short renewal interval a program has less time to end: then the lease can be
// given to another.
func TestLeaseBoundsTheGracePeriodOfAProgram(t *testing.T) {
	leakless(t)
	file := filepath.Join(t.TempDir(), "pid")
	p := program(t, fmt.Sprintf(`trap '' TERM; sleep 600 & echo $! > "%s"; while :; do wait; sleep 600; done`, file))
	ctx, cancel := context.WithCancel(proctree.WithDeadline(t.Context(), proctree.NewDeadline(lease.StopTime(time.Second))))
	defer cancel()
	go func() { ownPID(t, file); cancel() }()
	begin := time.Now()
	if _, err := run(t, ctx, p); err == nil {
		t.Error("it ended well")
	}
	if took := time.Since(begin); took > p.Grace {
		t.Errorf("it had its whole grace period: %s", took)
	}
	awaitGone(t, ownPID(t, file))
}

// If child processes may still run, the error reports it, and the hook is not retried.
func TestProgramWithChildrenLeftIsNotRetried(t *testing.T) {
	for name, script := range map[string]string{
		"ended":   "kill -9 $PPID; while :; do :; done",
		"timeout": `trap "kill -9 $PPID; exit" TERM; echo ready >&2; while :; do sleep 0.01; done`,
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			p := program(t, script)
			if name == "timeout" {
				p.Log = slog.New(slog.NewTextHandler(onWrite(func() { cancel(fmt.Errorf("the limit: %w", ErrTemporary)) }), &slog.HandlerOptions{Level: slog.LevelDebug}))
			}
			if _, err := run(t, ctx, p); err == nil || errors.Is(err, ErrTemporary) || !strings.Contains(err.Error(), "may still run") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// The end of a hook is known although child processes are left.
func TestEndOfProgramWithChildrenLeft(t *testing.T) {
	status := func(script string) error { return exec.Command("sh", "-c", script).Run() }
	for _, tt := range []struct {
		name   string
		cause  error
		over   bool
		ended  bool
		status int
		want   string
	}{
		{"done", nil, false, true, 0, "processes [7]"},
		{"failed", status("exit 3"), false, true, 3, "processes [7]"},
		{"killed", status("kill -9 $$"), false, false, 0, "signal: killed"},
		{"too much", nil, true, false, 0, "the response is larger than"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			left := &proctree.LeftError{PIDs: []int{7}, Cause: tt.cause}
			out, err := Output{}.ended(t.Context(), "hook", tt.over, left)
			if !errors.Is(err, left) || !strings.Contains(err.Error(), tt.want) || out.Ended != tt.ended || out.Status != tt.status {
				t.Errorf("%+v, %v", out, err)
			}
		})
	}
}

// onWrite is called for each write.
type onWrite func()

func (f onWrite) Write(p []byte) (int, error) { f(); return len(p), nil }

// A child process that keeps the standard output open is not awaited.
func TestProgramThatLeavesItsOutputOpen(t *testing.T) {
	leakless(t)
	p := program(t, "sleep 600 & exit 0")
	p.Grace = 50 * time.Millisecond
	if _, err := run(t, t.Context(), p); err == nil || !strings.Contains(err.Error(), "keeps its standard output open") {
		t.Errorf("got %v", err)
	}
}

func TestEnvironmentIsRestricted(t *testing.T) {
	p := program(t, `env | sed 's/=.*//' | sort | tr '\n' ' ' >&2; echo >&2; echo "region $REGION, key $KEY, $KEY" >&2; echo "$KEY"; exit 1`)
	p.Hook.Environment, p.Hook.Secrets = []string{"REGION"}, []string{"KEY"}
	given := map[string]string{"PATH": os.Getenv("PATH"), "REGION": "us-east-1", "KEY": "s3cret-value\nsecond-line", "OTHER": "x"}
	p.Lookup = func(name string) (string, bool) { v, ok := given[name]; return v, ok }
	var logged bytes.Buffer
	p.Log = slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	out, err := run(t, t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if names := " " + out.Log[0] + " "; strings.Contains(names, " OTHER ") || !strings.Contains(names, " REGION ") || !strings.Contains(names, " KEY ") {
		t.Errorf("it has %s", names)
	}
	all := strings.Join(out.Log, "\n") + logged.String() + string(out.Response)
	if strings.Contains(all, "s3cret") || strings.Contains(all, "second-line") {
		t.Errorf("a secret is logged:\n%s", all)
	}
	if !strings.Contains(all, "region us-east-1, key [KEY]") || !strings.Contains(logged.String(), "[KEY]") {
		t.Errorf("the log is:\n%s", all)
	}
	delete(given, "REGION")
	if _, err := run(t, t.Context(), p); err == nil || !strings.Contains(err.Error(), "needs REGION") {
		t.Errorf("without what it wants: %v", err)
	}
}

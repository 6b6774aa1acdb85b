package proctree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/poll/polltest"
)

// asRunner makes a process of these tests run a program.
const asRunner = "FIRSTLIGHT_PROCTREE_RUNS"

// asRenewer makes it move the deadline of that program, each time by lasts.
const (
	asRenewer = "FIRSTLIGHT_PROCTREE_RENEWS"
	lasts     = 2 * time.Second
)

func TestMain(m *testing.M) {
	if file := os.Getenv(asSuspended); file != "" {
		os.Exit(reapSuspended(file))
	}
	if script := os.Getenv(asRunner); script != "" {
		ctx := context.Background() //nolint:forbidigo // a process of its own
		if os.Getenv(asRenewer) != "" {
			d := NewDeadline(50 * time.Millisecond)
			d.Move(time.Now().Add(lasts))
			go func() {
				for range time.Tick(lasts / 20) {
					d.Move(time.Now().Add(lasts))
				}
			}()
			ctx = WithDeadline(ctx, d)
		}
		if err := Run(ctx, exec.Command("sh", "-c", script), time.Minute); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// stays ignores SIGTERM and writes its PID to the file $0.
const stays = `trap "" TERM HUP INT; echo $$ > "$0.tmp"; mv "$0.tmp" "$0"; while :; do sleep 600; done`

// left are ways to leave it running, as $1 with the file $2.
var left = map[string]string{
	"in the group":              `sh -c "$1" "$2" > /dev/null 2>&1 &`,
	"in a session of its own":   `setsid sh -c "$1" "$2" > /dev/null 2>&1 &`,
	"without its environment":   `env -i setsid sh -c "$1" "$2" < /dev/null > /dev/null 2>&1 &`,
	"of a parent that has gone": `setsid sh -c 'setsid sh -c "$1" "$2" > /dev/null 2>&1 &' sh "$1" "$2" > /dev/null 2>&1;`,
}

func shell(script, file string) *exec.Cmd { return exec.Command("sh", "-c", script, "sh", stays, file) }

func awaitPID(t *testing.T, file string) int {
	t.Helper()
	var pid int
	polltest.Until(t, "the child to start", func() bool {
		raw, err := os.ReadFile(file)
		if err != nil {
			return false
		}
		pid, err = strconv.Atoi(strings.TrimSpace(string(raw)))
		return err == nil
	})
	return pid
}

func gone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// Descendants of a program end with it: when it ends, when it times out and when the calling
// process is killed.
func TestDescendantsAreKilled(t *testing.T) {
	for name, leave := range left {
		awaits := leave + ` until [ -s "$2" ]; do sleep 0.01; done; `
		t.Run(name+", ended", func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "pid")
			if err := Run(t.Context(), shell(awaits, file), time.Minute); err != nil {
				t.Error(err)
			}
			if pid := awaitPID(t, file); !gone(pid) {
				t.Errorf("process %d still runs", pid)
			}
		})
		t.Run(name+", over", func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "pid")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() { defer cancel(); awaitPID(t, file) }()
			if err := Run(ctx, shell(awaits+`trap "" TERM; while :; do sleep 600; done`, file), 50*time.Millisecond); err == nil {
				t.Error("it ended well")
			}
			if pid := awaitPID(t, file); !gone(pid) {
				t.Errorf("process %d still runs", pid)
			}
		})
		t.Run(name+", its runner killed", func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "pid")
			runner := exec.Command(os.Args[0])
			runner.Env = append(os.Environ(), asRunner+"=set -- '"+stays+"' "+file+"; "+awaits+"sleep 600")
			if err := runner.Start(); err != nil {
				t.Fatal(err)
			}
			pid := awaitPID(t, file)
			if err := runner.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = runner.Wait()
			polltest.Until(t, "the child to end", func() bool { return gone(pid) })
		})
	}
}

// A process that is stopped (SIGSTOP) can end no program, and its lease is given to another. Its
// programs end at their deadline.
func TestProgramsOfAStoppedProcessEndAtTheirDeadline(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	runner := exec.Command(os.Args[0])
	runner.Env = append(os.Environ(), asRenewer+"=true",
		asRunner+"=set -- '"+stays+"' "+file+"; "+left["of a parent that has gone"]+` until [ -s "$2" ]; do sleep 0.01; done; trap "" TERM; while :; do sleep 600; done`)
	if err := runner.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = runner.Process.Kill(); _ = runner.Wait() }()
	pid := awaitPID(t, file)
	end := time.Now().Add(lasts * 3 / 2)
	polltest.Until(t, "the first deadline to pass", func() bool { return time.Now().After(end) || gone(pid) })
	if gone(pid) {
		t.Fatal("it was killed although its deadline moved")
	}
	if err := runner.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	polltest.Until(t, "the program to end", func() bool { return gone(pid) })
	if took := time.Since(begin); took > 10*lasts {
		t.Errorf("it ended after %s", took)
	}
}

// A process that continues (SIGCONT) after its deadline starts nothing.
func TestNothingIsStartedAfterTheDeadline(t *testing.T) {
	d := NewDeadline(time.Minute)
	d.Move(time.Now().Add(-time.Millisecond))
	file := filepath.Join(t.TempDir(), "ran")
	if err := Run(WithDeadline(t.Context(), d), exec.Command("touch", file), time.Minute); !errors.Is(err, ErrDeadline) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("it ran")
	}
}

// A lab that a hook starts stays up.
func TestOutlives(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	script := `env ` + Outlives + ` setsid sh -c "$1" "$2" > /dev/null 2>&1 & until [ -s "$2" ]; do sleep 0.01; done`
	if err := Run(t.Context(), shell(script, file), time.Minute); err != nil {
		t.Error(err)
	}
	pid := awaitPID(t, file)
	if gone(pid) {
		t.Error("it has ended")
	}
	_ = syscall.Kill(-pid, syscall.SIGKILL)
}

// Run reports the end of a program as exec.Cmd does.
func TestExitStatus(t *testing.T) {
	for name, c := range map[string]struct {
		argv []string
		says string
	}{
		"well":            {[]string{"true"}, ""},
		"with a status":   {[]string{"sh", "-c", "exit 75"}, "exit status 75"},
		"of a signal":     {[]string{"sh", "-c", "kill -9 $$"}, "signal: killed"},
		"of SIGTERM":      {[]string{"sh", "-c", "kill $$"}, "signal: terminated"},
		"not there":       {[]string{"/nonexistent/program"}, "exec /nonexistent/program: no such file or directory"},
		"not in the path": {[]string{"nonexistent-program"}, "executable file not found"},
		"a directory":     {[]string{"/"}, "is a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			err := Run(t.Context(), exec.Command(c.argv[0], c.argv[1:]...), time.Minute)
			if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %q", err, c.says)
			}
		})
	}
}

// A descendant that holds the output open may write during the grace period and is then killed.
func TestOutputHeldOpen(t *testing.T) {
	var out strings.Builder
	cmd := exec.Command("sh", "-c", "(sleep 0.05; echo late) & echo early")
	cmd.Stdout = &out
	if err := Run(t.Context(), cmd, time.Minute); err != nil || out.String() != "early\nlate\n" {
		t.Errorf("%v, %q", err, out.String())
	}
	out.Reset()
	cmd = exec.Command("sh", "-c", "sleep 600 & echo early")
	cmd.Stdout = &out
	if err := Run(t.Context(), cmd, 50*time.Millisecond); !errors.Is(err, exec.ErrWaitDelay) || out.String() != "early\n" {
		t.Errorf("%v, %q", err, out.String())
	}
}

// A process of another user, which cannot be killed, is reported: it is not taken for ended.
func TestProcessesThatCannotBeKilledAreReported(t *testing.T) {
	child := exec.Command("sleep", "600")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = child.Process.Kill(); _ = child.Wait() }()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	tr := &tree{status: new(syscall.WaitStatus), left: map[int]bool{}, says: writer}
	tr.kill(func(int, syscall.Signal) error { return syscall.EPERM })
	tr.run(nil)
	var r report
	if err := json.NewDecoder(reader).Decode(&r); err != nil || !slices.Contains(r.Left, child.Process.Pid) {
		t.Errorf("%v: reported %v, want %d", err, r.Left, child.Process.Pid)
	}
}

// A subreaper that was killed cannot say which descendants are left.
func TestKilledSubreaperLeavesUnknownProcesses(t *testing.T) {
	var left *LeftError
	if err := Run(t.Context(), exec.Command("sh", "-c", "kill -9 $PPID"), time.Minute); !errors.As(err, &left) {
		t.Errorf("%v", err)
	}
}

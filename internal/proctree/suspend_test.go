package proctree

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/poll/polltest"
)

// asSuspended makes a process of these tests a subreaper whose machine is suspended for a day as soon
// as its program runs. The value is the file that the program creates.
const asSuspended = "FIRSTLIGHT_PROCTREE_SUSPENDS"

// reapSuspended runs a program whose deadline is in an hour.
func reapSuspended(file string) int {
	cmd := exec.Command("sh", "-c", `trap 'echo $$ > "$0.term"; exit' TERM; echo $$ > "$0.tmp"; mv "$0.tmp" "$0"; while :; do sleep 0.1; done`, file)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	signals := make(chan os.Signal, 64)
	signal.Notify(signals, syscall.SIGCHLD)
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return failed
	}
	deadlines := make(chan time.Duration, 1)
	deadlines <- bootTime() + time.Hour
	t := &tree{pid: cmd.Process.Pid, grace: time.Minute, says: os.Stdout, output: map[string]bool{}, left: map[int]bool{}, deadlines: deadlines}
	t.now = func() time.Duration {
		if _, err := os.Stat(file); err != nil {
			return bootTime()
		}
		return bootTime() + 24*time.Hour
	}
	t.run(signals)
	return 0
}

// A program whose deadline passed while the machine was suspended ends soon after. The grace period
// counts from the SIGTERM.
func TestProgramEndsAfterASuspend(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	reaper := exec.Command(os.Args[0])
	reaper.Env = append(os.Environ(), asSuspended+"="+file)
	if err := reaper.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reaper.Process.Kill(); _ = reaper.Wait() }()
	pid := awaitPID(t, file)
	polltest.Until(t, "the program to get SIGTERM", func() bool {
		raw, err := os.ReadFile(file + ".term")
		return err == nil && strings.TrimSpace(string(raw)) == strconv.Itoa(pid)
	})
}

// The deadlines that processes send each other count while the machine is suspended, as the uptime does.
func TestBootTimeIsTheUptime(t *testing.T) {
	raw, err := os.ReadFile("/proc/uptime")
	if err != nil {
		t.Skip(err)
	}
	up, err := strconv.ParseFloat(strings.Fields(string(raw))[0], 64)
	if err != nil {
		t.Fatal(err)
	}
	if d := bootTime().Seconds() - up; d < -1 || d > 60 {
		t.Errorf("the clock is %.2f s ahead of the uptime", d)
	}
	if s := Suspended(); s < 0 || s > bootTime() {
		t.Errorf("the machine was suspended for %s of %s", s, bootTime())
	}
}

// A deadline comes nearer while the machine is suspended.
func TestDeadlineCountsASuspend(t *testing.T) {
	d := NewDeadline(time.Minute)
	if _, set := d.Left(); set {
		t.Error("it is set")
	}
	d.Move(time.Now().Add(time.Hour))
	d.slept -= 50 * time.Minute // suspended since
	if left, set := d.Left(); !set || left > 10*time.Minute {
		t.Errorf("%s left", left)
	}
}

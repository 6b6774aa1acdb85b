package proctree

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// subreaper is argv[0] of a subreaper process.
const subreaper = "firstlight-subreaper"

// failed is the exit status of a subreaper that could not start its program.
const failed = 127

// killInterval is the interval of kills while children remain.
const killInterval = 20 * time.Millisecond

// Every firstlight binary, including tests, becomes a subreaper before its main function runs.
func init() { //nolint:gochecknoinits // Run starts this binary, whatever its main is
	if len(os.Args) > 4 && os.Args[0] == subreaper {
		os.Exit(reap(os.Args[1], os.Args[2] == "true", os.Args[3], os.Args[4:]))
	}
}

// tree is a program and its descendants.
type tree struct {
	pid    int
	grace  time.Duration
	output map[string]bool // targets of the program's standard output and error
	status *syscall.WaitStatus
	left   map[int]bool // children that cannot be killed
	says   *os.File
	// deadlines receives each new deadline, on the clock now; nil: the program has none.
	deadlines <-chan time.Duration
	// now is a clock that also counts while the machine is suspended.
	now func() time.Duration
}

// reap runs a program and its descendants to their end and exits like the program.
func reap(grace string, hasDeadline bool, path string, argv []string) int {
	t := &tree{says: os.NewFile(3, "report"), output: map[string]bool{}, left: map[int]bool{}, now: bootTime}
	syscall.CloseOnExec(3)
	if hasDeadline {
		syscall.CloseOnExec(4)
		t.deadlines = receive(os.NewFile(4, "deadlines"))
	}
	var err error
	if t.grace, err = time.ParseDuration(grace); err != nil {
		return t.fail(err)
	}
	signals := make(chan os.Signal, 64)
	signal.Notify(signals, syscall.SIGCHLD, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return t.fail(fmt.Errorf("become a subreaper: %w", err))
	}
	for _, fd := range []int{1, 2} {
		if to, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd)); err == nil && strings.HasPrefix(to, "pipe:") {
			t.output[to] = true
		}
	}
	t.pid, err = syscall.ForkExec(path, argv, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2},
		Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return t.fail(fmt.Errorf("exec %s: %w", path, err))
	}
	t.run(signals)
	return t.end()
}

func (t *tree) fail(err error) int {
	t.say(report{Error: err.Error()})
	return failed
}

func (t *tree) say(r report) { _ = json.NewEncoder(t.says).Encode(r) } // the caller may have ended

// run returns when no process remains.
func (t *tree) run(signals <-chan os.Signal) {
	var over, late time.Duration // the end of the grace period, and the deadline; 0: none
	kill, held, isOver := false, false, false
	graceBegins := func() {
		if over == 0 {
			over = t.now() + t.grace
		}
	}
	terminate := func() {
		_ = syscall.Kill(-t.pid, syscall.SIGTERM)
		graceBegins()
	}
	for !t.wait() && (t.status == nil || len(t.children()) > 0) {
		if late != 0 && t.now() >= late {
			late = 0
			terminate()
		}
		if t.status != nil && !kill {
			if !t.holdsOutput() {
				kill = true
			} else {
				graceBegins()
			}
		}
		if over != 0 && !isOver && t.now() >= over {
			isOver, kill, held = true, true, t.status != nil
		}
		if kill {
			t.kill(syscall.Kill)
		}
		tick := t.untilNext(late, over)
		if t.status != nil || kill {
			tick = time.After(killInterval)
		}
		select {
		case s := <-signals:
			switch s {
			case syscall.SIGTERM, syscall.SIGINT:
				terminate()
			case syscall.SIGHUP: // the caller has died
				kill = true
			}
		case late = <-t.deadlines:
		case <-tick:
		}
	}
	t.say(report{Held: held, Left: slices.Sorted(maps.Keys(t.left))})
}

// untilNext returns a timer for the first of some times; nil: all are 0. It is early, because the
// machine may be suspended before.
func (t *tree) untilNext(times ...time.Duration) <-chan time.Time {
	next := time.Duration(math.MaxInt64)
	for _, at := range times {
		if at != 0 {
			next = min(next, at)
		}
	}
	if next == math.MaxInt64 {
		return nil
	}
	return time.After(min(next-t.now(), MaxSleep))
}

// kill kills all children. It notes those of other users, which it cannot kill.
func (t *tree) kill(kill func(pid int, s syscall.Signal) error) {
	for _, pid := range t.children() {
		if errors.Is(kill(pid, syscall.SIGKILL), syscall.EPERM) {
			t.left[pid] = true
		}
	}
}

// wait reaps exited children; true: none remains.
func (t *tree) wait() bool {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return true // ECHILD
		case pid == 0:
			return false
		case pid == t.pid:
			t.status = &status
			delete(t.left, pid)
		default:
			delete(t.left, pid)
		}
	}
}

// holdsOutput reports whether a remaining process can write to the program's output.
func (t *tree) holdsOutput() bool {
	if len(t.output) == 0 {
		return false
	}
	for _, pid := range t.descendants() {
		fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid)) // the process may have ended
		for _, fd := range fds {
			if to, err := os.Readlink(fd); err == nil && t.output[to] {
				return true
			}
		}
	}
	return false
}

// end returns the program's exit status, or raises the signal that killed it.
func (t *tree) end() int {
	if t.status == nil {
		return failed
	}
	if !t.status.Signaled() {
		return t.status.ExitStatus()
	}
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}) // only the program writes a core
	signal.Reset(t.status.Signal())
	if syscall.Kill(os.Getpid(), t.status.Signal()) == nil {
		<-time.After(time.Second) // the signal is delivered to any thread
	}
	return 128 + int(t.status.Signal())
}

// children returns the children that must end, including adopted ones. They are killed one
// generation after the other and reaped only here, so a PID is not reused.
func (t *tree) children() []int {
	return slices.DeleteFunc(parents()[os.Getpid()], func(pid int) bool { return t.left[pid] || pid != t.pid && outlives(pid) })
}

// outlives reports whether a process has Outlives in its environment.
func outlives(pid int) bool {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && slices.Contains(strings.Split(string(raw), "\x00"), Outlives)
}

func (t *tree) descendants() []int {
	of := parents()
	all := t.children()
	for i := 0; i < len(all); i++ {
		all = append(all, of[all[i]]...)
	}
	return all
}

// parents maps PIDs to the PIDs of their children.
func parents() map[int][]int {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is valid
	out := map[int][]int{}
	for _, path := range stats {
		raw, err := os.ReadFile(path)
		if err != nil {
			continue // ended
		}
		// "PID (NAME) STATE PPID ...": NAME can contain anything.
		fields := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
		pid, bad := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if bad != nil || len(fields) < 2 {
			continue
		}
		if parent, err := strconv.Atoi(fields[1]); err == nil {
			out[parent] = append(out[parent], pid)
		}
	}
	return out
}

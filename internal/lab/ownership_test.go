package lab

import (
	"context"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/lab/process"
)

// program runs a program of another lab until the test ends.
func program(t *testing.T, env ...string) process.Identity {
	t.Helper()
	cmd := exec.Command("/bin/sleep", "1000")
	cmd.Env = env
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-ended })
	id, err := process.Identify(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func labDir(t *testing.T, state stateFile) string {
	t.Helper()
	dir := t.TempDir()
	if err := ownDir(dir); err != nil {
		t.Fatal(err)
	}
	if state.Dir == "" {
		state.Dir = dir
	}
	if err := writeState(dir, state); err != nil {
		t.Fatal(err)
	}
	return dir
}

// The state file of a lab, copied elsewhere or read under another name, stops nothing.
func TestOnlyTheLabOfThatNameAndDirectoryIsStopped(t *testing.T) {
	t.Parallel()
	sup, etcd := program(t), program(t, Marker+"=one-1")
	state := stateFile{ID: "one-1", Name: "one", Supervisor: sup, Processes: []stateProcess{{Name: "etcd", Identity: etcd}}}
	dir := labDir(t, state)
	state.Dir, state.Supervisor = dir, process.Identity{PID: os.Getpid(), Start: 1}
	elsewhere := labDir(t, state)
	if err := DownDir(t.Context(), "one", elsewhere); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("down of a copy: %v, want an error that names %s", err, dir)
	}
	if _, err := endLeftovers(elsewhere); err == nil {
		t.Error("a copy was cleaned")
	}
	if err := DownDir(t.Context(), "two", dir); err == nil || errors.Is(err, ErrNotRunning) {
		t.Errorf("down under another name: %v", err)
	}
	if _, err := AttachDir(t.Context(), "two", dir); err == nil || errors.Is(err, ErrNotRunning) {
		t.Errorf("attach under another name: %v", err)
	}
	if !sup.Alive() || !etcd.Alive() {
		t.Error("a process of the other lab was stopped")
	}
}

// A handle of an earlier lab does not reach a later one in the same directory.
func TestRequestForAnEarlierLabIsRejected(t *testing.T) {
	t.Parallel()
	stopped := false
	dir := serveControl(t, "lab-2", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { stopped = true }), clientTimeout)
	self, err := process.Identify(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	earlier := stateFile{ID: "lab-1", Name: "lab", Supervisor: self}.handle(dir)
	if err := earlier.Stop(ctx); err == nil || !strings.Contains(err.Error(), "lab lab-1 has ended") || stopped {
		t.Errorf("stop of an earlier lab: %v, stopped %t", err, stopped)
	}
	later := stateFile{ID: "lab-2", Name: "lab"}.handle(dir)
	if err := later.Stop(ctx); err != nil || !stopped {
		t.Errorf("stop of the lab: %v, stopped %t", err, stopped)
	}
}

// Spawn in a directory of a running lab changes nothing, whether or not that lab answers.
func TestSpawnDoesNotAffectARunningLab(t *testing.T) {
	t.Parallel()
	sup := program(t)
	dir := labDir(t, stateFile{ID: "one-1", Name: "one", Supervisor: process.Identity{PID: os.Getpid(), Start: 1}, Processes: []stateProcess{{Name: "x", Identity: sup}}})
	lock, err := lockDir(dir) // as its supervisor has it
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := lock.Close(); err != nil {
			t.Error(err)
		}
	}()
	opts := testCommand(t)
	opts.Name, opts.Dir = "one", dir
	if _, _, err := Spawn(t.Context(), opts); !errors.Is(err, ErrRunning) {
		t.Errorf("start of a running lab: %v, want ErrRunning", err)
	}
	if !sup.Alive() {
		t.Error("a process of the running lab was stopped")
	}
	if _, err := readState(dir); err != nil {
		t.Error(err)
	}
}

// A second start keeps the log of the first.
func TestLogOfARunningLabIsKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for range 2 {
		cmd, _, closeFiles, err := supervisorCommand(SpawnOptions{Name: "x", Dir: dir, Command: []string{"/bin/sh", "-c", "echo started"}})
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		closeFiles()
	}
	raw, err := os.ReadFile(LogPathIn(dir, supervisorName))
	if err != nil || string(raw) != "started\nstarted\n" {
		t.Errorf("the log has %q, %v", raw, err)
	}
}

// The next down of a lab whose supervisor died ends its processes, also those that left their
// parent's session, and deletes its files.
func TestDeadLabIsCleaned(t *testing.T) {
	t.Parallel()
	orphan := program(t, Marker+"=dead-1")
	dir := labDir(t, stateFile{ID: "dead-1", Name: "dead", Supervisor: process.Identity{PID: os.Getpid(), Start: 1}})
	for _, name := range []string{socketName, "kubeconfig.yaml"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := AttachDir(t.Context(), "dead", dir); !errors.Is(err, ErrDied) || !errors.Is(err, ErrNotRunning) {
		t.Errorf("attach: %v, want ErrDied", err)
	}
	if err := DownDir(t.Context(), "dead", dir); err != nil {
		t.Error(err)
	}
	if orphan.Alive() {
		t.Error("a process of the lab is alive")
	}
	for _, name := range []string{socketName, "kubeconfig.yaml", "lab.json"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s exists", name)
		}
	}
}

// Processes that remain after the kill are an error, and the state file is kept.
func TestPartialKillIsAnError(t *testing.T) {
	t.Parallel()
	id := []process.Identity{{PID: 1 << 30, Start: 1}}
	for name, c := range map[string]struct {
		left  int // lists that return a process
		kills int
		fails bool
	}{
		"nothing left":           {0, 0, false},
		"ended by one kill":      {1, 1, false},
		"one more started":       {2, 2, false},
		"ended by the last kill": {killRounds, killRounds, false},
		"more and more start":    {1 << 30, killRounds, true},
	} {
		lists, kills := 0, 0
		err := killAll(nil, func() ([]process.Identity, error) {
			if lists++; lists <= c.left {
				return id, nil
			}
			return nil, nil
		}, func([]process.Identity) error { kills++; return nil })
		if (err != nil) != c.fails || kills != c.kills {
			t.Errorf("%s: %v after %d kills", name, err, kills)
		}
	}
	broken := errors.New("process 7 is alive after SIGKILL")
	list := func() ([]process.Identity, error) { return nil, nil }
	if err := killAll(id, list, func([]process.Identity) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("a failed kill: %v", err)
	}
}

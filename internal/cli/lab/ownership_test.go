package lab

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gofrs/flock"

	"github.com/firstlight/firstlight/internal/cli/clitest"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/lab/process"
)

// recordLab writes the state file of a lab with this supervisor and returns its directory.
func recordLab(t *testing.T, name string, supervisor process.Identity) string {
	t.Helper()
	home := t.TempDir()
	t.Setenv("FIRSTLIGHT_HOME", home)
	dir := filepath.Join(home, "labs", name)
	raw, err := json.Marshal(map[string]any{"version": 1, "id": name + "-1", "name": name, "dir": dir, "supervisor": supervisor})
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, ".firstlight-lab"), nil, 0o600),
		os.WriteFile(filepath.Join(dir, "lab.json"), raw, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// A running lab that does not answer is an error of lab up, which must not stop it.
func TestUpDoesNotStopARunningLab(t *testing.T) {
	cmd := exec.Command("/bin/sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }()
	defer func() { _ = cmd.Process.Kill(); <-ended }()
	supervisor, err := process.Identify(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	dir := recordLab(t, "busy", supervisor)
	lock := flock.New(filepath.Join(dir, "lock"))
	if ok, err := lock.TryLock(); err != nil || !ok {
		t.Fatalf("lock: %t, %v", ok, err)
	}
	defer func() {
		if err := lock.Close(); err != nil {
			t.Error(err)
		}
	}()
	_, stderr, code := clitest.Run(t, New, "lab", "up", "--name", "busy")
	if code != cmdutil.ExitUnobserved {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if !supervisor.Alive() {
		t.Errorf("the running lab was stopped: %s", stderr)
	}
}

// The next lab down after the death of a supervisor says that it cleans up.
func TestDownSaysThatTheSupervisorDied(t *testing.T) {
	dir := recordLab(t, "dead", process.Identity{PID: os.Getpid(), Start: 1})
	_, stderr, code := clitest.Run(t, New, "lab", "down", "--name", "dead")
	if code != cmdutil.ExitPassed || !strings.Contains(stderr, "lab dead: its supervisor died") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "lab.json")); err == nil {
		t.Error("the state file exists")
	}
	if _, stderr, _ := clitest.Run(t, New, "lab", "down", "--name", "dead"); !strings.Contains(stderr, "lab dead is not running") {
		t.Errorf("then %s", stderr)
	}
}

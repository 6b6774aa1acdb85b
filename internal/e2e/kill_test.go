package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/suite"
)

// kills is how many runs are killed.
func kills() int { return suite.Pick(1, 5, 30) }

// TestKilledRunsResume kills accept with SIGKILL at random moments. Each
// resume must end with the verdicts of an undisturbed run, keep every
// observation, and leave nothing in the cluster.
func TestKilledRunsResume(t *testing.T) {
	_, undisturbed, _ := healthyRun(t)
	if undisturbed.Code != 0 {
		t.Fatalf("the undisturbed run exited %d\n%s", undisturbed.Code, undisturbed.Stderr)
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d, an undisturbed run took %s", seed, undisturbed.Took)
	random := rand.New(rand.NewPCG(seed, 0))
	for i := range kills() {
		after := time.Duration(random.Float64() * float64(undisturbed.Took))
		dir := t.TempDir()
		killAccept(t, after, "--fresh", "--evidence", dir)
		before := readAll(t, dir)
		a, r := accept(t, "--evidence", dir)
		if r.Code != 0 || a.verdicts() != allPassed {
			t.Fatalf("kill %d after %s: resume exited %d: %s\n%s%s", i, after, r.Code, a.verdicts(), r.Stdout, r.Stderr)
		}
		for name, data := range before {
			if !strings.Contains(name, "observations") || strings.Contains(filepath.Base(name), ".tmp") {
				continue
			}
			now, err := os.ReadFile(name)
			if err != nil || !bytes.Equal(data, now) {
				t.Errorf("kill %d after %s: observation %s was lost or changed: %v", i, after, filepath.Base(name), err)
			}
		}
		if v := program.Run(t.Context(), "evidence", "verify", filepath.Join(dir, a.Run)); v.Code != 0 {
			t.Errorf("kill %d: evidence of the resumed run: %s%s", i, v.Stdout, v.Stderr)
		}
		program.RequireClean(t, labName)
	}
}

// killAccept starts a run and kills it after a time; a run that ended before
// is fine: then there is nothing to resume and the next accept runs afresh.
func killAccept(t *testing.T, after time.Duration, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := program.Command(ctx, append([]string{"accept", "-o", "json", "--lab", labName}, args...)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	timer := time.NewTimer(after)
	defer timer.Stop()
	select {
	case <-timer.C:
		if err := cmd.Process.Kill(); err != nil {
			t.Logf("kill: %v", err)
		}
		<-done
	case <-done:
	}
}

func readAll(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		files[path] = data
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestKilledAcceptStopsItsLab: an accept that started its own lab is
// killed; no process of the lab survives, and a later run is not disturbed.
func TestKilledAcceptStopsItsLab(t *testing.T) {
	sharedLab(t) // upstream programs are built
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	own := program.Command(ctx, "accept", "-o", "json", "--lab", "owned", "--evidence", t.TempDir())
	if err := own.Start(); err != nil {
		t.Fatal(err)
	}
	polltest.Until(t, "a ready lab", func() bool {
		r := program.Run(ctx, "lab", "status", "--name", "owned", "-o", "json")
		var status struct{ State string }
		return r.Code == 0 && json.Unmarshal([]byte(r.Stdout), &status) == nil && status.State == "ready"
	})
	if err := own.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = own.Wait() // killed: that is the point
	polltest.Until(t, "every process of the lab to end", func() bool { return len(labProcesses(t, filepath.Join(program.Home, "labs", "owned"))) == 0 })
}

// labProcesses finds processes whose command line or environment names the lab's directory.
func labProcesses(t *testing.T, dir string) []string {
	t.Helper()
	var found []string
	entries, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range entries {
		data, err := os.ReadFile(path)
		if err == nil && bytes.Contains(data, []byte(dir)) {
			found = append(found, strings.ReplaceAll(string(data), "\x00", " "))
		}
	}
	return found
}

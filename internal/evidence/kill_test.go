package evidence

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/suite"
)

// killedDir tells the test binary to be the process that is killed.
const killedDir = "FIRSTLIGHT_TEST_KILLED_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(killedDir); dir != "" {
		if err := beKilled(dir); err != nil {
			_, _ = fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// killedPlan is testPlan with more to see.
func killedPlan() plan.Plan {
	p := testPlan()
	p.Steps[0].Check, p.Steps[1].Check = counter{"a", 6, 15}, counter{"b", 8, 28}
	p.Steps = append(p.Steps,
		plan.Step{Check: counter{"f", 5, 10}, Needs: []string{"a"}, GPUs: 4},
		plan.Step{Check: counter{"g", 5, 10}, Needs: []string{"a"}, GPUs: 4})
	return p
}

// beKilled resumes or starts a run in dir, tells on stdout what is durable as
// soon as it is.
func beKilled(dir string) error {
	run, err := resumeOrCreate(dir)
	if err != nil {
		return err
	}
	w := plan.Executor{
		Plan: killedPlan(), Store: run, Earlier: run.Results(),
		Capacity: func(context.Context) (int, error) { return 8, nil },
		Events: func(e plan.Event) {
			switch e.Kind { //nolint:exhaustive // the others tell of nothing durable
			case plan.EventObserved:
				_, _ = fmt.Println("observed", e.Text) //nolint:forbidigo // to the test
			case plan.EventVerdict:
				_, _ = fmt.Println("verdict", e.Step, e.Result.Verdict) //nolint:forbidigo // to the test
			}
		},
	}
	out, err := w.Run(context.Background()) //nolint:forbidigo // this is a main
	if err != nil {
		return err
	}
	return run.Finish(out, nil)
}

func resumeOrCreate(dir string) (*Run, error) {
	path, ok, err := unfinishedIn(dir)
	switch {
	case err != nil:
		return nil, err
	case ok:
		return Open(path, Options{})
	default:
		return Create(dir, testStart(killedPlan()), Options{})
	}
}

// TestKill kills the process of a run again and again, at moments that chance
// decides, until one run comes to its end.
func TestKill(t *testing.T) {
	t.Parallel()
	kills := suite.Pick(5, 5, 30)
	seed := rand.Uint64()
	chance := rand.New(rand.NewPCG(seed, 1))
	for round := 0; kills > 0; round++ {
		dir := t.TempDir()
		var told []string
		for ended := false; !ended; {
			var lines []string
			lines, ended = runAndKill(t, dir, chance.IntN(25))
			told = append(told, lines...)
			if !ended {
				kills--
			}
		}
		t.Logf("seed %d, round %d: %d lines told", seed, round, len(told))
		checkKilled(t, dir, told)
	}
}

// runAndKill kills a process after it has printed the given number of lines and
// returns the printed lines.
func runAndKill(t *testing.T, dir string, after int) (told []string, ended bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), killedDir+"="+dir)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	for len(told) < after && lines.Scan() {
		told = append(told, lines.Text())
	}
	_ = cmd.Process.Kill() // it may have ended by itself
	for lines.Scan() {
		told = append(told, lines.Text())
	}
	err = cmd.Wait()
	if err != nil && cmd.ProcessState.ExitCode() >= 0 {
		t.Fatalf("the process failed by itself: %v\n%s", err, stderr.String())
	}
	// The process may have finished and been killed while it exited, which takes a second
	// under the race detector: such a run was once taken for an unfinished run.
	ids, err := List(dir)
	_, unfinished, unread := unfinishedIn(dir)
	if err != nil || unread != nil {
		t.Fatal(err, unread)
	}
	return told, len(ids) > 0 && !unfinished
}

func checkKilled(t *testing.T, dir string, told []string) {
	t.Helper()
	ids, err := List(dir)
	if err != nil || len(ids) != 1 {
		t.Fatalf("runs %v, %v", ids, err)
	}
	path := filepath.Join(dir, ids[0])
	if problems := mustVerify(t, path); len(problems) != 0 {
		t.Errorf("verify: %s", problems)
	}
	b, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]check.Verdict{}
	for _, r := range b.Results() {
		got[r.Step] = r.Verdict
	}
	want := map[string]check.Verdict{
		"a": check.Passed, "b": check.Passed, "c": check.Failed, "d": check.Blocked,
		"e": check.NotApplicable, "f": check.Passed, "g": check.Passed,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
	recorded, err := b.Recorded()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Observations(recorded); err != nil {
		t.Errorf("an observation can not be read: %v", err)
	}
	for _, line := range told {
		words := strings.Fields(line)
		switch words[0] {
		case "observed":
			if !slices.Contains(recorded, words[1]) {
				t.Errorf("observation %s is lost", words[1])
			}
		case "verdict":
			if string(got[words[1]]) != words[2] {
				t.Errorf("verdict %s of %s became %s", words[2], words[1], got[words[1]])
			}
		}
	}
	replayed, err := Replay(path, func(*Bundle) (Derived, error) {
		var checks []check.Check
		for _, s := range killedPlan().Steps {
			checks = append(checks, s.Check)
		}
		return Derived{Checks: checks}, nil
	})
	if err != nil || !replayed.Identical() {
		t.Errorf("replay %+v, %v", replayed, err)
	}
	for _, name := range filesOf(t, filepath.Dir(path)) {
		if strings.Contains(name, tempMark) {
			t.Errorf("%s was left behind", name)
		}
	}
}

package main

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/suite"
)

// results are lines of go test -json as go 1.26 prints them.
const results = `{"Action":"start","Package":"github.com/firstlight/firstlight/internal/a"}
{"Action":"run","Package":"github.com/firstlight/firstlight/internal/a","Test":"TestOne"}
{"Action":"output","Package":"github.com/firstlight/firstlight/internal/a","Test":"TestOne","Output":"quiet\n"}
{"Action":"output","Package":"github.com/firstlight/firstlight/internal/a","Test":"TestOne","Output":"x_test.go:3: REPEATED (why)\n"}
{"Action":"pass","Package":"github.com/firstlight/firstlight/internal/a","Test":"TestOne/sub","Elapsed":2.5}
{"Action":"pass","Package":"github.com/firstlight/firstlight/internal/a","Test":"TestOne","Elapsed":3}
{"Action":"output","Package":"github.com/firstlight/firstlight/internal/a","Test":"TestLive","Output":"    y_test.go:9: LIVE: not with -short\n"}
{"Action":"skip","Package":"github.com/firstlight/firstlight/internal/a","Test":"TestLive","Elapsed":0}
{"Action":"skip","Package":"github.com/firstlight/firstlight/internal/a","Test":"TestNightly","Elapsed":0}
{"Action":"output","Package":"github.com/firstlight/firstlight/internal/a","Test":"TestTwo","Output":"the cause of the failure\n"}
{"Action":"fail","Package":"github.com/firstlight/firstlight/internal/a","Test":"TestTwo","Elapsed":1}
{"Action":"fail","Package":"github.com/firstlight/firstlight/internal/a","Elapsed":4.2}
{"ImportPath":"github.com/firstlight/firstlight/internal/b","Action":"build-output","Output":"b.go:3: of the compiler\n"}
`

func recorded(t *testing.T, lines string) (*recorder, string) {
	t.Helper()
	var out strings.Builder
	r := newRecorder(&out, t.TempDir(), false)
	lines = strings.NewReplacer("REPEATED", suite.RepeatedMark, "LIVE", suite.LiveMark).Replace(lines)
	if err := r.read("unit", strings.NewReader(lines)); err != nil {
		t.Fatal(err)
	}
	return r, out.String()
}

func TestRecorder(t *testing.T) {
	t.Parallel()
	r, printed := recorded(t, results)
	if diff := cmp.Diff(map[string][]string{"github.com/firstlight/firstlight/internal/a": {"TestLive"}}, r.liveTests); diff != "" {
		t.Errorf("live tests: %s", diff)
	}
	if got := r.counts(); got != "2 passed, 1 failed, 1 skipped" {
		t.Errorf("counts %q: a live test counts when it runs", got)
	}
	for _, want := range []string{"the cause of the failure", suite.RepeatedMark, "FAIL  internal/a  4.2s", "of the compiler"} {
		if !strings.Contains(printed, want) {
			t.Errorf("%q is not printed:\n%s", want, printed)
		}
	}
	if strings.Contains(printed, "quiet") {
		t.Errorf("output of a test that passed is printed:\n%s", printed)
	}
	longest := r.longest(2)
	if len(longest) != 2 || longest[0].test != "TestOne/sub" || longest[1].test != "TestTwo" {
		t.Errorf("the longest are %+v: TestOne only ran another", longest)
	}
	if err := r.complete([]string{"unit"}); err != nil {
		t.Error(err)
	}
}

// A run without a passed test does not pass.
func TestRunWithoutTestsDoesNotPass(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string]string{
		"nothing":    "",
		"skips only": `{"Action":"skip","Package":"p","Test":"TestX"}` + "\n",
		"no tests":   `{"Action":"pass","Package":"p","Elapsed":0}` + "\n",
	} {
		r, _ := recorded(t, lines)
		if err := r.complete([]string{"unit"}); err == nil {
			t.Errorf("%s: passed", name)
		}
	}
}

// The output of a test that a timeout ended is printed with its package.
func TestOutputOfATimedOutTest(t *testing.T) {
	t.Parallel()
	_, printed := recorded(t, `{"Action":"run","Package":"p","Test":"TestX"}
{"Action":"output","Package":"p","Test":"TestX","Output":"panic: test timed out\n"}
{"Action":"fail","Package":"p","Elapsed":60}
`)
	if !strings.Contains(printed, "timed out") {
		t.Errorf("the timeout is not printed:\n%s", printed)
	}
}

// A run that reaches its limit prints the tests that were running, not those that had ended.
func TestUnfinished(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	r := newRecorder(&out, t.TempDir(), false)
	if err := r.read("live", strings.NewReader(`{"Time":"2026-01-02T10:11:12.5Z","Action":"run","Package":"p","Test":"TestStuck"}
{"Action":"output","Package":"p","Test":"TestStuck","Output":"waiting for a node\n"}
{"Action":"run","Package":"p","Test":"TestEnded"}
{"Action":"pass","Package":"p","Test":"TestEnded"}
{"Action":"run","Package":"q","Test":"TestKilled"}
{"Action":"fail","Package":"q"}
`)); err != nil {
		t.Fatal(err)
	}
	r.unfinished()
	_, got, _ := strings.Cut(out.String(), "\nnot ended:\n")
	if diff := cmp.Diff("  p TestStuck, since 10:11:12\nwaiting for a node\n", got); diff != "" {
		t.Error(diff)
	}
}

// A phase without tests, and a live test that was found and not run, do not pass.
func TestIncompleteRuns(t *testing.T) {
	t.Parallel()
	r, _ := recorded(t, results)
	if err := r.complete([]string{"unit", "e2e"}); err == nil || !strings.Contains(err.Error(), "phase e2e") {
		t.Errorf("a phase without a test: %v", err)
	}
	if err := r.complete([]string{"unit", "live"}); err == nil || !strings.Contains(err.Error(), "TestLive") {
		t.Errorf("a live test that was not run: %v", err)
	}
}

// The CPU time of a package's unit tests was also shown for its live tests.
func TestCPUTimesAreByPhaseAndPackage(t *testing.T) {
	t.Parallel()
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	path, dir := filepath.Join(t.TempDir(), "times"), filepath.Join(wd, "internal/a")
	text := "unit\t" + dir + "\t900\t1500\nunit\t" + dir + "\t10\t500\nlive\t" + dir + "\t20\t700\ntorn\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := readTimes(path)
	want := map[[2]string]time.Duration{{"unit", "internal/a"}: 2 * time.Second, {"live", "internal/a"}: 700 * time.Millisecond}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}

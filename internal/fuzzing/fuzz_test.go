package fuzzing

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const fuzzed = "./internal/fuzzing/testdata/fuzzed"

// A target that passes is counted, one that fails fails the run, and a resumed run has only the
// target that has not passed.
func TestRun(t *testing.T) {
	if _, err := os.Stat("/proc"); err != nil {
		t.Skip("the fuzzer's processes are ended by their group: Linux only")
	}
	dir := t.TempDir()
	o := Options{
		Root: root(t), Patterns: []string{fuzzed}, Effort: Effort{Executions: 2000}, Minimize: time.Second,
		Cache: filepath.Join(dir, "inputs"), Results: Results(filepath.Join(dir, "results")),
	}
	run := func(resume bool) string {
		t.Helper()
		var out bytes.Buffer
		o.Out, o.Resume = &out, resume
		err := Run(t.Context(), o)
		if err == nil || !strings.Contains(err.Error(), "testdata/fuzzed FuzzFails failed") || strings.Contains(err.Error(), "FuzzPasses") {
			t.Fatalf("error %v, want that FuzzFails failed; output:\n%s", err, &out)
		}
		if !strings.Contains(out.String(), "the seed is refused") || !strings.Contains(out.String(), " 1/2 ") || !strings.Contains(out.String(), " 2/2 ") {
			t.Errorf("output:\n%s\nwant two targets and the reason of the failure", &out)
		}
		return out.String()
	}
	const again = "earlier run of the same binary"
	if out := run(true); !strings.Contains(out, "FuzzPasses: 2") || strings.Contains(out, again) {
		t.Errorf("first run:\n%s", out)
	}
	if out := run(true); strings.Count(out, again) != 1 {
		t.Errorf("resumed run:\n%s\nwant one target of the earlier run", out)
	}
	if out := run(false); strings.Contains(out, again) {
		t.Errorf("run without -resume:\n%s", out)
	}
	o.Effort.Executions = 4000
	if out := run(true); strings.Contains(out, again) {
		t.Errorf("resumed with more executions:\n%s", out)
	}
}

func TestRunIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped by the user")
	o := Options{Root: root(t), Patterns: []string{fuzzed}, Effort: Effort{Time: time.Hour}, Minimize: time.Second, Cache: t.TempDir(), Results: Results(t.TempDir())}
	o.Out = writer(func(p []byte) (int, error) {
		if bytes.Contains(p, []byte("1/2")) {
			cancel(stopped)
		}
		return len(p), nil
	})
	if err := Run(ctx, o); !errors.Is(err, stopped) || !strings.Contains(err.Error(), "interrupted after 0 of 2 targets") {
		t.Errorf("error %v", err)
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// A package that does not compile is an error of the run; "go test -list" printed it to a
// discarded stream, and its targets were not run.
func TestPackageIsNotBuilt(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"go.mod":                              "module github.com/firstlight/firstlight\n\ngo 1.26\n",
		"a/a_test.go":                         "package a\n\nimport \"testing\"\n\nfunc FuzzA(f *testing.F) { undefined() }\n",
		"internal/fuzzing/instrument/main.go": read(t, "instrument/main.go"),
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	err := Run(t.Context(), Options{Root: dir, Patterns: []string{"./a"}, Effort: Effort{Executions: 1}, Out: &out})
	if err == nil || !strings.Contains(err.Error(), "firstlight/a was not built; not run: FuzzA") || !strings.Contains(out.String(), "undefined: undefined") {
		t.Errorf("error %v, output:\n%s", err, &out)
	}
	if _, err := Packages(t.Context(), dir, []string{"./internal/..."}); err == nil || !strings.Contains(err.Error(), "no fuzz target in ./internal/...") {
		t.Errorf("packages without targets: %v", err)
	}
}

func TestParseEffort(t *testing.T) {
	for in, want := range map[string]Effort{"10000000x": {Executions: 10_000_000}, "1m30s": {Time: 90 * time.Second}} {
		if got, err := ParseEffort(in); err != nil || got != want || got.String() != in {
			t.Errorf("%s: %+v, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "x", "0x", "-1x", "0s", "-1s", "10", "1.5x"} {
		if got, err := ParseEffort(in); err == nil || !strings.Contains(err.Error(), "must be a positive duration or a number of executions") {
			t.Errorf("%q: %+v, %v", in, got, err)
		}
	}
}

// The lines are those of Go 1.26's fuzzer.
func TestCounts(t *testing.T) {
	const ended = "fuzz: elapsed: 0s, gathering baseline coverage: 2/2 completed, now fuzzing with 2 workers\n" +
		"fuzz: elapsed: 3s, execs: 165299 (55098/sec), new interesting: 10 (total: 12)\n" +
		"fuzz: elapsed: 10s, execs: 784266 (86130/sec), new interesting: 15 (total: 17)\nPASS\n"
	var r Result
	if err := r.counts(ended); err != nil || r.Executions != 784266 || r.Interesting != 15 {
		t.Errorf("%+v, %v", r, err)
	}
	if err := (&Result{}).counts("PASS\n"); err == nil {
		t.Error("an output without executions is accepted")
	}
	for _, c := range []struct {
		effort Effort
		ran    int
		fails  bool
	}{{Effort{Executions: 10}, 10, false}, {Effort{Executions: 10}, 9, true}, {Effort{Time: time.Second}, 1, false}, {Effort{Time: time.Second}, 0, true}} {
		if err := c.effort.check(Result{Executions: c.ran}); (err != nil) != c.fails {
			t.Errorf("%s, %d executions: %v", c.effort, c.ran, err)
		}
	}
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func read(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

package mutants_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/mutants"
	"github.com/firstlight/firstlight/internal/poll/polltest"
)

// tiny measures testdata/tiny, a judge whose tests are known to be weak in one place.
func tiny(t *testing.T, change func(*mutants.Options)) ([]mutants.Package, error) {
	t.Helper()
	o := options("testdata/tiny")
	change(&o)
	return mutants.Run(t.Context(), o)
}

func options(root string) mutants.Options {
	o := mutants.Options{
		Root:    root,
		Targets: mutants.Targets{Targets: []mutants.Target{{Package: "./", Why: "the test's"}}},
		Jobs:    2, Progress: io.Discard,
	}
	o.Targets.Limit.Times, o.Targets.Limit.Least = 10, 10*time.Second
	return o
}

// notKilled are the mutants of a package that tests did not kill, without their lines.
func notKilled(p mutants.Package) []string {
	var out []string
	for _, r := range p.Results {
		if r.Outcome == mutants.Survived || r.Outcome == mutants.Unreached {
			out = append(out, r.Func+" "+string(r.Operator)+" "+r.Snippet+": "+string(r.Outcome))
		}
	}
	slices.Sort(out)
	return out
}

// unheld are the mutants of the function that no test calls.
var unheld = []string{
	"Unheld compare a < 0: not reached", "Unheld compare a < 0: not reached", "Unheld compare a == 1: not reached",
	"Unheld constant a < 0: not reached", "Unheld constant a == 1: not reached", "Unheld drop-statement a = -a: not reached",
	"Unheld if-false a < 0: not reached", "Unheld if-true a < 0: not reached", "Unheld zero-function Unheld: not reached",
}

// The tests check the limit itself only with the option: without it the survivor is named,
// with it the mutant is killed.
func TestTheScoreOfAKnownJudge(t *testing.T) {
	for name, tt := range map[string]struct {
		env   string
		alive []string
	}{
		"the limit is not held": {"", []string{"Judge compare f > limit: survived"}},
		"the limit is held":     {"1", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TINY_LIMIT", tt.env)
			packages, err := tiny(t, func(*mutants.Options) {})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(slices.Concat(tt.alive, unheld), notKilled(packages[0])); diff != "" {
				t.Error(diff)
			}
			s := mutants.Total(packages)
			if want := (mutants.Score{Run: s.Run, Killed: s.Run - len(unheld) - len(tt.alive), Unreached: len(unheld)}); s != want || s.Killed < 10 {
				t.Errorf("score %+v, want %+v", s, want)
			}
			for _, r := range packages[0].Results {
				if r.Func == "describe" || strings.Contains(r.Snippet, "Message") && r.Operator == mutants.Constant {
					t.Errorf("a mutant of a text counts: %s", r)
				}
			}
		})
	}
}

// copyOfTiny is testdata/tiny with one more test, which is only run with a mutant.
func copyOfTiny(t *testing.T, body string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/tiny")); err != nil {
		t.Fatal(err)
	}
	text := "package tiny\n\nimport (\n\t\"os\"\n\t\"syscall\"\n\t\"testing\"\n)\n\n" +
		"func TestMain(m *testing.M) {\n\tif v := os.Getenv(\"FIRSTLIGHT_MUTANT\"); v != \"\" {\n" + body + "\n\t}\n\tos.Exit(m.Run())\n}\n\nvar _ = syscall.Kill\n"
	if err := os.WriteFile(dir+"/main_test.go", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A run that was interrupted counted its mutants as killed: they were ended like those that
// exceed their time.
func TestAnInterruptedMutantIsNotKilled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	mark := filepath.Join(t.TempDir(), "begun")
	dir := copyOfTiny(t, "os.WriteFile("+strconv.Quote(mark)+", nil, 0o600)\nfor {\nsyscall.Pause()\n}")
	done := make(chan error, 1)
	var packages []mutants.Package
	go func() {
		var err error
		packages, err = mutants.Run(ctx, options(dir))
		done <- err
	}()
	polltest.Until(t, "a mutant to be run", func() bool { _, err := os.Stat(mark); return err == nil })
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "without a mutant") {
		t.Errorf("%v", err)
	}
	if s := mutants.Total(packages); s != (mutants.Score{}) {
		t.Errorf("score %+v", s)
	}
}

// A test that the kernel ended for its memory counted as one that noticed the mutant.
func TestAMutantEndedByASignalIsNotKilled(t *testing.T) {
	packages, err := mutants.Run(t.Context(), options(copyOfTiny(t, "syscall.Kill(os.Getpid(), syscall.SIGKILL)")))
	if err != nil {
		t.Fatal(err)
	}
	if s := mutants.Total(packages); s.Run == 0 || s.Killed != 0 {
		t.Errorf("score %+v", s)
	}
	var text bytes.Buffer
	mutants.Report{Packages: packages}.Text(&text)
	if !strings.Contains(text.String(), "(ended by a signal)") {
		t.Errorf("%s", text.String())
	}
}

// Tests that fail without a mutant measure nothing.
func TestAFailingTestIsNotMeasured(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/tiny")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/fail_test.go", []byte("package tiny\n\nimport \"testing\"\n\nfunc TestFails(t *testing.T) { t.Fatal(\"always\") }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := tiny(t, func(o *mutants.Options) { o.Root = dir })
	if err == nil || !strings.Contains(err.Error(), "the tests fail without a mutant") {
		t.Errorf("%v", err)
	}
}

// A judge whose tests are in another package was not measured at all: there is no test binary to run.
func TestATargetWithoutTestFilesOfItsOwn(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/tiny")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(dir + "/tiny_test.go"); err != nil {
		t.Fatal(err)
	}
	if _, err := mutants.Run(t.Context(), options(dir)); err == nil || !strings.Contains(err.Error(), "no test files in ./") {
		t.Errorf("nothing tests it: %v", err)
	}
	const text = "package rules\n\nimport (\n\t\"testing\"\n\n\t\"example.com/tiny\"\n)\n\n" +
		"func TestRule(t *testing.T) {\n\tif _, ok := tiny.Judge(10, 11); ok {\n\t\tt.Error(\"passed\")\n\t}\n}\n"
	if err := os.Mkdir(dir+"/rules", 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/rules/rules_test.go", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o := options(dir)
	o.Targets.Targets[0].Tests = []string{"./rules"}
	packages, err := mutants.Run(t.Context(), o)
	if s := mutants.Total(packages); err != nil || s.Killed == 0 {
		t.Errorf("score %+v, %v", s, err)
	}
}

func TestEquivalents(t *testing.T) {
	limit := mutants.Equivalent{File: "tiny.go", Func: "Judge", Operator: mutants.Compare, Snippet: "f > limit", Why: "the test's"}
	killed, gone := limit, limit
	killed.Operator = mutants.IfFalse
	gone.Snippet = "f > bound"
	for name, tt := range map[string]struct {
		row    mutants.Equivalent
		saying string
		count  int
	}{
		"a mutant that is killed": {killed, "equivalent.yaml has a mutant that TestJudge kills", 1},
		"a mutant that is gone":   {gone, "no such mutant: tiny.go Judge compare: f > bound", 0},
	} {
		t.Run(name, func(t *testing.T) {
			packages, err := tiny(t, func(o *mutants.Options) { o.Equivalent = []mutants.Equivalent{tt.row} })
			if err == nil || !strings.Contains(err.Error(), tt.saying) {
				t.Errorf("%v, want %q", err, tt.saying)
			}
			if n := mutants.Total(packages).Equivalent; n != tt.count {
				t.Errorf("%d equivalent, want %d", n, tt.count)
			}
		})
	}
}

func TestAPatternOfATargetMatchesAFile(t *testing.T) {
	_, err := tiny(t, func(o *mutants.Options) { o.Targets.Targets[0].Files = []string{"tiny.go", "renamed.go"} })
	if err == nil || !strings.Contains(err.Error(), `renamed.go`) {
		t.Errorf("%v, want the pattern without a file", err)
	}
}

// One file of a package is measured alone; rows of equivalent.yaml of its other files are not missed.
func TestOneFileOfATarget(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/tiny")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/other.go", []byte("package tiny\n\nfunc Other(a int) bool { return a > 1 }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := options(dir)
	o.Equivalent = []mutants.Equivalent{{File: "other.go", Func: "Other", Operator: mutants.Constant, Snippet: "gone", Why: "the test's"}}
	o.Packages = []string{"./tiny.go"}
	packages, err := mutants.Run(t.Context(), o)
	if err != nil || len(packages) != 1 || packages[0].Score().Run == 0 {
		t.Fatalf("%+v, %v", packages, err)
	}
	for _, r := range packages[0].Results {
		if r.File != "tiny.go" {
			t.Errorf("a mutant of %s", r.File)
		}
	}
	for _, name := range []string{"./gone.txt", "./tiny_test.go", "other/tiny.go"} {
		o.Packages = []string{name}
		o.Targets.Targets[0].Files = []string{"tiny.go"}
		if _, err := mutants.Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "unknown package or file") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestASampleIsThatOfItsSeed(t *testing.T) {
	sample := func(seed uint64) []string {
		packages, err := tiny(t, func(o *mutants.Options) { o.Seed, o.Sample = seed, 6 })
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, r := range packages[0].Results {
			out = append(out, r.String())
		}
		return out
	}
	one := sample(1)
	if diff := cmp.Diff(one, sample(1)); diff != "" || len(one) != 6 {
		t.Errorf("the same seed, %d mutants: %s", len(one), diff)
	}
	if cmp.Equal(one, sample(2)) {
		t.Error("another seed has the same sample")
	}
}

func TestTheReportNamesSurvivors(t *testing.T) {
	r := mutants.Report{Seed: 7, Sample: 2, Threshold: 0.95, Packages: []mutants.Package{{Package: "./a", Mutants: 3, Results: []mutants.Result{
		{Mutant: mutants.Mutant{Package: "a", File: "a.go", Line: 4, Func: "F", Operator: mutants.IfTrue, Snippet: "x"}, Outcome: mutants.Survived},
		{Mutant: mutants.Mutant{Package: "a", File: "a.go", Line: 5, Func: "F", Operator: mutants.IfTrue, Snippet: "y"}, Outcome: mutants.TimedOut},
		{Mutant: mutants.Mutant{Package: "a", File: "a.go", Line: 6, Func: "F", Operator: mutants.IfTrue, Snippet: "z"}, Outcome: mutants.Survived, Equivalent: "z is true"},
	}}}}
	r.Score = mutants.Total(r.Packages)
	var text, data bytes.Buffer
	r.Text(&text)
	if err := r.JSON(&data); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"a/a.go:4 F if-true: x (survived)", "seed 7, sample 2: 1 of 2 mutants killed, 50.0 %, at least 95 % demanded"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in %s", want, text.String())
		}
	}
	if strings.Contains(text.String(), ": z") || !strings.Contains(data.String(), `"equivalent": "z is true"`) {
		t.Errorf("the equivalent one: %s %s", text.String(), data.String())
	}
}

func TestTheDataFilesAreRead(t *testing.T) {
	targets, err := mutants.ReadTargets("targets.yaml")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := mutants.ReadEquivalent("equivalent.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range targets.Targets {
		if _, err := os.Stat("../../" + target.Package); err != nil {
			t.Error(err)
		}
		for _, pattern := range slices.Concat(target.Files, target.Except) {
			if files, err := filepath.Glob("../../" + target.Package + "/" + pattern); err != nil || len(files) == 0 {
				t.Errorf("%s: no file %s (%v)", target.Package, pattern, err)
			}
		}
	}
	for _, row := range rows {
		if _, err := os.Stat("../../" + row.File); err != nil {
			t.Error(err)
		}
	}
	for name, text := range map[string]string{
		"a share above one": "{threshold: 1.5, sample: 3, limit: {times: 2, least: 1s}, targets: [{package: ./a, why: b}]}",
		"no reason":         "{threshold: 0.9, sample: 3, limit: {times: 2, least: 1s}, targets: [{package: ./a}]}",
		"an unknown key":    "{treshold: 0.9}",
		"nothing":           "",
	} {
		file := t.TempDir() + "/targets.yaml"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := mutants.ReadTargets(file); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

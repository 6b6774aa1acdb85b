package accept

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/redact"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/site"
)

var errGone = errors.New("gone")

// runsIn are the runs of an evidence directory.
func runsIn(t *testing.T, dir string) []string {
	t.Helper()
	ids, err := evidence.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

// A plan that cannot be built, and --from without a run to keep verdicts of, end the execution: no run is
// resumed and none is created.
func TestNoRunIsCreatedAfterAnError(t *testing.T) {
	t.Parallel()
	gates := []string{"a", "b"}
	broken := func(o *Options) { o.Playbook = func(PlanContext) (plan.Plan, error) { return plan.Plan{}, errGone } }
	twice := func(o *Options) { o.Playbook = planOf("a", "b", "b") }
	const id = "ID"
	for name, tt := range map[string]struct {
		stored bool // an unfinished run exists
		change func(*Options)
		gone   bool // the error is that of the plan
		says   string
	}{
		"no plan":                     {false, broken, true, "gone"},
		"no plan for --from":          {false, func(o *Options) { broken(o); o.From = "b" }, true, "gone"},
		"no plan, a run by name":      {true, func(o *Options) { broken(o); o.Resume = id }, true, "gone"},
		"no plan, the latest run":     {true, func(o *Options) { broken(o); o.Resume = "latest" }, true, "gone"},
		"a check twice, run by name":  {true, func(o *Options) { twice(o); o.Resume = id }, false, `two steps are named "b"`},
		"a check twice for --from":    {false, func(o *Options) { twice(o); o.From = "b" }, false, `two steps are named "b"`},
		"--from without a run before": {false, func(o *Options) { o.From = "b" }, false, "--from b keeps the verdicts of an earlier run"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if tt.stored {
				store(t, dir, stored{age: time.Hour, gates: gates, verdicts: []string{"a"}, open: true})
			}
			before := runsIn(t, dir)
			x, _ := executionOn(t, dir, gates, tt.change)
			if x.opts.Resume == id {
				x.opts.Resume = before[0]
			}
			err := x.open(t.Context())
			if err == nil || errors.Is(err, errGone) != tt.gone || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%v, want %q", err, tt.says)
			}
			if after := runsIn(t, dir); !slices.Equal(after, before) || x.run != nil {
				t.Errorf("runs %q, before %q", after, before)
			}
		})
	}
}

// A file whose secrets cannot be redacted is invalid input, for a new run and for a resumed one. Regression: a
// soak repeated it until its end.
func TestAFileThatCannotBeRedactedIsInvalidInput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	gates := []string{"a", "b"}
	scalar := []byte("command: [a, --password=hunter2X\n  more, b]\n")
	if _, err := redact.YAML(scalar); !errors.Is(err, redact.ErrStructure) {
		t.Fatalf("it can be redacted: %v", err)
	}
	path := store(t, dir, stored{age: time.Hour, gates: gates, verdicts: []string{"a"}, open: true})
	x, _ := executionOn(t, dir, gates, func(o *Options) { o.SiteFile, o.RecipeFile = scalar, scalar })
	for name, err := range map[string]error{"a new run": x.create(t.Context()), "a resumed run": x.reopen(path)} {
		input, refused := errors.AsType[*InputError](err)
		if !refused || !strings.Contains(input.Reason, "put quotes around the values") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A run in which something cannot be read is neither compared nor resumed, and the error is not a
// difference: it says what cannot be read.
func TestARunThatCannotBeRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	x, _ := executionOn(t, dir, []string{"a"}, func(o *Options) { o.Namespace = "n" })
	missing := filepath.Join(dir, "20261122-010203-abcd")
	for name, err := range map[string]error{
		"one gate":  x.whole(missing),
		"resumable": x.resumable(t.Context(), missing),
	} {
		if err == nil || !strings.Contains(err.Error(), "load the run in "+missing) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := x.leftBy(missing); got != (leftRun{"20261122-010203-abcd", "n"}) {
		t.Errorf("the namespace is not that of the options: %+v", got)
	}
	path := store(t, dir, stored{age: time.Hour, gates: []string{"a"}, open: true, header: evidence.Header{Namespace: "m"}})
	if got := x.leftBy(path); got != (leftRun{filepath.Base(path), "m"}) {
		t.Errorf("the namespace is not that of the run: %+v", got)
	}

	b, err := evidence.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	order := []plan.Step{{Check: look("a")}}
	if err := x.compare(t.Context(), b, []string{"a"}, order); err != nil {
		t.Fatalf("the healthy run: %v", err)
	}
	for name, tt := range map[string]struct {
		change func(x *execution, b *evidence.Bundle)
		says   string
	}{
		"its profile":          {func(_ *execution, b *evidence.Bundle) { b.Profile = []byte("{") }, "profile of run " + b.Header.Run},
		"its site":             {func(_ *execution, b *evidence.Bundle) { b.Site = []byte("{") }, "site of run " + b.Header.Run},
		"a profile of a group": {func(_ *execution, b *evidence.Bundle) { b.Inputs = map[string][]byte{"profile-new.yaml": []byte("{")} }, "profile-new.yaml of run " + b.Header.Run},
		"the profile of today": {func(x *execution, _ *evidence.Bundle) {
			p := *x.opts.Profile
			p.Collective.MinFraction.Value = math.NaN()
			x.opts.Profile = &p
		}, "encode the profile to compare it"},
	} {
		now, run := &execution{opts: x.opts, limits: x.limits}, *b
		tt.change(now, &run)
		err := now.compare(t.Context(), &run, []string{"a"}, order)
		if _, refused := errors.AsType[*InputError](err); err == nil || refused || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Verdicts about a RayCluster are not kept if the observation that identifies it cannot be read.
func TestARayClusterThatIsUnknownThen(t *testing.T) {
	t.Parallel()
	merged, err := site.Over(site.Example(), "ray.yaml", site.RayExample())
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := site.Parse("site.yaml", merged)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	o := options(t, dir, planOf("gpustack"))
	o.Site, o.SiteFile, o.Clock = parsed, merged, at(day)
	p, err := o.Playbook(PlanContext{})
	if err != nil {
		t.Fatal(err)
	}
	run, err := evidence.Create(dir, evidence.Start{
		Header: evidence.Header{Site: o.Site.Name, Profile: o.Profile.Name, Cluster: "one", Simulated: evidence.HardwareReal}, Plan: p, Site: merged, Profile: o.ProfileFile,
	}, evidence.Options{Clock: at(day.Add(-time.Hour))})
	if err != nil {
		t.Fatal(err)
	}
	seen, err := run.Record(1, check.Observation{Check: "gpustack", Kind: "raycluster", Target: "ray/ray", Figures: json.RawMessage(`{"uid":7}`)})
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Conclude(plan.Result{Step: "gpustack", At: day.Add(-time.Hour), Attempt: 1, Observations: []string{seen.ID}, Judgement: check.Judgement{Verdict: check.Passed, Reason: "seen"}}); err != nil {
		t.Fatal(err)
	}
	if err := run.Close(); err != nil {
		t.Fatal(err)
	}
	x, err := newExecution(o)
	if err != nil {
		t.Fatal(err)
	}
	err = x.resumable(t.Context(), filepath.Join(dir, run.ID()))
	if _, refused := errors.AsType[*InputError](err); err == nil || refused || !strings.Contains(err.Error(), "compare the RayCluster with that of run "+run.ID()) {
		t.Errorf("%v", err)
	}
}

// Verdicts are kept of a run that can be read and was not changed, and of a directory that can be listed.
func TestVerdictsOfADamagedRunAreNotKept(t *testing.T) {
	t.Parallel()
	gates := []string{"a", "b"}
	whole := stored{age: time.Hour, gates: gates, verdicts: gates}
	from := func(o *Options) { o.From = "b" }

	t.Run("a newer run without its plan", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		old := store(t, dir, whole)
		newer := whole
		newer.age = time.Minute
		if err := os.Remove(filepath.Join(store(t, dir, newer), "plan.json")); err != nil {
			t.Fatal(err)
		}
		x, notes := executionOn(t, dir, gates, from)
		if err := x.open(t.Context()); err != nil || x.earlier["a"].KeptFrom != filepath.Base(old) || len(*notes) > 0 {
			t.Errorf("%v %+v %q", err, x.earlier, *notes)
		}
	})
	t.Run("a changed run", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		path := filepath.Join(store(t, dir, whole), "site.yaml")
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append(data, "# changed\n"...), 0o600); err != nil {
			t.Fatal(err)
		}
		x, _ := executionOn(t, dir, gates, from)
		err = x.open(t.Context())
		if _, tampered := errors.AsType[*evidence.TamperedError](err); !tampered || len(x.earlier) > 0 {
			t.Errorf("%v, kept %+v", err, x.earlier)
		}
	})
	for name, tt := range map[string]struct {
		make func(dir string) error
		says string
	}{
		"a file":              {func(dir string) error { return os.WriteFile(dir, nil, 0o600) }, "list runs: "},
		"a directory as list": {func(dir string) error { return os.MkdirAll(filepath.Join(dir, ".begun"), 0o700) }, "list the runs created in "},
	} {
		dir := filepath.Join(t.TempDir(), "evidence")
		if err := tt.make(dir); err != nil {
			t.Fatal(err)
		}
		for _, resume := range []string{"", "latest"} {
			x, _ := executionOn(t, dir, gates, func(o *Options) { o.Resume = resume })
			if path, err := x.toResume(t.Context()); err == nil || path != "" || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%s, --resume %q: %q %v", name, resume, path, err)
			}
		}
		x, _ := executionOn(t, dir, gates, from)
		p, err := x.opts.Playbook(PlanContext{})
		if err != nil {
			t.Fatal(err)
		}
		b, keep, err := x.before(t.Context(), p)
		if _, refused := errors.AsType[*InputError](err); err == nil || refused || b != nil || keep != nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s, --from: %q %v", name, keep, err)
		}
	}
}

// A plan that cannot be ordered has no gates before --from: that is an error, not a run without verdicts to keep.
func TestAPlanThatCannotBeOrdered(t *testing.T) {
	t.Parallel()
	x, _ := executionOn(t, t.TempDir(), []string{"a", "b", "b"}, func(o *Options) { o.From = "b" })
	p, err := x.opts.Playbook(PlanContext{})
	if err != nil {
		t.Fatal(err)
	}
	if b, keep, err := x.before(t.Context(), p); !errors.Is(err, plan.ErrInvalid) || b != nil || keep != nil {
		t.Errorf("%+v, %q, %v", b, keep, err)
	}
}

// A new run begins only after it is known that the process of the unfinished run has ended, and not after the user
// ended the execution.
func TestNoRunBeginsNextToALiveOne(t *testing.T) {
	t.Parallel()
	dir, c := t.TempDir(), sharedCluster()
	id := held(t, dir, c, kube.RunLease{Holder: "there/12/34/abcdef/00", Renewed: time.Now(), Duration: time.Minute})
	o := holding(t, dir, c, nil)
	o.Fresh = true
	x, err := newExecution(o)
	if err != nil {
		t.Fatal(err)
	}
	path, err := x.toResume(t.Context())
	if _, refused := errors.AsType[*InputError](err); !refused || path != "" || !strings.Contains(err.Error(), "run "+id+" is live") || len(x.killed) > 0 {
		t.Errorf("%q, %v, %+v", path, err, x.killed)
	}

	dir = t.TempDir()
	store(t, dir, stored{age: time.Hour, gates: []string{"a"}, open: true})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	x, _ = executionOn(t, dir, []string{"a"}, func(o *Options) { o.Fresh = true })
	if path, err := x.toResume(ended); path != "" || !errors.Is(err, context.Canceled) {
		t.Errorf("after the execution ended: %q, %v", path, err)
	}
}

// A run without a namespace of its own choice is resumed in that of its header.
func TestANamespaceThatIsNotAskedForIsNotCompared(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := store(t, dir, stored{age: time.Hour, gates: []string{"a"}, open: true, header: evidence.Header{Namespace: "n"}})
	x, _ := executionOn(t, dir, []string{"a"}, nil)
	if got, err := x.toResume(t.Context()); got != path || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

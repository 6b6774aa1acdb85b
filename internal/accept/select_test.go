package accept

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// look is a check that sees one thing and passes.
type look string

func (l look) Name() string { return string(l) }

func (l look) Observe(_ context.Context, rec check.Recorder) error {
	_, err := rec.Record(check.Observation{Kind: "look", Target: string(l)})
	return err
}

func (l look) Judge([]check.Observation) check.Judgement { return check.Pass("seen") }

// planOf is a plan of gates, and of what is included.
func planOf(gates ...string) func(PlanContext) (plan.Plan, error) {
	return func(c PlanContext) (plan.Plan, error) {
		p := plan.Plan{Name: fmt.Sprint(gates)}
		for _, name := range append(slices.Clone(gates), c.Include...) {
			p.Steps = append(p.Steps, plan.Step{Check: look(name)})
		}
		return p, nil
	}
}

func options(t *testing.T, dir string, playbook func(PlanContext) (plan.Plan, error)) Options {
	t.Helper()
	s, err := site.Parse("example", site.Example())
	if err != nil {
		t.Fatal(err)
	}
	raw, err := profile.Raw(s.Profile)
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.Load(s.Profile)
	if err != nil {
		t.Fatal(err)
	}
	return Options{
		Site: s, Profile: p, SiteFile: site.Example(), ProfileFile: raw, EvidenceDir: dir, Playbook: playbook,
		Cluster: clusterOf("one", false), Keep: true,
	}
}

// unfinished leaves a run that was begun and not concluded.
func unfinished(t *testing.T, dir string, playbook func(PlanContext) (plan.Plan, error), include ...string) string {
	t.Helper()
	o := options(t, dir, playbook)
	p, err := playbook(PlanContext{Include: include})
	if err != nil {
		t.Fatal(err)
	}
	run, err := evidence.Create(dir, evidence.Start{
		Header: evidence.Header{Site: o.Site.Name, Profile: o.Profile.Name, Include: include, Cluster: "one", Simulated: evidence.HardwareReal}, Plan: p, Site: o.SiteFile, Profile: o.ProfileFile,
	}, evidence.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Close(); err != nil {
		t.Fatal(err)
	}
	return run.ID()
}

func gatesOf(r Report) string {
	var names []string
	for _, g := range r.Gates {
		names = append(names, g.Gate)
	}
	return strings.Join(names, " ")
}

func TestAResumedRunKeepsWhatItIncludes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	id := unfinished(t, dir, planOf("a", "b"), "chain")
	r, err := Run(t.Context(), options(t, dir, planOf("a", "b")))
	if r.Run != id || gatesOf(r) != "a b chain" {
		t.Errorf("run %s has gates %q: %v; want %s to be resumed with its included gates", r.Run, gatesOf(r), err, id)
	}
	if b, err := evidence.Load(filepath.Join(dir, id)); err != nil || !slices.Equal(b.Header.Include, []string{"chain"}) {
		t.Errorf("the header includes %v, %v", b.Header.Include, err)
	}
}

func TestARunOfOtherChecksIsNotResumed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		was     func(PlanContext) (plan.Plan, error)
		include []string
	}{
		"of the chain alone":                {was: planOf("chain")},
		"without an included gate":          {was: planOf("a", "b"), include: []string{"chain"}},
		"of fewer gates than there are now": {was: planOf("a")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			id := unfinished(t, dir, tt.was)
			o := options(t, dir, planOf("a", "b"))
			o.Include = tt.include
			var notes []string
			o.Note = func(text string) { notes = append(notes, text) }
			r, _ := Run(t.Context(), o)
			if r.Run == id || !strings.HasPrefix(gatesOf(r), "a b") {
				t.Errorf("run %s has gates %q", r.Run, gatesOf(r))
			}
			if !strings.Contains(strings.Join(notes, "\n"), id+" is unfinished, but not resumed") {
				t.Errorf("it is not said: %v", notes)
			}
			o.Resume = id
			if _, err := Run(t.Context(), o); err == nil {
				t.Error("it is resumed when asked for")
			} else if _, ok := errors.AsType[*InputError](err); !ok {
				t.Errorf("refused with %v", err)
			}
		})
	}
}

// A run of the chain has no verdicts of gates to keep.
func TestFromPassesOverARunOfOtherChecks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	gates, err := Run(t.Context(), options(t, dir, planOf("a", "b")))
	if err != nil {
		t.Fatal(err)
	}
	o := options(t, dir, planOf("chain"))
	o.Fresh = true
	if _, err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	o = options(t, dir, planOf("a", "b"))
	o.From = "b"
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Gates[0].KeptFrom != gates.Run {
		t.Errorf("gate a is kept from %q, want %s", r.Gates[0].KeptFrom, gates.Run)
	}
}

// A run with another recipe is not resumed: its verdicts would be about two different
// recipes.
func TestARunOfOtherInputsIsNotResumed(t *testing.T) {
	t.Parallel()
	for name, inputs := range map[string]map[string][]byte{
		"others":   {"validation.json": []byte("two")},
		"more":     {"validation.json": []byte("one"), "x": nil},
		"the same": {"validation.json": []byte("one")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			o := options(t, dir, planOf("a", "b"))
			o.Inputs, o.Until = map[string][]byte{"validation.json": []byte("one")}, "a"
			first, err := Run(t.Context(), o)
			if err != nil || first.Verdict != check.Passed || len(first.Gates) != 1 {
				t.Fatalf("%+v, %v", first, err)
			}
			o.Inputs, o.Until = inputs, ""
			second, err := Run(t.Context(), o)
			if err != nil || len(second.Gates) != 2 || (second.Run == first.Run) != (name == "the same") {
				t.Errorf("%+v, %v", second, err)
			}
		})
	}
}

// Regression: --from kept verdicts of a run of another user that was unpacked into the
// directory.
func TestVerdictsOfACopiedRunAreNotKept(t *testing.T) {
	t.Parallel()
	theirs, dir := t.TempDir(), t.TempDir()
	r, err := Run(t.Context(), options(t, theirs, planOf("a", "b")))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(dir, r.Run), os.DirFS(filepath.Join(theirs, r.Run))); err != nil {
		t.Fatal(err)
	}
	o := options(t, dir, planOf("a", "b"))
	o.From = "b"
	var notes []string
	o.Note = func(text string) { notes = append(notes, text) }
	_, err = Run(t.Context(), o)
	if _, refused := errors.AsType[*InputError](err); !refused || !strings.Contains(strings.Join(notes, "\n"), r.Run+" is kept: it was not created in this directory") {
		t.Errorf("%v, %v", err, notes)
	}
}

// A run that was pulled is resumed where it is named, and not by itself. One of the future is
// not resumed at all.
func TestACopiedRunIsResumedByNameOnly(t *testing.T) {
	t.Parallel()
	theirs, dir := t.TempDir(), t.TempDir()
	id := unfinished(t, theirs, planOf("a", "b"))
	if err := os.CopyFS(filepath.Join(dir, id), os.DirFS(filepath.Join(theirs, id))); err != nil {
		t.Fatal(err)
	}
	o := options(t, dir, planOf("a", "b"))
	o.Resume = "latest"
	if _, err := Run(t.Context(), o); err == nil {
		t.Error("it is the newest run")
	}
	o.Resume, o.Clock = id, func() time.Time { return time.Now().Add(-time.Hour) }
	if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "in the future") {
		t.Errorf("resumed an hour before it was begun: %v", err)
	}
	o.Clock = nil
	r, err := Run(t.Context(), o)
	if err != nil || r.Run != id || r.Verdict != check.Passed {
		t.Errorf("by name: %+v, %v", r, err)
	}
}

// The ID of a new run is known before its first gate; an error ends the run there.
func TestANewRunIsReported(t *testing.T) {
	t.Parallel()
	refused := errors.New("the disk is full")
	for name, want := range map[string]error{"known": nil, "not recorded": refused} {
		o := options(t, t.TempDir(), planOf("a"))
		var created []string
		o.Created = func(run string) error {
			b, err := evidence.Load(filepath.Join(o.EvidenceDir, run))
			if err != nil || len(b.Entries) != 1 {
				t.Errorf("%s: %+v, %v", name, b, err)
			}
			created = append(created, run)
			return want
		}
		r, err := Run(t.Context(), o)
		if !errors.Is(err, want) || len(created) != 1 || want == nil && created[0] != r.Run || want != nil && r.Run != "" {
			t.Errorf("%s: %q, run %q: %v", name, created, r.Run, err)
		}
	}
}

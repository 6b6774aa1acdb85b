package accept

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/redact"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// InputError is a request that can't be carried out as it was made.
type InputError struct{ Reason string }

// Error says why, and what to do.
func (e *InputError) Error() string { return e.Reason }

func refuse(format string, args ...any) error {
	return &InputError{Reason: fmt.Sprintf(format, args...)}
}

// open makes or reopens the run that this walk writes.
func (w *walk) open() error {
	path, err := w.toResume()
	if err != nil {
		return err
	}
	if path != "" {
		return w.reopen(path)
	}
	return w.create()
}

// toResume is the run to go on with; empty for a new one.
func (w *walk) toResume() (string, error) {
	o := w.opts
	switch {
	case o.Resume == "latest":
		path, ok, err := evidence.Unfinished(o.EvidenceDir)
		if err == nil && !ok {
			return "", refuse("there is no unfinished run in %s to resume: start one without --resume", o.EvidenceDir)
		}
		return path, err //nolint:wrapcheck // says what it was doing
	case o.Resume != "":
		path := filepath.Join(o.EvidenceDir, o.Resume)
		if _, err := os.Stat(path); err != nil {
			return "", refuse("there is no run %s in %s", o.Resume, o.EvidenceDir)
		}
		return path, nil
	}
	path, ok, err := evidence.Unfinished(o.EvidenceDir)
	if err != nil || !ok {
		return "", err //nolint:wrapcheck // says what it was doing
	}
	if o.Fresh || o.From != "" || o.Only != "" {
		w.killed = append(w.killed, filepath.Base(path))
		return "", nil
	}
	if err := errors.Join(w.sameDemand(path), w.sameChecks(path)); err != nil {
		w.note("run %s is unfinished, but not resumed: %v", filepath.Base(path), err)
		w.killed = append(w.killed, filepath.Base(path))
		return "", nil
	}
	return path, nil
}

// sameDemand refuses a run whose site demands something else than ours.
func (w *walk) sameDemand(path string) error {
	b, err := evidence.Load(path)
	if err != nil {
		return err //nolint:wrapcheck // says what it was doing
	}
	then, _, err := Used(b)
	if err != nil {
		return err
	}
	was, err := then.Fingerprint()
	if err != nil {
		return err //nolint:wrapcheck // says what it was doing
	}
	is, err := w.opts.Site.Fingerprint()
	if err != nil {
		return err //nolint:wrapcheck // says what it was doing
	}
	if was != is {
		return refuse("site %s demands something else than site %s did in run %s: walk afresh", w.opts.Site.Name, then.Name, b.Header.Run)
	}
	return nil
}

// sameChecks refuses a run of other checks than ours: those that it includes are
// its own, but one that we were told to include must be among them.
func (w *walk) sameChecks(path string) error {
	b, err := evidence.Load(path)
	if err != nil {
		return err //nolint:wrapcheck // says what it was doing
	}
	for _, name := range w.opts.Include {
		if !slices.Contains(b.Header.Include, name) {
			return refuse("run %s does not include %s", b.Header.Run, name)
		}
	}
	if !maps.EqualFunc(w.opts.Inputs, b.Inputs, func(ours, kept []byte) bool { return bytes.Equal(redact.Bytes(ours), kept) }) {
		return refuse("run %s is judged against something else: another recipe, or other demands", b.Header.Run)
	}
	p, err := w.opts.Playbook(Walk{Include: b.Header.Include})
	if err != nil {
		return err
	}
	order, err := p.Order()
	if err != nil {
		return err //nolint:wrapcheck // says what is wrong with the plan
	}
	same := slices.EqualFunc(order, b.Plan.Steps, func(s plan.Step, was evidence.PlanStep) bool { return s.Name() == was.Name })
	if !same {
		return refuse("run %s is of other checks: it was %q", b.Header.Run, b.Plan.Name)
	}
	return nil
}

// Used are the site and the profile that a run was judged against.
func Used(b *evidence.Bundle) (*site.Site, *profile.Profile, error) {
	p, err := profile.Parse("profile of run "+b.Header.Run, b.Profile)
	if err != nil {
		return nil, nil, err //nolint:wrapcheck // names the run
	}
	s, err := site.ParseWith("site of run "+b.Header.Run, b.Site, p)
	if err != nil {
		return nil, nil, err //nolint:wrapcheck // names the run
	}
	return s, p, nil
}

func (w *walk) reopen(path string) error {
	if err := errors.Join(w.sameDemand(path), w.sameChecks(path)); err != nil {
		return err
	}
	run, err := evidence.Open(path, evidence.Options{Clock: w.opts.Clock})
	if errors.Is(err, evidence.ErrFinished) {
		return refuse("run %s is finished: read it with firstlight evidence show %s", filepath.Base(path), path)
	}
	if err != nil {
		return fmt.Errorf("resume run %s: %w", filepath.Base(path), err)
	}
	w.from, w.only, w.include = run.Header().From, run.Header().Only, run.Header().Include
	w.run, w.earlier, w.interrupted, w.resumed = run, run.Results(), run.Interrupted(), true
	w.killed = append(w.killed, run.ID())
	w.note("resuming run %s: %d gates have a verdict (a new run: --fresh)", run.ID(), len(w.earlier))
	return nil
}

func (w *walk) create() error {
	o := w.opts
	p, err := o.Playbook(Walk{Include: o.Include})
	if err != nil {
		return err
	}
	header := evidence.Header{
		Tool: o.Tool, Command: o.Command, Site: o.Site.Name, Profile: o.Profile.Name, Recipe: o.Recipe,
		From: o.From, Only: o.Only, Include: o.Include, Versions: o.Versions,
	}
	var before *evidence.Bundle
	var keep []string
	if o.From != "" {
		if before, keep, err = w.before(p); err != nil {
			return err
		}
	}
	w.run, err = evidence.Create(o.EvidenceDir, evidence.Start{
		Header: header, Plan: p, Site: o.SiteFile, Profile: o.ProfileFile, Recipe: o.RecipeFile, Inputs: o.Inputs,
	}, evidence.Options{Clock: o.Clock})
	if err != nil {
		return fmt.Errorf("start a run in %s: %w", o.EvidenceDir, err)
	}
	if before != nil {
		if w.earlier, err = w.run.Carry(before, keep); err != nil {
			return errors.Join(err, w.run.Close())
		}
	}
	return nil
}

// before finds the run whose verdicts a walk --from a gate keeps, and for which
// gates: the newest finished one of this site that walked the whole playbook.
func (w *walk) before(p plan.Plan) (*evidence.Bundle, []string, error) {
	o := w.opts
	order, err := p.Order()
	if err != nil {
		return nil, nil, err //nolint:wrapcheck // says what is wrong with the plan
	}
	i := slices.IndexFunc(order, func(s plan.Step) bool { return s.Name() == o.From })
	if i <= 0 {
		return nil, nil, nil
	}
	var keep []string
	for _, s := range order[:i] {
		keep = append(keep, s.Name())
	}
	ids, err := evidence.List(o.EvidenceDir)
	if err != nil {
		return nil, nil, err //nolint:wrapcheck // says what it was doing
	}
	for _, id := range slices.Backward(ids) {
		path := filepath.Join(o.EvidenceDir, id)
		b, err := evidence.Load(path)
		if err != nil || !b.Finished || b.Header.Only != "" || !walks(b.Plan, keep) {
			continue // not a run to keep verdicts from
		}
		if err := w.sameDemand(path); err != nil {
			w.note("run %s is passed over: %v", id, err)
			continue
		}
		return b, keep, nil
	}
	return nil, nil, refuse("--from %s keeps the verdicts of an earlier run of this site, and %s has none: walk the whole playbook first, or look at this gate alone with --only %s", o.From, o.EvidenceDir, o.From)
}

// walks says that a plan has all these steps.
func walks(p evidence.PlanFile, steps []string) bool {
	for _, name := range steps {
		if !slices.ContainsFunc(p.Steps, func(s evidence.PlanStep) bool { return s.Name == name }) {
			return false
		}
	}
	return true
}

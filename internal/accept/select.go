package accept

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/redact"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// InputError is an invalid request.
type InputError struct{ Reason string }

// Error returns the reason with the remedy.
func (e *InputError) Error() string { return e.Reason }

func refuse(format string, args ...any) error {
	return &InputError{Reason: fmt.Sprintf(format, args...)}
}

// storing makes the error of a file that cannot be stored without its secrets an InputError: it is the same
// in each repetition of a soak.
func storing(err error) error {
	if errors.Is(err, redact.ErrStructure) {
		return refuse("%v", err)
	}
	return err
}

// open creates or reopens the run of this execution.
func (x *execution) open(ctx context.Context) error {
	path, err := x.toResume(ctx)
	if err != nil {
		return err
	}
	if path != "" {
		return x.reopen(path)
	}
	return x.create(ctx)
}

// toResume is the run to resume; empty for a new run.
func (x *execution) toResume(ctx context.Context) (string, error) {
	o := x.opts
	switch {
	case o.Resume == "latest":
		path, ok, err := x.unfinished()
		if err == nil && !ok {
			return "", refuse("unfinished run not found in %s: start a new run without --resume", o.EvidenceDir)
		}
		if err != nil {
			return "", err
		}
		return path, errors.Join(x.resumable(ctx, path), x.unheld(ctx, x.leftBy(path)))
	case o.Resume != "":
		path := filepath.Join(o.EvidenceDir, o.Resume)
		if _, err := os.Stat(path); err != nil {
			return "", refuse("run %s not found in %s", o.Resume, o.EvidenceDir)
		}
		return path, errors.Join(x.resumable(ctx, path), x.unheld(ctx, x.leftBy(path)))
	}
	path, ok, err := x.unfinished()
	if err != nil || !ok {
		return "", err
	}
	if err := x.unheld(ctx, x.leftBy(path)); err != nil {
		return "", err
	}
	if !o.Fresh && o.From == "" && o.Only == "" {
		err := errors.Join(x.whole(path), x.resumable(ctx, path))
		if err == nil {
			return path, nil
		}
		x.note("run %s is unfinished, but not resumed: %v", filepath.Base(path), err)
	}
	x.left(x.leftBy(path))
	return "", ctx.Err()
}

// unfinished is the newest run of the evidence directory, if it was killed.
func (x *execution) unfinished() (path string, ok bool, err error) {
	left, err := evidence.Unfinished(x.opts.EvidenceDir, x.now())
	for _, reason := range left.PassedOver {
		x.note("%s", reason)
	}
	return left.Path, left.Path != "", err
}

// leftBy is the namespace of a run's objects.
func (x *execution) leftBy(path string) leftRun {
	k := leftRun{id: filepath.Base(path), namespace: x.opts.Namespace}
	if b, err := evidence.Load(path); err == nil {
		k.namespace = b.Header.Namespace
	}
	return k
}

// left adds a killed run whose objects are removed. Without a cluster it has none.
func (x *execution) left(k leftRun) {
	if x.opts.Cluster != nil {
		x.killed = append(x.killed, k)
	}
	if x.opts.Slurm != nil {
		x.leftJobs = append(x.leftJobs, k.id)
	}
}

// whole refuses a run of one check alone, which is not resumed without its name.
func (x *execution) whole(path string) error {
	b, err := evidence.Load(path)
	if err != nil {
		return err
	}
	if b.Header.Only != "" {
		return refuse("run %s is of %s alone: resume it with --resume %s", b.Header.Run, b.Header.Only, b.Header.Run)
	}
	return nil
}

// resumable refuses a run whose verdicts are not valid for these options. The run keeps its own
// included checks, which must have those of the options.
func (x *execution) resumable(ctx context.Context, path string) error {
	b, err := evidence.Load(path)
	if err != nil {
		return err
	}
	if b.Header.Run != filepath.Base(path) {
		return refuse("%s has run.json of run %s", path, b.Header.Run)
	}
	if evidence.Ahead(b.Header.Run, x.now()) {
		return refuse("run %s is of a time in the future", b.Header.Run)
	}
	if b.Finished {
		return refuse("run %s is finished: read it with firstlight evidence show %s", b.Header.Run, path)
	}
	if n := x.opts.Namespace; n != "" && n != b.Header.Namespace {
		return refuse("run %s is not of namespace %s: resume it without --namespace", b.Header.Run, n)
	}
	include := slices.Clone(b.Header.Include)
	for _, name := range x.opts.Include {
		if !slices.Contains(include, name) {
			include = append(include, name)
		}
	}
	p, err := x.opts.Playbook(PlanContext{Include: include})
	if err != nil {
		return err
	}
	order, err := p.Order()
	if err != nil {
		return err
	}
	var steps []string
	for _, s := range b.Plan.Steps {
		steps = append(steps, s.Name)
	}
	if err := x.compare(ctx, b, steps, order); err != nil {
		return err
	}
	return x.sameSite(b)
}

// sameSite refuses another site file for a run with a gate that was begun and has no verdict: the run records one
// site file, and the attempt, whose observations are of the former one, would be judged with this one.
func (x *execution) sameSite(b *evidence.Bundle) error {
	begun := b.Interrupted()
	if len(begun) == 0 || len(x.opts.SiteFile) == 0 {
		return nil
	}
	then, now := map[string]string{}, map[string]string{}
	addLeaves(then, "site", b.Site)
	addLeaves(now, "site", asStored(x.opts.SiteFile))
	if found := differentLeaves(then, now); len(found) > 0 {
		return refuse("run %s was killed during %s, and the site file was changed since: %s: resume it with the former site file (its text is in %s), or begin another run (--fresh)",
			b.Header.Run, strings.Join(begun, ", "), strings.Join(found, "; "), filepath.Join(b.Dir, "site.yaml"))
	}
	return nil
}

// compare refuses a run whose verdicts of these steps are not valid for the checks of order.
func (x *execution) compare(ctx context.Context, b *evidence.Bundle, steps []string, order []plan.Step) error {
	then, err := demandOf(b, steps)
	if err != nil {
		return err
	}
	var asked []string
	for _, s := range order {
		asked = append(asked, stepText(s.Name(), s.NotApplicable))
	}
	now, err := x.demandNow(asked)
	if err != nil {
		return err
	}
	found := differences(ctx, then, now, x.limits)
	if len(found) == 0 {
		if found, err = x.otherRayCluster(ctx, b, steps); err != nil {
			return err
		}
	}
	if len(found) == 0 {
		if found, err = x.refuted(b, steps); err != nil {
			return err
		}
	}
	if len(found) == 0 {
		if found, err = rejudged(b, steps, order); err != nil {
			return err
		}
	}
	if len(found) > 0 {
		return refuse("the verdicts of run %s are not valid for this run: %s", b.Header.Run, strings.Join(found, "; "))
	}
	return nil
}

// Used returns the site and the profile that a run was judged against.
func Used(b *evidence.Bundle) (*site.Site, *profile.Profile, error) {
	p, err := profile.Parse("profile of run "+b.Header.Run, b.Profile)
	if err != nil {
		return nil, nil, err
	}
	groups := map[string]*profile.Profile{}
	for name, data := range b.Inputs {
		if group, ok := site.GroupOfProfileFile(name); ok {
			if groups[group], err = profile.Parse(name+" of run "+b.Header.Run, data); err != nil {
				return nil, nil, err
			}
		}
	}
	s, err := site.ParseGroups("site of run "+b.Header.Run, b.Site, p, groups)
	if err != nil {
		return nil, nil, err
	}
	for _, g := range s.Groups {
		if groups[g.Name] == nil {
			return nil, nil, fmt.Errorf("run %s has no %s, the profile of group %s", b.Header.Run, g.ProfileFile(), g.Name)
		}
	}
	return s, p, nil
}

func (x *execution) reopen(path string) error {
	run, err := evidence.Open(path, evidence.Options{Clock: x.opts.Clock})
	if err != nil {
		return fmt.Errorf("resume run %s: %w", filepath.Base(path), err)
	}
	if err := x.rewrite(run); err != nil {
		return errors.Join(storing(fmt.Errorf("resume run %s: %w", run.ID(), err)), run.Close())
	}
	x.from, x.only, x.include, x.namespace = run.Header().From, run.Header().Only, run.Header().Include, run.Header().Namespace
	x.run, x.earlier, x.resumed = run, run.Results(), true
	x.left(leftRun{run.ID(), x.namespace})
	x.created.Store(true)
	x.note("resuming run %s: %d gates have a verdict (a new run: --fresh)", run.ID(), len(x.earlier))
	return nil
}

// rewrite records what a resumed run uses from now on: this version of firstlight, which will write the
// reports, and this site file, whose addresses, racks and preparations may differ. The verdicts so far are
// the same with both (rejudged), and no attempt without a verdict is of another site (sameSite).
func (x *execution) rewrite(run *evidence.Run) error {
	if len(x.opts.SiteFile) > 0 {
		if err := run.SetSite(x.opts.SiteFile); err != nil {
			return err
		}
	}
	if was := run.Header().Tool; x.opts.Tool == "" || was == x.opts.Tool {
		return nil
	}
	return run.Amend(func(h *evidence.Header) {
		if h.Tool != "" && !slices.Contains(h.EarlierTools, h.Tool) {
			h.EarlierTools = append(h.EarlierTools, h.Tool)
		}
		h.Tool = x.opts.Tool
	})
}

func (x *execution) create(ctx context.Context) error {
	o := x.opts
	p, err := o.Playbook(PlanContext{Include: o.Include})
	if err != nil {
		return err
	}
	header := evidence.Header{
		Hosts: o.Hosts, Tool: o.Tool, Command: o.Command, Site: o.Site.Name, Profile: o.Profile.Name, Recipe: o.Recipe,
		From: o.From, Only: o.Only, AllowFailed: o.AllowFailed, AddedTo: o.AddedTo, Soak: o.Soak, Include: o.Include, Versions: o.Versions, Namespace: o.Namespace,
	}
	before, keep, err := x.before(ctx, p)
	if err != nil {
		return err
	}
	x.run, err = evidence.Create(o.EvidenceDir, evidence.Start{
		Header: header, Plan: p, Site: o.SiteFile, Profile: o.ProfileFile, Recipe: o.RecipeFile, Inputs: o.Inputs,
	}, evidence.Options{Clock: o.Clock})
	if err != nil {
		return storing(fmt.Errorf("start a run in %s: %w", o.EvidenceDir, err))
	}
	if o.Created != nil {
		if err := o.Created(x.run.ID()); err != nil {
			return errors.Join(err, x.run.Close())
		}
	}
	if before != nil {
		if x.earlier, err = x.run.Carry(before, keep); err != nil {
			return errors.Join(err, x.run.Close())
		}
	}
	return nil
}

// before returns the run whose verdicts a run --from a gate keeps, and the gates to keep:
// the newest finished run of this site with the whole playbook. None without --from.
func (x *execution) before(ctx context.Context, p plan.Plan) (*evidence.Bundle, []string, error) {
	o := x.opts
	order, err := p.Order()
	if err != nil {
		return nil, nil, err
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
		return nil, nil, err
	}
	here, err := evidence.BegunIn(o.EvidenceDir)
	if err != nil {
		return nil, nil, err
	}
	for _, id := range slices.Backward(ids) {
		if why := here.Refuse(id, x.now()); why != "" {
			x.note("no verdict of run %s is kept: %s", id, why)
			continue
		}
		path := filepath.Join(o.EvidenceDir, id)
		b, err := evidence.Load(path)
		if err != nil || !b.Finished || b.Header.Only != "" || !hasSteps(b.Plan, keep) {
			continue // not a run to keep verdicts from
		}
		if err := x.compare(ctx, b, keep, order[:i]); err != nil {
			x.note("run %s is skipped: %v", id, err)
			continue
		}
		return b, keep, nil
	}
	return nil, nil, refuse("--from %s keeps the verdicts of an earlier run of this site, and %s has none: run the whole playbook first, or run this gate alone with --only %s", o.From, o.EvidenceDir, o.From)
}

// hasSteps reports whether a plan has all these steps.
func hasSteps(p evidence.PlanFile, steps []string) bool {
	for _, name := range steps {
		if !slices.ContainsFunc(p.Steps, func(s evidence.PlanStep) bool { return s.Name == name }) {
			return false
		}
	}
	return true
}

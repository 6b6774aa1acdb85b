package attest

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/firstlight/firstlight/internal/evidence"
)

// inspection is the verification of one run and its findings.
type inspection struct {
	*found
	dir string
	// statement is nil if missing or unreadable.
	statement *Statement
	// signing accepts an unfinished run without a statement.
	signing   bool
	checksFor evidence.ChecksFor
	tell      func(format string, args ...any)
	// supported is the statement derived from the run.
	supported *Statement
	expected  Expected
}

// inspect compares the run with its manifest, the statement and its replay.
func (i *inspection) inspect() {
	i.tell("counting its files")
	m, ok := i.manifest()
	if !ok {
		return
	}
	i.report.Manifest = m.Digest
	i.setOutcome(CheckManifest, OK, "%d files, sha256 %s", len(m.Files), m.Digest)
	var want Statement
	b, err := evidence.Load(i.dir)
	if err == nil {
		want, err = describe(b, m)
	}
	if err != nil {
		i.problem(CheckCompleteness, "", "the run cannot be read: %v", err)
		return
	}
	i.supported = &want
	p := want.Predicate
	i.report.Run, i.report.State, i.report.Verdict, i.report.Simulated = p.Run, p.State, p.Verdict, p.Inputs.Simulated
	i.report.CompleteUpTo, i.report.Missing, i.report.NarrowedBy = p.CompleteUpTo, p.Missing, b.NarrowedBy()
	i.compareStatement(want)
	i.completeness(b)
	i.verdicts(b)
	i.tell("replaying %d steps", len(p.Steps))
	i.replay()
	i.expectedOf(b)
}

// manifest returns the expected manifest and compares the files with it.
func (i *inspection) manifest() (evidence.Manifest, bool) {
	have, err := evidence.Inventory(i.dir)
	if err != nil {
		i.problem(CheckFiles, "", "%v", err)
		return evidence.Manifest{}, false
	}
	said := i.statement
	want, err := evidence.Stored(i.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		want, err = i.unfinished(have)
		if err != nil {
			i.problem(CheckManifest, evidence.ManifestFileName, "%v", err)
			return have, true
		}
	case err != nil:
		i.problem(CheckManifest, evidence.ManifestFileName, "%v", err)
		return have, true
	case said != nil && said.Predicate.State == Interrupted:
		i.problem(CheckManifest, evidence.ManifestFileName, "the statement is of the interrupted run, which is finished now: sign it again (firstlight evidence sign --replace)")
	}
	for _, p := range want.Compare(have) {
		i.problem(CheckFiles, p.File, "%s", strings.TrimPrefix(p.String(), p.File+": "))
	}
	i.setOutcome(CheckFiles, OK, "all %d unchanged", len(have.Files))
	return want, true
}

// unfinished is the manifest of an interrupted run: the inventory in its statement.
func (i *inspection) unfinished(have evidence.Manifest) (evidence.Manifest, error) {
	said := i.statement
	switch {
	case i.signing:
		return have, nil
	case said == nil:
		return evidence.Manifest{}, errors.New("missing: the run is unfinished, or its manifest was removed; its files are not verified")
	case said.Predicate.State != Interrupted:
		return evidence.Manifest{}, errors.New("missing: it was removed, because the statement is of a finished run")
	}
	return evidence.NewManifest(said.Predicate.Run, said.Predicate.Manifest.Inventory)
}

// compareStatement reports every difference between the statement and the run.
func (i *inspection) compareStatement(want Statement) {
	if i.statement == nil {
		return
	}
	have := *i.statement
	// The signing time cannot be derived. The inventory is compared file by file.
	want.Predicate.Attested = have.Predicate.Attested
	want.Predicate.Manifest.Inventory = have.Predicate.Manifest.Inventory
	differences, err := compare(have, want)
	if err != nil {
		i.problem(CheckStatement, "", "%v", err)
		return
	}
	for _, d := range differences {
		about := CheckStatement
		switch {
		case strings.HasPrefix(d.path, "subject"):
			about = CheckSubject
		case strings.HasPrefix(d.path, "predicate.manifest"):
			about = CheckManifest
		}
		i.problem(about, d.path, "the statement has %s, the run has %s", shown(d.have), shown(d.want))
	}
	if have.Predicate.Attested.Before(want.Predicate.Finished) {
		i.problem(CheckStatement, "predicate.attested", "it is signed before the run's last entry, of %s", want.Predicate.Finished)
	}
	i.setOutcome(CheckSubject, OK, "%d, equal to those of the run", len(have.Subject))
	i.setOutcome(CheckStatement, OK, "matches the run in %d steps", len(have.Predicate.Steps))
}

// completeness compares the journal with the plan.
func (i *inspection) completeness(b *evidence.Bundle) {
	planned, have := map[string]bool{}, map[string]bool{}
	for _, s := range b.Plan.Steps {
		planned[s.Name] = true
	}
	if len(planned) == 0 {
		i.problem(CheckCompleteness, planFile, "the plan has no steps")
	}
	ended := false
	for _, e := range b.Entries {
		ended = ended || e.Type == evidence.EntryFinished
		if e.Step != "" && !planned[e.Step] {
			i.problem(CheckCompleteness, e.Step, "the journal has this step, the plan does not")
		}
	}
	for _, r := range b.Results() {
		have[r.Step] = true
	}
	if !b.Finished {
		i.setOutcome(CheckCompleteness, OK, "%d of %d steps have a verdict: the run was interrupted", len(have), len(planned))
		return
	}
	if !ended {
		i.problem(CheckCompleteness, "journal.jsonl", "the run has a manifest, but its journal has no finished entry")
	}
	if b.Torn {
		i.problem(CheckCompleteness, "journal.jsonl", "its last line is incomplete")
	}
	for _, s := range b.Plan.Steps {
		if !have[s.Name] && b.Header.From == "" && b.Header.Only == "" {
			i.problem(CheckCompleteness, s.Name, "planned step without a verdict")
		}
	}
	i.setOutcome(CheckCompleteness, OK, "%d of %d steps have a verdict", len(have), len(planned))
}

// verdicts compares verdicts.json with the journal.
func (i *inspection) verdicts(b *evidence.Bundle) {
	if !b.Finished {
		i.setOutcome(CheckVerdicts, None, "an interrupted run has no reports")
		return
	}
	data, err := evidence.ReadFile(filepath.Join(i.dir, evidence.VerdictsFileName))
	if err != nil {
		i.problem(CheckVerdicts, evidence.VerdictsFileName, "%v", err)
		return
	}
	differences, err := compare(json.RawMessage(data), b.Summary())
	if err != nil {
		i.problem(CheckVerdicts, evidence.VerdictsFileName, "%v", err)
		return
	}
	for _, d := range differences {
		i.problem(CheckVerdicts, evidence.VerdictsFileName+" "+d.path, "has %s, the journal has %s", shown(d.have), shown(d.want))
	}
	i.setOutcome(CheckVerdicts, OK, "verdicts.json matches the journal")
}

// plan compares the plan with the one that the inputs require.
func (i *inspection) plan(r evidence.Replayed) {
	for _, p := range r.Plan {
		i.problem(CheckPlan, p.Step, "%s", p.Message)
	}
	if r.Unchecked != "" {
		i.setOutcome(CheckPlan, NotChecked, "%s", r.Unchecked)
	}
	if !r.Planned {
		i.setOutcome(CheckPlan, None, "the run has no site: its plan cannot be derived")
	}
	i.setOutcome(CheckPlan, OK, "matches the site, inputs and command")
}

// claims reports the basis of the statements of run.json.
func (i *inspection) claims(r evidence.Replayed) {
	i.report.Claims = r.Claims
	for _, c := range r.Contradictions {
		i.problem(CheckClaims, c.Field, "%s", c.Message)
	}
	var claimed []string
	for _, c := range r.Claims {
		if c.Basis == evidence.Claimed {
			claimed = append(claimed, c.Field)
		}
	}
	switch n := len(r.Claims); {
	case n == 0:
		i.setOutcome(CheckClaims, None, "no statement of run.json was compared with observations")
	case len(claimed) == 0:
		i.setOutcome(CheckClaims, OK, "all %d observed", n)
	default:
		i.setOutcome(CheckClaims, OK, "%d observed; claimed by the creator of the run: %s", n-len(claimed), strings.Join(claimed, ", "))
	}
}

// replay replays the verdicts.
func (i *inspection) replay() {
	if i.checksFor == nil {
		i.setOutcome(CheckReplay, NotChecked, "no checks given")
		return
	}
	r, err := evidence.Replay(i.dir, i.checksFor)
	_, tampered := errors.AsType[*evidence.TamperedError](err)
	switch {
	case tampered:
		i.setOutcome(CheckReplay, NotChecked, "the files of the run were changed")
		return
	case errors.Is(err, evidence.ErrCorrupt), errors.Is(err, fs.ErrNotExist):
		i.problem(CheckReplay, "", "%v", err)
		return
	case err != nil:
		i.setOutcome(CheckReplay, NotChecked, "%v", err)
		return
	}
	i.report.Replayed = &r
	i.plan(r)
	i.claims(r)
	for _, s := range r.Steps {
		if s.Difference != "" {
			i.problem(CheckReplay, s.Step, "%s", s.Difference)
		}
	}
	if r.Verdict != r.Again {
		i.problem(CheckReplay, "", "the run is %s, its replay is %s", r.Verdict, r.Again)
	}
	if len(r.Steps) == 0 && i.report.State != Interrupted {
		i.problem(CheckReplay, "", "the run has no verdict")
	}
	i.setOutcome(CheckReplay, OK, "%d of %d verdicts replayed", len(r.Steps), len(r.Steps))
}

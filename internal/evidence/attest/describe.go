package attest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
)

// planFile is the plan of the run; the statement has its digest.
const planFile = "plan.json"

// describe derives the statement from the run, without the signing time; m is its manifest.
func describe(b *evidence.Bundle, m evidence.Manifest) (Statement, error) {
	planned, err := evidence.ReadFile(filepath.Join(b.Dir, planFile))
	if err != nil {
		return Statement{}, fmt.Errorf("describe the run: read its plan: %w", err)
	}
	p := predicateOf(b, m)
	p.Plan.SHA256 = digest(planned)
	return Statement{Type: StatementType, PredicateType: PredicateType, Subject: subjectsOf(b, m), Predicate: p}, nil
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func subjectsOf(b *evidence.Bundle, m evidence.Manifest) []Subject {
	subjects := []Subject{subject("run:"+b.Header.Run, m.Digest)}
	if b.Recipe != nil {
		subjects = append(subjects, subject("recipe:"+b.Header.Recipe, digest(b.Recipe)))
	}
	if b.Header.Cluster != "" {
		subjects = append(subjects, subject("cluster:"+b.Header.Cluster, digest([]byte(b.Header.Cluster))))
	}
	return subjects
}

func subject(name, sum string) Subject {
	return Subject{Name: name, Digest: map[string]string{"sha256": sum}}
}

func predicateOf(b *evidence.Bundle, m evidence.Manifest) Predicate {
	v := b.Summary()
	p := Predicate{
		Run: v.Run, State: Finished, Started: v.Started, Finished: v.Finished, Verdict: v.Verdict,
		Inputs: inputsOf(b), Plan: Plan{Name: b.Plan.Name, Steps: []string{}}, Steps: []Step{}, Notes: slices.Concat(v.Uncleaned, v.Notes),
		Manifest: Manifest{SHA256: m.Digest, Files: len(m.Files)},
	}
	for _, s := range b.Plan.Steps {
		p.Plan.Steps = append(p.Plan.Steps, s.Name)
	}
	recommended := b.Recommended()
	for _, r := range v.Results {
		p.Steps = append(p.Steps, Step{
			Step: r.Step, Verdict: r.Verdict, Recommended: slices.Contains(recommended, r.Step), Reason: r.Reason, Figures: r.Figures,
			Findings: len(r.Findings), Observations: len(r.Observations),
			Started: r.Started, Finished: r.Finished, KeptFrom: r.KeptFrom, LeftOut: r.LeftOut,
		})
	}
	p.EarlierAttempts = b.EarlierAttempts()
	p.Counts = countsOf(p, len(v.Omitted))
	p.CompleteUpTo = completeUpTo(p)
	if b.Finished {
		p.Omitted = v.Omitted
		return p
	}
	p.State, p.Missing, p.Begun = Interrupted, v.Omitted, b.Interrupted()
	p.Manifest.Inventory = m.Files
	return p
}

func inputsOf(b *evidence.Bundle) Inputs {
	h := b.Header
	in := Inputs{
		Tool: h.Tool, EarlierTools: h.EarlierTools, Command: []string{}, Cluster: h.Cluster, Simulated: h.Simulated, SimulatedWhy: h.SimulatedWhy,
		Site: Input{Name: h.Site, SHA256: digest(b.Site)}, Profile: Input{Name: h.Profile, SHA256: digest(b.Profile)},
		From: h.From, Only: h.Only, AllowFailed: h.AllowFailed, Include: h.Include, Seed: h.Seed, Versions: h.Versions, Digests: h.Digests,
	}
	in.Command = append(in.Command, h.Command...)
	if b.Recipe != nil {
		in.Recipe = &Input{Name: h.Recipe, SHA256: digest(b.Recipe)}
	}
	return in
}

func countsOf(p Predicate, without int) Counts {
	c := Counts{Planned: len(p.Plan.Steps), Without: without}
	for _, s := range p.Steps {
		switch s.Verdict {
		case check.Passed:
			c.Passed++
		case check.Partial:
			c.Partial++
		case check.Failed:
			c.Failed++
		case check.Unobserved:
			c.Unobserved++
		case check.Blocked:
			c.Blocked++
		case check.NotApplicable:
			c.NotApplicable++
		}
	}
	return c
}

func completeUpTo(p Predicate) string {
	have := map[string]bool{}
	for _, s := range p.Steps {
		have[s.Step] = true
	}
	last := ""
	for _, name := range p.Plan.Steps {
		if !have[name] {
			break
		}
		last = name
	}
	return last
}

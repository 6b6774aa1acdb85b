package submission

import (
	"fmt"

	"github.com/firstlight/firstlight/internal/conformance/catalog"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/redact"
	"github.com/firstlight/firstlight/internal/plan"
)

// apiServer is whose version a run's header names Kubernetes' by.
const apiServer = "kube-apiserver"

// Read reads from the evidence in dir what a run showed of a programme's
// requirements: the steps that have their names. A run that was changed since it
// was written is refused with an *evidence.TamperedError.
func Read(dir string, p catalog.Programme) (Run, error) {
	problems, err := evidence.Verify(dir)
	if err != nil {
		return Run{}, fmt.Errorf("read the run in %s: %w", dir, err)
	}
	unfinished := len(problems) == 1 && problems[0].What == evidence.NoManifest
	if len(problems) > 0 && !unfinished {
		return Run{}, fmt.Errorf("read the run in %s: %w", dir, &evidence.TamperedError{Problems: problems})
	}
	b, err := evidence.Load(dir)
	if err != nil {
		return Run{}, fmt.Errorf("read the run: %w", err)
	}
	run := Run{
		ID: b.Header.Run, Tool: b.Header.Tool, Cluster: b.Header.Cluster, Kubernetes: b.Header.Versions[apiServer], Started: b.Header.Created, Finished: b.Header.Created,
		Simulated: b.Header.Simulated, SimulatedWhy: b.Header.SimulatedWhy, Shown: map[string]Shown{},
	}
	if unfinished {
		run.Incomplete = "it has no manifest, it was not finished"
	}
	for _, res := range b.Results() {
		if res.At.After(run.Finished) {
			run.Finished = res.At
		}
		r, wanted := p.Find(res.Step)
		if !wanted {
			continue
		}
		if run.Shown[r.ID], err = shownOf(b, p, r, run, res); err != nil {
			return Run{}, fmt.Errorf("read what run %s showed of %s: %w", run.ID, r.ID, err)
		}
	}
	return run, nil
}

// shownOf is what a result shows of a requirement. It is published: what secrets are
// left out of the evidence when it is stored is left out here once more, for runs
// from before that.
func shownOf(b *evidence.Bundle, p catalog.Programme, r catalog.Requirement, run Run, res plan.Result) (Shown, error) {
	obs, err := b.Observations(res.Observations)
	if err != nil {
		return Shown{}, err
	}
	s := ShownBy(res.Verdict, redact.String(res.Reason))
	s.Took = res.Duration()
	if len(obs) > 0 {
		s.Files = []File{{Name: r.ID + ".md", Content: redact.Bytes(transcript(p, r, run, res, obs))}}
	}
	return s, nil
}

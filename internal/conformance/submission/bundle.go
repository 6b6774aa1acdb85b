package submission

import (
	"fmt"

	"github.com/firstlight/firstlight/internal/conformance/catalog"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/redact"
	"github.com/firstlight/firstlight/internal/plan"
)

// apiServer is the component whose version in a run's header is the cluster's version.
const apiServer = "kube-apiserver"

// Read reads the results of a program's requirements from the evidence in dir: the steps
// with their names. A run that was changed after it was written is an
// *evidence.TamperedError.
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
		run.Incomplete = "it is unfinished and has no manifest"
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
			return Run{}, fmt.Errorf("read the result of %s in run %s: %w", r.ID, run.ID, err)
		}
	}
	return run, nil
}

// shownOf converts the result of a requirement. Its files are published: secrets are
// redacted here again, since evidence of old runs was stored unredacted.
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

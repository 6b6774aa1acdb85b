package evidence

import (
	"errors"
	"fmt"

	"github.com/firstlight/firstlight/internal/plan"
)

// Carry copies the verdicts of steps from an earlier, finished run, with their dates and
// observations, so that this run can be replayed on its own. Call it before the plan is executed. It
// ignores steps without a verdict in the earlier run. The result is Earlier of the Executor.
func (r *Run) Carry(from *Bundle, steps []string) (map[string]plan.Result, error) {
	problems, err := Verify(from.Dir)
	if err != nil {
		return nil, fmt.Errorf("copy verdicts from run %s: %w", from.Header.Run, err)
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("copy verdicts from run %s: %w", from.Header.Run, &TamperedError{Problems: problems})
	}
	index, err := from.index()
	if err != nil {
		return nil, fmt.Errorf("copy verdicts from run %s: %w", from.Header.Run, err)
	}
	results := from.state().results
	for _, step := range steps {
		res, ok := results[step]
		if !ok {
			continue
		}
		err := index.compare(res)
		if err == nil {
			err = r.carryOne(from, res)
		}
		if err != nil {
			return nil, fmt.Errorf("copy the verdict of %s from run %s: %w", step, from.Header.Run, err)
		}
	}
	return r.Results(), nil
}

func (r *Run) carryOne(from *Bundle, res plan.Result) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := errors.Join(r.copyObservations(from, res.Observations), r.carryAbandoned(from, res.Step)); err != nil {
		return err
	}
	if res.KeptFrom == "" {
		res.KeptFrom, res.KeptOf = from.Header.Run, from.Header.Cluster
	}
	if res.KeptOf != from.Header.Cluster {
		return fmt.Errorf("the verdict is of cluster %q, the run is of cluster %q", res.KeptOf, from.Header.Cluster)
	}
	return r.append(Entry{Type: EntryKept, Step: res.Step, Result: &res})
}

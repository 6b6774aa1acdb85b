package evidence

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/firstlight/firstlight/internal/plan"
)

// attempts are the IDs of the recorded observations by attempt, in order.
type attempts map[attemptOf][]string

func (b *Bundle) index() (attempts, error) {
	ids, err := b.Recorded()
	if err != nil {
		return nil, err
	}
	return indexOf(filepath.Join(b.Dir, observationsDir), ids)
}

func indexOf(dir string, ids []string) (attempts, error) {
	index := attempts{}
	for _, id := range ids {
		var s stored
		if err := readJSON(filepath.Join(dir, id+".json"), &s); err != nil {
			return nil, fmt.Errorf("observation %s: %w", id, err)
		}
		key := attemptOf{step: s.Check, attempt: s.Attempt}
		index[key] = append(index[key], id)
	}
	return index, nil
}

// of are the observations that the attempt of a result recorded.
func (a attempts) of(r plan.Result) []string {
	return a[attemptOf{step: r.Step, attempt: r.Attempt}]
}

// compare returns an error if a result does not have exactly the observations that its
// attempt recorded.
func (a attempts) compare(r plan.Result) error {
	recorded := a.of(r)
	if slices.Equal(r.Observations, recorded) {
		return nil
	}
	for _, id := range recorded {
		if !slices.Contains(r.Observations, id) {
			return fmt.Errorf("observation %s of attempt %d is not in the result", id, r.Attempt)
		}
	}
	for _, id := range r.Observations {
		if !slices.Contains(recorded, id) {
			return fmt.Errorf("the result has observation %s, which attempt %d of %s did not record", id, r.Attempt, r.Step)
		}
	}
	return fmt.Errorf("the result has the observations %v, attempt %d recorded %v", r.Observations, r.Attempt, recorded)
}

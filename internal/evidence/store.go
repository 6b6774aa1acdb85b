package evidence

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence/redact"
	"github.com/firstlight/firstlight/internal/plan"
)

// ID is the run ID.
func (r *Run) ID() string { return r.Header().Run }

// Dir is the directory of the run.
func (r *Run) Dir() string { return r.dir }

// Header is the current run.json.
func (r *Run) Header() Header {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.header
}

// Amend changes run.json, for example when the cluster ID becomes known. It cannot change run
// ID, format and time.
func (r *Run) Amend(change func(*Header)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.header
	change(&h)
	h = headerWithoutSecrets(h)
	h.Run, h.Format, h.Created = r.header.Run, r.header.Format, r.header.Created
	if err := writeJSON(filepath.Join(r.dir, headerFile), h); err != nil {
		return fmt.Errorf("amend run %s: %w", h.Run, err)
	}
	r.header = h
	return nil
}

// SetSite replaces the site file of the run.
func (r *Run) SetSite(site []byte) error {
	text, err := redact.YAML(site)
	if err == nil {
		err = writeDurable(filepath.Join(r.dir, siteFile), text)
	}
	if err != nil {
		return fmt.Errorf("replace the site of run %s: %w", r.ID(), err)
	}
	return nil
}

// Results are the verdicts in the journal: Earlier of a resumed run.
func (r *Run) Results() map[string]plan.Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.results)
}

// Begin implements plan.Store.
func (r *Run) Begin(step string, _ time.Time) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	attempt := r.attempts[step] + 1
	return attempt, r.append(Entry{Type: EntryBegun, Step: step, Attempt: attempt})
}

// Record implements plan.Store. It writes observations concurrently.
func (r *Run) Record(attempt int, o check.Observation) (check.Observation, error) {
	o = withoutSecrets(o)
	r.mu.Lock()
	r.lastSeq++
	o.ID = observationID(r.lastSeq, o)
	r.mu.Unlock()
	o.At = o.At.UTC()
	if err := writeObservation(filepath.Join(r.dir, observationsDir), attempt, o); err != nil {
		return o, fmt.Errorf("store observation %s: %w", o.ID, err)
	}
	key := attemptOf{step: o.Check, attempt: attempt}
	r.mu.Lock()
	r.index[key] = append(r.index[key], o.ID)
	r.mu.Unlock()
	return o, nil
}

// Observations implements plan.Store: it reads the files.
func (r *Run) Observations(step string, attempt int) ([]check.Observation, error) {
	r.mu.Lock()
	ids := slices.Clone(r.index[attemptOf{step: step, attempt: attempt}])
	r.mu.Unlock()
	sortIDs(ids)
	return readObservations(r.dir, ids)
}

func readObservations(dir string, ids []string) ([]check.Observation, error) {
	out := make([]check.Observation, 0, len(ids))
	for _, id := range ids {
		s, err := readObservation(filepath.Join(dir, observationsDir), id)
		if err != nil {
			return nil, err
		}
		out = append(out, s.Observation)
	}
	return out, nil
}

// Conclude implements plan.Store.
func (r *Run) Conclude(res plan.Result) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.append(Entry{Type: EntryVerdict, Step: res.Step, Result: &res})
}

// Abandoned implements plan.Store.
func (r *Run) Abandoned(step string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.begun[step]
}

// Abandon implements plan.Store.
func (r *Run) Abandon(res plan.Result) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.append(Entry{Type: EntryAbandoned, Step: res.Step, Result: &res})
}

// Close closes the unfinished run, which can be resumed.
func (r *Run) Close(notes ...string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.append(Entry{Type: EntryInterrupted, Notes: notes})
	if cerr := r.journal.close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("close run %s: %w", r.header.Run, err)
	}
	return nil
}

package matrix

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/config"
)

// Lane is what a night runs on one reservation.
type Lane struct {
	Reservation string       `json:"reservation"`
	Cloud       config.Cloud `json:"cloud"`
	// Cells are pending, in the order in which they run.
	Cells []Cell `json:"cells"`
	// HeldBack are the cells that compat floors exclude.
	HeldBack []HeldBack `json:"heldBack"`
	// Reason why the lane has no cells.
	Reason string `json:"reason,omitempty"`
}

// HeldBack is a cell that does not run.
type HeldBack struct {
	Version string        `json:"version"`
	Intent  config.Intent `json:"intent"`
	Reason  string        `json:"reason"`
}

// Compat is compared with the existing releases: a floor with an invalid state is an error.
type Compat struct {
	*config.Compat
	Tags []string
}

// Cells returns the cells of one reservation: versions in order, then the intents of the row.
// Cells below a floor are held back, with the reason. It fails closed: if a floor of the
// reservation's cloud is invalid or cannot be met by any release, it returns an error and no cell.
func Cells(row config.Reservation, versions []string, f Compat) (Lane, error) {
	lane := Lane{Reservation: row.Name, Cloud: row.Cloud, Cells: []Cell{}, HeldBack: []HeldBack{}}
	intents := row.Nightly()
	switch {
	case len(intents) == 0:
		lane.Reason = "its nightly-intents are empty: the batch skips it"
		return lane, nil
	case len(versions) == 0:
		return lane, fmt.Errorf("%s: no versions to run", row.Name)
	}
	if err := f.checkFloors(row.Cloud, versions); err != nil {
		return lane, fmt.Errorf("%s: %w", row.Name, err)
	}
	for _, version := range versions {
		for _, intent := range intents {
			d, err := f.Decide(row.Cloud, intent, version)
			switch {
			case err != nil:
				return Lane{Reservation: row.Name, Cloud: row.Cloud, Cells: []Cell{}, HeldBack: []HeldBack{}}, fmt.Errorf("%s: %w", row.Name, err)
			case d.Run:
				lane.Cells = append(lane.Cells, Cell{Version: version, Intent: intent, Outcome: Pending})
			default:
				lane.HeldBack = append(lane.HeldBack, HeldBack{Version: version, Intent: intent, Reason: d.Reason})
			}
		}
	}
	if len(lane.Cells) == 0 {
		lane.Reason = "compat floors hold back all cells"
	}
	return lane, nil
}

// checkFloors refuses invalid floors of a lane, if any release runs.
func (f Compat) checkFloors(lane config.Cloud, versions []string) error {
	if f.Compat == nil || !slices.ContainsFunc(versions, func(v string) bool { return v != config.MainBranch }) {
		return nil // Decide refuses a missing compat file
	}
	var errs []error
	for _, j := range f.Status(f.Tags) {
		if j.Floor.Lane == lane && j.State.Invalid() {
			errs = append(errs, fmt.Errorf("the floor %s of %v on %s is %s: %s", j.Floor.MinRelease, j.Floor.Intents, lane, j.State, j.Reason))
		}
	}
	return errors.Join(errs...)
}

// Cutoff is the latest start of a cell, so that it ends, teardown included, before the window
// does.
func Cutoff(until time.Time, limit time.Duration) time.Time { return until.Add(-limit) }

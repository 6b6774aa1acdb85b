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
	Reservation string         `json:"reservation"`
	Cloud       config.Cloud `json:"cloud"`
	// Cells are pending, in the order in which they are run.
	Cells []Cell `json:"cells"`
	// HeldBack are the cells that floors keep from being run.
	HeldBack []HeldBack `json:"heldBack"`
	// Why says why there are no cells.
	Reason string `json:"reason,omitempty"`
}

// HeldBack is a cell that is not run, and why.
type HeldBack struct {
	Version string          `json:"version"`
	Intent  config.Intent `json:"intent"`
	Reason     string          `json:"reason"`
}

// Floors are held against the releases that there are: of one that can't be right, nothing
// is believed.
type Compat struct {
	*config.Compat
	Tags []string
}

// Cells are those of one reservation: versions in their order, the intents of the row within
// each. What is below a floor is held back, and said. It fails closed: a floor of the
// reservation's cloud that can't be compared, or that no release can meet, is an error, and then
// nothing is run there.
func Cells(row config.Reservation, versions []string, f Compat) (Lane, error) {
	lane := Lane{Reservation: row.Name, Cloud: row.Cloud, Cells: []Cell{}, HeldBack: []HeldBack{}}
	intents := row.Nightly()
	switch {
	case len(intents) == 0:
		lane.Reason = "its nightly-intents are empty: the batch is kept off it"
		return lane, nil
	case len(versions) == 0:
		return lane, fmt.Errorf("%s: there are no versions to run", row.Name)
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
		lane.Reason = "floors hold all of it back"
	}
	return lane, nil
}

// stand refuses floors of a lane that can't be right. Where no release is run, nothing is
// compared with them.
func (f Compat) checkFloors(lane config.Cloud, versions []string) error {
	if f.Compat == nil || !slices.ContainsFunc(versions, func(v string) bool { return v != config.MainBranch }) {
		return nil // Decide refuses floors that were not read
	}
	var errs []error
	for _, j := range f.Status(f.Tags) {
		if j.Floor.Lane == lane && j.State.Invalid() {
			errs = append(errs, fmt.Errorf("the floor %s of %v on %s is %s: %s", j.Floor.MinRelease, j.Floor.Intents, lane, j.State, j.Reason))
		}
	}
	return errors.Join(errs...)
}

// Cutoff is until when cells may begin, for the last of them to be done, its teardown
// included, when the window is over.
func Cutoff(until time.Time, limit time.Duration) time.Time { return until.Add(-limit) }

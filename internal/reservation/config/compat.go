package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// MainBranch is the version name of the main branch; no floor applies to it.
const MainBranch = "main"

// Compat is the content of compat.yaml: the first release that each intent runs with on a lane (a
// cloud). The tests come from the main branch, so an older release cannot pass them, which would
// say nothing about the release.
//
// It fails closed: an unknown lane, a version or a floor that is not a stable release is an error
// and never a permission. The caller supplies the existing releases.
type Compat struct {
	Floors []Floor `yaml:"floors" json:"floors"`
}

// Floor is the first release that the listed intents run with on a lane.
type Floor struct {
	Lane    Cloud    `yaml:"lane" json:"lane"`
	Intents []Intent `yaml:"intents" json:"intents"`
	// MinRelease is a stable release, vX.Y.Z.
	MinRelease string `yaml:"min-release" json:"min-release"`
	Reason     string `yaml:"reason" json:"reason"`
}

// Decision says whether a version runs.
type Decision struct {
	Run bool `json:"run"`
	// Floor is the deciding floor; its MinRelease is empty if absent.
	Floor  Floor  `json:"floor,omitzero"`
	Reason string `json:"reason"`
}

// ErrNoCompat means that no compat file was read, not even an empty one.
var ErrNoCompat = errors.New("no compat file was read")

// Decide says whether an intent of a version (MainBranch or vX.Y.Z) runs on a lane. With an error,
// the Decision is not to run it.
func (f *Compat) Decide(lane Cloud, intent Intent, version string) (Decision, error) {
	fail := func(err error) (Decision, error) {
		return Decision{}, fmt.Errorf("compare %s, %s of %s, with its floor: %w", lane, intent, version, err)
	}
	if f == nil {
		return fail(ErrNoCompat)
	}
	if !slices.Contains(Clouds(), lane) {
		return fail(fmt.Errorf("unknown lane %q", lane))
	}
	if !slices.Contains(Intents(), intent) {
		return fail(fmt.Errorf("unknown intent %q", intent))
	}
	if err := f.Validate(); err != nil {
		return fail(err)
	}
	if version == MainBranch {
		return Decision{Run: true, Reason: "the main branch has no floor"}, nil
	}
	release, err := ParseRelease(version)
	if err != nil {
		return fail(err)
	}
	floor, found := f.FloorOf(lane, intent)
	if !found {
		return Decision{Run: true, Reason: fmt.Sprintf("%s has no floor for %s", lane, intent)}, nil
	}
	least, err := ParseRelease(floor.MinRelease)
	if err != nil {
		return fail(err)
	}
	if release.Compare(least) < 0 {
		return Decision{Floor: floor, Reason: fmt.Sprintf("%s is below %s, the floor of %s on %s: %s", version, floor.MinRelease, intent, lane, floor.Reason)}, nil
	}
	return Decision{Run: true, Floor: floor, Reason: fmt.Sprintf("%s is at or above %s, the floor of %s on %s", version, floor.MinRelease, intent, lane)}, nil
}

// FloorOf returns the floor of an intent on a lane.
func (f *Compat) FloorOf(lane Cloud, intent Intent) (Floor, bool) {
	for _, floor := range f.Floors {
		if floor.Lane == lane && slices.Contains(floor.Intents, intent) {
			return floor, true
		}
	}
	return Floor{}, false
}

// Release is a stable release.
type Release struct{ Major, Minor, Patch uint64 }

// Compare is negative if r is older than other, 0 if they are equal.
func (r Release) Compare(other Release) int {
	return cmp.Or(cmp.Compare(r.Major, other.Major), cmp.Compare(r.Minor, other.Minor), cmp.Compare(r.Patch, other.Patch))
}

// String returns vX.Y.Z.
func (r Release) String() string { return fmt.Sprintf("v%d.%d.%d", r.Major, r.Minor, r.Patch) }

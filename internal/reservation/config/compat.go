package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

)

// Main is the version of the main branch, which no floor holds back.
const MainBranch = "main"

// Floors is what one file holds.
type Compat struct {
	Floors []Floor `yaml:"floors" json:"floors"`
}

// Floor says that intents are run on a lane from a release on.
type Floor struct {
	Lane    Cloud    `yaml:"lane" json:"lane"`
	Intents []Intent `yaml:"intents" json:"intents"`
	// MinRelease is the first release that can pass: a stable one, vX.Y.Z.
	MinRelease string `yaml:"min-release" json:"min-release"`
	Reason     string `yaml:"reason" json:"reason"`
}

// Decision says whether a version is run.
type Decision struct {
	Run bool `json:"run"`
	// Floor is the one that decided; its MinRelease is empty where there is none.
	Floor Floor `json:"floor,omitzero"`
	// Why is for people.
	Reason string `json:"reason"`
}

// ErrNoFloors says that there were no floors to ask: not even none.
var ErrNoCompat = errors.New("no floors were read")

// Decide says whether an intent of a version is run on a lane: Main, or a stable
// release, vX.Y.Z. With an error the Decision is not to run it.
func (f *Compat) Decide(lane Cloud, intent Intent, version string) (Decision, error) {
	fail := func(err error) (Decision, error) {
		return Decision{}, fmt.Errorf("compare %s, %s of %s, with its floor: %w", lane, intent, version, err)
	}
	if f == nil {
		return fail(ErrNoCompat)
	}
	if !slices.Contains(Clouds(), lane) {
		return fail(fmt.Errorf("there is no lane %q", lane))
	}
	if !slices.Contains(Intents(), intent) {
		return fail(fmt.Errorf("there is no intent %q", intent))
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
	return Decision{Run: true, Floor: floor, Reason: fmt.Sprintf("%s is not below %s, the floor of %s on %s", version, floor.MinRelease, intent, lane)}, nil
}

// Of is the floor of an intent on a lane.
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

// Compare is negative when r is older than other, 0 when they are the same.
func (r Release) Compare(other Release) int {
	return cmp.Or(cmp.Compare(r.Major, other.Major), cmp.Compare(r.Minor, other.Minor), cmp.Compare(r.Patch, other.Patch))
}

// String is vX.Y.Z.
func (r Release) String() string { return fmt.Sprintf("v%d.%d.%d", r.Major, r.Minor, r.Patch) }

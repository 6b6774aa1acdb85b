package config

import (
	"fmt"
	"slices"
)

// FloorState is the state of a floor, given the existing releases.
type FloorState string

// FloorTooHigh and FloorUnknown are errors: such a floor holds releases back without a visible
// reason.
const (
	// FloorActive: it is an existing release, and older ones are held back.
	FloorActive FloorState = "active"
	// FloorPending: it is the next release; until then only main runs.
	FloorPending FloorState = "pending"
	// FloorUnused: no release is below it; it can be removed.
	FloorUnused FloorState = "unused"
	// FloorTooHigh: it neither exists nor is the next release.
	FloorTooHigh FloorState = "too-high"
	// FloorUnknown: no release is known.
	FloorUnknown FloorState = "unknown"
)

// Invalid reports whether the state is an error.
func (s FloorState) Invalid() bool { return s == FloorTooHigh || s == FloorUnknown }

// FloorStatus is the state of one floor.
type FloorStatus struct {
	Floor  Floor      `json:"floor"`
	State  FloorState `json:"state"`
	Reason string     `json:"reason"`
}

// Status compares every floor with the existing releases and ignores tags that are not stable
// releases. It cannot find a floor that is higher than necessary; that needs the repository.
func (f *Compat) Status(tags []string) []FloorStatus {
	var releases []Release
	for _, tag := range tags {
		if r, err := ParseRelease(tag); err == nil {
			releases = append(releases, r)
		}
	}
	slices.SortFunc(releases, Release.Compare)
	out := make([]FloorStatus, len(f.Floors))
	for i, floor := range f.Floors {
		s, reason := floorState(floor.MinRelease, releases)
		out[i] = FloorStatus{floor, s, reason}
	}
	return out
}

// floorState expects sorted releases.
func floorState(text string, releases []Release) (state FloorState, reason string) {
	floor, err := ParseRelease(text)
	if err != nil {
		return FloorUnknown, err.Error()
	}
	if len(releases) == 0 {
		return FloorUnknown, "no stable release is known to compare it with"
	}
	oldest, latest := releases[0], releases[len(releases)-1]
	switch {
	case floor.Compare(oldest) <= 0:
		return FloorUnused, fmt.Sprintf("no release is below it: the oldest is %s", oldest)
	case slices.Contains(releases, floor):
		return FloorActive, fmt.Sprintf("releases from %s to before %s are held back", oldest, floor)
	case slices.Contains(latest.next(), floor):
		return FloorPending, fmt.Sprintf("it comes after %s: until then only %s runs", latest, MainBranch)
	default:
		return FloorTooHigh, fmt.Sprintf("release %s does not exist, and it cannot be the next after %s", floor, latest)
	}
}

// next returns the possible next releases.
func (r Release) next() []Release {
	return []Release{{r.Major, r.Minor, r.Patch + 1}, {r.Major, r.Minor + 1, 0}, {r.Major + 1, 0, 0}}
}

package config

import (
	"fmt"
	"slices"
)

// Standing is what a floor comes to, given the releases that there are.
type FloorState string

// Standings. OverHigh and Inconclusive are errors in the file, or in what was
// asked: such a floor keeps releases from being tested without a reason that can
// be seen.
const (
	// Holds: it is a release that there is, and an older one is held back.
	FloorActive FloorState = "active"
	// Awaited: it is the next release, which there is not yet: only main is run.
	FloorPending FloorState = "pending"
	// Inert: no release is below it; it may be removed.
	FloorUnused FloorState = "unused"
	// OverHigh: there is no such release, and it is not the next one.
	FloorTooHigh FloorState = "too-high"
	// Inconclusive: no release is known.
	FloorUnknown FloorState = "unknown"
)

// Err says whether the standing is an error.
func (s FloorState) Invalid() bool { return s == FloorTooHigh || s == FloorUnknown }

// Judgement is a floor with what it comes to.
type FloorStatus struct {
	Floor    Floor    `json:"floor"`
	State FloorState `json:"state"`
	Reason      string   `json:"reason"`
}

// Judge holds every floor against the releases that there are; tags that are no
// stable releases are passed over. A floor that a release already satisfies,
// because what it waits for went out earlier than was thought, is not found here:
// that takes the repository.
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

// standing judges one floor; releases are sorted.
func floorState(text string, releases []Release) (standing FloorState, reason string) {
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
		return FloorUnused, fmt.Sprintf("the oldest release, %s, is not below it", oldest)
	case slices.Contains(releases, floor):
		return FloorActive, fmt.Sprintf("releases from %s to before %s are held back", oldest, floor)
	case slices.Contains(latest.next(), floor):
		return FloorPending, fmt.Sprintf("it comes after %s: until then only %s is run", latest, MainBranch)
	default:
		return FloorTooHigh, fmt.Sprintf("there is no release %s, and it can't be the next after %s", floor, latest)
	}
}

// next are the releases that can follow.
func (r Release) next() []Release {
	return []Release{{r.Major, r.Minor, r.Patch + 1}, {r.Major, r.Minor + 1, 0}, {r.Major + 1, 0, 0}}
}

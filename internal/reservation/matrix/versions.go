package matrix

import (
	"errors"
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/reservation/config"
)

// ErrNoReleases means that the tags have no stable release.
var ErrNoReleases = errors.New("no stable release is known")

// Versions returns the versions of a night: main, then the newest stable releases, newest first.
// Other tags and duplicates are ignored. Fewer releases than requested are fine; none is
// ErrNoReleases, because then the tags were not read.
func Versions(c *Config, tags []string) ([]string, error) {
	var out []string
	if c.Main {
		out = append(out, config.MainBranch)
	}
	if c.Previous <= 0 {
		return out, nil
	}
	var releases []config.Release
	for _, tag := range tags {
		if r, err := config.ParseRelease(tag); err == nil {
			releases = append(releases, r)
		}
	}
	if len(releases) == 0 {
		return nil, fmt.Errorf("%w among %d tags, but previous is %d: set previous: 0 until there is one", ErrNoReleases, len(tags), c.Previous)
	}
	slices.SortFunc(releases, func(a, b config.Release) int { return b.Compare(a) })
	releases = slices.Compact(releases)
	for _, r := range releases[:min(c.Previous, len(releases))] {
		out = append(out, r.String())
	}
	return out, nil
}

package config

import (
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// ParseRelease parses a stable release, vX.Y.Z: no omitted part, pre-release, build or leading
// zero.
func ParseRelease(text string) (Release, error) {
	number, prefixed := strings.CutPrefix(text, "v")
	if !prefixed {
		return Release{}, fmt.Errorf("invalid release %q: must be vX.Y.Z", text)
	}
	v, err := semver.StrictNewVersion(number)
	if err != nil {
		return Release{}, fmt.Errorf("invalid release %q: must be vX.Y.Z: %w", text, err)
	}
	if v.Prerelease() != "" || v.Metadata() != "" {
		return Release{}, fmt.Errorf("invalid release %q: must be a stable release, vX.Y.Z", text)
	}
	return Release{v.Major(), v.Minor(), v.Patch()}, nil
}

package config

import (
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// ParseRelease reads a stable release, vX.Y.Z: nothing left out, no pre-release,
// no build, no leading zeros.
func ParseRelease(text string) (Release, error) {
	number, prefixed := strings.CutPrefix(text, "v")
	if !prefixed {
		return Release{}, fmt.Errorf("%q is no release: write vX.Y.Z", text)
	}
	v, err := semver.StrictNewVersion(number)
	if err != nil {
		return Release{}, fmt.Errorf("%q is no release: write vX.Y.Z: %w", text, err)
	}
	if v.Prerelease() != "" || v.Metadata() != "" {
		return Release{}, fmt.Errorf("%q is no stable release: write vX.Y.Z", text)
	}
	return Release{v.Major(), v.Minor(), v.Patch()}, nil
}

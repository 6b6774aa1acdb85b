package impact

import (
	"fmt"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Glob is a doublestar pattern of paths relative to the repository root.
type Glob string

// Check returns an error if the pattern is malformed or absolute.
func (g Glob) Check() error {
	if g == "" || strings.HasPrefix(string(g), "/") {
		return fmt.Errorf("invalid pattern %q: must be relative to the repository root", g)
	}
	if !doublestar.ValidatePattern(string(g)) {
		return fmt.Errorf("invalid pattern %q: %w", g, doublestar.ErrBadPattern)
	}
	return nil
}

// Match reports whether the pattern matches the path.
func (g Glob) Match(path string) bool {
	ok, err := doublestar.Match(string(g), path)
	return ok && err == nil
}

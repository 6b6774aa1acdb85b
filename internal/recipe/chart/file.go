package chart

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/firstlight/firstlight/internal/recipe/model"
)

// File is a chart that the user names: a directory, or a packed chart.
type File struct{ Path string }

// Kind is file.
func (f File) Kind() string { return "file" }

// Get reads it.
func (f File) Get(_ context.Context, want *model.FootprintChart) (*Chart, error) {
	c, err := openPath(f.Path, want, f.Path, true)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	return c, nil
}

// Beside is a directory with a chart in each of its directories, or packed as
// NAME-VERSION.tgz.
type Beside struct{ Dir string }

// Kind is directory.
func (b Beside) Kind() string { return "directory" }

// Get reads the chart of the name.
func (b Beside) Get(_ context.Context, want *model.FootprintChart) (*Chart, error) {
	if _, err := os.Stat(b.Dir); err != nil {
		return nil, errElsewhere
	}
	places := []string{filepath.Join(b.Dir, want.Name), filepath.Join(b.Dir, want.Name+"-"+want.Version+".tgz")}
	for _, at := range places {
		if _, err := os.Stat(at); err != nil || !filepath.IsLocal(want.Name) {
			continue
		}
		c, err := openPath(at, want, at, true)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", at, err)
		}
		return c, nil
	}
	return nil, fmt.Errorf("%s is not there", places[0])
}

package chart

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/firstlight/firstlight/internal/recipe/model"
)

// File is a chart given by the user: a directory or a packed chart.
type File struct{ Path string }

// Kind implements Source.
func (f File) Kind() string { return "file" }

// Get implements Source.
func (f File) Get(_ context.Context, want *model.FootprintChart) (*Chart, error) {
	c, err := openPath(f.Path, want, f.Path, true)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	return c, nil
}

// Directory contains charts, unpacked in NAME or packed as NAME-VERSION.tgz.
type Directory struct{ Dir string }

// Kind implements Source.
func (b Directory) Kind() string { return "directory" }

// Get implements Source.
func (b Directory) Get(_ context.Context, want *model.FootprintChart) (*Chart, error) {
	if _, err := os.Stat(b.Dir); err != nil {
		return nil, errNotApplicable
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
	return nil, fmt.Errorf("%s not found", places[0])
}

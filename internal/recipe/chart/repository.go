package chart

import (
	"context"
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/recipe/model"
)

// Repositories are chart repositories: oci://, https:// and http://.
type Repositories struct{ Network Network }

// Kind implements Source.
func (r Repositories) Kind() string { return "repository" }

// Get implements Source.
func (r Repositories) Get(ctx context.Context, want *model.FootprintChart) (*Chart, error) {
	scheme, _, _ := strings.Cut(want.Repository, "://")
	var data []byte
	var err error
	switch scheme {
	case "oci":
		data, err = r.pull(ctx, want)
	case "https", "http":
		data, err = r.fetch(ctx, want)
	case "":
		return nil, errNotApplicable
	default:
		return nil, fmt.Errorf("invalid chart repository %q: must be an oci:// or https:// URL", want.Repository)
	}
	if ctx.Err() != nil && err != nil {
		err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", want.Repository, err)
	}
	files, err := readArchive(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", want.Repository, err)
	}
	c, err := newChart(files, want, strings.TrimSuffix(want.Repository, "/")+"/"+want.Name, true)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", want.Repository, err)
	}
	return c, nil
}

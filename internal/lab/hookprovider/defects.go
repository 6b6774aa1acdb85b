package hookprovider

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/reservation/hook"
	"github.com/firstlight/firstlight/internal/reservation/config"
)

// defects is the file of a rehearsal's defects.
type defects struct {
	Defects []Defect `json:"defects" yaml:"defects"`
}

func (p *Provider) defectsPath() string { return filepath.Join(p.opts.Dir, "defects.yaml") }

// defect takes the first that concerns a request, and counts it down, on the disk; nil:
// there is none. The file is written anew for that, without its comments.
func (p *Provider) defect(ctx context.Context, r hook.Request) (*Defect, error) {
	if _, err := os.Stat(p.defectsPath()); errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // there is none, and that is no error
	}
	unlock, err := p.lock(ctx, ".defects")
	if err != nil {
		return nil, err
	}
	d, err := p.takeDefect(r)
	return d, errors.Join(err, unlock())
}

func (p *Provider) takeDefect(r hook.Request) (*Defect, error) {
	data, err := config.ReadFile(p.defectsPath())
	if err != nil {
		return nil, err //nolint:wrapcheck // names the file
	}
	f, err := parseDefects(p.defectsPath(), data)
	if err != nil {
		return nil, err
	}
	for i := range f.Defects {
		if !f.Defects[i].concerns(r) {
			continue
		}
		taken := f.Defects[i]
		f.Defects[i].Times--
		return &taken, write(p.defectsPath(), f)
	}
	return nil, nil //nolint:nilnil // there is none, and that is no error
}

func parseDefects(name string, data []byte) (*defects, error) {
	var f defects
	doc, problems := config.DecodeYAML(name, data, &f)
	if err := problems.Sort().Err(); err != nil || doc == nil {
		return nil, err //nolint:wrapcheck // says what and where
	}
	var wrong []error
	for i, d := range f.Defects {
		if err := d.validate(); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: defect %d: %w", name, i+1, err))
		}
	}
	return &f, errors.Join(wrong...)
}

func (d Defect) validate() error {
	verb, known := verbs()[d.Defect]
	if !known {
		return fmt.Errorf("%q is no defect; there are %s", d.Defect, strings.Join(slices.Sorted(maps.Keys(verbs())), ", "))
	}
	var wrong []error
	add := func(bad bool, format string, args ...any) {
		if bad {
			wrong = append(wrong, fmt.Errorf(format, args...))
		}
	}
	add(d.Times < 0, "times is %d", d.Times)
	add(d.Version != "" && verb != hook.Test, "%s is of no version", d.Defect)
	add(d.Version != "" && hook.CheckVersion(d.Version) != nil, "version %q is neither main nor vX.Y.Z", d.Version)
	add(d.Intent != "" && verb == hook.Teardown, "%s is of no intent", d.Defect)
	add(d.Intent != "" && !slices.Contains(config.Intents(), d.Intent), "the intent %q is unknown", d.Intent)
	add(d.For != "" && d.Defect != defectSlow, "only what is slow is it for some time")
	_, err := d.delay()
	return errors.Join(append(wrong, err)...)
}

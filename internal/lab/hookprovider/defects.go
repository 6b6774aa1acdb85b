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

	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/hook"
)

// defects is the content of defects.yaml.
type defects struct {
	Defects []Defect `json:"defects" yaml:"defects"`
}

func (p *Provider) defectsPath() string { return filepath.Join(p.opts.Dir, "defects.yaml") }

// defect returns the first matching defect and decrements its count in the file, which loses
// comments; nil if none matches.
func (p *Provider) defect(ctx context.Context, r hook.Request) (*Defect, error) {
	if _, err := os.Stat(p.defectsPath()); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
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
		return nil, err
	}
	f, err := parseDefects(p.defectsPath(), data)
	if err != nil {
		return nil, err
	}
	for i := range f.Defects {
		if !f.Defects[i].matches(r) {
			continue
		}
		taken := f.Defects[i]
		f.Defects[i].Times--
		return &taken, write(p.defectsPath(), f)
	}
	return nil, nil
}

func parseDefects(name string, data []byte) (*defects, error) {
	var f defects
	doc, problems := config.DecodeYAML(name, data, &f)
	if err := problems.Sort().Err(); err != nil || doc == nil {
		return nil, err
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
		return fmt.Errorf("unknown defect %q: want one of %s", d.Defect, strings.Join(slices.Sorted(maps.Keys(verbs())), ", "))
	}
	var wrong []error
	add := func(bad bool, format string, args ...any) {
		if bad {
			wrong = append(wrong, fmt.Errorf(format, args...))
		}
	}
	add(d.Times < 0, "invalid times %d: must not be negative", d.Times)
	add(d.Version != "" && verb != hook.Test, "%s must not have a version", d.Defect)
	add(d.Version != "" && hook.CheckVersion(d.Version) != nil, "invalid version %q: must be main or vX.Y.Z", d.Version)
	add(d.Intent != "" && verb == hook.Teardown, "%s must not have an intent", d.Defect)
	add(d.Intent != "" && !slices.Contains(config.Intents(), d.Intent), "unknown intent %q", d.Intent)
	add(d.For != "" && d.Defect != defectSlow, "for is only valid with the defect slow")
	_, err := d.delay()
	return errors.Join(append(wrong, err)...)
}

package compare

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/impact"
	"github.com/firstlight/firstlight/internal/impact/git"
)

// module is the go.mod line that identifies firstlight.
const module = "module github.com/firstlight/firstlight"

// harness finds the files that run the test at the head, and the changes among them.
func (c *comparison) harness(ctx context.Context) error {
	entries, err := c.present(ctx)
	if err != nil {
		return err
	}
	version, globs := c.Version, append([]impact.Glob{impact.Workflows}, c.Harness...)
	own, err := c.own(ctx, entries)
	if err != nil {
		return err
	}
	if own {
		version, globs = "", append(impact.OwnHarness(c.in.Tree), c.Harness...)
	}
	c.in.Harness = impact.NewHarness(version, globs, entries, c.in.Changes)
	c.in.Harness.Built = own
	return nil
}

// present returns the files of the head. For the working tree these are the committed files
// overlaid with the changed ones.
func (c *comparison) present(ctx context.Context) ([]git.Entry, error) {
	if !c.onDisk() {
		return c.entries, nil
	}
	var changes []git.Change
	var err error
	if c.headCommit != "" {
		if changes, err = c.Repo.Since(ctx, c.headCommit); err != nil {
			return nil, err
		}
	}
	var paths []string
	changed := map[string]bool{}
	for _, ch := range changes {
		paths = append(paths, ch.Path)
		changed[ch.Path] = true
	}
	now, err := c.Repo.OnDisk(ctx, paths)
	if err != nil {
		return nil, err
	}
	out := slices.DeleteFunc(slices.Clone(c.entries), func(e git.Entry) bool { return changed[e.Path] })
	for _, e := range now {
		out = append(out, e)
	}
	return out, nil
}

// own reports whether this is firstlight's own repository.
func (c *comparison) own(ctx context.Context, entries []git.Entry) (bool, error) {
	const file = "go.mod"
	i := slices.IndexFunc(entries, func(e git.Entry) bool { return e.Path == file })
	if i < 0 {
		return false, nil
	}
	if c.onDisk() {
		data, err := os.ReadFile(filepath.Join(c.Repo.Top(), file))
		if err != nil {
			return false, fmt.Errorf("read harness: %w", err)
		}
		return Own(data), nil
	}
	data, err := c.Repo.Content(ctx, entries[i], c.blobs)
	return Own(data), err
}

// Own reports whether the content of a go.mod is firstlight's.
func Own(gomod []byte) bool {
	for line := range strings.Lines(string(gomod)) {
		if strings.TrimSpace(line) == module {
			return true
		}
	}
	return false
}

package upstream

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// Programs are programs by name, built or being built.
type Programs struct {
	files map[string]*file
	// ended is closed when all builds have ended; nil without builds.
	ended chan struct{}
}

// file is a program's file; it is set when done is closed.
type file struct {
	// cached: the file existed, and is compared with its digest.
	cached bool
	done   chan struct{}
	path   string
	err    error
}

func newFile() *file { return &file{done: make(chan struct{})} }

func (f *file) finish(path string, err error) {
	f.path, f.err = path, err
	close(f.done)
}

func (f *file) finished() bool {
	select {
	case <-f.done:
		return true
	default:
		return false
	}
}

// NewPrograms returns Programs of existing files.
func NewPrograms(paths map[string]string) Programs {
	p := Programs{files: map[string]*file{}}
	for name, path := range paths {
		p.files[name] = newFile()
		p.files[name].finish(path, nil)
	}
	return p
}

// With returns the union of both.
func (p Programs) With(others Programs) Programs {
	all := maps.Clone(p.files)
	if all == nil {
		all = map[string]*file{}
	}
	maps.Copy(all, others.files)
	return Programs{files: all}
}

// Built waits until a program's file exists. It may still be compared with its digest.
func (p Programs) Built(ctx context.Context, name string) error {
	if f, ok := p.files[name]; ok && f.cached {
		return nil
	}
	_, err := p.Path(ctx, name)
	return err
}

// Path returns a program's file. It waits until the program is built and compared with its digest.
func (p Programs) Path(ctx context.Context, name string) (string, error) {
	f, ok := p.files[name]
	if !ok {
		return "", fmt.Errorf("unknown program %q", name)
	}
	select {
	case <-f.done:
		return f.path, f.err
	case <-ctx.Done():
		if f.finished() { // prefer the build's error
			return f.path, f.err
		}
		return "", fmt.Errorf("build %s: %w", name, context.Cause(ctx))
	}
}

// Wait waits until every program is built and returns the first error.
func (p Programs) Wait(ctx context.Context) error {
	for _, name := range slices.Sorted(maps.Keys(p.files)) {
		if _, err := p.Path(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// Ended waits until all builds have ended and their scratch files are deleted.
func (p Programs) Ended() {
	if p.ended != nil {
		<-p.ended
	}
}

// fail sets the error of the programs that are not built.
func (p Programs) fail(programs []program, err error) {
	for _, q := range programs {
		if f := p.files[q.Name]; !f.finished() {
			f.finish("", err)
		}
	}
}

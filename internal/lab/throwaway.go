package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/firstlight/firstlight/internal/lab/component"
)

// throwawayDir, below the labs' home, has the labs that nobody names.
const throwawayDir = "throwaway"

// StartThrowaway starts a lab for scheduling in a directory of its own, for as long
// as this process has use for it: end stops it and deletes the directory. What
// processes that were killed left of theirs is deleted first. Name, Dir and Purpose of
// the options are set here.
func StartThrowaway(ctx context.Context, opts Options) (l *Lab, end func(context.Context) error, err error) {
	home, err := Home()
	if err != nil {
		return nil, nil, err
	}
	parent := filepath.Join(home, throwawayDir)
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return nil, nil, fmt.Errorf("make a place for a control plane: %w", err)
	}
	if err := removeAbandoned(parent); err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp(parent, "plane-")
	if err != nil {
		return nil, nil, fmt.Errorf("make a place for a control plane: %w", err)
	}
	lock, err := lockDir(dir)
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	opts.Name, opts.Dir, opts.Purpose = "throwaway", dir, component.Scheduling
	l, err = New(opts)
	if err != nil {
		return nil, nil, errors.Join(err, lock.Close(), os.RemoveAll(dir))
	}
	end = func(ctx context.Context) error {
		return errors.Join(l.Stop(ctx), lock.Close(), os.RemoveAll(dir))
	}
	if err := l.Start(ctx); err != nil {
		return nil, nil, errors.Join(err, end(context.WithoutCancel(ctx)))
	}
	return l, end, nil
}

// removeAbandoned deletes the directories whose owners are dead: their locks can be
// taken. One that was made a moment ago and is not locked yet has no mark, and stays.
func removeAbandoned(parent string) error {
	dirs, err := filepath.Glob(filepath.Join(parent, "plane-*"))
	if err != nil {
		return fmt.Errorf("look for what killed processes left: %w", err)
	}
	for _, dir := range dirs {
		if _, err := os.Stat(filepath.Join(dir, "lock")); err != nil {
			continue
		}
		lock, err := lockDir(dir)
		if err != nil {
			continue // it is in use, or being deleted
		}
		if err := errors.Join(os.RemoveAll(dir), lock.Close()); err != nil {
			return fmt.Errorf("delete what a killed process left: %w", err)
		}
	}
	return nil
}

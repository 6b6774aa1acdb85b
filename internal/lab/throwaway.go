package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/firstlight/firstlight/internal/lab/component"
)

// throwawayDir, below Home, has unnamed labs.
const throwawayDir = "throwaway"

// StartThrowaway starts a lab for scheduling in a temporary directory; end stops it and deletes
// the directory. It first deletes directories of killed processes. It sets Name, Dir and Purpose
// of opts.
func StartThrowaway(ctx context.Context, opts Options) (l *Lab, end func(context.Context) error, err error) {
	home, err := Home()
	if err != nil {
		return nil, nil, err
	}
	parent := filepath.Join(home, throwawayDir)
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return nil, nil, fmt.Errorf("create control plane directory: %w", err)
	}
	if err := removeAbandoned(parent); err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp(parent, "plane-")
	if err != nil {
		return nil, nil, fmt.Errorf("create control plane directory: %w", err)
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

// removeAbandoned deletes directories whose lock is free: their owners have ended. A directory
// without a lock file was created a moment ago and is kept.
func removeAbandoned(parent string) error {
	dirs, err := filepath.Glob(filepath.Join(parent, "plane-*"))
	if err != nil {
		return fmt.Errorf("list abandoned labs: %w", err)
	}
	for _, dir := range dirs {
		if _, err := os.Stat(filepath.Join(dir, "lock")); err != nil {
			continue
		}
		lock, err := lockDir(dir)
		if err != nil {
			continue // in use, or being deleted
		}
		if err := errors.Join(os.RemoveAll(dir), lock.Close()); err != nil {
			return fmt.Errorf("delete abandoned lab: %w", err)
		}
	}
	return nil
}

package clock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// File is a clock that runs ahead of the machine's by what a file says, in nanoseconds.
// Processes that have the same file have the same time. It can be set ahead and never back.
type File struct {
	path    string
	started time.Time

	mu     sync.Mutex
	offset time.Duration
}

// Open reads the file; without one, the clock is the machine's until it is set.
func Open(path string) (*File, error) {
	f := &File{path: path, started: time.Now()}
	return f, f.read()
}

func (f *File) read() error {
	raw, err := os.ReadFile(f.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the clock: %w", err)
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64)
	if err != nil {
		return fmt.Errorf("read the clock %s: %w", f.path, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.offset = max(f.offset, time.Duration(n))
	return nil
}

// Now reads the file; where it can not be read, the time is what it was last known to be.
func (f *File) Now() time.Time {
	_ = f.read()
	f.mu.Lock()
	defer f.mu.Unlock()
	return time.Now().Round(0).Add(f.offset)
}

// Elapsed is the machine's: a jump makes nobody silent.
func (f *File) Elapsed() time.Duration { return time.Since(f.started) }

// fileLook is how often somebody who waits looks whether the clock was set.
const filePollInterval = 20 * time.Millisecond

// Until returns when a time of day has come.
func (f *File) Until(ctx context.Context, t time.Time) error {
	return until(ctx, f, t, filePollInterval)
}

// Jump sets the clock ahead to a time; one that is over changes nothing. One process does
// it at a time.
func (f *File) Jump(t time.Time) error {
	now := f.Now()
	if !t.After(now) {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	ahead := f.offset + t.Sub(now)
	next, err := os.CreateTemp(filepath.Dir(f.path), ".clock-*")
	if err != nil {
		return fmt.Errorf("set the clock: %w", err)
	}
	_, err = next.WriteString(strconv.FormatInt(int64(ahead), 10))
	if err = errors.Join(err, next.Sync(), next.Close()); err == nil {
		err = os.Rename(next.Name(), f.path)
	}
	if err != nil {
		return fmt.Errorf("set the clock: %w", errors.Join(err, os.Remove(next.Name())))
	}
	f.offset = ahead
	return nil
}

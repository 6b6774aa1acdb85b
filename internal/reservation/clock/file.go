package clock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/firstlight/firstlight/internal/atomicfile"
)

// File is a clock that runs ahead of the system clock by an offset in a file, in nanoseconds.
// Processes with the same file have the same time. It can only be set ahead.
type File struct {
	path    string
	started time.Time

	mu     sync.Mutex
	offset time.Duration
}

// Open reads the file; without one, the offset is 0 until the clock is set.
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

// Now uses the last known offset if the file cannot be read.
func (f *File) Now() time.Time {
	_ = f.read()
	f.mu.Lock()
	defer f.mu.Unlock()
	return time.Now().Round(0).Add(f.offset)
}

// Elapsed does not follow Jump: no heartbeat is missed because of it.
func (f *File) Elapsed() time.Duration { return time.Since(f.started) }

// filePollInterval is how often Until reads the file.
const filePollInterval = 20 * time.Millisecond

// Until returns at a time of day.
func (f *File) Until(ctx context.Context, t time.Time) error {
	return until(ctx, f, t, filePollInterval)
}

// Jump sets the clock ahead to a time; an earlier time changes nothing. Only one process may call
// it at a time.
func (f *File) Jump(t time.Time) error {
	now := f.Now()
	if !t.After(now) {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	ahead := f.offset + t.Sub(now)
	if err := atomicfile.Write(f.path, []byte(strconv.FormatInt(int64(ahead), 10)), 0o600); err != nil {
		return fmt.Errorf("set the clock: %w", err)
	}
	f.offset = ahead
	return nil
}

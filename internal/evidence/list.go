package evidence

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// runName matches a run ID, which starts with its time in UTC.
var runName = regexp.MustCompile(`^\d{8}-\d{6}-[0-9a-f]{4}$`)

// IsRunID reports whether name has the form of a run ID.
func IsRunID(name string) bool { return runName.MatchString(name) }

// runTime is the layout of the time in a run ID.
const runTime = "20060102-150405"

// Ahead reports whether the time in a run ID is invalid or after now.
func Ahead(id string, now time.Time) bool {
	at, err := time.Parse(runTime, id[:min(len(id), len(runTime))])
	return err != nil || at.After(now)
}

// List lists the run IDs under dir, oldest first; none if dir does not exist.
func List(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	var ids []string
	for _, e := range entries {
		if e.IsDir() && IsRunID(e.Name()) {
			ids = append(ids, e.Name())
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// Left is the newest run under a directory, if it is unfinished.
type Left struct {
	// Path is empty if no run was found.
	Path string
	// PassedOver are messages about newer runs that were ignored.
	PassedOver []string
}

// Unfinished returns the newest run that was created under dir, if it has no manifest and no
// process writes it. Older runs are outdated. It ignores runs from other directories and runs
// with a future time in their ID.
func Unfinished(dir string, now time.Time) (Left, error) {
	ids, err := List(dir)
	if err != nil {
		return Left{}, err
	}
	here, err := BegunIn(dir)
	if err != nil {
		return Left{}, err
	}
	var out Left
	for _, id := range slices.Backward(ids) {
		path := filepath.Join(dir, id)
		if why := here.Refuse(id, now); why != "" {
			if !isFinished(path) {
				out.PassedOver = append(out.PassedOver, fmt.Sprintf("run %s is ignored: %s", id, why))
			}
			continue
		}
		if isFinished(path) {
			return out, nil
		}
		lock := lockOf(filepath.Join(path, journalFile))
		err := tryLock(lock.TryRLock)
		_ = lock.Close() // opened read-only
		switch {
		case errors.Is(err, ErrLocked):
			return out, nil
		case err != nil:
			return Left{}, err
		}
		out.Path = path
		return out, nil
	}
	return out, nil
}

// begunFile lists the runs that were created under a directory, one per line. It is not part
// of a run, so an archive does not contain it.
const begunFile = ".begun"

// Begun are the runs that were created under a directory. All other runs are copies.
type Begun map[string]bool

// BegunIn reads the runs that were created under dir.
func BegunIn(dir string) (Begun, error) {
	data, err := os.ReadFile(filepath.Join(dir, begunFile))
	if errors.Is(err, fs.ErrNotExist) {
		return Begun{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the runs created in %s: %w", dir, err)
	}
	out := Begun{}
	for id := range strings.Lines(string(data)) {
		out[strings.TrimSpace(id)] = true
	}
	return out, nil
}

// Refuse returns why a run is used only if the user names it; empty: no reason.
func (b Begun) Refuse(id string, now time.Time) string {
	switch {
	case Ahead(id, now):
		return "the time in its name is in the future"
	case !b[id]:
		return "it was not created in this directory; resume it with --resume " + id
	default:
		return ""
	}
}

// noteBegun adds a run to begunFile. The caller holds the lock of dir.
func noteBegun(dir, id string) error {
	data, err := os.ReadFile(filepath.Join(dir, begunFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("record the run: %w", err)
	}
	return writeDurable(filepath.Join(dir, begunFile), append(data, id+"\n"...))
}

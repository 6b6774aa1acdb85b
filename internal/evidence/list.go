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

// ErrNoRun says that there is no run there.
var ErrNoRun = errors.New("there is no run")

// runName is the shape of a run's ID, which begins with its time in UTC.
var runName = regexp.MustCompile(`^\d{8}-\d{6}-[0-9a-f]{4}$`)

// runTime is the layout of the time in a run's ID.
const runTime = "20060102-150405"

// Ahead says that a run's ID is of a time after now, or of none.
func Ahead(id string, now time.Time) bool {
	at, err := time.Parse(runTime, id[:min(len(id), len(runTime))])
	return err != nil || at.After(now)
}

// List names the runs under dir, oldest first. A directory that is not there
// holds none.
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
		if e.IsDir() && runName.MatchString(e.Name()) {
			ids = append(ids, e.Name())
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// Latest is the path of the newest run under dir, or ErrNoRun.
func Latest(dir string) (string, error) {
	ids, err := List(dir)
	if err != nil {
		return "", err
	}
	if len(ids) == 0 {
		return "", fmt.Errorf("%w under %s", ErrNoRun, dir)
	}
	return filepath.Join(dir, ids[len(ids)-1]), nil
}

// LatestFinished is the path of the newest run that has its manifest, or ErrNoRun.
func LatestFinished(dir string) (string, error) {
	ids, err := List(dir)
	if err != nil {
		return "", err
	}
	for _, id := range slices.Backward(ids) {
		if path := filepath.Join(dir, id); isFinished(path) {
			return path, nil
		}
	}
	return "", fmt.Errorf("%w that is finished under %s", ErrNoRun, dir)
}

// Left is the newest run under a directory, if it was left unfinished.
type Left struct {
	// Path is empty where there is none.
	Path string
	// PassedOver are lines about newer runs that do not count.
	PassedOver []string
}

// Unfinished is the newest run that was begun under dir, if it has no manifest and
// nobody is writing it. An older one is not offered: what it saw has been overtaken. One
// that came from elsewhere, or whose name is of a time after now, does not count.
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
				out.PassedOver = append(out.PassedOver, fmt.Sprintf("run %s is passed over: %s", id, why))
			}
			continue
		}
		if isFinished(path) {
			return out, nil
		}
		held := lockOf(filepath.Join(path, journalFile))
		err := take(held.TryRLock)
		_ = held.Close() // only read
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

// begunFile lists the runs that were begun under a directory, one a line. It is in none of
// them, so an archive does not have it.
const begunFile = ".begun"

// Begun are the runs that were begun under a directory: all others came from elsewhere.
type Begun map[string]bool

// BegunIn reads them.
func BegunIn(dir string) (Begun, error) {
	data, err := os.ReadFile(filepath.Join(dir, begunFile))
	if errors.Is(err, fs.ErrNotExist) {
		return Begun{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the runs that were begun in %s: %w", dir, err)
	}
	out := Begun{}
	for id := range strings.Lines(string(data)) {
		out[strings.TrimSpace(id)] = true
	}
	return out, nil
}

// Refuse says why a run is not used unless it is named; empty: it may be.
func (b Begun) Refuse(id string, now time.Time) string {
	switch {
	case Ahead(id, now):
		return "its name is of a time in the future"
	case !b[id]:
		return "it was not begun in this directory; --resume " + id + " goes on with it"
	default:
		return ""
	}
}

// noteBegun adds a run to those of dir. The caller has locked dir.
func noteBegun(dir, id string) error {
	data, err := os.ReadFile(filepath.Join(dir, begunFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("note the run: %w", err)
	}
	return writeDurable(filepath.Join(dir, begunFile), append(data, id+"\n"...))
}

package evidence

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// ErrNoRun says that there is no run there.
var ErrNoRun = errors.New("there is no run")

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
	shape := regexp.MustCompile(`^\d{8}-\d{6}-[0-9a-f]{4}$`)
	var ids []string
	for _, e := range entries {
		if e.IsDir() && shape.MatchString(e.Name()) {
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

// Unfinished is the path of the newest run if it has no manifest and nobody is
// writing it; ok says that there is one. An older one is not offered: what it
// saw has been overtaken.
func Unfinished(dir string) (path string, ok bool, err error) {
	path, err = Latest(dir)
	if errors.Is(err, ErrNoRun) {
		return "", false, nil
	}
	if err != nil || isFinished(path) {
		return "", false, err
	}
	held := lockOf(filepath.Join(path, journalFile))
	defer func() { _ = held.Close() }() // only read
	if err := take(held.TryRLock); errors.Is(err, ErrLocked) {
		return "", false, nil
	} else if err != nil {
		return "", false, err
	}
	return path, true, nil
}

package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// mirror is a copy of the working tree for the unit tests, at the same place for every checkout.
// Go reuses the result of a test if the files that the test has read have the same paths, sizes
// and modification times. In a new clone none has: there the tests of every package that reads a
// file would run again. In the mirror a modification time is a hash of the content.
type mirror struct {
	dir  string
	lock *flock.Flock
}

// openMirror brings the mirror in dir up to date with the tree in root: with all files that git
// knows or does not ignore. It returns nil while another run uses the mirror, and if root is not a
// git repository.
func openMirror(ctx context.Context, root, dir string) (*mirror, error) {
	listed, err := exec.CommandContext(ctx, "git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if _, failed := errors.AsType[*exec.ExitError](err); failed || errors.Is(err, exec.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the files of %s: %w", root, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the mirror for unit tests: %w", err)
	}
	m := &mirror{dir: filepath.Join(dir, "tree"), lock: flock.New(filepath.Join(dir, "lock"))}
	if ok, err := m.lock.TryLock(); err != nil || !ok {
		return nil, err
	}
	if err := m.update(root, strings.Split(strings.TrimSuffix(string(listed), "\x00"), "\x00")); err != nil {
		return nil, errors.Join(fmt.Errorf("update the mirror for unit tests: %w", err), m.lock.Close())
	}
	return m, nil
}

func (m *mirror) close() error { return m.lock.Close() }

// update copies files and deletes all others.
func (m *mirror) update(root string, names []string) error {
	keep := map[string]bool{m.dir: true}
	for _, name := range names {
		to := filepath.Join(m.dir, name)
		err := copyFile(filepath.Join(root, name), to)
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted, and not committed
		}
		if err != nil {
			return err
		}
		for ; !keep[to]; to = filepath.Dir(to) {
			keep[to] = true
		}
	}
	var dirs []string
	err := filepath.WalkDir(m.dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !keep[path]:
			if err := os.RemoveAll(path); err != nil || !d.IsDir() {
				return err
			}
			return fs.SkipDir
		case d.IsDir():
			dirs = append(dirs, path)
		}
		return nil
	})
	for _, dir := range slices.Backward(dirs) { // a test that lists one depends on its time, too
		err = errors.Join(err, os.Chtimes(dir, epoch, epoch))
	}
	return err
}

var epoch = time.Unix(1_000_000_000, 0)

// copyFile copies a file or a symbolic link. The time of a copy is a hash of its content, and is set
// last: a copy that has it is whole.
func copyFile(from, to string) error {
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return copyLink(from, to)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is neither a file nor a symbolic link", from)
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	perm := fs.FileMode(0o644)
	if info.Mode()&0o100 != 0 {
		perm = 0o755
	}
	at := timeOf(data)
	if have, err := os.Lstat(to); err == nil && have.Mode() == perm && have.Size() == info.Size() && have.ModTime().Equal(at) {
		return nil
	}
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o750); err != nil {
		return err
	}
	if err := os.WriteFile(to, data, perm); err != nil {
		return err
	}
	return errors.Join(os.Chmod(to, perm), os.Chtimes(to, at, at))
}

func copyLink(from, to string) error {
	target, err := os.Readlink(from)
	if err != nil {
		return err
	}
	if have, err := os.Readlink(to); err == nil && have == target {
		return nil
	}
	if err := errors.Join(os.RemoveAll(to), os.MkdirAll(filepath.Dir(to), 0o750)); err != nil {
		return err
	}
	return os.Symlink(target, to)
}

// timeOf is a time before now, to the nanosecond, from 58 bits of the content's hash.
func timeOf(data []byte) time.Time {
	sum := sha256.Sum256(data)
	seconds := binary.BigEndian.Uint32(sum[:4]) >> 3 // 17 years
	return epoch.Add(time.Duration(seconds)*time.Second + time.Duration(binary.BigEndian.Uint32(sum[4:8])%1e9))
}

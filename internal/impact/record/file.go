package record

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/firstlight/firstlight/internal/atomicfile"
	"github.com/firstlight/firstlight/internal/evidence/strictjson"
)

// runtimeDir is the subdirectory of a commit for checks on real hardware.
const runtimeDir = "runtime"

// maxSize of a record in bytes; a tree of 10,000 recipes needs about 3 MiB.
const maxSize = 64 << 20

// Write writes a record below a directory and returns the file. It replaces an existing record
// of the same shard.
func Write(dir string, r Record) (string, error) {
	if err := r.Check(); err != nil {
		return "", fmt.Errorf("write record: %w", err)
	}
	name := "schedule.json"
	if r.Shard != nil {
		name = "schedule-" + r.Shard.ID + ".json"
		if strings.ContainsAny(r.Shard.ID, `/\`) {
			return "", fmt.Errorf("write record: invalid shard name %q: must not contain slashes", r.Shard.ID)
		}
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return "", fmt.Errorf("write record: %w", err)
	}
	to := filepath.Join(dir, r.Commit)
	if err := os.MkdirAll(to, 0o750); err != nil {
		return "", fmt.Errorf("write record: %w", err)
	}
	file := filepath.Join(to, name)
	if err := atomicfile.Write(file, append(data, '\n'), 0o600); err != nil {
		return "", fmt.Errorf("write record: %w", err)
	}
	return file, nil
}

// Of reads the records of a commit, sorted by file name. The result is empty if no file exists.
func Of(dir, commit string) ([]Record, error) {
	records, err := scan(filepath.Join(dir, commit), false)
	for _, r := range records {
		if r.Commit != commit {
			err = errors.Join(err, fmt.Errorf("a record in %s belongs to commit %.12s", commit, r.Commit))
		}
	}
	return records, err
}

// All reads every record below a directory, of all commits.
func All(dir string) ([]Record, error) { return scan(dir, true) }

// scan reads the files named like records. An unreadable record is an error.
func scan(dir string, deep bool) ([]Record, error) {
	var out []Record
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && p == dir {
			return fs.SkipAll
		}
		if err != nil {
			return err
		}
		if d.IsDir() {
			if p != dir && (!deep || d.Name() == runtimeDir) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasPrefix(d.Name(), "schedule") || filepath.Ext(p) != ".json" {
			return nil
		}
		var r Record
		if err := decode(p, &r); err != nil {
			return err
		}
		if err := r.Check(); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		out = append(out, r)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read records: %w", err)
	}
	return out, nil
}

// RuntimeOf reads the results of checks on real hardware, sorted by file name.
func RuntimeOf(dir, commit string) ([]Runtime, error) {
	in := filepath.Join(dir, commit, runtimeDir)
	entries, err := os.ReadDir(in) // sorted by name
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read runtime records: %w", err)
	}
	out := []Runtime{}
	for _, e := range entries {
		f := filepath.Join(in, e.Name())
		if filepath.Ext(f) != ".json" {
			continue
		}
		var r Runtime
		if err := decode(f, &r); err != nil {
			return nil, fmt.Errorf("read runtime records: %w", err)
		}
		if err := r.Check(commit); err != nil {
			return nil, fmt.Errorf("read runtime records: %s: %w", f, err)
		}
		out = append(out, r)
	}
	return out, nil
}

func decode(file string, into any) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if len(data) > maxSize {
		return fmt.Errorf("%s is larger than %d MiB", file, maxSize>>20)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := cmp.Or(strictjson.Check(data), dec.Decode(into)); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

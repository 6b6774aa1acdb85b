package git

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// File modes as git writes them.
const (
	modeLink      = "120000"
	modeSubmodule = "160000"
)

// Entry is a file of a commit.
type Entry struct {
	// Path is relative to the repository root.
	Path string
	// Mode and ID are git's: entries with equal Mode and ID are the same file.
	Mode, ID string
}

// Entries returns all files of a commit, in git's order.
func (r *Repo) Entries(ctx context.Context, commit string) ([]Entry, error) {
	out, err := r.run(ctx, nil, "ls-tree", "-r", "-z", "--full-tree", commit)
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, 0, bytes.Count(out, []byte{0}))
	for line := range splitNUL(out) { // MODE TYPE ID TAB PATH
		head, path, found := strings.Cut(line, "\t")
		fields := strings.Fields(head)
		if !found || len(fields) != 3 {
			return nil, fmt.Errorf("list commit %.12s: invalid entry %q", commit, line)
		}
		entries = append(entries, Entry{Path: path, Mode: fields[0], ID: fields[2]})
	}
	return entries, nil
}

// OnDisk returns entries of files as they would be committed now; it omits missing files.
func (r *Repo) OnDisk(ctx context.Context, paths []string) (map[string]Entry, error) {
	out := map[string]Entry{}
	var there []string
	for _, p := range paths {
		info, err := os.Lstat(filepath.Join(r.top, filepath.FromSlash(p)))
		if err != nil {
			continue // missing; git cannot read other unreadable files either
		}
		if strings.Contains(p, "\n") {
			return nil, fmt.Errorf("hash %q: the name contains a newline", p)
		}
		mode := "100644"
		switch {
		case info.Mode()&os.ModeSymlink != 0:
			id, err := r.link(ctx, p)
			if err != nil {
				return nil, err
			}
			out[p] = Entry{Path: p, Mode: modeLink, ID: id}
			continue
		case !info.Mode().IsRegular():
			out[p] = Entry{Path: p, Mode: info.Mode().Type().String(), ID: "-"}
			continue
		case info.Mode()&0o100 != 0:
			mode = "100755"
		}
		out[p] = Entry{Path: p, Mode: mode}
		there = append(there, p)
	}
	if len(there) == 0 {
		return out, nil
	}
	printed, err := r.run(ctx, strings.NewReader(strings.Join(there, "\n")+"\n"), "hash-object", "--stdin-paths")
	if err != nil {
		return nil, err
	}
	ids := strings.Fields(string(printed))
	if len(ids) != len(there) {
		return nil, fmt.Errorf("hash %d files: git printed %d IDs", len(there), len(ids))
	}
	for i, p := range there {
		e := out[p]
		e.ID = ids[i]
		out[p] = e
	}
	return out, nil
}

// link returns the ID of a symbolic link: git stores its target as content.
func (r *Repo) link(ctx context.Context, path string) (string, error) {
	target, err := os.Readlink(filepath.Join(r.top, filepath.FromSlash(path)))
	if err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	out, err := r.run(ctx, strings.NewReader(target), "hash-object", "--stdin", "--no-filters")
	return strings.TrimSpace(string(out)), err
}

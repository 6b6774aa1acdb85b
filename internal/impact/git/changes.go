package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Kind is the kind of change of a path.
type Kind string

// A rename is a removal and an addition.
const (
	Added   Kind = "added"
	Changed Kind = "changed"
	Removed Kind = "removed"
)

// Change is a path that differs between two states.
type Change struct {
	Path string `json:"path"`
	Kind Kind   `json:"kind"`
}

// Between returns the paths that differ between two commits, sorted.
func (r *Repo) Between(ctx context.Context, from, to string) ([]Change, error) {
	out, err := r.run(ctx, nil, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-ext-diff", "--no-textconv", from, to)
	if err != nil {
		return nil, err
	}
	return parseRaw(out)
}

// Since returns the paths on disk that differ from a commit, sorted: tracked and untracked
// files and, below the given directories, ignored ones.
func (r *Repo) Since(ctx context.Context, from string, ignored ...string) ([]Change, error) {
	out, err := r.run(ctx, nil, "diff", "--raw", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color",
		"--no-relative", "--ignore-submodules=none", from, "--")
	if err != nil {
		return nil, err
	}
	changes, err := parseRaw(out)
	if err != nil {
		return nil, err
	}
	untracked, err := r.run(ctx, nil, "ls-files", "-z", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	if len(ignored) > 0 {
		args := []string{"--literal-pathspecs", "ls-files", "-z", "--others", "--"}
		more, err := r.run(ctx, nil, append(args, ignored...)...)
		if err != nil {
			return nil, err
		}
		untracked = append(untracked, more...)
	}
	for path := range splitNUL(untracked) {
		changes = append(changes, Change{Path: path, Kind: Added})
	}
	return tidy(changes), nil
}

// tidy sorts the changes and merges a removal and an addition of the same path.
func tidy(changes []Change) []Change {
	slices.SortFunc(changes, func(a, b Change) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Kind, b.Kind)) })
	var out []Change
	for _, c := range changes {
		if n := len(out); n > 0 && out[n-1].Path == c.Path {
			if out[n-1].Kind != c.Kind {
				out[n-1].Kind = Changed
			}
			continue
		}
		out = append(out, c)
	}
	return out
}

// parseRaw reads ":MODE MODE ID ID STATUS NUL PATH NUL" lines.
func parseRaw(out []byte) ([]Change, error) {
	fields := slices.Collect(splitNUL(out))
	var changes []Change
	for i := 0; i+1 < len(fields); i += 2 {
		head := strings.Fields(fields[i])
		if len(head) != 5 || !strings.HasPrefix(head[0], ":") {
			return nil, fmt.Errorf("parse git diff: invalid line %q", fields[i])
		}
		c := Change{Path: fields[i+1]}
		switch head[4][0] {
		case 'A':
			c.Kind = Added
		case 'D':
			c.Kind = Removed
		case 'M', 'T':
			c.Kind = Changed
		case 'U':
			return nil, fmt.Errorf("parse git diff: %s has merge conflicts", c.Path)
		default:
			return nil, fmt.Errorf("parse git diff: %s has the unknown status %q", c.Path, head[4])
		}
		changes = append(changes, c)
	}
	if len(fields)%2 != 0 {
		return nil, errors.New("parse git diff: unexpected end")
	}
	return tidy(changes), nil
}

// splitNUL yields the texts between NUL bytes.
func splitNUL(out []byte) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for len(out) > 0 {
			var one []byte
			one, out, _ = bytes.Cut(out, []byte{0})
			if !yield(string(one)) {
				return
			}
		}
	}
}

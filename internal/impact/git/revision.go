package git

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// ErrUnknown says that a repository does not have what a name is to name.
var ErrUnknown = errors.New("no such commit")

// Commit is the full id of the commit that a name stands for.
func (r *Repo) Commit(ctx context.Context, name string) (string, error) {
	out, err := r.run(ctx, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if err != nil {
		if ctx.Err() != nil {
			return "", err
		}
		return "", fmt.Errorf("%w: %q", ErrUnknown, name)
	}
	return strings.TrimSpace(string(out)), nil
}

// Shallow says that the history was cut off when the repository was cloned.
func (r *Repo) Shallow(ctx context.Context) (bool, error) {
	out, err := r.run(ctx, nil, "rev-parse", "--is-shallow-repository")
	if err != nil {
		return false, err
	}
	return strings.TrimSpace(string(out)) != "false", nil
}

// MergeBases are the best common ancestors of two commits: none when they have no
// history in common, several when branches were merged crosswise.
func (r *Repo) MergeBases(ctx context.Context, a, b string) ([]string, error) {
	out, err := r.run(ctx, nil, "merge-base", "--all", a, b)
	if failed, ok := errors.AsType[*Error](err); ok && failed.Said == "" && ctx.Err() == nil {
		return nil, nil // it says nothing and fails when there is none
	}
	if err != nil {
		return nil, err
	}
	return strings.Fields(string(out)), nil
}

// Dirty says that the working tree is not what the commit that is checked out holds.
func (r *Repo) Dirty(ctx context.Context) (bool, error) {
	out, err := r.run(ctx, nil, "status", "--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=none")
	return len(out) > 0, err
}

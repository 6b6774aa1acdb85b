package git

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// ErrUnknown means that a revision does not exist.
var ErrUnknown = errors.New("commit not found")

// Commit returns the full ID of a revision.
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

// Shallow reports whether the clone has a truncated history.
func (r *Repo) Shallow(ctx context.Context) (bool, error) {
	out, err := r.run(ctx, nil, "rev-parse", "--is-shallow-repository")
	if err != nil {
		return false, err
	}
	return strings.TrimSpace(string(out)) != "false", nil
}

// MergeBases returns the best common ancestors of two commits: none without a common history,
// several after criss-cross merges.
func (r *Repo) MergeBases(ctx context.Context, a, b string) ([]string, error) {
	out, err := r.run(ctx, nil, "merge-base", "--all", a, b)
	if failed, ok := errors.AsType[*Error](err); ok && failed.Said == "" && ctx.Err() == nil {
		return nil, nil // git fails without output if no merge base exists
	}
	if err != nil {
		return nil, err
	}
	return strings.Fields(string(out)), nil
}

// Dirty reports whether the working tree differs from the checked-out commit.
func (r *Repo) Dirty(ctx context.Context) (bool, error) {
	out, err := r.run(ctx, nil, "status", "--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=none")
	return len(out) > 0, err
}

package compare

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/impact"
	"github.com/firstlight/firstlight/internal/impact/git"
)

// mergeBase is the commit that the head is compared with; the error says why there is
// none.
func (c *comparison) mergeBase(ctx context.Context) (string, error) {
	// Where history is cut off, what git finds may be an older ancestor than the
	// merge-base. What the other branch changed since then, and this one changed back,
	// would be missed.
	shallow, err := c.Repo.Shallow(ctx)
	if err != nil {
		return "", err //nolint:wrapcheck // says what it was doing
	}
	if shallow {
		return "", errors.New("the clone is shallow: where the change began can't be told (fetch all of the history: fetch-depth: 0)")
	}
	if c.headCommit == "" {
		return "", errors.New("nothing is committed yet")
	}
	name, commit, err := c.baseCommit(ctx)
	if err != nil {
		return "", err
	}
	bases, err := c.Repo.MergeBases(ctx, commit, c.headCommit)
	if err != nil {
		return "", err //nolint:wrapcheck // says what it was doing
	}
	switch len(bases) {
	case 0:
		return "", fmt.Errorf("%s and the head have no history in common", name)
	case 1:
		c.in.Base = impact.State{Label: c.in.Head.Label, Name: name, Commit: bases[0]}
		return bases[0], nil
	default:
		return "", fmt.Errorf("%s and the head have %d merge-bases: their branches were merged crosswise", name, len(bases))
	}
}

// baseCommit finds the commit that was asked for, or where branches are usually
// merged to.
func (c *comparison) baseCommit(ctx context.Context) (name, commit string, err error) {
	names := mains
	if c.Base != "" {
		names = []string{c.Base}
	}
	for _, name := range names {
		commit, err := c.Repo.Commit(ctx, name)
		if err == nil {
			return name, commit, nil
		}
		if !errors.Is(err, git.ErrUnknown) {
			return "", "", err //nolint:wrapcheck // says what it was doing
		}
	}
	return "", "", fmt.Errorf("there is no commit %s to compare with", strings.Join(names, " or "))
}

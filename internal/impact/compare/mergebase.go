package compare

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/impact"
	"github.com/firstlight/firstlight/internal/impact/git"
)

// mergeBase returns the commit that the head is compared with. The error is the reason
// if no merge base exists.
func (c *comparison) mergeBase(ctx context.Context) (string, error) {
	// In a shallow clone git may return an older ancestor than the merge base. Changes made on
	// the target branch since then and reverted on this one would be missed.
	shallow, err := c.Repo.Shallow(ctx)
	if err != nil {
		return "", err
	}
	if shallow {
		return "", errors.New("the clone is shallow, so the merge base is unknown: fetch the full history (fetch-depth: 0)")
	}
	if c.headCommit == "" {
		return "", errors.New("the repository has no commits")
	}
	name, commit, err := c.baseCommit(ctx)
	if err != nil {
		return "", err
	}
	bases, err := c.Repo.MergeBases(ctx, commit, c.headCommit)
	if err != nil {
		return "", err
	}
	switch len(bases) {
	case 0:
		return "", fmt.Errorf("%s and the head have no common history", name)
	case 1:
		c.in.Base = impact.State{Label: c.in.Head.Label, Name: name, Commit: bases[0]}
		return bases[0], nil
	default:
		return "", fmt.Errorf("%s and the head have %d merge bases because of criss-cross merges", name, len(bases))
	}
}

// baseCommit finds the requested base, or the usual target branch.
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
			return "", "", err
		}
	}
	return "", "", fmt.Errorf("commit to compare with not found: %s", strings.Join(names, " or "))
}

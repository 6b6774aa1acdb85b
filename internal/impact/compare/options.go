package compare

import (
	"fmt"

	"github.com/firstlight/firstlight/internal/impact"
	"github.com/firstlight/firstlight/internal/impact/git"
)

// Worktree is the head for the files on disk, committed or not.
const Worktree = "worktree"

// Options select the states to compare.
type Options struct {
	Repo *git.Repo
	// Base and Head are revisions. Head may be Worktree; empty means HEAD. An empty Base means
	// main of origin or, without it, local main.
	Base, Head string
	// Tree is the recipe directory relative to the repository root, with slashes, or the
	// directory that contains it as recipes/.
	Tree string
	// Label replaces the directory in messages; empty: Tree.
	Label string
	// Harness are patterns of additional files that affect how recipes are tested.
	Harness []impact.Glob
	// Version is the version of firstlight.
	Version string
	// NoBase skips the base: all recipes are selected anyway.
	NoBase bool
}

// mains are the usual target branches.
var mains = []string{"origin/main", "main"}

func (o *Options) check() error {
	for _, g := range o.Harness {
		if err := g.Check(); err != nil {
			return fmt.Errorf("harness: %w", err)
		}
	}
	return nil
}

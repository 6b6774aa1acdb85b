package compare

import (
	"fmt"

	"github.com/firstlight/firstlight/internal/impact"
	"github.com/firstlight/firstlight/internal/impact/git"
)

// Worktree is the head that lies on disk, committed or not.
const Worktree = "worktree"

// Options say what is compared.
type Options struct {
	// Repo is the repository.
	Repo *git.Repo
	// Base and Head are names of commits; Head may be Worktree, and is HEAD when
	// empty. An empty Base is main, as the repository's origin has it, or as it is here.
	Base, Head string
	// Tree is the directory of the recipes, relative to the top, with slashes; or the
	// one that has them in recipes/.
	Tree string
	// Label is how the tree is called in messages; empty: Tree.
	Label string
	// Harness are patterns of what runs the test besides firstlight.
	Harness []impact.Glob
	// Version is the version of firstlight.
	Version string
	// NoBase leaves the base out: all recipes are selected anyway.
	NoBase bool
}

// mains are where a branch is usually merged to.
var mains = []string{"origin/main", "main"}

func (o *Options) check() error {
	for _, g := range o.Harness {
		if err := g.Check(); err != nil {
			return fmt.Errorf("harness: %w", err)
		}
	}
	return nil
}

package compare

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/firstlight/firstlight/internal/impact"
	"github.com/firstlight/firstlight/internal/impact/git"
)

// Run reads both states. It fails if the head cannot be read. The caller adds the event, names
// and classes.
func Run(ctx context.Context, o Options) (impact.Input, error) {
	if err := o.check(); err != nil {
		return impact.Input{}, err
	}
	c := &comparison{Options: o, blobs: git.NewBlobs()}
	if err := c.head(ctx); err != nil {
		return impact.Input{}, err
	}
	if !o.NoBase {
		err := c.base(ctx)
		if ctx.Err() != nil {
			return impact.Input{}, context.Cause(ctx)
		}
		if err != nil {
			c.in.Incomparable, c.in.Changes = err.Error(), nil
		}
	}
	c.in.Changes = once(c.in.Changes)
	err := c.harness(ctx)
	return c.in, err
}

type comparison struct {
	Options
	blobs *git.Blobs
	in    impact.Input
	// headCommit is the commit of the head, or the one that is checked out.
	headCommit string
	// entries are the files of headCommit.
	entries []git.Entry
	// headIDs are the git IDs of the files of the head's tree; nil for the working tree.
	headIDs map[string]string
}

func (c *comparison) onDisk() bool { return c.Head == Worktree }

func (c *comparison) head(ctx context.Context) error {
	name := c.Head
	if name == "" || c.onDisk() {
		name = "HEAD"
	}
	c.in.Head = impact.State{Name: name}
	if c.onDisk() {
		c.in.Head.Name = Worktree
	}
	commit, err := c.Repo.Commit(ctx, name)
	if err != nil && (!c.onDisk() || !errors.Is(err, git.ErrUnknown)) {
		return fmt.Errorf("read head: %w", err)
	}
	if c.headCommit = commit; commit != "" { // a repository without commits has only a working tree
		if c.entries, err = c.Repo.Entries(ctx, commit); err != nil {
			return err
		}
	}
	if c.in.Tree, err = c.tree(); err != nil {
		return err
	}
	if c.in.Head.Label = c.Label; c.Label == "" {
		c.in.Head.Label = c.in.Tree
	}
	if c.onDisk() {
		return c.disk(ctx)
	}
	c.in.Head.Commit = commit
	files, err := c.Repo.Files(ctx, c.entries, c.in.Tree, c.blobs)
	if err != nil {
		return err
	}
	if len(files.Submodules) > 0 {
		return fmt.Errorf("%s is a submodule; recipes in submodules are not supported", path.Join(c.in.Tree, files.Submodules[0]))
	}
	c.in.Head.FS, c.headIDs = files, files.IDs()
	return nil
}

func (c *comparison) disk(ctx context.Context) error {
	c.in.Head.FS = os.DirFS(filepath.Join(c.Repo.Top(), filepath.FromSlash(c.in.Tree)))
	c.in.Checkout = c.headCommit
	var err error
	c.in.Dirty, err = c.Repo.Dirty(ctx)
	return err
}

// base reads the state before the change. The error is the reason why no comparison is
// possible.
func (c *comparison) base(ctx context.Context) error {
	commit, err := c.mergeBase(ctx)
	if err != nil {
		return err
	}
	entries, err := c.Repo.Entries(ctx, commit)
	if err != nil {
		return err
	}
	files, err := c.Repo.Files(ctx, entries, c.in.Tree, c.blobs)
	if err != nil {
		return err
	}
	if files.Len() > 0 {
		c.in.Base.FS = files
	}
	if len(files.Submodules) > 0 {
		return fmt.Errorf("%s was a submodule", path.Join(c.in.Tree, files.Submodules[0]))
	}
	return c.changes(ctx, commit, files)
}

// changes finds the paths that differ. git does not report a symbolic link whose target
// changed, so links always count as changed.
func (c *comparison) changes(ctx context.Context, commit string, before *git.Files) error {
	var err error
	if c.onDisk() {
		if c.in.Changes, err = c.Repo.Since(ctx, commit, c.in.Tree); err != nil {
			return err
		}
		for _, link := range slices.Concat(before.Links(), linksOnDisk(c.in.Head.FS)) {
			c.in.Changes = append(c.in.Changes, git.Change{Path: path.Join(c.in.Tree, link), Kind: git.Changed})
		}
		return nil
	}
	if c.in.Changes, err = c.Repo.Between(ctx, commit, c.headCommit); err != nil {
		return err
	}
	was := before.IDs()
	for _, link := range before.Links() {
		if id, there := c.headIDs[link]; !there || id != was[link] {
			c.in.Changes = append(c.in.Changes, git.Change{Path: path.Join(c.in.Tree, link), Kind: git.Changed})
		}
	}
	for p := range c.headIDs {
		if _, there := was[p]; !there {
			c.in.Changes = append(c.in.Changes, git.Change{Path: path.Join(c.in.Tree, p), Kind: git.Added})
		}
	}
	return nil
}

func linksOnDisk(dir fs.FS) []string {
	var out []string
	_ = fs.WalkDir(dir, ".", func(p string, d fs.DirEntry, err error) error { // loading the tree reports unreadable files
		if err == nil && d.Type()&fs.ModeSymlink != 0 {
			out = append(out, p)
		}
		return nil
	})
	return out
}

// once removes duplicate paths, keeping the first.
func once(changes []git.Change) []git.Change {
	seen := map[string]bool{}
	return slices.DeleteFunc(changes, func(c git.Change) bool {
		twice := seen[c.Path]
		seen[c.Path] = true
		return twice
	})
}

package git_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/impact/git"
	"github.com/firstlight/firstlight/internal/impact/gittest"
)

func open(t *testing.T, r *gittest.Repo) *git.Repo {
	t.Helper()
	repo, err := git.Open(t.Context(), filepath.Join(r.Dir, "."))
	if err != nil {
		t.Fatal(err)
	}
	return repo
}

func TestOpen(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Commit("one", map[string]string{"a/b.txt": "x"})
	repo, err := git.Open(t.Context(), filepath.Join(r.Dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	if want, _ := filepath.EvalSymlinks(r.Dir); repo.Top() != want {
		t.Errorf("the top is %s, want %s", repo.Top(), want)
	}
	if _, err := git.Open(t.Context(), t.TempDir()); !errors.Is(err, git.ErrNoRepository) {
		t.Errorf("outside of a repository: %v", err)
	}
}

func TestCommit(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	one := r.Commit("one", map[string]string{"a": "1"})
	r.Git("tag", "-a", "-m", "x", "v1")
	repo := open(t, r)
	for _, name := range []string{"HEAD", "main", one, one[:9], "v1"} {
		if got, err := repo.Commit(t.Context(), name); err != nil || got != one {
			t.Errorf("%s is %s, %v", name, got, err)
		}
	}
	for _, name := range []string{"", "nothing", "--all", "HEAD~7", strings.Repeat("0", 40), "HEAD:a"} {
		if got, err := repo.Commit(t.Context(), name); !errors.Is(err, git.ErrUnknown) {
			t.Errorf("%q is %s, %v", name, got, err)
		}
	}
}

func TestMergeBases(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	one := r.Commit("one", map[string]string{"a": "1"})
	r.Git("checkout", "-q", "-b", "side")
	side := r.Commit("side", map[string]string{"b": "1"})
	r.Git("checkout", "-q", "main")
	main := r.Commit("main", map[string]string{"c": "1"})
	repo := open(t, r)
	if got, err := repo.MergeBases(t.Context(), main, side); err != nil || !cmp.Equal(got, []string{one}) {
		t.Errorf("got %v, %v", got, err)
	}
	r.Git("merge", "-q", "--no-ff", "-m", "x", "side")
	r.Git("checkout", "-q", "side")
	r.Git("merge", "-q", "--no-ff", "-m", "x", main)
	if got, err := repo.MergeBases(t.Context(), "main", "side"); err != nil || len(got) != 2 {
		t.Errorf("of branches that were merged crosswise there are %v, %v", got, err)
	}
	r.Git("checkout", "-q", "--orphan", "other")
	other := r.Commit("other", map[string]string{"d": "1"})
	if got, err := repo.MergeBases(t.Context(), main, other); err != nil || got != nil {
		t.Errorf("without history in common there are %v, %v", got, err)
	}
	if _, err := repo.MergeBases(t.Context(), main, "nothing"); err == nil {
		t.Error("no error for an unknown name")
	}
}

func TestShallow(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Commit("one", map[string]string{"a": "1"})
	r.Commit("two", map[string]string{"a": "2"})
	shallow := gittest.New(t)
	shallow.Git("fetch", "-q", "--depth", "1", "file://"+r.Dir, "main")
	for _, tt := range []struct {
		repo *gittest.Repo
		want bool
	}{{r, false}, {shallow, true}} {
		if got, err := open(t, tt.repo).Shallow(t.Context()); err != nil || got != tt.want {
			t.Errorf("shallow is %v, %v; want %v", got, err, tt.want)
		}
	}
}

func TestBetween(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	long := strings.Repeat("the same text\n", 40)
	one := r.Commit("one", map[string]string{"changed": "1", "removed": "1", "moved/from.txt": long, "same": "1", "mode": "1", "type": "1"})
	r.Write(map[string]string{"changed": "2", "added": "1", "moved/to.txt": long, "ümläut\nand \"line\"": "1"})
	for _, gone := range []string{"removed", "moved/from.txt", "type"} {
		r.Remove(gone)
	}
	if err := os.Chmod(filepath.Join(r.Dir, "mode"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("same", filepath.Join(r.Dir, "type")); err != nil {
		t.Fatal(err)
	}
	want := []git.Change{
		{Path: "added", Kind: git.Added},
		{Path: "changed", Kind: git.Changed},
		{Path: "mode", Kind: git.Changed},
		{Path: "moved/from.txt", Kind: git.Removed},
		{Path: "moved/to.txt", Kind: git.Added},
		{Path: "removed", Kind: git.Removed},
		{Path: "type", Kind: git.Changed},
		{Path: "ümläut\nand \"line\"", Kind: git.Added},
	}
	repo := open(t, r)
	got, err := repo.Since(t.Context(), one)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("on disk: %v\n%s", err, diff)
	}
	r.Git("config", "diff.renames", "copies")
	two := r.Commit("two", nil)
	got, err = repo.Between(t.Context(), one, two)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("committed: %v\n%s", err, diff)
	}
	if got, err := repo.Between(t.Context(), two, two); err != nil || len(got) != 0 {
		t.Errorf("between a commit and itself: %v, %v", got, err)
	}
	if _, err := repo.Between(t.Context(), strings.Repeat("1", 40), two); err == nil {
		t.Error("no error for the difference to an unknown commit")
	}
}

func TestSince(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	one := r.Commit("one", map[string]string{".gitignore": "*.tmp\n", "staged": "1", "back": "1", "touched": "1", "unstaged": "1"})
	r.Write(map[string]string{"staged": "2", "unstaged": "2", "touched": "1", "new": "1", "in/here.tmp": "1", "out/there.tmp": "1"})
	r.Git("add", "staged")
	r.Git("rm", "-q", "--cached", "back")
	got, err := open(t, r).Since(t.Context(), one, "in")
	want := []git.Change{
		{Path: "back", Kind: git.Changed}, // not in the index, and unchanged in the working directory
		{Path: "in/here.tmp", Kind: git.Added},
		{Path: "new", Kind: git.Added},
		{Path: "staged", Kind: git.Changed},
		{Path: "unstaged", Kind: git.Changed},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	dirty, err := open(t, r).Dirty(t.Context())
	if err != nil || !dirty {
		t.Errorf("dirty is %v, %v", dirty, err)
	}
}

// During an unfinished merge, the files of the working directory are read.
func TestConflict(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	one := r.Commit("one", map[string]string{"a": "1"})
	r.Git("checkout", "-q", "-b", "side")
	r.Commit("side", map[string]string{"a": "2"})
	r.Git("checkout", "-q", "main")
	r.Commit("main", map[string]string{"a": "3"})
	if err := r.Try("merge", "side"); err == nil {
		t.Fatal("there is no conflict")
	}
	got, err := open(t, r).Since(t.Context(), one)
	if diff := cmp.Diff([]git.Change{{Path: "a", Kind: git.Changed}}, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Write(map[string]string{
		"tree/a/b/c.yaml": "c", "tree/a/d.yaml": "d", "tree/e.yaml": "", "shared/values.yaml": "shared", "other/x": "x", "tree2/y": "y",
		"tree/big": strings.Repeat("x", git.MaxFile+1),
	})
	for link, to := range map[string]string{
		"tree/link.yaml": "../shared/values.yaml", "tree/again.yaml": "link.yaml", "tree/dir": "../shared", "tree/out": "../../elsewhere",
		"tree/loop": "loop", "tree/abs": "/etc/passwd", "tree/through.yaml": "dir/values.yaml",
	} {
		if err := os.Symlink(to, filepath.Join(r.Dir, filepath.FromSlash(link))); err != nil {
			t.Fatal(err)
		}
	}
	commit := r.Commit("one", nil)
	repo := open(t, r)
	entries, err := repo.Entries(t.Context(), commit)
	if err != nil {
		t.Fatal(err)
	}
	files, err := repo.Files(t.Context(), entries, "tree", git.NewBlobs())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"a/b/c.yaml": "c", "a/d.yaml": "d", "e.yaml": "", "link.yaml": "shared", "again.yaml": "shared", "dir/values.yaml": "shared", "through.yaml": "shared",
	} {
		if got, err := fs.ReadFile(files, name); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v", name, got, err)
		}
		if got, err := os.ReadFile(filepath.Join(r.Dir, "tree", name)); err != nil || string(got) != want {
			t.Errorf("on disk %s holds %q, %v", name, got, err)
		}
	}
	for _, name := range []string{"out", "loop", "abs", "dir", "big", "nothing", "../other/x"} {
		if got, err := fs.ReadFile(files, name); err == nil {
			t.Errorf("%s holds %d bytes", name, len(got))
		}
	}
	var listed []string
	err = fs.WalkDir(files, ".", func(p string, d fs.DirEntry, err error) error {
		if !d.IsDir() {
			listed = append(listed, p)
		}
		return err
	})
	want := "a/b/c.yaml a/d.yaml abs again.yaml big dir e.yaml link.yaml loop out through.yaml"
	if got := strings.Join(listed, " "); got != want || err != nil {
		t.Errorf("there are %s, %v", got, err)
	}
	ids := files.IDs()
	if ids["link.yaml"] == "" || ids["link.yaml"] != ids["dir/values.yaml"] {
		t.Errorf("ids are %v", ids)
	}
}

func TestFilesAreAFileSystem(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	commit := r.Commit("one", map[string]string{"a/b/c.yaml": "c", "a/d.yaml": "d", "e.yaml": "text"})
	repo := open(t, r)
	entries, err := repo.Entries(t.Context(), commit)
	if err != nil {
		t.Fatal(err)
	}
	files, err := repo.Files(t.Context(), entries, "", git.NewBlobs())
	if err != nil {
		t.Fatal(err)
	}
	if err := fstest.TestFS(files, "a/b/c.yaml", "a/d.yaml", "e.yaml"); err != nil {
		t.Error(err)
	}
}

// The content of a worktree file is what git would commit, after its filters.
func TestOnDisk(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Commit("one", map[string]string{"kept": "1"})
	r.Write(map[string]string{"plain": "1", "run.sh": "2", "dir/x": "3"})
	if err := os.Chmod(filepath.Join(r.Dir, "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("plain", filepath.Join(r.Dir, "link")); err != nil {
		t.Fatal(err)
	}
	repo := open(t, r)
	got, err := repo.OnDisk(t.Context(), []string{"plain", "run.sh", "dir/x", "link", "nothing"})
	if err != nil {
		t.Fatal(err)
	}
	entries, err := repo.Entries(t.Context(), r.Commit("two", nil))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]git.Entry{}
	for _, e := range entries {
		if e.Path != "kept" {
			want[e.Path] = e
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Git's own variables, which its hooks have, do not lead to another repository.
func TestEnvironment(t *testing.T) {
	other := gittest.New(t)
	other.Commit("other", map[string]string{"x": "1"})
	r := gittest.New(t)
	one := r.Commit("one", map[string]string{"a": "1"})
	t.Setenv("GIT_DIR", filepath.Join(other.Dir, ".git"))
	t.Setenv("GIT_INDEX_FILE", filepath.Join(other.Dir, ".git", "index"))
	if got, err := open(t, r).Commit(t.Context(), "HEAD"); err != nil || got != one {
		t.Errorf("HEAD is %s, %v", got, err)
	}
}

// A missing object of a commit is an error.
func TestLostObject(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	commit := r.Commit("one", map[string]string{"a": "1", "b": "2"})
	repo := open(t, r)
	entries, err := repo.Entries(t.Context(), commit)
	if err != nil {
		t.Fatal(err)
	}
	id := entries[1].ID
	if err := os.Remove(filepath.Join(r.Dir, ".git", "objects", id[:2], id[2:])); err != nil {
		t.Fatal(err)
	}
	if _, err := repo.Files(t.Context(), entries, "", git.NewBlobs()); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("got %v", err)
	}
	if _, err := repo.Entries(t.Context(), strings.Repeat("1", 40)); err == nil {
		t.Error("no error for the files of an unknown commit")
	}
}

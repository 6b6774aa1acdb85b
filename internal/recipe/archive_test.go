package recipe

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/recipe/recipetest"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// smallDir is the small tree in a directory.
func smallDir(tb testing.TB) string {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), "recipes")
	if err := os.CopyFS(dir, recipetest.Small()); err != nil {
		tb.Fatal(err)
	}
	return dir
}

func write(tb testing.TB, file string, data []byte) {
	tb.Helper()
	if err := os.WriteFile(file, data, 0o600); err != nil {
		tb.Fatal(err)
	}
}

func TestAPackedTreeIsTheTree(t *testing.T) {
	t.Parallel()
	dir := smallDir(t)
	want, problems, err := Open(dir, tree.Options{})
	if err != nil || problems.Err() != nil {
		t.Fatal(err, problems)
	}
	for _, from := range []string{dir, filepath.Dir(dir)} { // the tree, or what has it in recipes/
		data, err := Pack(from)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "recipes.tgz")
		write(t, file, data)
		got, problems, err := Open(file, tree.Options{})
		if err != nil || problems.Err() != nil {
			t.Fatal(err, problems)
		}
		if diff := cmp.Diff(want.Paths, got.Paths); diff != "" {
			t.Error(diff)
		}
		for _, p := range want.Paths {
			a, aErr := want.Data(p)
			b, bErr := got.Data(p)
			if aErr != nil || bErr != nil || !bytes.Equal(a, b) {
				t.Errorf("%s is not the same: %v, %v", p, aErr, bErr)
			}
		}
		if got.Label != want.Label {
			t.Errorf("the tree is called %s, and %s when it is packed: messages name other files", want.Label, got.Label)
		}
		if again, err := Pack(file); err != nil || !bytes.Equal(again, data) {
			t.Errorf("an archive is packed to something else: %v", err)
		}
		if given, _, err := Open(file, tree.Options{Label: "mine"}); err != nil || given.Label != "mine" {
			t.Error(given, err)
		}
	}
}

func TestPackingIsDeterministic(t *testing.T) {
	t.Parallel()
	dir := smallDir(t)
	first, err := Pack(dir)
	if err != nil {
		t.Fatal(err)
	}
	when := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	err = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if err := os.Chmod(p, 0o755); err != nil {
			return err
		}
		return os.Chtimes(p, when, when)
	})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, ".hidden"), []byte("not of the tree"))
	if err := os.MkdirAll(filepath.Join(dir, ".git", "objects"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, ".git", "objects", "x"), []byte("not of the tree"))
	again, err := Pack(dir)
	if err != nil || !bytes.Equal(first, again) {
		t.Errorf("the same files make other bytes (%v)", err)
	}
	write(t, filepath.Join(dir, "overlays", "added.txt"), []byte("x"))
	if other, err := Pack(dir); err != nil || bytes.Equal(first, other) {
		t.Errorf("other files make the same bytes (%v)", err)
	}
}

func TestWhatCantBePacked(t *testing.T) {
	t.Parallel()
	link := func(target string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			if err := os.Symlink(target, filepath.Join(dir, "overlays", "link.yaml")); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, spoil := range map[string]func(*testing.T, string){
		"a link out of the tree": link("/etc/passwd"),
		"a link within the tree": link("../registry.yaml"),
		"a link to a directory":  link(".."),
		"a tree without overlays": func(t *testing.T, dir string) {
			if err := os.RemoveAll(filepath.Join(dir, "overlays")); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := smallDir(t)
			spoil(t, dir)
			if data, err := Pack(dir); err == nil {
				t.Errorf("packed to %d bytes", len(data))
			}
		})
	}
	for name, files := range map[string]fstest.MapFS{
		"exceeds 2 MiB": {"big": {Data: make([]byte, few.unpacked+1)}},
		"or 3 files":    {"a": {}, "b": {}, "c": {}, "d": {}},
	} {
		if _, err := pack(files, "", few); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s was packed: %v", name, err)
		}
	}
}

// few are bounds for tests.
var few = bounds{archive: 1 << 20, unpacked: 2 << 20, stream: 3 << 20, files: 3}

// entry is a file of a test archive.
type entry struct {
	name string
	kind byte
	text string
	link string
}

func file(name, text string) entry { return entry{name: name, kind: tar.TypeReg, text: text} }

func archive(tb testing.TB, entries ...entry) []byte {
	tb.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	w := tar.NewWriter(zipped)
	for _, e := range entries {
		if err := w.WriteHeader(&tar.Header{Typeflag: e.kind, Name: e.name, Linkname: e.link, Size: int64(len(e.text)), Mode: 0o644}); err != nil {
			tb.Fatal(err)
		}
		if _, err := w.Write([]byte(e.text)); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

func TestArchivesThatAreRead(t *testing.T) {
	t.Parallel()
	for name, entries := range map[string][]entry{
		"plain":                  {file("overlays/a.yaml", "x")},
		"as tar of a dot makes":  {{name: "./", kind: tar.TypeDir}, {name: "./overlays/", kind: tar.TypeDir}, file("./overlays/a.yaml", "x")},
		"with the tree below":    {file("recipes/overlays/a.yaml", "x")},
		"directories come later": {file("overlays/a.yaml", "x"), {name: "overlays/", kind: tar.TypeDir}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsys, _, err := unpack(bytes.NewReader(archive(t, entries...)), few)
			if err == nil {
				fsys, err = locateIn(fsys)
			}
			if err != nil {
				t.Fatal(err)
			}
			if data, err := fs.ReadFile(fsys, "overlays/a.yaml"); err != nil || string(data) != "x" {
				t.Errorf("got %q, %v", data, err)
			}
			if err := fstest.TestFS(fsys, "overlays/a.yaml"); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestArchivesThatAreRefused(t *testing.T) {
	t.Parallel()
	good := archive(t, file("overlays/a.yaml", strings.Repeat("text ", 1000)))
	damaged := bytes.Clone(good)
	damaged[len(damaged)-6] ^= 1 // of the checksum
	for name, tt := range map[string]struct {
		data []byte
		want string
	}{
		"nothing":                    {nil, "not a gzip file"},
		"no gzip":                    {[]byte("kind: RecipeMetadata"), "not a gzip file"},
		"truncated":                  {good[:len(good)/2], "truncated"},
		"without its checksum":       {good[:len(good)-4], "truncated"},
		"with another checksum":      {damaged, "damaged"},
		"a path to the parent":       {archive(t, file("../a.yaml", "x")), "must be inside the tree"},
		"a path through the parent":  {archive(t, file("overlays/../../a.yaml", "x")), "must be inside the tree"},
		"a path of the root":         {archive(t, file("/etc/passwd", "x")), "must be inside the tree"},
		"a path with a dot":          {archive(t, file("overlays/./a.yaml", "x")), "must be inside the tree"},
		"a path of another system":   {archive(t, file(`overlays\..\a.yaml`, "x")), "must be inside the tree"},
		"a path that is a directory": {archive(t, file(".", "x")), "must be inside the tree"},
		"a link":                     {archive(t, entry{name: "overlays/a.yaml", kind: tar.TypeSymlink, link: "/etc/passwd"}), "must be a file or directory"},
		"a hard link":                {archive(t, file("b", "x"), entry{name: "overlays/a.yaml", kind: tar.TypeLink, link: "b"}), "must be a file or directory"},
		"a pipe":                     {archive(t, entry{name: "overlays/a.yaml", kind: tar.TypeFifo}), "must be a file or directory"},
		"a file twice":               {archive(t, file("overlays/a.yaml", "x"), file("overlays/a.yaml", "y")), "duplicate file"},
		"a file as a directory":      {archive(t, file("overlays", "x"), file("overlays/a.yaml", "y")), "is both a file and a directory"},
		"a directory as a file":      {archive(t, file("overlays/a.yaml", "y"), file("overlays", "x")), "duplicate file"},
		"no tree":                    {archive(t, file("values.yaml", "x")), "has no overlays directory: a complete recipe tree is required; to combine two directories, copy both into one"},
		"no file":                    {archive(t), "has no overlays directory: a complete recipe tree is required; to combine two directories, copy both into one"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := filepath.Join(t.TempDir(), "recipes.tgz")
			write(t, at, tt.data)
			if _, err := Pack(at); err == nil {
				t.Error("it was packed")
			}
			_, _, err := Open(at, tree.Options{})
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), at) {
				t.Errorf("got %v, want an error of %s that says %q", err, at, tt.want)
			}
		})
	}
	for _, absent := range []string{"absent.tgz", "absent.tar.gz"} {
		if _, _, err := Open(filepath.Join(t.TempDir(), absent), tree.Options{}); err == nil {
			t.Errorf("%s was opened", absent)
		}
	}
}

func TestArchivesOfTooMuch(t *testing.T) {
	t.Parallel()
	noise := make([]byte, few.archive+1)
	for i := range noise {
		noise[i] = byte(rand.IntN(256))
	}
	var folders []entry
	for range few.stream / 512 { // each has a header of so many bytes
		folders = append(folders, entry{name: "overlays/", kind: tar.TypeDir})
	}
	small := file("overlays/a.yaml", "x")
	for name, tt := range map[string]struct {
		data []byte
		want string
	}{
		"bytes that are few when compressed": {archive(t, small, file("b", strings.Repeat("\x00", int(few.unpacked)))), "files exceed 2 MiB"},
		"bytes that are not":                 {archive(t, small, file("b", string(noise))), "archive exceeds 1 MiB"},
		"files":                              {archive(t, small, file("b", ""), file("c", ""), file("d", "")), "more than 3 files"},
		"directories":                        {archive(t, append(folders, small)...), "unpacked size exceeds 3 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, _, err := unpack(bytes.NewReader(tt.data), few); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error that says %q", err, tt.want)
			}
		})
	}
}

func TestLabelsThatAreNotShown(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"recipes": "recipes", "../our-recipes": "../our-recipes", "": "",
		"\x1b[2Jrecipes": "", "a\nb": "", strings.Repeat("a", 300): "",
	} {
		if got := labelIn(text); got != want {
			t.Errorf("%q is shown as %q", text, got)
		}
	}
	for _, label := range []string{"r\u00e9cipes", "\u83dc\u8c31", "nul\x00"} { // Latin-1 and not
		if _, err := pack(fstest.MapFS{"overlays/a.yaml": {Data: []byte("x")}}, label, few); err != nil {
			t.Errorf("%q: %v", label, err)
		}
	}
}

// FuzzUnpack looks for archives that panic, or whose files are not within them.
func FuzzUnpack(f *testing.F) {
	if data, err := Pack(smallDir(f)); err == nil {
		f.Add(data)
	}
	f.Add(archive(f, file("overlays/a.yaml", "x"), file("../a", "y")))
	f.Add(archive(f, entry{name: "a", kind: tar.TypeSymlink, link: "b"}))
	f.Fuzz(func(t *testing.T, data []byte) {
		// The mutations are of the compressed bytes, and of what would be compressed.
		var zipped bytes.Buffer
		w := gzip.NewWriter(&zipped)
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		for _, in := range [][]byte{data, zipped.Bytes()} {
			fsys, _, err := unpack(bytes.NewReader(in), few)
			if err != nil {
				continue
			}
			err = fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
				if err != nil {
					return err
				}
				if !fs.ValidPath(p) {
					t.Errorf("path %q", p)
				}
				if !d.IsDir() {
					_, err = fs.ReadFile(fsys, p)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		}
	})
}

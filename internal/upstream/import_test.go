package upstream

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
)

// cached is a builder whose cache has a file in place of etcd.
func cached(t *testing.T) Builder {
	t.Helper()
	b := builderFor(t)
	tab, err := loadTable()
	if err != nil {
		t.Fatal(err)
	}
	g, _ := tab.groupOf("etcd")
	dir, err := b.dir(g)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "etcd"), "a program")
	return b
}

// put installs a program of that content, as a build does.
func put(t *testing.T, path, text string) {
	t.Helper()
	scratch := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(scratch, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	digest, err := Digest(scratch)
	if err != nil {
		t.Fatal(err)
	}
	if err := place(scratch, path, digest); err != nil {
		t.Fatal(err)
	}
}

func exported(t *testing.T) []byte {
	t.Helper()
	var archive bytes.Buffer
	if _, err := cached(t).Export(t.Context(), []string{"etcd"}, &archive, nil); err != nil {
		t.Fatal(err)
	}
	return archive.Bytes()
}

// Import makes exported programs available without Go, byte for byte.
func TestImportedProgramsNeedNoGo(t *testing.T) {
	archive := exported(t)
	t.Setenv("PATH", t.TempDir())
	b := Builder{CacheDir: t.TempDir()}
	if _, err := b.Ensure(t.Context(), []string{"etcd"}, nil); !errors.Is(err, ErrNoGo) {
		t.Fatalf("before the import: %v, want ErrNoGo", err)
	}
	m, err := b.Import(t.Context(), bytes.NewReader(archive))
	if err != nil || len(m.Programs) != 1 || !strings.HasPrefix(m.Toolchain, "go1") {
		t.Fatalf("%+v, %v", m, err)
	}
	programs, err := b.Ensure(t.Context(), []string{"etcd"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	path, err := programs.Path(t.Context(), "etcd")
	if err != nil {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(path); err != nil || string(raw) != "a program" || !usable(path) {
		t.Errorf("%s has %q, %v", path, raw, err)
	}
	if _, err := b.Ensure(t.Context(), []string{"etcd", "kwok"}, nil); !errors.Is(err, ErrNoGo) {
		t.Errorf("a program that was not imported: %v, want ErrNoGo", err)
	}
}

// An archive that does not match its manifest or this machine changes nothing.
func TestImportRefuses(t *testing.T) {
	t.Parallel()
	archive := exported(t)
	other := "windows"
	for name, c := range map[string]struct {
		change func(m *Manifest, files map[string]string)
		want   string
	}{
		"another program":      {func(_ *Manifest, f map[string]string) { f["etcd"] = "A program" }, "SHA-256"},
		"a shorter one":        {func(_ *Manifest, f map[string]string) { f["etcd"] = "a" }, "of 1 bytes"},
		"one more":             {func(_ *Manifest, f map[string]string) { f["kwok"] = "x" }, "more files"},
		"none of those named":  {func(_ *Manifest, f map[string]string) { delete(f, "etcd") }, "EOF"},
		"another platform":     {func(m *Manifest, _ map[string]string) { m.OS = other }, "unsupported platform " + other + "/" + runtime.GOARCH},
		"other pins":           {func(m *Manifest, _ map[string]string) { m.Programs[0].Key = "0000" }, "has pins 0000"},
		"a path":               {func(m *Manifest, _ map[string]string) { m.Programs[0].Program = "../etcd" }, "unknown or duplicate"},
		"the same twice":       {func(m *Manifest, _ map[string]string) { m.Programs = append(m.Programs, m.Programs[0]) }, "duplicate"},
		"no program":           {func(m *Manifest, _ map[string]string) { m.Programs = nil }, "no programs"},
		"a size out of bounds": {func(m *Manifest, _ map[string]string) { m.Programs[0].Size = maxProgram + 1 }, "invalid size"},
		"another schema":       {func(m *Manifest, _ map[string]string) { m.Schema = "v9" }, "schema"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := Builder{CacheDir: t.TempDir()}
			_, err := b.Import(t.Context(), bytes.NewReader(repacked(t, archive, c.change)))
			if !errors.Is(err, ErrArchive) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want ErrArchive with %q", err, c.want)
			}
			if files, err := filepath.Glob(filepath.Join(b.CacheDir, "upstream", "*", "*")); err != nil || len(files) > 0 {
				t.Errorf("left behind: %v, %v", files, err)
			}
		})
	}
	for name, raw := range map[string][]byte{"empty": nil, "cut": archive[:len(archive)/2], "text": []byte("programs")} {
		if _, err := (Builder{CacheDir: t.TempDir()}).Import(t.Context(), bytes.NewReader(raw)); !errors.Is(err, ErrArchive) {
			t.Errorf("%s: %v, want ErrArchive", name, err)
		}
	}
	if _, err := (Builder{CacheDir: t.TempDir()}).Import(t.Context(), bytes.NewReader(repacked(t, archive, func(*Manifest, map[string]string) {}))); err != nil {
		t.Errorf("an archive that was packed again as it is: %v", err)
	}
}

// repacked is an archive with changes.
func repacked(t *testing.T, archive []byte, change func(*Manifest, map[string]string)) []byte {
	t.Helper()
	unpacked, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	var m Manifest
	files := map[string]string{}
	for in := tar.NewReader(unpacked); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		raw, readErr := io.ReadAll(in)
		if err := errors.Join(err, readErr); err != nil {
			t.Fatal(err)
		}
		if h.Name == archiveManifest {
			if err := json.Unmarshal(raw, &m); err != nil {
				t.Fatal(err)
			}
			continue
		}
		files[h.Name] = string(raw)
	}
	change(&m, files)
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	w := tar.NewWriter(packed)
	add := func(name, text string) {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
	}
	add(archiveManifest, string(raw))
	for _, name := range []string{"etcd", "kwok"} {
		if text, ok := files[name]; ok {
			add(name, text)
		}
	}
	if err := errors.Join(w.Close(), packed.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Two archives can have different builds of the same pins. Imported at once, the cache has one of
// them with its own digest.
func TestImportsAtOnceLeaveAUsableProgram(t *testing.T) {
	t.Parallel()
	archive := exported(t)
	b := Builder{CacheDir: t.TempDir()}
	for range 20 {
		var imports errgroup.Group
		for _, text := range []string{"a program", "b program", "c program", "d program"} {
			other := repacked(t, archive, func(m *Manifest, files map[string]string) {
				files["etcd"] = text
				sum := sha256.Sum256([]byte(text))
				m.Programs[0].SHA256 = hex.EncodeToString(sum[:])
			})
			imports.Go(func() error {
				_, err := b.Import(t.Context(), bytes.NewReader(other))
				return err
			})
		}
		if err := imports.Wait(); err != nil {
			t.Fatal(err)
		}
		paths, err := filepath.Glob(filepath.Join(b.CacheDir, "upstream", "*", "etcd"))
		if err != nil || len(paths) != 1 {
			t.Fatalf("%v, %v", paths, err)
		}
		if err := verify(paths[0]); err != nil {
			t.Fatal(err)
		}
	}
}

// An import deletes the unpacked programs of an import that was killed.
func TestImportDeletesLeftovers(t *testing.T) {
	t.Parallel()
	archive := exported(t)
	b := Builder{CacheDir: t.TempDir()}
	half := filepath.Join(b.CacheDir, "upstream", ".import-killed", "etcd")
	if err := errors.Join(os.MkdirAll(filepath.Dir(half), 0o700), os.WriteFile(half, []byte("a prog"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Import(t.Context(), bytes.NewReader(archive)); err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(filepath.Join(b.CacheDir, "upstream", ".import-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

package upstream

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// Import installs the programs of an archive in the cache, where Ensure finds them without Go. It
// imports nothing unless the whole archive matches its manifest, this platform and this
// firstlight's pins. It waits for another import to end.
func (b Builder) Import(ctx context.Context, from io.Reader) (Manifest, error) {
	b, err := b.withDefaults(ctx)
	if err != nil {
		return Manifest{}, err
	}
	packed, err := gzip.NewReader(from)
	if err != nil {
		return Manifest{}, fmt.Errorf("import programs: %w: %w", ErrArchive, err)
	}
	archive := tar.NewReader(packed)
	m, err := readManifest(archive)
	if err != nil {
		return Manifest{}, fmt.Errorf("import programs: %w: %w", ErrArchive, err)
	}
	if err := m.check(); err != nil {
		return Manifest{}, fmt.Errorf("import programs: %w: %w", ErrArchive, err)
	}
	if err := os.MkdirAll(b.root(), 0o750); err != nil {
		return Manifest{}, fmt.Errorf("import programs: %w", err)
	}
	unlock, err := lock(ctx, filepath.Join(b.root(), "import.lock"), func() {})
	if err != nil {
		return Manifest{}, fmt.Errorf("import programs: %w", err)
	}
	defer unlock()
	scratch, err := b.importDir()
	if err != nil {
		return Manifest{}, fmt.Errorf("import programs: %w", err)
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	for _, e := range m.Programs {
		if err := unpackProgram(archive, e, filepath.Join(scratch, e.Program)); err != nil {
			return Manifest{}, fmt.Errorf("import %s: %w: %w", e.Program, ErrArchive, err)
		}
	}
	if _, err := archive.Next(); !errors.Is(err, io.EOF) {
		return Manifest{}, fmt.Errorf("import programs: %w: more files than in the manifest", ErrArchive)
	}
	return m, b.install(m, scratch)
}

// importDir creates a scratch directory. The caller holds the lock of imports, so existing ones
// belong to killed processes and are deleted.
func (b Builder) importDir() (string, error) {
	const prefix = ".import-"
	stale, err := filepath.Glob(filepath.Join(b.root(), prefix+"*"))
	if err != nil {
		return "", err
	}
	for _, dir := range stale {
		if err := os.RemoveAll(dir); err != nil {
			return "", err
		}
	}
	return os.MkdirTemp(b.root(), prefix)
}

func readManifest(archive *tar.Reader) (Manifest, error) {
	header, err := archive.Next()
	if err != nil {
		return Manifest{}, err
	}
	if header.Name != archiveManifest || header.Size > maxManifest {
		return Manifest{}, fmt.Errorf("the first file must be %s", archiveManifest)
	}
	dec := json.NewDecoder(io.LimitReader(archive, maxManifest))
	dec.DisallowUnknownFields()
	var m Manifest
	if err := dec.Decode(&m); err != nil {
		return Manifest{}, fmt.Errorf("read %s: %w", archiveManifest, err)
	}
	return m, nil
}

// check rejects an archive of another platform or of other pins.
func (m Manifest) check() error {
	if m.Schema != archiveSchema {
		return fmt.Errorf("invalid schema %q: must be %s", m.Schema, archiveSchema)
	}
	if m.OS != runtime.GOOS || m.Arch != runtime.GOARCH {
		return fmt.Errorf("unsupported platform %s/%s: must be %s/%s", m.OS, m.Arch, runtime.GOOS, runtime.GOARCH)
	}
	if len(m.Programs) == 0 {
		return errors.New("no programs")
	}
	t, err := loadTable()
	if err != nil {
		return err
	}
	var errs []error
	programs := map[string]bool{}
	for _, e := range m.Programs {
		g, ok := t.groupOf(e.Program)
		if !ok || g.Name != e.Group || programs[e.Program] {
			errs = append(errs, fmt.Errorf("unknown or duplicate program %q of group %q", e.Program, e.Group))
			continue
		}
		programs[e.Program] = true
		want, err := g.key()
		if err == nil && e.Key != want {
			err = fmt.Errorf("%s %s has pins %s, this firstlight has %s: export with the same version of firstlight", e.Program, e.Version, e.Key, want)
		}
		if err == nil && (e.Size <= 0 || e.Size > maxProgram) {
			err = fmt.Errorf("%s has an invalid size of %d bytes", e.Program, e.Size)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// unpackProgram writes the archive's next file, which must match the manifest entry.
func unpackProgram(archive *tar.Reader, e ManifestEntry, to string) error {
	header, err := archive.Next()
	if err != nil {
		return err
	}
	if header.Name != e.Program || header.Typeflag != tar.TypeReg || header.Size != e.Size {
		return fmt.Errorf("unexpected file %q of %d bytes", header.Name, header.Size)
	}
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o700) //nolint:gosec // a program
	if err != nil {
		return err
	}
	_, err = io.CopyN(f, archive, e.Size)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	got, err := Digest(to)
	if err != nil {
		return err
	}
	if got != e.SHA256 {
		return fmt.Errorf("SHA-256 mismatch: got %s, the manifest has %s", got, e.SHA256)
	}
	return nil
}

// install moves unpacked programs to the directory of imported programs.
func (b Builder) install(m Manifest, scratch string) error {
	for _, e := range m.Programs {
		dir := filepath.Join(b.root(), e.Group+"-"+e.Key+"-"+importedSuffix)
		if err := os.MkdirAll(dir, 0o750); err != nil {
			return fmt.Errorf("import %s: %w", e.Program, err)
		}
		to := filepath.Join(dir, e.Program)
		if usable(to) && recorded(to) == e.SHA256 && verify(to) == nil {
			continue
		}
		if err := place(filepath.Join(scratch, e.Program), to, e.SHA256); err != nil {
			return fmt.Errorf("import %s: %w", e.Program, err)
		}
	}
	return nil
}

// importedSuffix is the directory suffix of imported programs, instead of the hash of a toolchain.
// Machines of different platforms can share a cache.
const importedSuffix = "imported-" + runtime.GOOS + "-" + runtime.GOARCH

// imported returns the existing directories of a group's imported programs.
func (b Builder) imported(g group) ([]string, error) {
	k, err := g.key()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(b.root(), g.Name+"-"+k+"-"+importedSuffix)
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("list imported programs: %w", err)
	}
	return []string{dir}, nil
}

// groupOf returns the group of the program.
func (t table) groupOf(name string) (group, bool) {
	i := slices.IndexFunc(t.Groups, func(g group) bool {
		return slices.ContainsFunc(g.all, func(p program) bool { return p.Name == name })
	})
	if i < 0 {
		return group{}, false
	}
	return t.Groups[i], true
}

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

// Import puts the programs of an archive into the cache, where a later Ensure finds
// them, with Go or without it. Nothing is imported unless the whole archive is as its
// manifest says, for this platform, and built from the pins of this firstlight.
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
	scratch, err := os.MkdirTemp(b.root(), ".import-")
	if err != nil {
		return Manifest{}, fmt.Errorf("import programs: %w", err)
	}
	defer func() { _ = os.RemoveAll(scratch) }() // a scratch directory
	for _, e := range m.Programs {
		if err := unpackProgram(archive, e, filepath.Join(scratch, e.Program)); err != nil {
			return Manifest{}, fmt.Errorf("import %s: %w: %w", e.Program, ErrArchive, err)
		}
	}
	if _, err := archive.Next(); !errors.Is(err, io.EOF) {
		return Manifest{}, fmt.Errorf("import programs: %w: more in it than its manifest says", ErrArchive)
	}
	return m, b.install(m, scratch)
}

func readManifest(archive *tar.Reader) (Manifest, error) {
	header, err := archive.Next()
	if err != nil {
		return Manifest{}, err
	}
	if header.Name != archiveManifest || header.Size > maxManifest {
		return Manifest{}, fmt.Errorf("its first file must be %s", archiveManifest)
	}
	dec := json.NewDecoder(io.LimitReader(archive, maxManifest))
	dec.DisallowUnknownFields()
	var m Manifest
	if err := dec.Decode(&m); err != nil {
		return Manifest{}, fmt.Errorf("read %s: %w", archiveManifest, err)
	}
	return m, nil
}

// check refuses an archive of another platform or of other pins.
func (m Manifest) check() error {
	if m.Schema != archiveSchema {
		return fmt.Errorf("schema %q: must be %s", m.Schema, archiveSchema)
	}
	if m.OS != runtime.GOOS || m.Arch != runtime.GOARCH {
		return fmt.Errorf("its programs are for %s/%s, this machine is %s/%s", m.OS, m.Arch, runtime.GOOS, runtime.GOARCH)
	}
	if len(m.Programs) == 0 {
		return errors.New("it has no programs")
	}
	t, err := loadTable()
	if err != nil {
		return err
	}
	var errs []error
	seen := map[string]bool{}
	for _, e := range m.Programs {
		g, ok := t.groupOf(e.Program)
		if !ok || g.Name != e.Group || seen[e.Program] {
			errs = append(errs, fmt.Errorf("unknown program %q of group %q, or one that is there twice", e.Program, e.Group))
			continue
		}
		seen[e.Program] = true
		want, err := g.key()
		if err == nil && e.Key != want {
			err = fmt.Errorf("%s %s is built from pins %s, this firstlight has %s: export it with the same version of firstlight", e.Program, e.Version, e.Key, want)
		}
		if err == nil && (e.Size <= 0 || e.Size > maxProgram) {
			err = fmt.Errorf("%s has an invalid size of %d bytes", e.Program, e.Size)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// unpackProgram writes the archive's next file, which must be the program that the
// manifest has there.
func unpackProgram(archive *tar.Reader, e ManifestEntry, to string) error {
	header, err := archive.Next()
	if err != nil {
		return err
	}
	if header.Name != e.Program || header.Typeflag != tar.TypeReg || header.Size != e.Size {
		return fmt.Errorf("the file at its place is %q of %d bytes", header.Name, header.Size)
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
		return fmt.Errorf("its SHA-256 is %s, the manifest says %s", got, e.SHA256)
	}
	return nil
}

// install moves unpacked programs to where Ensure looks for imported ones.
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

// importedSuffix ends the name of a directory of imported programs, where others have
// the hash of a toolchain. Machines of several platforms may share a cache.
const importedSuffix = "imported-" + runtime.GOOS + "-" + runtime.GOARCH

// imported are the directories of a group's imported programs that are there.
func (b Builder) imported(g group) ([]string, error) {
	k, err := g.key()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(b.root(), g.Name+"-"+k+"-"+importedSuffix)
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("look for imported programs: %w", err)
	}
	return []string{dir}, nil
}

// groupOf is the group that has the program.
func (t table) groupOf(name string) (group, bool) {
	i := slices.IndexFunc(t.Groups, func(g group) bool {
		return slices.ContainsFunc(g.all, func(p program) bool { return p.Name == name })
	})
	if i < 0 {
		return group{}, false
	}
	return t.Groups[i], true
}

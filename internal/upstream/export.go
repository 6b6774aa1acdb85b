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
	"runtime"
)

// An archive of built programs is a tar file, packed with gzip: manifest.json first,
// then each program under its name, in the manifest's order.
const (
	archiveManifest = "manifest.json"
	archiveSchema   = "firstlight.dev/programs/v1"
	// maxManifest and maxProgram bound what is read of an archive, in bytes.
	// kube-apiserver, the largest, has about 110 MB.
	maxManifest = 1 << 20
	maxProgram  = 1 << 30
)

// ErrArchive says that a file is not an archive of programs that this firstlight can use.
var ErrArchive = errors.New("not a usable archive of programs")

// Manifest says what an archive of built programs has.
type Manifest struct {
	Schema string `json:"schema"`
	// Toolchain is the Go version and platform that built the programs, OS and
	// Arch the platform alone.
	Toolchain string          `json:"toolchain"`
	OS        string          `json:"os"`
	Arch      string          `json:"arch"`
	Programs  []ManifestEntry `json:"programs"`
}

// ManifestEntry is one program of an archive.
type ManifestEntry struct {
	Pin
	Group string `json:"group"`
	// Key is a hash of the group's pins and flags: a firstlight with other pins
	// does not use the program.
	Key    string `json:"key"`
	Size   int64  `json:"sizeBytes"`
	SHA256 string `json:"sha256"`
}

// Export writes an archive of the programs named, building those that are missing.
func (b Builder) Export(ctx context.Context, names []string, to io.Writer, events func(Event)) (Manifest, error) {
	programs, err := b.Ensure(ctx, names, events)
	if err != nil {
		return Manifest{}, err
	}
	t, err := loadTable()
	if err != nil {
		return Manifest{}, err
	}
	if t, err = t.only(names); err != nil {
		return Manifest{}, err
	}
	if b, err = b.withDefaults(ctx); err != nil {
		return Manifest{}, err
	}
	m := Manifest{Schema: archiveSchema, Toolchain: b.toolchain, OS: runtime.GOOS, Arch: runtime.GOARCH}
	var paths []string
	for _, g := range t.Groups {
		for _, p := range g.Programs {
			path, err := programs.Path(ctx, p.Name)
			if err != nil {
				return Manifest{}, err
			}
			e, err := g.entry(p, path)
			if err != nil {
				return Manifest{}, err
			}
			m.Programs, paths = append(m.Programs, e), append(paths, path)
		}
	}
	return m, writeArchive(to, m, paths)
}

// entry is the program's line of a manifest.
func (g group) entry(p program, path string) (ManifestEntry, error) {
	e := ManifestEntry{Group: g.Name}
	var err error
	if e.Pin, err = g.pin(p); err != nil {
		return e, err
	}
	if e.Key, err = g.key(); err != nil {
		return e, err
	}
	if e.SHA256, err = Digest(path); err != nil {
		return e, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return e, fmt.Errorf("export %s: %w", p.Name, err)
	}
	e.Size = info.Size()
	return e, nil
}

func writeArchive(to io.Writer, m Manifest, paths []string) error {
	packed, err := gzip.NewWriterLevel(to, gzip.BestSpeed)
	if err != nil {
		return fmt.Errorf("export programs: %w", err)
	}
	archive := tar.NewWriter(packed)
	raw, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("export programs: %w", err)
	}
	header := &tar.Header{Name: archiveManifest, Mode: 0o644, Size: int64(len(raw))}
	if err := archive.WriteHeader(header); err != nil {
		return fmt.Errorf("export programs: %w", err)
	}
	if _, err := archive.Write(raw); err != nil {
		return fmt.Errorf("export programs: %w", err)
	}
	for i, e := range m.Programs {
		if err := addProgram(archive, e, paths[i]); err != nil {
			return fmt.Errorf("export %s: %w", e.Program, err)
		}
	}
	if err := errors.Join(archive.Close(), packed.Close()); err != nil {
		return fmt.Errorf("export programs: %w", err)
	}
	return nil
}

func addProgram(archive *tar.Writer, e ManifestEntry, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := archive.WriteHeader(&tar.Header{Name: e.Program, Mode: 0o755, Size: e.Size}); err != nil {
		return err
	}
	_, err = io.Copy(archive, f)
	return err
}

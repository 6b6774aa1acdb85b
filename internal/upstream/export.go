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

// An archive of built programs is a gzipped tar file: manifest.json, then each program under its
// name in manifest order.
const (
	archiveManifest = "manifest.json"
	archiveSchema   = "firstlight.dev/programs/v1"
	// Read limits in bytes. kube-apiserver, the largest program, has about 110 MB.
	maxManifest = 1 << 20
	maxProgram  = 1 << 30
)

// ErrArchive is returned for a file that is not a usable archive.
var ErrArchive = errors.New("not a usable archive of programs")

// Manifest describes an archive of built programs.
type Manifest struct {
	Schema string `json:"schema"`
	// Toolchain is the Go version and platform of the build; OS and Arch are the platform.
	Toolchain string          `json:"toolchain"`
	OS        string          `json:"os"`
	Arch      string          `json:"arch"`
	Programs  []ManifestEntry `json:"programs"`
}

// ManifestEntry is one program of an archive.
type ManifestEntry struct {
	Pin
	Group string `json:"group"`
	// Key is a hash of the group's pins and flags; firstlight rejects programs of other keys.
	Key    string `json:"key"`
	Size   int64  `json:"sizeBytes"`
	SHA256 string `json:"sha256"`
}

// Export writes an archive of the named programs and builds missing ones.
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

// entry returns the program's manifest entry.
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

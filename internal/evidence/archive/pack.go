package archive

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/evidence"
)

// Packed is the result of Pack.
type Packed struct {
	Run   string `json:"run"`
	Files int    `json:"files"`
	// Bytes is the size before compression.
	Bytes int64 `json:"bytes"`
	// Signed: the run has an attestation. Finished: it has a manifest.
	Signed   bool `json:"signed"`
	Finished bool `json:"finished"`
}

// Pack writes the run in dir to w. evidence.ErrLocked: another process writes the run. tell, if
// not nil, is called for every file.
func Pack(ctx context.Context, w io.Writer, dir string, tell func(file string)) (Packed, error) {
	var p Packed
	err := evidence.WithSharedLock(dir, func() error {
		b, err := evidence.Load(dir)
		if err != nil {
			return err
		}
		names, err := filesOf(dir)
		if err != nil {
			return err
		}
		p = Packed{
			Run: b.Header.Run, Files: len(names), Finished: b.Finished,
			Signed: slices.Contains(names, evidence.AttestationFile),
		}
		p.Bytes, err = write(ctx, w, dir, b.Header.Run, names, tell)
		return err
	})
	if err != nil {
		return Packed{}, fmt.Errorf("pack the run in %s: %w", dir, err)
	}
	return p, nil
}

// filesOf lists the files in archive order.
func filesOf(dir string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		if !d.Type().IsRegular() {
			return fmt.Errorf("%s is not a regular file", rel)
		}
		if !evidence.IsHalfWrittenAttestation(rel) {
			names = append(names, filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list its files: %w", err)
	}
	slices.SortFunc(names, func(a, b string) int {
		if x, y := rank(a), rank(b); x != y {
			return x - y
		}
		if a < b {
			return -1
		}
		return 1
	})
	return names, nil
}

// rank sorts attestation and manifest first.
func rank(name string) int {
	switch name {
	case evidence.AttestationFile:
		return 0
	case evidence.ManifestFileName:
		return 1
	default:
		return 2
	}
}

func write(ctx context.Context, w io.Writer, dir, run string, names []string, tell func(string)) (total int64, err error) {
	zipped := gzip.NewWriter(w)
	out := tar.NewWriter(zipped)
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return total, fmt.Errorf("write %s: %w", name, err)
		}
		if tell != nil {
			tell(name)
		}
		n, err := writeFile(out, filepath.Join(dir, filepath.FromSlash(name)), path.Join(run, name))
		if err != nil {
			return total, fmt.Errorf("write %s: %w", name, err)
		}
		total += n
	}
	if err := errors.Join(out.Close(), zipped.Close()); err != nil {
		return total, fmt.Errorf("end the archive: %w", err)
	}
	return total, nil
}

func writeFile(out *tar.Writer, from, name string) (int64, error) {
	f, err := os.Open(from)
	if err != nil {
		return 0, err
	}
	info, err := f.Stat()
	if err == nil {
		err = out.WriteHeader(&tar.Header{
			Typeflag: tar.TypeReg, Name: name, Size: info.Size(), Mode: 0o644,
			ModTime: time.Unix(0, 0).UTC(), Format: tar.FormatPAX,
		})
	}
	var n int64
	if err == nil {
		n, err = io.Copy(out, f)
	}
	return n, errors.Join(err, f.Close())
}

package recipe

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"
)

// Pack archives the tree in a directory for Open. Equal files give equal bytes. Files that a
// tree ignores (names that begin with a dot or underscore) are left out; links are errors,
// because their targets may be outside the tree. An existing archive is returned unchanged.
func Pack(dir string) ([]byte, error) {
	if isArchive(dir) && !isDir(dir) {
		if _, _, err := readArchive(dir); err != nil {
			return nil, err
		}
		return os.ReadFile(dir)
	}
	at, err := Locate(dir)
	if err != nil {
		return nil, err
	}
	data, err := pack(os.DirFS(at), label(at), most)
	if err != nil {
		return nil, fmt.Errorf("pack recipe tree %s: %w", dir, err)
	}
	return data, nil
}

func pack(fsys fs.FS, label string, most bounds) ([]byte, error) {
	var out bytes.Buffer
	zipped, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	if !strings.ContainsFunc(label, func(r rune) bool { return r == 0 || r > 0xff }) {
		zipped.Name = label // the gzip format only allows Latin-1
	}
	p := &packing{most: most, fsys: fsys, out: tar.NewWriter(zipped)}
	if err := fs.WalkDir(fsys, ".", p.visit); err != nil { // sorted by name
		return nil, err
	}
	if err := errors.Join(p.out.Close(), zipped.Close()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

type packing struct {
	most  bounds
	fsys  fs.FS
	out   *tar.Writer
	files int
	bytes int64
}

func (p *packing) visit(name string, d fs.DirEntry, err error) error {
	switch {
	case err != nil:
		return err
	case name != "." && (d.Name()[0] == '.' || d.Name()[0] == '_'):
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	case d.IsDir():
		return nil
	case !d.Type().IsRegular():
		return fmt.Errorf("%s must be a regular file or directory; replace a link by its target", name)
	}
	return p.file(name)
}

func (p *packing) file(name string) (err error) {
	f, err := p.fsys.Open(name)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	data, err := io.ReadAll(io.LimitReader(f, p.most.unpacked-p.bytes+1))
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	p.files++
	p.bytes += int64(len(data))
	if p.bytes > p.most.unpacked || p.files > p.most.files {
		return fmt.Errorf("tree exceeds %d MiB or %d files", p.most.unpacked>>20, p.most.files)
	}
	const readable = 0o644
	err = p.out.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: readable, Size: int64(len(data)), ModTime: time.Unix(0, 0)})
	if err != nil {
		return fmt.Errorf("pack %s: %w", name, err)
	}
	if _, err := p.out.Write(data); err != nil {
		return fmt.Errorf("pack %s: %w", name, err)
	}
	return nil
}

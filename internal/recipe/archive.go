package recipe

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode"
)

// bounds limit an archive, so that a small file cannot use much memory.
type bounds struct {
	archive  int64 // bytes of the file
	unpacked int64 // bytes of the contained files
	stream   int64 // bytes of the contained files with headers
	files    int
}

// most are the limits for any tree.
var most = bounds{archive: 64 << 20, unpacked: 256 << 20, stream: 512 << 20, files: 200_000}

// isArchive reports whether the file name has an archive's extension.
func isArchive(name string) bool {
	return strings.HasSuffix(name, ".tgz") || strings.HasSuffix(name, ".tar.gz")
}

// readArchive reads the tree in an archive into memory. The label is the one stored by Pack, if
// any.
func readArchive(file string) (fsys fs.FS, label string, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, "", fmt.Errorf("open recipe tree: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, "", fmt.Errorf("open recipe tree: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, "", fmt.Errorf("open recipe tree: %s is not a regular file", file)
	}
	fsys, label, err = unpack(f, most)
	if err != nil {
		return nil, "", fmt.Errorf("open recipe tree: %s: %w", file, err)
	}
	if fsys, err = locateIn(fsys); err != nil {
		return nil, "", fmt.Errorf("open recipe tree: %s %w", file, err)
	}
	return fsys, label, nil
}

// unpack unpacks a compressed archive into an in-memory file system.
func unpack(r io.Reader, most bounds) (fsys fs.FS, label string, err error) {
	bounded := &io.LimitedReader{R: r, N: most.archive + 1} // one more byte, to detect an excess
	unzipped, err := gzip.NewReader(bounded)
	if err != nil {
		return nil, "", fmt.Errorf("not a gzip file: %w", err)
	}
	label = labelIn(unzipped.Name)
	u := &unpacking{most: most, seen: map[string]bool{}}
	u.out = zip.NewWriter(&u.content)
	if err := u.all(&io.LimitedReader{R: unzipped, N: most.stream + 1}); err != nil {
		if bounded.N <= 0 {
			err = fmt.Errorf("archive exceeds %d MiB", most.archive>>20)
		}
		return nil, "", err
	}
	if err := u.out.Close(); err != nil {
		return nil, "", fmt.Errorf("store files: %w", err)
	}
	fsys, err = zip.NewReader(bytes.NewReader(u.content.Bytes()), int64(u.content.Len()))
	if err != nil {
		return nil, "", fmt.Errorf("store files: %w", err)
	}
	return fsys, label, nil
}

// unpacking is the state of unpacking. It stores the files in an uncompressed zip archive,
// which the standard library can serve as a file system.
type unpacking struct {
	most    bounds
	content bytes.Buffer
	out     *zip.Writer
	// seen has the files (true) and their directories (false).
	seen  map[string]bool
	files int
	bytes int64
}

// all reads the archive to its end. Exceeding the limit is reported as such, even if the reader
// failed because of the limit.
func (u *unpacking) all(stream *io.LimitedReader) error {
	err := u.entries(tar.NewReader(stream))
	if err == nil { // skips padding and verifies the checksum
		if _, err = io.Copy(io.Discard, stream); err != nil {
			err = fmt.Errorf("damaged or truncated: %w", err)
		}
	}
	if stream.N <= 0 {
		return fmt.Errorf("unpacked size exceeds %d MiB", u.most.stream>>20)
	}
	return err
}

func (u *unpacking) entries(in *tar.Reader) error {
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("not a tar archive, or truncated: %w", err)
		}
		switch h.Typeflag {
		case tar.TypeReg:
			err = u.file(h, in)
		case tar.TypeDir, tar.TypeXGlobalHeader: // directories are derived from files
		default:
			err = fmt.Errorf("invalid entry %q: must be a file or directory", h.Name)
		}
		if err != nil {
			return err
		}
	}
}

func (u *unpacking) file(h *tar.Header, in io.Reader) error {
	name := strings.TrimPrefix(h.Name, "./")
	if !fs.ValidPath(name) || name == "." || strings.ContainsRune(name, '\\') {
		return fmt.Errorf("invalid path %q: must be inside the tree", h.Name)
	}
	if err := u.enter(name); err != nil {
		return err
	}
	if u.files++; u.files > u.most.files {
		return fmt.Errorf("more than %d files", u.most.files)
	}
	if u.bytes += h.Size; h.Size < 0 || u.bytes > u.most.unpacked {
		return fmt.Errorf("files exceed %d MiB", u.most.unpacked>>20)
	}
	w, err := u.out.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
	if err != nil {
		return fmt.Errorf("store %q: %w", name, err)
	}
	if _, err := io.Copy(w, in); err != nil { // also bounds sparse files
		return fmt.Errorf("read %q: %w", name, err)
	}
	return nil
}

// enter records a path and its directories; it rejects duplicates.
func (u *unpacking) enter(name string) error {
	if _, there := u.seen[name]; there {
		return fmt.Errorf("duplicate file %q", name)
	}
	u.seen[name] = true
	for i, r := range name {
		if r != '/' {
			continue
		}
		if file := u.seen[name[:i]]; file {
			return fmt.Errorf("%q is both a file and a directory", name[:i])
		}
		u.seen[name[:i]] = false
	}
	return nil
}

// labelIn returns the name stored in an archive; empty if it is not printable.
func labelIn(name string) string {
	const longest = 256
	if len(name) > longest || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return ""
	}
	return name
}

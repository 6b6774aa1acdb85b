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

// bounds of a tree in an archive, so that a small file can't ask for much memory.
type bounds struct {
	archive  int64 // bytes of the file
	unpacked int64 // bytes of the files in it
	stream   int64 // bytes of the files with their headers
	files    int
}

// most is what any tree may have.
var most = bounds{archive: 64 << 20, unpacked: 256 << 20, stream: 512 << 20, files: 200_000}

// isArchive says whether a file is named as archives of trees are.
func isArchive(name string) bool {
	return strings.HasSuffix(name, ".tgz") || strings.HasSuffix(name, ".tar.gz")
}

// readArchive reads the tree in an archive to memory. The label is what Pack called
// it, if Pack made it.
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
		return nil, "", fmt.Errorf("open recipe tree: %s is no regular file", file)
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

// unpack reads a compressed archive to a file system in memory.
func unpack(r io.Reader, most bounds) (fsys fs.FS, label string, err error) {
	bounded := &io.LimitedReader{R: r, N: most.archive + 1} // one byte more tells that there is more
	unzipped, err := gzip.NewReader(bounded)
	if err != nil {
		return nil, "", fmt.Errorf("it is no gzip file: %w", err)
	}
	label = labelIn(unzipped.Name)
	u := &unpacking{most: most, seen: map[string]bool{}}
	u.out = zip.NewWriter(&u.content)
	if err := u.all(&io.LimitedReader{R: unzipped, N: most.stream + 1}); err != nil {
		if bounded.N <= 0 {
			err = fmt.Errorf("it has more than %d MiB", most.archive>>20)
		}
		return nil, "", err
	}
	if err := u.out.Close(); err != nil {
		return nil, "", fmt.Errorf("keep its files: %w", err)
	}
	fsys, err = zip.NewReader(bytes.NewReader(u.content.Bytes()), int64(u.content.Len()))
	if err != nil {
		return nil, "", fmt.Errorf("keep its files: %w", err)
	}
	return fsys, label, nil
}

// unpacking is one archive on its way to memory. A zip archive that is stored, not
// compressed, is the file system of the standard library that can be written.
type unpacking struct {
	most    bounds
	content bytes.Buffer
	out     *zip.Writer
	// seen are the files, and the directories that they make (false).
	seen  map[string]bool
	files int
	bytes int64
}

// all reads the archive to its end; more than the stream may have is an error that
// says so, whatever the reader made of being cut off.
func (u *unpacking) all(stream *io.LimitedReader) error {
	err := u.entries(tar.NewReader(stream))
	if err == nil { // what follows is padding, and the checksum
		if _, err = io.Copy(io.Discard, stream); err != nil {
			err = fmt.Errorf("it is damaged, or cut short: %w", err)
		}
	}
	if stream.N <= 0 {
		return fmt.Errorf("it unpacks to more than %d MiB", u.most.stream>>20)
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
			return fmt.Errorf("it is no tar archive, or is cut short: %w", err)
		}
		switch h.Typeflag {
		case tar.TypeReg:
			err = u.file(h, in)
		case tar.TypeDir, tar.TypeXGlobalHeader: // files make their directories
		default:
			err = fmt.Errorf("%q is a link, a device or the like: there may only be files and directories", h.Name)
		}
		if err != nil {
			return err
		}
	}
}

func (u *unpacking) file(h *tar.Header, in io.Reader) error {
	name := strings.TrimPrefix(h.Name, "./")
	if !fs.ValidPath(name) || name == "." || strings.ContainsRune(name, '\\') {
		return fmt.Errorf("%q is no path within a tree", h.Name)
	}
	if err := u.enter(name); err != nil {
		return err
	}
	if u.files++; u.files > u.most.files {
		return fmt.Errorf("it has more than %d files", u.most.files)
	}
	if u.bytes += h.Size; h.Size < 0 || u.bytes > u.most.unpacked {
		return fmt.Errorf("its files have more than %d MiB", u.most.unpacked>>20)
	}
	w, err := u.out.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
	if err != nil {
		return fmt.Errorf("keep %q: %w", name, err)
	}
	if _, err := io.Copy(w, in); err != nil { // of a file with holes too: at most its size
		return fmt.Errorf("read %q: %w", name, err)
	}
	return nil
}

// enter notes a path and its directories: none twice, none both.
func (u *unpacking) enter(name string) error {
	if _, there := u.seen[name]; there {
		return fmt.Errorf("%q is in it twice", name)
	}
	u.seen[name] = true
	for i, r := range name {
		if r != '/' {
			continue
		}
		if file := u.seen[name[:i]]; file {
			return fmt.Errorf("%q is in it as a file and as a directory", name[:i])
		}
		u.seen[name[:i]] = false
	}
	return nil
}

// labelIn is the name that an archive has in it; empty where it is none to show.
func labelIn(name string) string {
	const longest = 256
	if len(name) > longest || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return ""
	}
	return name
}

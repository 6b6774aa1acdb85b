package archive

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/firstlight/firstlight/internal/evidence"
)

// Unpacked is the result of Unpack.
type Unpacked struct {
	// Dir is the directory of the run; empty if no file was unpacked.
	Dir   string
	Run   string
	Files int
	// Problems are the problems of the archive. An archive with a problem is rejected; the
	// unpacked files serve only for diagnosis.
	Problems []string
}

// Err joins the problems; nil without problems.
func (u Unpacked) Err() error {
	if len(u.Problems) == 0 {
		return nil
	}
	return errors.New("invalid archive:\n" + strings.Join(u.Problems, "\n"))
}

// Unpack unpacks an archive into a new directory with the name of the run below into. The error
// is for I/O errors; problems of the archive are in the result.
func Unpack(ctx context.Context, r io.Reader, into string, l Limits) (Unpacked, error) {
	root, err := os.OpenRoot(into)
	if err != nil {
		return Unpacked{}, fmt.Errorf("unpack: %w", err)
	}
	defer func() { _ = root.Close() }() // all files are closed
	u := unpacker{root: root, limits: l.withDefaults(), seen: map[string]bool{}, folded: map[string]bool{}}
	if err := u.read(ctx, r); err != nil {
		return Unpacked{}, fmt.Errorf("unpack: %w", err)
	}
	if u.run != "" {
		u.out.Run, u.out.Dir = u.run, filepath.Join(into, u.run)
		u.missing()
	}
	if u.out.Files == 0 && len(u.out.Problems) <= maxProblems {
		u.problem("it contains no file of a run")
	}
	return u.out, nil
}

type unpacker struct {
	root   *os.Root
	limits Limits
	run    string
	seen   map[string]bool
	// folded are the names in lower case: a file system may not tell them apart.
	folded map[string]bool
	// entries is the number of entries, seen the names that can be written.
	entries int
	total   int64
	out     Unpacked
}

func (u *unpacker) problem(format string, args ...any) {
	if len(u.out.Problems) > maxProblems {
		return
	}
	if len(u.out.Problems) == maxProblems {
		u.out.Problems = append(u.out.Problems, "more problems: reading stopped")
		return
	}
	// Names from the archive must not contain terminal control sequences.
	text := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) && r != '\n' {
			return unicode.ReplacementChar
		}
		return r
	}, fmt.Sprintf(format, args...))
	u.out.Problems = append(u.out.Problems, text)
}

// read reads all entries. A problem with one entry does not stop it.
func (u *unpacker) read(ctx context.Context, r io.Reader) error {
	// With a ByteReader, gzip does not read beyond the end of its stream.
	source := bufio.NewReader(r)
	zipped, err := gzip.NewReader(source)
	if err != nil {
		u.problem("not a gzip archive, or truncated in its header: %v", err)
		return nil
	}
	zipped.Multistream(false)
	in := tar.NewReader(zipped)
	for {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("read the archive: %w", err)
		}
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			u.end(source, zipped)
			return nil
		}
		if err != nil {
			u.problem("truncated or damaged after %d files: %v", u.out.Files, err)
			return nil
		}
		if u.entries++; u.entries > u.limits.Files {
			u.problem("more than %d files", u.limits.Files)
			return nil
		}
		if len(h.Name) > maxName {
			u.problem("the name of %s is %d bytes long, at most %d are accepted", shown(h.Name), len(h.Name), maxName)
			if len(u.out.Problems) > maxProblems {
				return nil
			}
			continue
		}
		whole, err := u.entry(h, in)
		if err != nil || !whole || len(u.out.Problems) > maxProblems {
			return err
		}
	}
}

// shown shortens a name for a message.
func shown(name string) string { return name[:min(len(name), maxShown)] + "..." }

// end requires zeros after the end of the tar, a valid gzip checksum, and no data after it.
func (u *unpacker) end(source *bufio.Reader, zipped *gzip.Reader) {
	rest, err := io.ReadAll(io.LimitReader(zipped, 1<<20))
	switch {
	case err != nil:
		u.problem("truncated or damaged after %d files: %v", u.out.Files, err)
		return
	case strings.Trim(string(rest), "\x00") != "" || len(rest) == 1<<20:
		u.problem("data after the last file")
		return
	}
	if _, err := source.ReadByte(); !errors.Is(err, io.EOF) {
		u.problem("data after the end of the archive")
	}
}

// entry unpacks one entry; whole is false if the archive ends within it or a limit is reached.
func (u *unpacker) entry(h *tar.Header, in io.Reader) (whole bool, err error) {
	name, ok := u.place(h)
	if !ok {
		return true, nil
	}
	if h.Size > u.limits.File {
		u.problem("%s has %d bytes, the limit is %d", h.Name, h.Size, u.limits.File)
		return true, nil
	}
	if u.total += h.Size; u.total > u.limits.Total {
		u.problem("more than %d bytes unpacked", u.limits.Total)
		return false, nil
	}
	n, err := u.write(name, in)
	switch {
	case errors.Is(err, errDamaged):
		u.problem("truncated or damaged within %s, %d of %d bytes", h.Name, n, h.Size)
		return false, u.root.Remove(name)
	case errors.Is(err, fs.ErrExist):
		return false, fmt.Errorf("%s already exists: %w", name, err)
	case err != nil:
		return false, err
	}
	u.out.Files++
	return true, nil
}

// place returns the path of an entry, if it can be written.
func (u *unpacker) place(h *tar.Header) (name string, ok bool) {
	problems := len(u.out.Problems)
	if h.Typeflag != tar.TypeReg {
		u.problem("%s is not a regular file (%s)", h.Name, kindOf(h.Typeflag))
	}
	run, rest, deep := strings.Cut(h.Name, "/")
	switch {
	case !fs.ValidPath(h.Name) || !filepath.IsLocal(filepath.FromSlash(h.Name)) || strings.ContainsAny(h.Name, "\\\x00"):
		u.problem("invalid path %q: must be within the directory of the run", h.Name)
	case !deep || rest == "":
		u.problem("%s is not in the directory of a run", h.Name)
	case u.seen[h.Name]:
		u.problem("duplicate %s", h.Name)
	case u.folded[strings.ToLower(h.Name)]:
		u.problem("duplicate %s: differs from another name by case only", h.Name)
	case u.run == "" && !evidence.IsRunID(run):
		u.problem("invalid run ID %q: must be like 20261121-014234-7f3a", run)
	case u.run != "" && run != u.run:
		u.problem("%s belongs to another run than %s", h.Name, u.run)
	}
	if len(u.out.Problems) > problems {
		return "", false
	}
	u.seen[h.Name], u.folded[strings.ToLower(h.Name)] = true, true
	u.run = run
	return h.Name, true
}

func kindOf(flag byte) string {
	switch flag {
	case tar.TypeSymlink:
		return "a symbolic link"
	case tar.TypeLink:
		return "a link"
	case tar.TypeDir:
		return "a directory"
	default:
		return fmt.Sprintf("type %q", flag)
	}
}

func (u *unpacker) write(name string, in io.Reader) (int64, error) {
	if err := u.root.MkdirAll(filepath.Dir(filepath.FromSlash(name)), 0o755); err != nil {
		return 0, fmt.Errorf("create its directory: %w", err)
	}
	f, err := u.root.OpenFile(filepath.FromSlash(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return 0, fmt.Errorf("write %s: %w", name, err)
	}
	source := &archived{r: in}
	n, err := io.Copy(f, source)
	if err := errors.Join(err, f.Close()); err != nil {
		return n, fmt.Errorf("write %s: %w", name, err)
	}
	return n, nil
}

// missing lists the missing files of the manifest, or of the layout of a run.
func (u *unpacker) missing() {
	m, err := evidence.Stored(u.out.Dir)
	if err != nil {
		if len(u.out.Problems) > 0 && errors.Is(err, fs.ErrNotExist) && !u.seen[u.run+"/"+evidence.AttestationFile] {
			u.problem("missing files are unknown: the archive has neither manifest nor attestation")
		}
		return // verification reports an invalid or missing manifest
	}
	var gone []string
	for _, f := range m.Files {
		if !u.seen[u.run+"/"+f.Path] || u.isMissing(f.Path) {
			gone = append(gone, f.Path)
		}
	}
	if len(gone) == 0 {
		return
	}
	slices.Sort(gone)
	const named = 20
	text := strings.Join(gone[:min(len(gone), named)], ", ")
	if len(gone) > named {
		text += fmt.Sprintf(" and %d more", len(gone)-named)
	}
	u.problem("%d of %d files are missing: %s", len(gone), len(m.Files), text)
}

// isMissing reports whether a file does not exist.
func (u *unpacker) isMissing(name string) bool {
	_, err := u.root.Lstat(filepath.Join(u.run, filepath.FromSlash(name)))
	return err != nil
}

// errDamaged marks read errors of the archive, as opposed to write errors.
var errDamaged = errors.New("the archive is truncated or damaged")

type archived struct{ r io.Reader }

// Read implements io.Reader.
func (a *archived) Read(p []byte) (int, error) {
	n, err := a.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: %w", errDamaged, err)
	}
	return n, err
}

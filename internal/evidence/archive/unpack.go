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

// Unpacked is what came out of an archive.
type Unpacked struct {
	// Dir is the run's directory; empty when not one file came out.
	Dir   string
	Run   string
	Files int
	// Problems are all that is wrong with the archive. With any, it is refused:
	// what came out is there only to say more about it.
	Problems []string
}

// Err is all problems as one error; nil without any.
func (u Unpacked) Err() error {
	if len(u.Problems) == 0 {
		return nil
	}
	return errors.New("the archive is refused:\n" + strings.Join(u.Problems, "\n"))
}

// Unpack reads an archive into a directory of the run's name below into, which
// must not have one yet. The error is for what keeps it from reading or writing
// at all; what is wrong with the archive is in the result.
func Unpack(ctx context.Context, r io.Reader, into string, l Limits) (Unpacked, error) {
	root, err := os.OpenRoot(into)
	if err != nil {
		return Unpacked{}, fmt.Errorf("unpack: %w", err)
	}
	defer func() { _ = root.Close() }() // nothing was written through it that is not closed
	u := unpacker{root: root, limits: l.withDefaults(), seen: map[string]bool{}}
	if err := u.read(ctx, r); err != nil {
		return Unpacked{}, fmt.Errorf("unpack: %w", err)
	}
	if u.run != "" {
		u.out.Run, u.out.Dir = u.run, filepath.Join(into, u.run)
		u.missing()
	}
	if u.out.Files == 0 && len(u.out.Problems) <= maxProblems {
		u.problem("it holds no file of a run")
	}
	return u.out, nil
}

type unpacker struct {
	root   *os.Root
	limits Limits
	run    string
	seen   map[string]bool
	// entries are all, seen those that may be written.
	entries int
	total   int64
	out     Unpacked
}

func (u *unpacker) problem(format string, args ...any) {
	if len(u.out.Problems) > maxProblems {
		return
	}
	if len(u.out.Problems) == maxProblems {
		u.out.Problems = append(u.out.Problems, "and more: it was not read further")
		return
	}
	// What a stranger named a file commands no terminal.
	text := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) && r != '\n' {
			return unicode.ReplacementChar
		}
		return r
	}, fmt.Sprintf(format, args...))
	u.out.Problems = append(u.out.Problems, text)
}

// read goes through the archive. A problem with one entry does not end it.
func (u *unpacker) read(ctx context.Context, r io.Reader) error {
	// What gzip reads byte by byte it reads no further than its end.
	source := bufio.NewReader(r)
	zipped, err := gzip.NewReader(source)
	if err != nil {
		u.problem("it is no gzip archive, or ends in its first bytes: %v", err)
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
			u.problem("it ends early or is damaged after %d files: %v", u.out.Files, err)
			return nil
		}
		if u.entries++; u.entries > u.limits.Files {
			u.problem("it holds more than %d files", u.limits.Files)
			return nil
		}
		if len(h.Name) > maxName {
			u.problem("the name of %s is %d bytes long, at most %d are taken", shown(h.Name), len(h.Name), maxName)
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

// shown is a name as far as a line has room for it.
func shown(name string) string { return name[:min(len(name), maxShown)] + "..." }

// end wants nothing but zeros after the tar's end, a gzip sum that is right,
// and nothing after it.
func (u *unpacker) end(source *bufio.Reader, zipped *gzip.Reader) {
	rest, err := io.ReadAll(io.LimitReader(zipped, 1<<20))
	switch {
	case err != nil:
		u.problem("it ends early or is damaged after %d files: %v", u.out.Files, err)
		return
	case strings.Trim(string(rest), "\x00") != "" || len(rest) == 1<<20:
		u.problem("something follows the last file")
		return
	}
	if _, err := source.ReadByte(); !errors.Is(err, io.EOF) {
		u.problem("something follows the archive's end")
	}
}

// entry takes one entry; whole is false when the archive ends within it, or
// nothing more may be read.
func (u *unpacker) entry(h *tar.Header, in io.Reader) (whole bool, err error) {
	name, ok := u.place(h)
	if !ok {
		return true, nil
	}
	if h.Size > u.limits.File {
		u.problem("%s is of %d bytes, a file may have %d", h.Name, h.Size, u.limits.File)
		return true, nil
	}
	if u.total += h.Size; u.total > u.limits.Total {
		u.problem("it unpacks to more than %d bytes", u.limits.Total)
		return false, nil
	}
	n, err := u.write(name, in)
	switch {
	case errors.Is(err, errDamaged):
		u.problem("it ends early or is damaged within %s, %d of %d bytes", h.Name, n, h.Size)
		return false, u.root.Remove(name)
	case errors.Is(err, fs.ErrExist):
		return false, fmt.Errorf("%s is there already: %w", name, err)
	case err != nil:
		return false, err
	}
	u.out.Files++
	return true, nil
}

// place decides whether an entry may be written, and where.
func (u *unpacker) place(h *tar.Header) (name string, ok bool) {
	problems := len(u.out.Problems)
	if h.Typeflag != tar.TypeReg {
		u.problem("%s is no regular file (%s)", h.Name, kindOf(h.Typeflag))
	}
	run, rest, deep := strings.Cut(h.Name, "/")
	switch {
	case !fs.ValidPath(h.Name) || !filepath.IsLocal(filepath.FromSlash(h.Name)) || strings.ContainsAny(h.Name, "\\\x00"):
		u.problem("%q leads out of the run's directory, or is no plain path", h.Name)
	case !deep || rest == "":
		u.problem("%s is in no run's directory", h.Name)
	case u.seen[h.Name]:
		u.problem("%s is there twice", h.Name)
	case u.run != "" && run != u.run:
		u.problem("%s is of another run than %s", h.Name, u.run)
	}
	if len(u.out.Problems) > problems {
		return "", false
	}
	u.seen[h.Name] = true
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
		return 0, fmt.Errorf("make its directory: %w", err)
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

// missing names what the manifest, or else the run's shape, says should be there.
func (u *unpacker) missing() {
	m, err := evidence.Stored(u.out.Dir)
	if err != nil {
		if len(u.out.Problems) > 0 && errors.Is(err, fs.ErrNotExist) && !u.seen[u.run+"/"+evidence.AttestationFile] {
			u.problem("what is missing can not be said: neither manifest nor attestation came out of it")
		}
		return // what is wrong with it, or that there is none, is for whoever verifies
	}
	var gone []string
	for _, f := range m.Files {
		if !u.seen[u.run+"/"+f.Path] || u.gone(f.Path) {
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

// gone says that a file was begun and is not there.
func (u *unpacker) gone(name string) bool {
	_, err := u.root.Lstat(filepath.Join(u.run, filepath.FromSlash(name)))
	return err != nil
}

// errDamaged marks that the archive could not be read further, as against what
// could not be written.
var errDamaged = errors.New("the archive ends early or is damaged")

type archived struct{ r io.Reader }

// Read implements io.Reader.
func (a *archived) Read(p []byte) (int, error) {
	n, err := a.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: %w", errDamaged, err)
	}
	return n, err
}

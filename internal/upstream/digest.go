package upstream

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/firstlight/firstlight/internal/atomicfile"
)

// digestSuffix ends the name of the file beside a program that has its digest, as
// sha256sum -c reads it. It is written before the program is put in its place, when it is
// built or imported, and never after.
const digestSuffix = ".sha256sum"

// ErrChanged says that a program is not the one that was built or imported.
var ErrChanged = errors.New("the program is not the one that was built or imported")

// Digest is the SHA-256 of a file, in hex.
func Digest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("read a program's digest: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("read a program's digest: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// recorded is the digest that was written when the program was built or imported; empty when
// there is none.
func recorded(path string) string {
	raw, err := os.ReadFile(path + digestSuffix)
	if err != nil {
		return ""
	}
	digest, name, ok := strings.Cut(strings.TrimSpace(string(raw)), "  ")
	if _, err := hex.DecodeString(digest); err != nil || !ok || name != filepath.Base(path) || len(digest) != 2*sha256.Size {
		return ""
	}
	return digest
}

// verify holds a program against its recorded digest, reading all of it: the size and the times
// of a changed file can be those of before.
func verify(path string) error {
	digest, err := Digest(path)
	if err != nil {
		return err
	}
	if want := recorded(path); digest != want {
		return fmt.Errorf("%w: the SHA-256 of %s is %s, the recorded one is %q; find out what changed it, then delete the file and run: firstlight lab programs build (or import)",
			ErrChanged, path, digest, want)
	}
	return nil
}

// place puts a program and its digest where they are looked for. What is there goes first: a
// program is never beside the digest of another.
func place(from, to, digest string) error {
	if err := os.Remove(to); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	line := fmt.Sprintf("%s  %s\n", digest, filepath.Base(to))
	if err := atomicfile.Write(to+digestSuffix, []byte(line), 0o644); err != nil {
		return err
	}
	return os.Rename(from, to)
}

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

// digestSuffix is the suffix of a program's digest file in the format of sha256sum -c. The file is
// written before the program is installed and never changed.
const digestSuffix = ".sha256sum"

// ErrChanged is returned for a program that does not match its digest.
var ErrChanged = errors.New("the program was changed after it was built or imported")

// Digest returns the SHA-256 of a file in hex.
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

// recorded returns the digest of a program's digest file; empty without the file.
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

// verify compares a program with its digest. It reads the whole file, because a changed file can
// have the same size and times.
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

// place installs a program and its digest. It removes an existing program first, so that a program
// never has another program's digest.
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

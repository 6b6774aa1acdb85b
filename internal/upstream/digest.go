package upstream

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Digest is the SHA-256 of a program's file, in hex. It is written down beside the file,
// with the size and the time of the file that it is of, and read from there while
// these are the same.
func Digest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("read a program's digest: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("read a program's digest: %w", err)
	}
	of := fmt.Sprintf("%d %d", info.Size(), info.ModTime().UnixNano())
	note := path + ".sha256"
	if raw, err := os.ReadFile(note); err == nil {
		if digest, rest, ok := strings.Cut(strings.TrimSpace(string(raw)), " "); ok && rest == of && len(digest) == 2*sha256.Size {
			return digest, nil
		}
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("read a program's digest: %w", err)
	}
	digest := hex.EncodeToString(h.Sum(nil))
	return digest, keep(note, digest+" "+of+"\n")
}

// keep writes a note where that is allowed: a cache may be read-only.
func keep(path, text string) error {
	tmp := fmt.Sprintf("%s.%d", path, os.Getpid())
	err := os.WriteFile(tmp, []byte(text), 0o600)
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil && !errors.Is(err, os.ErrPermission) {
		return fmt.Errorf("keep a program's digest: %w", err)
	}
	return nil
}

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
)

// digestSuffix ends the name of the file beside a program that has its digest.
const digestSuffix = ".sha256"

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
	note := path + digestSuffix
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
	keep(note, digest+" "+of+"\n")
	return digest, nil
}

// keep writes a note. The note only saves time: not to be able to write it is no error.
func keep(path, text string) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return
	}
	_, err = io.WriteString(f, text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // so is this
	}
}

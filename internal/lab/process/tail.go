package process

import (
	"errors"
	"io"
	"os"
	"strings"
)

// Limits of log lines in an error.
const (
	tailLines = 12
	tailBytes = 8 << 10
)

// Tail returns the last lines written after offset from. An unreadable log has no lines.
func Tail(path string, from int64) []string {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil
	}
	if from > size { // rotated meanwhile
		from = 0
	}
	cut := false
	if size-from > tailBytes {
		from, cut = size-tailBytes, true
	}
	raw := make([]byte, max(size-from, 0))
	n, err := f.ReadAt(raw, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil
	}
	lines := strings.Split(strings.TrimRight(string(raw[:n]), "\n"), "\n")
	if cut && len(lines) > 1 {
		lines = lines[1:] // the first line is incomplete
	}
	if len(lines) > tailLines {
		lines = lines[len(lines)-tailLines:]
	}
	if len(lines) == 1 && lines[0] == "" {
		return nil
	}
	return lines
}

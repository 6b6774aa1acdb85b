package nvidia

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// eachLine calls read with every trimmed, non-empty line, except the messages about lost and faulty GPUs.
// An error names the command and the line number.
func eachLine(command string, data []byte, read func(line string) error) error {
	if !utf8.Valid(data) {
		return fmt.Errorf("read %s: %w", command, errNotText)
	}
	sc := bufio.NewScanner(bytes.NewReader(data))
	sc.Buffer(nil, maxLinkLine)
	for n := 1; sc.Scan(); n++ {
		line := strings.TrimSpace(sc.Text())
		if line == "" || mentions(line, lost) || mentions(line, faulty) {
			continue
		}
		if err := read(line); err != nil {
			return fmt.Errorf("read %s: line %d: %w", command, n, err)
		}
	}
	if err := sc.Err(); err != nil {
		return fmt.Errorf("read %s: %w", command, err)
	}
	return nil
}

var errNotText = errors.New("the output is not UTF-8 text")

// maxText is the longest message in a result, in bytes.
const maxText = 300

// clip trims s and shortens it to most bytes.
func clip(s string, most int) string {
	s = strings.TrimSpace(s)
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "..."
	}
	return s
}

package nvidia

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// eachLine calls read with each line that is not empty, without its outer blanks, and not
// with what nvidia-smi says of a GPU that it lost. An error names the command and the line.
func eachLine(command string, data []byte, read func(line string) error) error {
	if !utf8.Valid(data) {
		return fmt.Errorf("read %s: %w", command, errNotText)
	}
	sc := bufio.NewScanner(bytes.NewReader(data))
	sc.Buffer(nil, maxLinkLine)
	for n := 1; sc.Scan(); n++ {
		line := strings.TrimSpace(sc.Text())
		if line == "" || mentions(line, lost) {
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

package trainer

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/logline"
)

// jsonLines decodes the lines that begin with prefix, in order. A line that cannot be decoded, or
// more than most lines, is an error.
func jsonLines[T any](r io.Reader, prefix string, most int) ([]T, error) {
	var out []T
	err := logline.Scan(r, func(l logline.Line) error {
		text, ok := strings.CutPrefix(l.Text, prefix)
		if !ok {
			return nil
		}
		var v T
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			return fmt.Errorf("%.160q: %w", text, err)
		}
		if len(out) == most {
			return fmt.Errorf("more than %d lines of %q", most, prefix)
		}
		out = append(out, v)
		return nil
	})
	return out, err
}

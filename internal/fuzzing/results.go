package fuzzing

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/firstlight/firstlight/internal/atomicfile"
)

// Results is a directory with the last result of each target.
type Results string

// get returns the result of an earlier run of the target if the same binary passed the effort.
// An effort of a time is never reused.
func (r Results) get(of Result, e Effort) (Result, bool) {
	raw, err := os.ReadFile(r.file(of.Target))
	if err != nil {
		return Result{}, false
	}
	var earlier Result
	err = json.Unmarshal(raw, &earlier)
	return earlier, err == nil && earlier.Binary == of.Binary && e.Executions > 0 && earlier.Executions >= e.Executions
}

func (r Results) put(result Result) error {
	raw, err := json.Marshal(result)
	if err != nil {
		return fmt.Errorf("keep result: %w", err)
	}
	if err := os.MkdirAll(string(r), 0o700); err != nil {
		return fmt.Errorf("keep result: %w", err)
	}
	return atomicfile.Write(r.file(result.Target), append(raw, '\n'), 0o600)
}

func (r Results) file(target string) string {
	return filepath.Join(string(r), strings.NewReplacer("/", "-", " ", ".").Replace(target)+".json")
}

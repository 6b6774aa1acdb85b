package fuzzing

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Result is the run of one target.
type Result struct {
	Target     string `json:"target"` // package and function: internal/site FuzzParse
	Binary     string `json:"binary"` // SHA-256 of the test binary
	Executions int    `json:"executions"`
	// Interesting are the inputs that reached new code in this run.
	Interesting int     `json:"interesting"`
	TookSeconds float64 `json:"tookSeconds"`
}

func (r Result) String() string {
	rate := ""
	if r.TookSeconds > 0 {
		rate = fmt.Sprintf(", %.0f/s", float64(r.Executions)/r.TookSeconds)
	}
	took := time.Duration(r.TookSeconds * float64(time.Second)).Round(time.Second)
	return fmt.Sprintf("%s: %d executions in %s%s, %d new interesting inputs", r.Target, r.Executions, took, rate, r.Interesting)
}

// progress is a line that the fuzzer prints every 3 s and at the end.
var progress = regexp.MustCompile(`(?m)^fuzz: elapsed: \S+, execs: (\d+) \(-?\d+/sec\), new interesting: (\d+) \(total: \d+\)$`)

// counts reads the last progress of the fuzzer's output.
func (r *Result) counts(output string) error {
	all := progress.FindAllStringSubmatch(output, -1)
	if len(all) == 0 {
		return fmt.Errorf("the fuzzer printed no executions: %q", tail(output))
	}
	last := all[len(all)-1]
	var err error
	if r.Executions, err = strconv.Atoi(last[1]); err != nil {
		return fmt.Errorf("executions: %w", err)
	}
	if r.Interesting, err = strconv.Atoi(last[2]); err != nil {
		return fmt.Errorf("interesting inputs: %w", err)
	}
	return nil
}

// tail returns the end of an output.
func tail(output string) string {
	const most = 2000
	return strings.TrimSpace(output[max(0, len(output)-most):])
}

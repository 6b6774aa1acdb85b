package main

import (
	"fmt"
	"regexp"
	"strings"
)

// reported begins what t.Error and t.Log print: "    chain_test.go:172: text".
var reported = regexp.MustCompile(`^\s+\w+\.go:\d+: `)

// Limits of the reports that are printed again at the end of a run: lines per test, and characters
// per line. The last lines of a run are often all that is read of it.
const (
	maxFailureLines = 12
	maxFailureChars = 400
)

// keepFailure keeps the reports of a failed test, each with the lines below it that are not logs.
// A parent, which fails with its subtests, has none.
func (r *recorder) keepFailure(key string, e event) {
	var kept []string
	inReport := false
	for _, line := range r.lines[key] {
		line = strings.TrimRight(line, "\n")
		switch {
		case reported.MatchString(line):
			inReport = true
		case strings.HasPrefix(line, "---"), strings.HasPrefix(strings.TrimSpace(line), "time="):
			inReport = false
		case strings.HasPrefix(line, "panic: "):
			inReport = true
		}
		if inReport {
			kept = append(kept, line[:min(len(line), maxFailureChars)])
		}
	}
	if len(kept) > maxFailureLines { // the first report and the last
		kept = append(kept[:maxFailureLines/2:maxFailureLines/2], kept[len(kept)-maxFailureLines/2:]...)
	}
	if len(kept) > 0 {
		r.failures = append(r.failures, fmt.Sprintf("  %s %s", short(e.Package), e.Test))
		r.failures = append(r.failures, kept...)
	}
}

// printFailures prints what failed tests reported, once more.
func (r *recorder) printFailures() {
	if len(r.failures) == 0 {
		return
	}
	fmt.Fprintf(r.out, "\nfailed:\n%s\n", strings.Join(r.failures, "\n"))
}

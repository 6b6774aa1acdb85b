package site

import (
	"fmt"
	"sort"
	"strings"
)

// Problem is one thing wrong with a site file.
type Problem struct {
	// Line is 1-based; 0 when the problem is about the whole file.
	Line    int    `json:"line,omitempty"`
	Message string `json:"message"`
}

// InvalidError carries every problem of a site file, in the order of lines.
type InvalidError struct {
	File     string    `json:"file"`
	Problems []Problem `json:"problems"`
}

func invalid(file string, problems ...Problem) *InvalidError {
	sort.SliceStable(problems, func(i, j int) bool { return problems[i].Line < problems[j].Line })
	return &InvalidError{File: file, Problems: problems}
}

// Error lists the problems, one a line, as file:line: message.
func (e *InvalidError) Error() string {
	var b strings.Builder
	for i, p := range e.Problems {
		if i > 0 {
			b.WriteByte('\n')
		}
		if p.Line > 0 {
			fmt.Fprintf(&b, "%s:%d: %s", e.File, p.Line, p.Message)
		} else {
			fmt.Fprintf(&b, "%s: %s", e.File, p.Message)
		}
	}
	return b.String()
}

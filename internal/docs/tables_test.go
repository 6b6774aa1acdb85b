package docs_test

import (
	"regexp"
	"strings"
	"testing"
)

// separator is the second line of a table.
var separator = regexp.MustCompile(`^\|(?:\s*:?-+:?\s*\|)+$`)

// TestTablesHaveAHeader: rows after a blank line or without a header are not a table, and Markdown shows
// their bars. It was so in the list of commands of gate fabric.
func TestTablesHaveAHeader(t *testing.T) {
	t.Parallel()
	tables := 0
	for _, p := range pages(t) {
		n, bad := brokenTables(p.text)
		tables += n
		for _, row := range bad {
			t.Errorf("%s: no header above the row %.60q", p.path, row)
		}
	}
	if tables < 50 {
		t.Errorf("only %d tables found", tables)
	}
}

// brokenTables counts the tables of a page, and returns the first row of each without a header.
func brokenTables(text string) (tables int, bad []string) {
	lines := append(strings.Split(prose(text), "\n"), "", "")
	for i, line := range lines[:len(lines)-1] {
		if !strings.HasPrefix(line, "|") || i > 0 && strings.HasPrefix(lines[i-1], "|") {
			continue
		}
		tables++
		if !separator.MatchString(lines[i+1]) {
			bad = append(bad, line)
		}
	}
	return tables, bad
}

func TestBrokenTableIsFound(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"| a | b |\n|---|---|\n| 1 | 2 |\n": 0, "| a |\n|---|\n| 1 |\n\n| 2 |\n": 1, "| a |\n| b |\n": 1, "```\n| a |\n```\n": 0,
	} {
		if _, bad := brokenTables(text); len(bad) != want {
			t.Errorf("%q: %q, want %d", text, bad, want)
		}
	}
}

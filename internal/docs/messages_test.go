package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	quoted = regexp.MustCompile("`([^`]+)`|\"([^\"]+)\"")
	// variable is a part of a message that differs from case to case, and what joins two messages.
	variable = regexp.MustCompile(`\.\.\.|\b[A-Z]{2,}\b|\b\d\w*|: `)
)

// messages are the constant parts of the messages in the tables of a page that begin with
// the column "message". One word alone is not a message.
func messages(text string) []string {
	var out []string
	inTable := false
	for line := range strings.SplitSeq(text, "\n") {
		inTable = strings.HasPrefix(line, "| message |") || inTable && strings.HasPrefix(line, "|")
		if !inTable || strings.HasPrefix(line, "| message |") {
			continue
		}
		cell, _, _ := strings.Cut(strings.TrimPrefix(line, "|"), "|")
		for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
			for _, part := range variable.Split(m[1]+m[2], -1) {
				if part = strings.TrimSpace(part); strings.Contains(part, " ") {
					out = append(out, part)
				}
			}
		}
	}
	return out
}

// sources are all programs of this repository that print messages.
func sources(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, dir := range []string{"internal", "examples/hooks"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(name string, d os.DirEntry, err error) error {
			program := strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") || dir != "internal" && filepath.Ext(name) == ""
			if err == nil && !d.IsDir() && program {
				all.WriteString(read(t, name))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all.String()
}

func TestMessagesOfThePagesExist(t *testing.T) {
	t.Parallel()
	programs, seen := sources(t), 0
	for _, p := range pages(t) {
		for _, m := range messages(p.text) {
			seen++
			if !strings.Contains(programs, m) {
				t.Errorf("%s: no program prints %q", p.path, m)
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d messages were found in the pages: the search is broken", seen)
	}
}

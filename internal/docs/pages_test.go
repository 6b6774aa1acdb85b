package docs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// root is the repository's, from this package.
const root = "../.."

// page is one Markdown file.
type page struct {
	path string // relative to the repository, with slashes
	text string
}

// pages are the README and everything under docs.
func pages(t *testing.T) []page {
	t.Helper()
	names := []string{filepath.Join(root, "README.md")}
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(name string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(name, ".md") {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	out := make([]page, 0, len(names))
	for _, name := range names {
		out = append(out, page{path: filepath.ToSlash(strings.TrimPrefix(name, root+string(filepath.Separator))), text: read(t, name)})
	}
	return out
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// codeLines are the lines of fenced and of indented blocks, without their indent.
func codeLines(text string) []string {
	var out []string
	fenced := false
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			fenced = !fenced
		case fenced:
			out = append(out, line)
		case strings.HasPrefix(line, "    "):
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out
}

// prose is the text without its code blocks.
func prose(text string) string {
	var out []string
	fenced := false
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
			continue
		}
		if !fenced && !strings.HasPrefix(line, "    ") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

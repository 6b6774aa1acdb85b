package docs_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	anySpan    = regexp.MustCompile("`([^`\n]+)`")
	identifier = regexp.MustCompile(`^(?:\w+\.)?([A-Za-z]\w*)$`)
	// goTest is a call of go test: its packages, and the test of -run.
	goTest = regexp.MustCompile(`go test((?: \./[a-z0-9_/-]+)+)(?: -run (\w+))?`)
	// elsewhere are spans that other tests check, or that name no code.
	elsewhere = regexp.MustCompile(`^(?:firstlight|make|site|accept|validate) `)
)

// TestWorkedExamplesExist: files, names, rows and code that the worked examples and the answers of the
// architecture page name are in the tree.
func TestWorkedExamplesExist(t *testing.T) {
	t.Parallel()
	sections := 0
	for name, split := range map[string]func(string) []string{
		"docs/extending.md":    func(page string) []string { return strings.Split(page, "\n## ")[1:] },
		"docs/architecture.md": answers,
	} {
		for _, section := range split(read(t, filepath.Join(root, filepath.FromSlash(name)))) {
			sections++
			title, _, _ := strings.Cut(section, "\n")
			for _, problem := range missing(section, readTree) {
				t.Errorf("%s: %.40s: %s", name, title, problem)
			}
		}
	}
	if sections < 5+10 {
		t.Errorf("only %d sections found", sections)
	}
}

// answers are the rows of the table of questions that name a file.
func answers(page string) []string {
	var out []string
	_, table, _ := strings.Cut(page, "## To change X")
	for line := range strings.SplitSeq(table, "\n") {
		if strings.HasPrefix(line, "| ") && pathSpan.MatchString(line) {
			out = append(out, line)
		}
	}
	return out
}

// missing lists what a section names and the tree does not have: a name must be in a file that the
// section names, or in a file of a directory that it names.
func missing(section string, tree func(path string) (string, error)) []string {
	var out, texts []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, m := range pathSpan.FindAllStringSubmatch(section, -1) {
		text, err := tree(m[1])
		if err != nil {
			add("%s: %v", m[1], err)
		}
		texts = append(texts, text)
	}
	all := strings.Join(texts, "\n")
	for _, m := range anySpan.FindAllStringSubmatch(prose(section), -1) {
		span := m[1]
		switch name := identifier.FindStringSubmatch(span); {
		case pathSpan.MatchString(m[0]), goTest.MatchString(span), elsewhere.MatchString(span):
		case name != nil && !regexp.MustCompile(`\b`+name[1]+`\b`).MatchString(all), name == nil && !strings.Contains(all, span):
			add("%s is in none of the files", span)
		}
	}
	for _, block := range goBlocks(section) {
		if !strings.Contains(squeezed(all), squeezed(block)) {
			add("code is in none of the files: %s", block)
		}
	}
	for _, m := range goTest.FindAllStringSubmatch(section, -1) {
		var tests strings.Builder
		for dir := range strings.FieldsSeq(m[1]) {
			text, err := tree(strings.TrimPrefix(dir, "./"))
			if err != nil {
				add("%s: %v", m[0], err)
			}
			tests.WriteString(text)
		}
		if !regexp.MustCompile(`func Test\w*` + strings.TrimPrefix(m[2], "Test")).MatchString(tests.String()) {
			add("%s runs no test", m[0])
		}
	}
	return out
}

// goBlocks are the blocks of Go code, also of list items.
func goBlocks(text string) []string {
	var out []string
	parts := strings.Split(text, "```")
	for i := 1; i < len(parts); i += 2 {
		if code, ok := strings.CutPrefix(parts[i], "go\n"); ok {
			out = append(out, code)
		}
	}
	return out
}

// squeezed is code without its white space.
func squeezed(code string) string { return strings.Join(strings.Fields(code), " ") }

// readTree reads the files of a path: a file, a directory with everything below it, or a pattern.
func readTree(path string) (string, error) {
	tops, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil || len(tops) == 0 {
		return "", fmt.Errorf("not found (%w)", err)
	}
	var all strings.Builder
	for _, top := range tops {
		err = errors.Join(err, filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(name)
			all.Write(append(text, '\n'))
			return err
		}))
	}
	return all.String(), err
}

// Every form of naming something that the tree lacks is reported.
func TestMissingExamplesAreFound(t *testing.T) {
	t.Parallel()
	tree := func(path string) (string, error) {
		if path != "internal/a" {
			return "", fs.ErrNotExist
		}
		return "func Parse(x int) {\n\treturn\n}\nfunc TestParse(t *testing.T) {}\n- {kind: a, runs: test}\n", nil
	}
	for section, want := range map[string]string{
		"`internal/a` has `Parse`": "", "`internal/a` has `a.Parse`": "", "`internal/a`: `{kind: a, runs: test}`": "", "`internal/a`\n```go\nfunc Parse(x int) {\n    return\n```": "",
		"`go test ./internal/a -run TestParse`": "", "`go test ./internal/a`": "", "`internal/a` and `firstlight plan`": "",
		"`internal/b`": "internal/b: file does not exist", "`internal/a` has `Pars`": "Pars is in none", "`internal/a`: `{kind: b, runs: test}`": "{kind: b, runs: test} is in none",
		"`internal/a`\n```go\nfunc Read(x int) {\n```": "code is in none", "`go test ./internal/a -run TestRead`": "runs no test", "    go test ./internal/b": "internal/b: file does not exist",
	} {
		got := strings.Join(missing(section, tree), "; ")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", section, got, want)
		}
	}
}

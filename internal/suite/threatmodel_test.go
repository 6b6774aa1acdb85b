package suite_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	testFunction = regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9_]+)\(`)
	testName     = regexp.MustCompile("`(Test[A-Za-z0-9_]+)`")
)

// Every promise of the threat model names a test, and every test that it names exists.
func TestThreatModelNamesExistingTests(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(root, "docs", "threat-model.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests, err := allTests()
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range threatModelProblems(string(page), tests) {
		t.Error(problem)
	}
}

func TestThreatModelProblemsAreFound(t *testing.T) {
	t.Parallel()
	const head = "## Promises\n\n| promise | held by |\n|---|---|\n"
	tests := map[string]bool{"TestA": true}
	for name, c := range map[string]struct{ page, want string }{
		"a promise with its test":      {head + "| A | `TestA` |\n", ""},
		"a promise without a test":     {head + "| A | review |\n", "line 5: no test"},
		"a missing test":               {head + "| A | `TestA`, `TestB` |\n", "line 5: test TestB not found"},
		"a missing test in a sentence": {head + "| A | `TestA` |\n\nSee `TestC`.\n", "line 7: test TestC not found"},
		"no promises":                  {"# Threat model\n", "no promises"},
	} {
		if got := strings.Join(threatModelProblems(c.page, tests), "; "); got != c.want {
			t.Errorf("%s: found %q, want %q", name, got, c.want)
		}
	}
}

func threatModelProblems(page string, tests map[string]bool) []string {
	var out []string
	promises, section := 0, ""
	for i, line := range strings.Split(page, "\n") {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			section = title
		}
		named := testName.FindAllStringSubmatch(line, -1)
		if section == "Promises" && strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "|---") && !strings.HasPrefix(line, "| promise |") {
			promises++
			if len(named) == 0 {
				out = append(out, fmt.Sprintf("line %d: no test", i+1))
			}
		}
		for _, n := range named {
			if !tests[n[1]] {
				out = append(out, fmt.Sprintf("line %d: test %s not found", i+1, n[1]))
			}
		}
	}
	if promises == 0 {
		out = append(out, "no promises")
	}
	return out
}

// allTests returns the test functions of the module.
func allTests() (map[string]bool, error) {
	out := map[string]bool{}
	for _, dir := range []string{"internal", "examples"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			raw, err := os.ReadFile(path)
			for _, m := range testFunction.FindAllSubmatch(raw, -1) {
				out[string(m[1])] = true
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

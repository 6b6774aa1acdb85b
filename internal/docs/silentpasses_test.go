package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// namedTest is a test that a page names: its package's directory, its function and,
// where it has some, its case.
var namedTest = regexp.MustCompile("`(internal/[a-z0-9/]+) (Test[A-Za-z0-9]+)(?:: ([^`]+))?`")

// tests are the functions of a package's tests, and the strings in each file that has one.
type tests map[string]map[string]bool

// testsOf reads the tests of a directory. A case may be named in another file of the
// package than its test.
func testsOf(dir string) (tests, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return nil, err
	}
	words, out := map[string]bool{}, tests{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv == nil {
					out[n.Name.Name] = words
				}
			case *ast.BasicLit:
				if s, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil {
					words[s] = true
				}
			}
			return true
		})
	}
	return out, nil
}

// The page of silent passes names tests that there are, and each of its rows one.
func TestSilentPassesHaveTheirTests(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join(root, "docs", "silent-passes.md"))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]tests{}
	rows := 0
	for i, line := range strings.Split(string(raw), "\n") {
		named := namedTest.FindAllStringSubmatch(line, -1)
		if strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "|---") && !strings.HasSuffix(line, "| test |") {
			rows++
			if len(named) != 1 {
				t.Errorf("line %d names %d tests, not one", i+1, len(named))
			}
		}
		for _, n := range named {
			if known[n[1]] == nil {
				if known[n[1]], err = testsOf(filepath.Join(root, filepath.FromSlash(n[1]))); err != nil {
					t.Fatal(err)
				}
			}
			words, ok := known[n[1]][n[2]]
			if !ok {
				t.Errorf("line %d: %s has no %s", i+1, n[1], n[2])
			} else if n[3] != "" && !words[n[3]] {
				t.Errorf("line %d: the tests of %s have no case %q", i+1, n[1], n[3])
			}
		}
	}
	if rows < 60 {
		t.Errorf("%d rows: the search is broken", rows)
	}
}

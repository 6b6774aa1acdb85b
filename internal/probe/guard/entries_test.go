package guard_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestEveryParserIsGuarded finds every function that reads what a cluster or a
// host says, by its name, and demands the guard in it. A parser that panics in
// a goroutine ends the process, so the guard is where the parser is and not
// where it is called.
func TestEveryParserIsGuarded(t *testing.T) {
	t.Parallel()
	found := 0
	for _, root := range []string{"..", "../../autoscale", "../../gate", "../../conformance", "../../validate"} {
		for path, fn := range functions(t, root) {
			if !reads(path, fn) {
				continue
			}
			found++
			if !guarded(fn) {
				t.Errorf("%s: %s reads what others print and does not call guard.Parse", path, fn.Name.Name)
			}
		}
	}
	if found < 25 {
		t.Errorf("only %d parsers were found", found)
	}
}

// notInput are functions that only look like parsers of what others print.
var notInput = map[string]string{
	"guard/guard.go Parse":                 "the guard",
	"guard/guard.go JSON":                  "the guard",
	"logline/line.go Parse":                "called for each line by parsers that are guarded",
	"nccl/size.go ParseSize":               "an argument of the site file",
	"settings/rules.go parseRules":         "behind ParseRules",
	"controller/operator.go ParseOperator": "a file of the program itself",
	"controller/operator.go normal":        "the program's own objects",
	"metrics/figures.go":                   "a file of the program itself",
	"inference/figures.go":                 "a file of the program itself",
	"submission/member.go":                 "a file that the user names",
	"validate/case.go":                     "a file that the user names",
}

// reads says that a function takes output apart: its name begins with Parse, or
// it decodes a document. In a package of probes what Parse calls is behind it.
func reads(path string, fn *ast.FuncDecl) bool {
	file := filepath.Join(filepath.Base(filepath.Dir(path)), filepath.Base(path))
	if notInput[file] != "" || notInput[file+" "+fn.Name.Name] != "" {
		return false
	}
	if fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Parse") || file == "redfish/redfish.go" && fn.Name.Name == "Read" {
		return true
	}
	return !strings.HasPrefix(path, "../"+filepath.Dir(file)) && calls(fn, func(_, name string) bool {
		return name == "Unmarshal" || name == "NewDecoder" || name == "TextToMetricFamilies"
	})
}

func guarded(fn *ast.FuncDecl) bool {
	return calls(fn, func(pkg, name string) bool { return pkg == "guard" && (name == "Parse" || name == "JSON") })
}

func calls(fn *ast.FuncDecl, is func(pkg, name string) bool) bool {
	yes := false
	ast.Inspect(fn, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok {
				yes = yes || is(x.Name, s.Sel.Name)
			}
		}
		return !yes
	})
	return yes
}

// functions are those of a tree of packages, tests left out, by file.
func functions(t *testing.T, root string) func(func(string, *ast.FuncDecl) bool) {
	t.Helper()
	return func(yield func(string, *ast.FuncDecl) bool) {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, decl := range file.Decls {
				if fn, ok := decl.(*ast.FuncDecl); ok && !yield(path, fn) {
					return fs.SkipAll
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

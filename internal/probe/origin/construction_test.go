package origin_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// ownClient are files that use a client with the redirects of net/http, with the reason.
var ownClient = map[string]string{
	"ci/vuln/main.go":               "CI: the database of vulnerabilities, without credentials",
	"cli/validate/submission.go":    "links of a public page that the user publishes, without credentials: browsers follow them, too",
	"e2e/simulation/conclude.go":    "part of a test: the metrics of the controller that it started",
	"e2e/simulation/process.go":     "part of a test: the metrics of the controller that it started",
	"lab/faults.go":                 "programs of the lab, on loopback",
	"lab/probe.go":                  "programs of the lab, on loopback",
	"lab/rules.go":                  "programs of the lab, on loopback",
	"lab/socket.go":                 "the supervisor of the lab, at a socket of the same user",
	"probe/kube/forward.go":         "its transport is pinned to the API server: row \"port forward\" of clients",
	"upstream/promtest/promtest.go": "part of a test: a Prometheus that it started",
}

// TestClientsAreOfThisPackage requires that HTTP clients are created by this package or state their own redirects: a
// client with those of net/http follows every host that it talks to.
func TestClientsAreOfThisPackage(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, root := range []string{"../..", "../../../cmd"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "../../probe/origin/") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			if name := strings.TrimPrefix(path, "../../"); len(defaultClients(file)) > 0 {
				used[name] = true
				if ownClient[name] == "" {
					t.Errorf("%s uses %v with the redirects of net/http: use package origin", name, defaultClients(file))
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name := range ownClient {
		if !used[name] {
			t.Errorf("%s has no client of its own any more", name)
		}
	}
}

func TestDefaultClientsAreFound(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"c := http.Client{Timeout: 1}": 1,
		"c := &http.Client{}":          1,
		"c := new(http.Client)":        1,
		"var c http.Client":            1,
		"http.DefaultClient.Do(r)":     1,
		"http.Get(u)":                  1,
		"c := origin.Registry(&http.Client{Transport: t}, false)": 0,
		"c := &http.Client{CheckRedirect: none}":                  0,
		"var c *http.Client":                                      0,
		"c := origin.Forwarded(http.DefaultTransport)":            0,
		"req.Header.Get(u)":                                       0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "a.go", "package a\nfunc f() {\n"+text+"\n}", parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := defaultClients(file); len(got) != want {
			t.Errorf("%s: %v, want %d", text, got, want)
		}
	}
}

// defaultClients are the uses of clients with the redirects of net/http.
func defaultClients(file *ast.File) (out []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.StarExpr: // the type of a parameter or field
			return !isHTTP(n.X, "Client")
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Registry" && isIdent(s.X, "origin") {
				return false
			}
		case *ast.CompositeLit:
			if isHTTP(n.Type, "Client") && slices.ContainsFunc(n.Elts, func(e ast.Expr) bool {
				kv, ok := e.(*ast.KeyValueExpr)
				return ok && isIdent(kv.Key, "CheckRedirect")
			}) {
				return false
			}
		case *ast.SelectorExpr:
			if isHTTP(n, "Client", "DefaultClient", "Get", "Head", "Post", "PostForm") {
				out = append(out, "http."+n.Sel.Name)
			}
		}
		return true
	})
	return out
}

func isHTTP(e ast.Expr, names ...string) bool {
	s, ok := e.(*ast.SelectorExpr)
	return ok && isIdent(s.X, "http") && slices.Contains(names, s.Sel.Name)
}

func isIdent(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

package validate_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
)

// request is a call of a Kubernetes client in the source. verb is empty for a mention of the resource.
type request struct {
	group, resource, verb string
	at                    token.Position
}

var (
	verbs = map[string]string{
		"Get": "get", "List": "list", "Watch": "watch", "Create": "create", "Update": "update", "Patch": "patch",
		"Delete": "delete", "DeleteCollection": "deletecollection", "GetLogs": "get",
	}
	// clientGroup matches the method of a typed client: Client.AppsV1().Deployments(namespace).List.
	clientGroup = regexp.MustCompile(`^([A-Z][a-z]+)V\d`)
	shortGroups = []string{"apps", "batch", "autoscaling"}
)

// source is a package: its string constants, and its functions of one statement.
type source struct {
	constants map[string]string
	functions map[string]*ast.FuncDecl
}

func requestsOf(t *testing.T, dir string) []request {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	set, s := token.NewFileSet(), source{map[string]string{}, map[string]*ast.FuncDecl{}}
	var files []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
		s.declare(file)
	}
	var out []request
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok {
				if r, ok := s.request(e); ok {
					r.at = set.Position(n.Pos())
					out = append(out, r)
				}
			}
			return true
		})
	}
	return out
}

func (s source) declare(file *ast.File) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Body != nil && len(d.Body.List) == 1 {
				s.functions[d.Name.Name] = d
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok && len(v.Values) == len(v.Names) {
					for i, name := range v.Names {
						if text, ok := s.text(v.Values[i], nil); ok {
							s.constants[name.Name] = text
						}
					}
				}
			}
		}
	}
}

// request is the one that e makes, or the resource that it mentions.
func (s source) request(e ast.Expr) (request, bool) {
	if r, ok := s.resource(e, nil); ok {
		return r, true
	}
	_, method, ok := called(e)
	verb := verbs[method]
	if !ok || verb == "" {
		return request{}, false
	}
	for x, _, ok := called(e); ok; { // the receivers: Namespace(...), Resource(...), Deployments(...)
		call := x
		var name string
		if x, name, ok = called(call); !ok {
			break
		}
		if name == "Resource" {
			r, known := s.resource(call.(*ast.CallExpr).Args[0], nil)
			r.verb = verb
			return r, known
		}
		if _, group, ok := called(x); ok && clientGroup.MatchString(group) {
			r := request{group: strings.ToLower(clientGroup.FindStringSubmatch(group)[1]), resource: strings.ToLower(name), verb: verb}
			switch {
			case name == "RESTClient":
				return request{}, false
			case r.group == "core":
				r.group = ""
			case r.group == "rbac":
				r.group = rbacv1.GroupName
			case !slices.Contains(shortGroups, r.group):
				r.group += ".k8s.io"
			}
			if method == "GetLogs" {
				r.resource += "/log"
			}
			return r, true
		}
	}
	return request{}, false
}

// called is the receiver and name of a method call.
func called(e ast.Expr) (receiver ast.Expr, name string, ok bool) {
	if call, isCall := e.(*ast.CallExpr); isCall {
		if method, isMethod := call.Fun.(*ast.SelectorExpr); isMethod {
			return method.X, method.Sel.Name, true
		}
	}
	return nil, "", false
}

// resource is that of a GroupVersionResource, or of a call of a function that returns one.
func (s source) resource(e ast.Expr, values map[string]string) (r request, ok bool) {
	switch e := e.(type) {
	case *ast.CallExpr:
		name, isName := e.Fun.(*ast.Ident)
		if !isName || s.functions[name.Name] == nil {
			return r, false
		}
		f := s.functions[name.Name]
		back, isReturn := f.Body.List[0].(*ast.ReturnStmt)
		if !isReturn || len(back.Results) != 1 {
			return r, false
		}
		values, i := map[string]string{}, 0
		for _, p := range f.Type.Params.List {
			for _, n := range p.Names {
				if i < len(e.Args) {
					values[n.Name], _ = s.text(e.Args[i], nil)
				}
				i++
			}
		}
		return s.resource(back.Results[0], values)
	case *ast.CompositeLit:
		if kind, isKind := e.Type.(*ast.SelectorExpr); !isKind || kind.Sel.Name != "GroupVersionResource" {
			return r, false
		}
		for _, field := range e.Elts {
			if kv, isPair := field.(*ast.KeyValueExpr); isPair {
				text, _ := s.text(kv.Value, values)
				switch key, _ := kv.Key.(*ast.Ident); key.Name {
				case "Group":
					r.group = text
				case "Resource":
					r.resource = text
				}
			}
		}
		return r, r.resource != ""
	}
	return r, false
}

// text is the value of a string, a constant or a parameter with a known value.
func (s source) text(e ast.Expr, values map[string]string) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.Ident:
		if text, ok := values[e.Name]; ok {
			return text, true
		}
		text, ok := s.constants[e.Name]
		return text, ok
	}
	return "", false
}

package mutants

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

var (
	// textParameters and textFields are for people. The arguments after a format are, too.
	textParameters = []string{"format", "message", "remedy", "reason", "text", "why"}
	textFields     = []string{"Message", "Remedy", "Reason", "message", "remedy", "reason"}
	// describing are functions that only describe.
	describing = []string{"Describe", "String", "Error", "MarshalJSON"}
)

// texts knows which places of a package only make texts (doc.go has the rules).
type texts struct {
	p       *loaded
	parents map[ast.Node]ast.Node
	// objects are the variables and functions that are text.
	objects map[types.Object]bool
}

func findTexts(p *loaded) *texts {
	t := &texts{p: p, parents: map[ast.Node]ast.Node{}, objects: map[types.Object]bool{}}
	for _, f := range p.files {
		var stack []ast.Node
		ast.Inspect(f, func(n ast.Node) bool {
			if n == nil {
				stack = stack[:len(stack)-1]
				return true
			}
			if len(stack) > 0 {
				t.parents[n] = stack[len(stack)-1]
			}
			stack = append(stack, n)
			return true
		})
	}
	t.candidates()
	for t.strike() { // until every use of the remaining candidates is in text
	}
	return t
}

// candidates are all objects that can be text by their type.
func (t *texts) candidates() {
	used := map[types.Object]bool{}
	for _, o := range t.p.info.Uses {
		used[o] = true
	}
	for id, o := range t.p.info.Defs {
		switch o := o.(type) {
		case *types.Var:
			_, field := t.parents[id].(*ast.Field) // parameters, results, and fields
			t.objects[o] = !field && o.Parent() != t.p.types.Scope() && isTexts(o.Type()) && used[o]
		case *types.Func:
			results := o.Signature().Results()
			ok := !o.Exported() && results.Len() > 0 && used[o]
			for v := range results.Variables() {
				ok = ok && isTexts(v.Type())
			}
			t.objects[o] = ok
		}
	}
}

// isTexts says that a type is string or []string.
func isTexts(t types.Type) bool {
	if s, ok := t.(*types.Slice); ok {
		t = s.Elem()
	}
	b, ok := t.(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

// strike removes objects with a use that is not in text; it says whether it removed any.
func (t *texts) strike() bool {
	more := false
	for id, o := range t.p.info.Uses {
		if t.objects[o] && !t.assigned(id) && !t.inText(id) {
			t.objects[o] = false
			more = true
		}
	}
	return more
}

// assigned says that a variable is only written there.
func (t *texts) assigned(id *ast.Ident) bool {
	a, ok := t.parents[id].(*ast.AssignStmt)
	return ok && slices.Contains(a.Lhs, ast.Expr(id))
}

// inText says that a node can change texts only.
func (t *texts) inText(n ast.Node) bool {
	if s, ok := n.(ast.Stmt); ok && t.statement(s) {
		return true
	}
	for parent := t.parents[n]; parent != nil; n, parent = parent, t.parents[parent] {
		switch p := parent.(type) {
		case *ast.CallExpr:
			if e, ok := n.(ast.Expr); ok && t.argumentIsText(p, slices.Index(p.Args, e)) {
				return true
			}
		case *ast.KeyValueExpr:
			if key, ok := p.Key.(*ast.Ident); ok && n == p.Value && t.isField(key) && slices.Contains(textFields, key.Name) {
				return true
			}
		case *ast.CompositeLit:
			_, keyed := n.(*ast.KeyValueExpr)
			if e, ok := n.(ast.Expr); ok && !keyed && t.elementIsText(p, slices.Index(p.Elts, e)) {
				return true
			}
		case *ast.AssignStmt:
			if i := slices.IndexFunc(p.Rhs, func(e ast.Expr) bool { return e == n }); i >= 0 && len(p.Lhs) == len(p.Rhs) && t.target(p.Lhs[i]) {
				return true
			}
			if t.statement(p) {
				return true
			}
		case *ast.ReturnStmt, *ast.FuncLit:
		case ast.Stmt:
			if t.statement(p) {
				return true
			}
		case *ast.FuncDecl:
			return t.function(p)
		}
	}
	return false
}

// elementIsText says that an element without a key is the value of a text field.
func (t *texts) elementIsText(lit *ast.CompositeLit, i int) bool {
	of, ok := t.p.info.Types[lit].Type.Underlying().(*types.Struct)
	return ok && i >= 0 && i < of.NumFields() && slices.Contains(textFields, of.Field(i).Name())
}

func (t *texts) isField(id *ast.Ident) bool {
	v, ok := t.p.info.Uses[id].(*types.Var)
	return ok && v.IsField()
}

// function says that all of a function is text.
func (t *texts) function(f *ast.FuncDecl) bool {
	return slices.Contains(describing, f.Name.Name) || t.objects[t.p.info.Defs[f.Name]]
}

func (t *texts) argumentIsText(call *ast.CallExpr, i int) bool {
	if i < 0 {
		return false
	}
	var id *ast.Ident
	switch f := call.Fun.(type) {
	case *ast.Ident:
		id = f
	case *ast.SelectorExpr:
		id = f.Sel
	}
	if f, ok := t.p.info.Uses[id].(*types.Func); ok && f.Pkg() != nil {
		if full := f.Pkg().Path() + "." + f.Name(); full == "errors.New" || full == "fmt.Errorf" {
			return true
		} else if f.Pkg().Path() == "fmt" {
			return false // the use of Sprintf's result decides
		}
	}
	sig, ok := t.p.info.Types[call.Fun].Type.(*types.Signature)
	if !ok || sig.Params().Len() == 0 {
		return false
	}
	last := sig.Params().Len() - 1
	if i >= last && sig.Variadic() {
		return last > 0 && sig.Params().At(last-1).Name() == "format"
	}
	return i <= last && slices.Contains(textParameters, sig.Params().At(i).Name())
}

// statement says that a statement only makes texts.
func (t *texts) statement(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.AssignStmt:
		return !slices.ContainsFunc(s.Lhs, func(e ast.Expr) bool { return !t.target(e) })
	case *ast.IfStmt:
		return t.body(s.Body.List) && (s.Else == nil || t.statement(s.Else))
	case *ast.BlockStmt:
		return t.body(s.List)
	case *ast.ForStmt:
		return t.body(s.Body.List)
	case *ast.RangeStmt:
		return t.body(s.Body.List)
	case *ast.SwitchStmt:
		for _, c := range s.Body.List {
			if clause, ok := c.(*ast.CaseClause); !ok || !t.body(clause.Body) {
				return false
			}
		}
		return true
	default:
		return false
	}
}

// body says that the statements of a block only make texts: variables that the block defines
// end with it.
func (t *texts) body(list []ast.Stmt) bool {
	for _, s := range list {
		a, ok := s.(*ast.AssignStmt)
		_, branch := s.(*ast.BranchStmt)
		if !branch && (!ok || a.Tok != token.DEFINE) && !t.statement(s) {
			return false
		}
	}
	return len(list) > 0
}

// target says that what is assigned to is text.
func (t *texts) target(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		o := cmp.Or(t.p.info.Defs[e], t.p.info.Uses[e])
		return o != nil && t.objects[o]
	case *ast.SelectorExpr:
		return slices.Contains(textFields, e.Sel.Name)
	default:
		return false
	}
}

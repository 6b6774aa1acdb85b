package mutants

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// placer finds the mutants of one function and inserts them.
type placer struct {
	*texts
	file  string
	fn    *ast.FuncDecl
	name  string // of fn
	edits *edits
	skip  map[int]bool // ids that do not compile
	next  *int
	found []Mutant
}

// add registers a mutant; ok is false when it is not to be inserted. An id is given in
// any case, so that the others keep theirs.
func (p *placer) add(n ast.Node, op Operator) (call string, ok bool) {
	*p.next++
	if p.skip[*p.next] {
		return "", false
	}
	p.found = append(p.found, Mutant{
		Package: p.p.path, File: p.file, Line: p.p.fset.Position(n.Pos()).Line, Func: p.name, Operator: op,
		Snippet: snippet(p.p.text(p.file, n)), id: *p.next,
	})
	return fmt.Sprintf("mutantOn(%d)", *p.next), true
}

func snippet(s string) string {
	const most = 100
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > most {
		s = s[:most]
	}
	return s
}

// around inserts a mutant before and after a node; %s is the call that asks for it.
func (p *placer) around(n, shown ast.Node, op Operator, before, after string) {
	if call, ok := p.add(shown, op); ok {
		p.edits.around(p.p.offset(n.Pos()), p.p.offset(n.End()), strings.ReplaceAll(before, "%s", call), strings.ReplaceAll(after, "%s", call))
	}
}

// function inserts the mutants of a function.
func (p *placer) function() {
	if zero, ok := p.zero(p.fn.Type); ok && len(p.fn.Body.List) > 0 {
		if call, ok := p.add(p.fn.Name, ZeroFunction); ok {
			p.edits.at(p.p.offset(p.fn.Body.Lbrace)+1, " if "+call+" { "+zero+" }; ")
		}
	}
	ast.Inspect(p.fn.Body, func(n ast.Node) bool {
		if n != nil && n != ast.Node(p.fn.Body) && !p.inText(n) {
			p.node(n)
		}
		return true
	})
}

func (p *placer) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.IfStmt:
		p.around(n.Cond, n.Cond, IfFalse, "(!%s && (", "))")
		p.around(n.Cond, n.Cond, IfTrue, "(%s || (", "))")
	case *ast.SwitchStmt:
		p.cases(n)
	case *ast.BinaryExpr:
		p.binary(n)
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			p.around(n, n, DropNot, "((", ") != %s)")
		}
	case *ast.ForStmt:
		if n.Cond != nil {
			p.loop(n.Cond, n.Body)
		}
	case *ast.RangeStmt:
		p.loop(n.X, n.Body)
	case *ast.AssignStmt, *ast.IncDecStmt, *ast.ExprStmt:
		p.statementLeftOut(n.(ast.Stmt))
	case *ast.BranchStmt:
		p.branch(n)
	case *ast.CallExpr:
		p.appended(n)
	case *ast.ReturnStmt:
		p.returned(n)
	case *ast.BasicLit:
		p.constant(n)
	}
}

func (p *placer) branch(n *ast.BranchStmt) {
	if n.Tok == token.CONTINUE && n.Label == nil {
		p.around(n, n, DropContinue, "if !%s { ", " }")
	}
}

func (p *placer) cases(n *ast.SwitchStmt) {
	if n.Tag != nil {
		return
	}
	for _, s := range n.Body.List {
		for _, e := range s.(*ast.CaseClause).List {
			if !p.inText(e) {
				p.around(e, e, CaseFalse, "(!%s && (", "))")
			}
		}
	}
}

func (p *placer) loop(shown ast.Node, body *ast.BlockStmt) {
	if call, ok := p.add(shown, NoLoop); ok {
		p.edits.at(p.p.offset(body.Lbrace)+1, " if "+call+" { break }; ")
	}
}

// statementLeftOut is for statements of a block; not for those in the head of another.
func (p *placer) statementLeftOut(s ast.Stmt) {
	switch p.parents[s].(type) {
	case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
	default:
		return
	}
	switch s := s.(type) {
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE {
			return
		}
	case *ast.ExprStmt:
		if c, ok := s.X.(*ast.CallExpr); ok {
			if id, ok := c.Fun.(*ast.Ident); ok && id.Name == "panic" {
				return
			}
		}
	}
	p.around(s, s, DropStatement, "if !%s { ", " }")
}

// appended is for calls of append whose result is not put back: that is a statement.
func (p *placer) appended(n *ast.CallExpr) {
	id, ok := n.Fun.(*ast.Ident)
	if !ok || id.Name != "append" || len(n.Args) < 2 {
		return
	}
	if _, builtin := p.p.info.Uses[id].(*types.Builtin); !builtin {
		return
	}
	if _, put := p.parents[n].(*ast.AssignStmt); put {
		return
	}
	switch n.Args[0].(type) {
	case *ast.Ident, *ast.SelectorExpr:
		call, ok := p.add(n, DropAppend)
		if ok && p.p.text(p.file, n.Args[0]) != "nil" {
			p.edits.around(p.p.offset(n.Pos()), p.p.offset(n.End()), "mutantPick("+call+", "+p.p.text(p.file, n.Args[0])+", ", ")")
		}
	}
}

func (p *placer) returned(n *ast.ReturnStmt) {
	sig := p.signature(n)
	if len(n.Results) == 0 || p.onlyStatement(n) && len(n.Results) > 1 {
		return
	}
	if len(n.Results) == 1 && isBool(p.p.info.Types[n.Results[0]]) {
		switch n.Results[0].(type) {
		case *ast.BinaryExpr, *ast.UnaryExpr: // have mutants of their own
		default:
			p.around(n.Results[0], n, Negate, "((", ") != %s)")
		}
		return
	}
	zero, ok := p.zero(sig)
	if !ok || p.onlyStatement(n) || allZero(p.p.info, n.Results) {
		return
	}
	if call, ok := p.add(n, ZeroReturn); ok {
		p.edits.at(p.p.offset(n.Pos()), "if "+call+" { "+zero+" }; ")
	}
}

// onlyStatement says that a return is all that the function has: to return zero there is
// what zero-function does.
func (p *placer) onlyStatement(n *ast.ReturnStmt) bool {
	return len(p.fn.Body.List) == 1 && p.fn.Body.List[0] == ast.Stmt(n)
}

// signature is that of the function that a return ends.
func (p *placer) signature(n ast.Node) *ast.FuncType {
	for parent := p.parents[n]; parent != nil; parent = p.parents[parent] {
		if lit, ok := parent.(*ast.FuncLit); ok {
			return lit.Type
		}
	}
	return p.fn.Type
}

// zero is a statement that returns zero values.
func (p *placer) zero(sig *ast.FuncType) (string, bool) {
	if sig.Results == nil {
		return "return", true
	}
	var values []string
	for _, r := range sig.Results.List {
		text := snippetOf(p.p.text(p.file, r.Type))
		if text == "" {
			return "", false
		}
		for range max(1, len(r.Names)) {
			values = append(values, "*new("+text+")")
		}
	}
	return "return " + strings.Join(values, ", "), true
}

// snippetOf is the text of a type; none when it needs more than one line.
func snippetOf(text string) string {
	if strings.Contains(text, "\n") {
		return ""
	}
	return text
}

func allZero(info *types.Info, results []ast.Expr) bool {
	for _, e := range results {
		switch e := e.(type) {
		case *ast.Ident:
			if e.Name != "nil" && e.Name != "false" {
				return false
			}
		case *ast.BasicLit:
			if e.Value != "0" && e.Value != `""` {
				return false
			}
		case *ast.CompositeLit:
			if _, ok := info.Types[e].Type.Underlying().(*types.Struct); !ok || len(e.Elts) > 0 {
				return false
			}
		default:
			return false
		}
	}
	return true
}

func isBool(tv types.TypeAndValue) bool {
	if tv.Type == nil || tv.Value != nil {
		return false
	}
	b, ok := tv.Type.(*types.Basic)
	return ok && b.Info()&types.IsBoolean != 0
}

func isNumber(tv types.TypeAndValue) bool {
	if tv.Type == nil {
		return false
	}
	b, ok := tv.Type.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsNumeric != 0
}

// constant is for numbers that are compared or calculated with.
func (p *placer) constant(n *ast.BasicLit) {
	parent, ok := p.parents[n].(*ast.BinaryExpr)
	if !ok || p.p.info.Types[parent].Value != nil {
		return
	}
	switch parent.Op {
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ, token.ADD, token.SUB, token.MUL, token.QUO:
	default:
		return
	}
	b, ok := p.p.info.Types[n].Type.(*types.Basic)
	if ok && b.Info()&types.IsNumeric != 0 && b.Info()&types.IsUntyped == 0 {
		p.around(n, parent, Constant, "mutantAdd["+b.Name()+"](%s, ", ")")
	}
}

func (p *placer) binary(n *ast.BinaryExpr) {
	tv := p.p.info.Types[n]
	if tv.Value != nil {
		return
	}
	x, y := p.p.text(p.file, n.X), p.p.text(p.file, n.Y)
	same := "(" + oneLine(x) + ") == (" + oneLine(y) + ")"
	switch n.Op { //nolint:exhaustive // other operators change nothing here
	case token.LAND:
		p.sides(n, "(%s || (", "))")
	case token.LOR:
		p.sides(n, "(!%s && (", "))")
	case token.EQL, token.NEQ:
		p.around(n, n, Compare, "((", ") != %s)")
	case token.LSS, token.GTR:
		p.around(n, n, Compare, "(%s && "+same+" || (", "))")
		p.around(n, n, Compare, "((", ") != %s)")
	case token.LEQ, token.GEQ:
		p.around(n, n, Compare, "(!(%s && "+same+") && (", "))")
		p.around(n, n, Compare, "((", ") != %s)")
	case token.ADD, token.SUB, token.MUL, token.QUO:
		if !isNumber(tv) {
			return
		}
		op := map[token.Token]string{token.ADD: "-", token.SUB: "+", token.MUL: "/", token.QUO: "*"}[n.Op]
		if b, ok := tv.Type.Underlying().(*types.Basic); ok && n.Op == token.MUL && b.Info()&types.IsInteger != 0 {
			op = "+"
		}
		p.around(n, n, Arithmetic, "mutantPick(%s, ("+oneLine(x)+") "+op+" ("+oneLine(y)+"), (", "))")
	}
}

// sides leaves out one side of n. That of a longer chain is left out in the inner one.
func (p *placer) sides(n *ast.BinaryExpr, before, after string) {
	if left, ok := n.X.(*ast.BinaryExpr); !ok || left.Op != n.Op {
		p.around(n.X, n.X, DropLeft, before, after)
	}
	p.around(n.Y, n.Y, DropRight, before, after)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

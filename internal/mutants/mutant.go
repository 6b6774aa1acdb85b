package mutants

import "fmt"

// Mutant is one change of the source.
type Mutant struct {
	// Package is the import path, File the file's name in it.
	Package string `json:"package"`
	File    string `json:"file"`
	Line    int    `json:"line"`
	// Func is the function or method, "Type.Method" for the latter.
	Func     string   `json:"func"`
	Operator Operator `json:"operator"`
	// Snippet is the source that is changed, on one line, cut after 100 characters.
	Snippet string `json:"snippet"`

	// id switches the mutant on; it is unique within a binary.
	id int
}

func (m Mutant) String() string {
	return fmt.Sprintf("%s/%s:%d %s %s: %s", m.Package, m.File, m.Line, m.Func, m.Operator, m.Snippet)
}

// key identifies a mutant however its lines move.
func (m Mutant) key() string {
	return fmt.Sprintf("%s/%s %s %s %s", m.Package, m.File, m.Func, m.Operator, m.Snippet)
}

// Operator is how a mutant changes the source; doc.go lists them.
type Operator string

// The operators.
const (
	IfFalse       Operator = "if-false"
	IfTrue        Operator = "if-true"
	CaseFalse     Operator = "case-false"
	DropLeft      Operator = "drop-left"
	DropRight     Operator = "drop-right"
	DropNot       Operator = "drop-not"
	Compare       Operator = "compare"
	Negate        Operator = "negate"
	ZeroFunction  Operator = "zero-function"
	ZeroReturn    Operator = "zero-return"
	DropAppend    Operator = "drop-append"
	DropStatement Operator = "drop-statement"
	DropContinue  Operator = "drop-continue"
	NoLoop        Operator = "no-loop"
	Constant      Operator = "constant"
	Arithmetic    Operator = "arithmetic"
)

package diag

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Severity says what a problem keeps one from doing.
type Severity string

// Severities: an Error keeps a tree from being used, a Warning is likely a
// mistake, a Note is worth knowing.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Note    Severity = "note"
)

// Pos is a place in a file. Line and Column are 1-based; 0 means the whole file.
type Pos struct {
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

// String is file:line:column, without what is not known.
func (p Pos) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.Column == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	default:
		return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
	}
}

// Problem is one thing wrong.
type Problem struct {
	Pos
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	Message  string   `json:"message"`
	// Remedy says what to do, as an instruction.
	Remedy string `json:"remedy"`
}

// String is one line: where, how bad, what, by which rule.
func (p Problem) String() string {
	return fmt.Sprintf("%s: %s: %s [%s]", p.Pos, p.Severity, p.Message, p.Rule)
}

// With replaces the rule's remedy by one that fits this case.
func (p Problem) With(format string, args ...any) Problem {
	p.Remedy = fmt.Sprintf(format, args...)
	return p
}

// List is every problem found. As an error it lists those of severity Error
// when there are any.
type List []Problem

// Error lists the problems, each with its remedy on the next line.
func (l List) Error() string {
	shown := l.Errors()
	if len(shown) == 0 {
		shown = l
	}
	var b strings.Builder
	for i, p := range shown {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(p.String())
		if p.Remedy != "" {
			b.WriteString("\n    " + p.Remedy)
		}
	}
	return b.String()
}

// Errors are those of severity Error.
func (l List) Errors() List { return l.of(Error) }

// Count is how many have the severity.
func (l List) Count(s Severity) int { return len(l.of(s)) }

func (l List) of(s Severity) List {
	var out List
	for _, p := range l {
		if p.Severity == s {
			out = append(out, p)
		}
	}
	return out
}

// Err is the list as an error when it holds errors, otherwise nil.
func (l List) Err() error {
	if l.Count(Error) == 0 {
		return nil
	}
	return l
}

// Sort orders by file, line, column, rule and message, and drops what is there twice.
func (l List) Sort() List {
	out := slices.Clone(l)
	slices.SortFunc(out, func(a, b Problem) int {
		return cmp.Or(
			cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message),
		)
	})
	return slices.Compact(out)
}

// Without leaves out the problems of the given rules.
func (l List) Without(rules ...Rule) List {
	var out List
	for _, p := range l {
		if !slices.ContainsFunc(rules, func(r Rule) bool { return r.Name == p.Rule }) {
			out = append(out, p)
		}
	}
	return out
}

// Soften makes warnings of errors of the given rules.
func (l List) Soften(rules ...Rule) List {
	out := slices.Clone(l)
	for i := range out {
		for _, r := range rules {
			if out[i].Rule == r.Name && out[i].Severity == Error {
				out[i].Severity = Warning
			}
		}
	}
	return out
}

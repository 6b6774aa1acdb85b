package diag

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Severity is the effect of a problem.
type Severity string

// An Error prevents the use of the file, a Warning is probably a mistake, a Note is
// information.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Note    Severity = "note"
)

// Pos is a position in a file. Line and Column start at 1; 0 means the whole file.
type Pos struct {
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

// String is file:line:column without the unknown parts.
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

// Problem is one finding about a file.
type Problem struct {
	Pos
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	Message  string   `json:"message"`
	// Remedy is an instruction.
	Remedy string `json:"remedy"`
}

// String is one line: position, severity, message, rule.
func (p Problem) String() string {
	return fmt.Sprintf("%s: %s: %s [%s]", p.Pos, p.Severity, p.Message, p.Rule)
}

// With replaces the rule's remedy.
func (p Problem) With(format string, args ...any) Problem {
	p.Remedy = fmt.Sprintf(format, args...)
	return p
}

// List has all problems found. As an error it lists those of severity Error, or all if it
// has no error.
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

// Errors returns the problems of severity Error.
func (l List) Errors() List { return l.of(Error) }

// Count counts the problems of a severity.
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

// Err returns the list if it has problems of severity Error, otherwise nil.
func (l List) Err() error {
	if l.Count(Error) == 0 {
		return nil
	}
	return l
}

// Sort returns the problems sorted by position, rule and message, without duplicates.
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

// Without removes the problems of the given rules.
func (l List) Without(rules ...Rule) List {
	var out List
	for _, p := range l {
		if !slices.ContainsFunc(rules, func(r Rule) bool { return r.Name == p.Rule }) {
			out = append(out, p)
		}
	}
	return out
}

// Soften turns errors of the given rules into warnings.
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

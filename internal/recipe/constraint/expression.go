package constraint

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
)

// Expression is the value of a constraint: terms separated by spaces must all hold; of
// alternatives separated by ||, one must hold.
type Expression struct {
	alternatives [][]term
}

// term is one comparison; op is empty for exact text.
type term struct {
	op, value string
}

// operators, longest first, so that >= is not parsed as >.
var operators = []string{">=", "<=", "!=", "==", ">", "<"}

// Parse parses ">= 1.32.4", "ubuntu", ">= 1.34.3-gke.1318000 < 1.35.0 || >= 1.35.1".
func Parse(text string) (Expression, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return Expression{}, errors.New("empty expression")
	}
	var e Expression
	for clause := range strings.SplitSeq(text, "||") {
		terms, err := parseClause(strings.TrimSpace(clause))
		if err != nil {
			return Expression{}, err
		}
		e.alternatives = append(e.alternatives, terms)
	}
	return e, nil
}

func parseClause(clause string) ([]term, error) {
	if clause == "" {
		return nil, errors.New("expression expected before and after ||")
	}
	var terms []term
	for _, part := range splitTerms(clause) {
		t, err := parseTerm(part)
		if err != nil {
			return nil, err
		}
		terms = append(terms, t)
	}
	return terms, nil
}

// splitTerms splits at every space followed by an operator.
func splitTerms(clause string) []string {
	var parts []string
	start := 0
	for i := 1; i < len(clause); i++ {
		if space(clause[i-1]) && strings.IndexByte("<>=!", clause[i]) >= 0 {
			parts = append(parts, strings.TrimSpace(clause[start:i]))
			start = i
		}
	}
	return append(parts, strings.TrimSpace(clause[start:]))
}

func space(c byte) bool { return c == ' ' || c == '\t' }

func parseTerm(text string) (term, error) {
	for _, op := range operators {
		value, ok := strings.CutPrefix(text, op)
		if !ok {
			continue
		}
		value = strings.TrimSpace(value)
		if value == "" {
			return term{}, fmt.Errorf("%q has no operand", text)
		}
		if _, version := ParseVersion(value); !version && op != "==" && op != "!=" {
			return term{}, fmt.Errorf("operator %s requires a version, not %q", op, value)
		}
		return term{op: op, value: value}, nil
	}
	if strings.IndexByte("<>=!", text[0]) >= 0 && !nodeSet(text) {
		return term{}, fmt.Errorf("%q does not begin with an operator: want one of %s", text, strings.Join(operators, " "))
	}
	return term{value: text}, nil
}

// nodeSet reports whether the text has the form "!label": no node may have the label.
func nodeSet(text string) bool {
	return len(text) > 1 && text[0] == '!' && !space(text[1])
}

// Holds reports whether a measurement satisfies the expression. It returns an error if the
// result depends on values that cannot be compared.
func (e Expression) Holds(actual string) (bool, error) {
	actual = strings.TrimSpace(actual)
	var undecided error
	for _, terms := range e.alternatives {
		ok, err := allHold(terms, actual)
		if ok {
			return true, nil
		}
		undecided = cmp.Or(undecided, err)
	}
	return false, undecided
}

// allHold returns false without an error if any term does not hold, even if others cannot be
// compared.
func allHold(terms []term, actual string) (bool, error) {
	var undecided error
	for _, t := range terms {
		ok, err := t.holds(actual)
		if err == nil && !ok {
			return false, nil
		}
		undecided = cmp.Or(undecided, err)
	}
	return undecided == nil, undecided
}

func (t term) holds(actual string) (bool, error) {
	if t.op == "" {
		if nodeSet(t.value) {
			return false, fmt.Errorf("%s applies to all nodes and cannot be decided by one measurement", t.value)
		}
		return actual == t.value, nil
	}
	want, wantOK := ParseVersion(t.value)
	have, haveOK := ParseVersion(actual)
	if haveOK && wantOK && (t.ordered() || looksLikeVersion(t.value)) && have.coarser(want) {
		return false, fmt.Errorf("%s is less precise than %s, so %s cannot be decided", actual, t.value, strings.TrimSpace(t.op+" "+t.value))
	}
	if t.op == "==" || t.op == "!=" {
		equal := actual == t.value
		if looksLikeVersion(t.value) && looksLikeVersion(actual) {
			equal = have.Compare(want) == 0
		}
		return equal == (t.op == "=="), nil
	}
	if !haveOK || !wantOK {
		return false, fmt.Errorf("%.80q is not a version, so %s %s cannot be decided", actual, t.op, t.value)
	}
	return t.compared(have.Compare(want)), nil
}

// ordered reports whether the operator always compares versions.
func (t term) ordered() bool { return t.op != "==" && t.op != "!=" }

// compared reports whether c, the comparison of the measurement with the operand, satisfies the
// operator.
func (t term) compared(c int) bool {
	switch t.op {
	case ">=":
		return c >= 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	default:
		return c < 0
	}
}

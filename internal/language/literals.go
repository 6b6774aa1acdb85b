package language

import (
	"regexp/syntax"
	"strings"
)

// literals are texts in lower case of which every match of an expression has one. They are nil if
// the expression has no such texts. A search for them is much faster than the expression, and few
// sentences have one.
func literals(expr string) []string {
	re, err := syntax.Parse(expr, syntax.Perl|syntax.FoldCase)
	if err != nil {
		return nil // compile reports it
	}
	return literalsOf(re)
}

func literalsOf(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		return []string{strings.ToLower(string(re.Rune))}
	case syntax.OpCapture, syntax.OpPlus:
		return literalsOf(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return literalsOf(re.Sub[0])
		}
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			one := literalsOf(sub)
			if one == nil {
				return nil
			}
			all = append(all, one...)
		}
		return all
	case syntax.OpConcat: // the part with the longest texts, as the rarest
		var best []string
		for _, sub := range re.Sub {
			if one := literalsOf(sub); shortest(one) > shortest(best) {
				best = one
			}
		}
		return best
	default:
	}
	return nil
}

// shortest is the length of the shortest text, 0 without texts.
func shortest(texts []string) int {
	n := 0
	for i, t := range texts {
		if i == 0 || len(t) < n {
			n = len(t)
		}
	}
	return n
}

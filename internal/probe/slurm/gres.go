package slurm

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Gres is a generic resource of a node: "gpu:h100:8(S:0-1)" is 8 of type h100.
type Gres struct {
	Name  string `json:"name"`
	Type  string `json:"type,omitempty"`
	Count int    `json:"count"`
}

// parseGres reads a list of generic resources; "(null)" has none. Parentheses have sockets
// (S:0-1) or indices (IDX:0-7), which may have commas.
func parseGres(text string) ([]Gres, error) {
	if null(text) == "" {
		return nil, nil
	}
	var out []Gres
	for _, part := range split(withoutParentheses(text)) {
		g, err := oneGres(part)
		if err != nil {
			return nil, err
		}
		out = append(out, g)
	}
	return out, nil
}

func withoutParentheses(text string) string {
	var out strings.Builder
	depth := 0
	for _, r := range text {
		switch {
		case r == '(':
			depth++
		case r == ')' && depth > 0:
			depth--
		case depth == 0:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// noConsume marks a resource that jobs do not use up: gres.conf(5).
const noConsume = "no_consume"

// oneGres reads name, name:count, name:type or name:type:count; no_consume may be before the count.
func oneGres(part string) (Gres, error) {
	words := strings.Split(part, ":")
	if at := slices.Index(words, noConsume); at > 0 {
		words = slices.Delete(words, at, at+1)
	}
	g := Gres{Name: words[0], Count: 1}
	if len(words) > 3 || g.Name == "" {
		return Gres{}, fmt.Errorf("unexpected generic resource %.80q", part)
	}
	last := len(words) - 1
	if last == 0 {
		return g, nil
	}
	n, err := count(words[last])
	switch {
	case err == nil:
		g.Count = n
		last--
	case last == 2 || number.MatchString(words[last]):
		return Gres{}, fmt.Errorf("unexpected count of the generic resource %.80q", part)
	}
	if last > 0 {
		g.Type = words[1]
	}
	return g, nil
}

// number is a count with Slurm's suffix: K is 1024, in either case.
var number = regexp.MustCompile(`^(\d+)([KMGTPkmgtp]?)$`)

func count(text string) (int, error) {
	g := number.FindStringSubmatch(text)
	if g == nil {
		return 0, fmt.Errorf("unexpected number %.40q", text)
	}
	n, err := strconv.ParseInt(g[1], 10, 64)
	shift := 10 * strings.Index(" KMGTP", strings.ToUpper(g[2] + " ")[:1])
	if err != nil || n > math.MaxInt64>>shift {
		return 0, fmt.Errorf("the number %.40q is too large", text)
	}
	return int(n << shift), nil
}

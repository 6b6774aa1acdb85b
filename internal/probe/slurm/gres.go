package slurm

import (
	"fmt"
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

// oneGres reads name, name:count, name:type or name:type:count.
func oneGres(part string) (Gres, error) {
	words := strings.Split(part, ":")
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
	case last == 2:
		return Gres{}, fmt.Errorf("unexpected count of the generic resource %.80q", part)
	}
	if last > 0 {
		g.Type = words[1]
	}
	return g, nil
}

// count reads a number with Slurm's suffixes: K is 1024.
func count(text string) (int, error) {
	scale := 1
	for suffix, by := range map[string]int{"K": 1 << 10, "M": 1 << 20, "G": 1 << 30} {
		if number, ok := strings.CutSuffix(text, suffix); ok {
			text, scale = number, by
			break
		}
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("unexpected number %.40q", text)
	}
	return int(n) * scale, nil
}

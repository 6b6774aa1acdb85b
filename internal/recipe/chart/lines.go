package chart

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/firstlight/firstlight/internal/recipe/model"
)

// lines is a file with where its lines begin, in bytes. Lines are counted from 1.
type lines struct {
	data  []byte
	start []int
}

func newLines(data []byte) *lines {
	t := &lines{data: data, start: []int{0, 0}}
	for i, c := range data {
		if c == '\n' {
			t.start = append(t.start, i+1)
		}
	}
	if len(data) > 0 && data[len(data)-1] != '\n' {
		t.start = append(t.start, len(data))
	}
	return t
}

// count is how many lines there are.
func (t *lines) count() int { return len(t.start) - 2 }

// line is a line without its end.
func (t *lines) line(n int) string {
	return strings.TrimRight(string(t.data[t.start[n]:t.lineEnd(n)]), "\r\n")
}

// lineEnd is where the line behind n begins.
func (t *lines) lineEnd(n int) int {
	if n+1 < len(t.start) {
		return t.start[n+1]
	}
	return len(t.data)
}

// offset is where a node begins; YAML counts columns in characters.
func (t *lines) offset(n *yaml.Node) int {
	at := t.start[n.Line]
	for range n.Column - 1 {
		_, size := utf8.DecodeRune(t.data[at:])
		at += size
	}
	return at
}

// scalar replaces a scalar that stands on one line.
func (t *lines) scalar(n *yaml.Node, text string, inFlow bool) replacement {
	return replacement{t.offset(n), t.tokenEnd(n, inFlow), text}
}

// tokenEnd is where a scalar that stands on one line ends.
func (t *lines) tokenEnd(n *yaml.Node, inFlow bool) int {
	at := t.offset(n)
	rest := t.data[at:t.lineEnd(n.Line)]
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		for i := 1; i < len(rest); i++ {
			switch rest[i] {
			case '\\':
				i++
			case '"':
				return at + i + 1
			}
		}
	case n.Style&yaml.SingleQuotedStyle != 0:
		for i := 1; i < len(rest); i++ {
			if rest[i] == '\'' && i+1 < len(rest) && rest[i+1] == '\'' {
				i++
			} else if rest[i] == '\'' {
				return at + i + 1
			}
		}
	default:
		if i := bytes.Index(rest, []byte(" #")); i >= 0 {
			rest = rest[:i]
		}
		if inFlow {
			if i := bytes.IndexAny(rest, ",}]"); i >= 0 {
				rest = rest[:i]
			}
		}
	}
	return at + len(bytes.TrimRight(rest, " \t\r\n"))
}

// renders puts the lock in place of the one that is there, or at the end of spec.
func (t *lines) renders(spec *pair, renders []model.FootprintRender) (replacement, error) {
	margin := spec.value.Column - 1
	text, err := rendersText(renders, margin)
	if err != nil {
		return replacement{}, err
	}
	if have := child(spec.value, "renders"); have != nil {
		from := have.key.Line
		if from > 1 && strings.TrimSpace(t.line(from-1)) == writtenBy {
			from--
		}
		return replacement{t.start[from], t.lineEnd(t.last(have.key.Line, margin, true)), text}, nil
	}
	end := t.lineEnd(t.last(spec.key.Line, spec.key.Column-1, false))
	if end > 0 && t.data[end-1] != '\n' {
		text = "\n" + text
	}
	return replacement{end, end, text}, nil
}

// last is the last line of the block whose key stands on a line, indented by margin.
// What is written at the margin is of the block only if it is a list entry of a key
// that may hold one. Comments behind the block are not of it.
func (t *lines) last(key, margin int, list bool) int {
	end := key
	for n := key + 1; n <= t.count(); n++ {
		line := t.line(n)
		trimmed := strings.TrimLeft(line, " ")
		if trimmed == "" || strings.HasPrefix(trimmed, "#") {
			continue
		}
		depth := len(line) - len(trimmed)
		if depth > margin || list && depth == margin && strings.HasPrefix(trimmed, "- ") {
			end = n
			continue
		}
		break
	}
	return end
}

func indented(by int, text string) string { return strings.Repeat(" ", by) + text }

// quoted is a version as a YAML text that nobody takes for a number.
func quoted(version string) string {
	if strings.HasPrefix(version, "v") {
		return version
	}
	return fmt.Sprintf("%q", version)
}

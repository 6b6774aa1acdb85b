package chart

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/firstlight/firstlight/internal/recipe/model"
)

// lines indexes the lines of a file by byte offset. Line numbers start at 1.
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

func (t *lines) count() int { return len(t.start) - 2 }

// line returns a line without its line break.
func (t *lines) line(n int) string {
	return strings.TrimRight(string(t.data[t.start[n]:t.lineEnd(n)]), "\r\n")
}

// lineEnd is the offset of the line after n.
func (t *lines) lineEnd(n int) int {
	if n+1 < len(t.start) {
		return t.start[n+1]
	}
	return len(t.data)
}

// offset is the position of a node; YAML counts columns in characters.
func (t *lines) offset(n *yaml.Node) int {
	at := t.start[n.Line]
	for range n.Column - 1 {
		_, size := utf8.DecodeRune(t.data[at:])
		at += size
	}
	return at
}

// scalar replaces a scalar within one line.
func (t *lines) scalar(n *yaml.Node, text string, inFlow bool) replacement {
	return replacement{t.offset(n), t.tokenEnd(n, inFlow), text}
}

// tokenEnd is the end of a scalar within one line.
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

// renders replaces the existing lock, or appends one to spec.
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

// last returns the last line of the block whose key is on a line with the given indent. If list
// is set, entries of a list may have the same indent as the key. Comments after the block do
// not belong to it.
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

// quoted formats a version so that YAML reads it as a string.
func quoted(version string) string {
	if strings.HasPrefix(version, "v") {
		return version
	}
	return fmt.Sprintf("%q", version)
}

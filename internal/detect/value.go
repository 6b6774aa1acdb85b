package detect

import (
	"fmt"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// value is one value of the file with its comment: the place where it was seen, the reason of a
// default, or a TODO.
type value struct {
	yaml string
	note string
	todo bool
}

// seen is a value that the cluster shows.
func seen(v any, format string, args ...any) value {
	return value{yaml: scalar(v), note: "seen: " + fmt.Sprintf(format, args...)}
}

// byDefault is a choice of firstlight that a person may change.
func byDefault(v any, format string, args ...any) value {
	return value{yaml: scalar(v), note: "default: " + fmt.Sprintf(format, args...)}
}

// todo is a value that the cluster does not show, or does not show for sure; v may be a proposal.
func todo(v any, format string, args ...any) value {
	return value{yaml: scalar(v), note: "TODO: " + fmt.Sprintf(format, args...), todo: true}
}

// scalar is v in YAML, on one line.
func scalar(v any) string {
	node := &yaml.Node{}
	if err := node.Encode(v); err != nil { // a value of this package
		return `""`
	}
	flow(node)
	raw, err := yaml.Marshal(node)
	if err != nil {
		return `""`
	}
	return strings.TrimSpace(string(raw))
}

// flow puts lists and mappings on one line.
func flow(node *yaml.Node) {
	if node.Kind == yaml.SequenceNode || node.Kind == yaml.MappingNode {
		node.Style = yaml.FlowStyle
	}
	for _, c := range node.Content {
		flow(c)
	}
}

// oneLine replaces characters that would end a comment: text of a cluster is part of comments.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
}

// page is the file as it is written.
type page struct {
	b     strings.Builder
	todos int
}

// set writes key: value with its comment; the key "-" is an item of a list.
func (p *page) set(indent int, key string, v value) {
	if v.todo {
		p.todos++
	}
	if key != "-" { // an item of a list
		key += ":"
	}
	fmt.Fprintf(&p.b, "%s%s %s  # %s\n", strings.Repeat(" ", indent), key, v.yaml, oneLine(v.note))
}

// key begins a block.
func (p *page) key(indent int, key string) {
	fmt.Fprintf(&p.b, "%s%s:\n", strings.Repeat(" ", indent), key)
}

// note writes a comment on lines of its own; a todo is one line that site check refuses.
func (p *page) note(indent int, format string, args ...any) {
	text := strings.TrimRight("# "+oneLine(fmt.Sprintf(format, args...)), " ")
	fmt.Fprintf(&p.b, "%s%s\n", strings.Repeat(" ", indent), text)
}

func (p *page) todo(indent int, format string, args ...any) {
	p.todos++
	p.note(indent, "TODO: "+format, args...)
}

// gap writes an empty line.
func (p *page) gap() { p.b.WriteByte('\n') }

package redact

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// document redacts valid JSON, string by string, and leaves its layout alone.
func document(in []byte, depth int) []byte {
	p := parser{in: in}
	root := p.value()
	w := walker{in: in, depth: depth}
	w.walk(root, false)
	out := applied(in, w.edits)
	if !json.Valid(out) { // it can not be; and it must not
		return []byte(`"` + mark("document") + `"`)
	}
	return out
}

// node is one value of a document.
type node struct {
	kind       byte // '{', '[', '"', or anything for what is neither
	start, end int
	members    []member
	items      []*node
}

type member struct {
	start, end int // of the key, with its quotes
	key        string
	value      *node
}

// number says that the node is one.
func (n *node) number() bool { return n.kind == '-' || n.kind >= '0' && n.kind <= '9' }

// text of a string node.
func (n *node) text(in []byte) string {
	var s string
	if n == nil || n.kind != '"' || json.Unmarshal(in[n.start:n.end], &s) != nil {
		return ""
	}
	return s
}

func (n *node) member(key string) *node {
	for _, m := range slices.Backward(n.members) {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

// parser reads JSON that is known to be valid.
type parser struct {
	in []byte
	at int
}

func (p *parser) space() {
	for p.at < len(p.in) && strings.IndexByte(" \t\r\n,:", p.in[p.at]) >= 0 {
		p.at++
	}
}

func (p *parser) value() *node {
	p.space()
	n := &node{kind: p.in[p.at], start: p.at}
	switch n.kind {
	case '{', '[':
		p.at++
		for p.space(); p.in[p.at] != '}' && p.in[p.at] != ']'; p.space() {
			if n.kind == '[' {
				n.items = append(n.items, p.value())
				continue
			}
			key := p.value()
			n.members = append(n.members, member{start: key.start, end: key.end, key: key.text(p.in), value: p.value()})
		}
		p.at++
	case '"':
		for p.at++; p.in[p.at] != '"'; p.at++ {
			if p.in[p.at] == '\\' {
				p.at++
			}
		}
		p.at++
	default:
		for p.at < len(p.in) && strings.IndexByte(" \t\r\n,:]}", p.in[p.at]) < 0 {
			p.at++
		}
	}
	n.end = p.at
	return n
}

// walker collects what to replace, in order.
type walker struct {
	in    []byte
	depth int
	edits []edit
}

func (w *walker) replace(start, end int, with string) {
	data, err := json.Marshal(with)
	if err != nil {
		data = []byte(`"` + markStart + `]"`)
	}
	w.edits = append(w.edits, edit{start, end, data})
}

// walk redacts a value; secret marks an item of a list of Secrets.
func (w *walker) walk(n *node, secret bool) {
	switch n.kind {
	case '{':
		w.object(n, secret)
	case '[':
		for i, item := range n.items {
			if i > 0 && item.kind == '"' && w.argument(n.items[i-1], item) {
				continue
			}
			w.walk(item, secret)
		}
	case '"':
		w.text(n)
	}
}

// argument redacts an item that the item before it, an option, says is secret.
func (w *walker) argument(option, value *node) bool {
	name := option.text(w.in)
	if !strings.HasPrefix(name, "--") || len(name) > 100 || strings.ContainsAny(name, "= ") {
		return false
	}
	said := name + " " + value.text(w.in)
	out := string(redacted([]byte(said), 1))
	if out == said || !strings.HasPrefix(out, name+" ") {
		return false
	}
	w.replace(value.start, value.end, strings.TrimPrefix(out, name+" "))
	return true
}

func (w *walker) object(n *node, secret bool) {
	kind := n.member("kind").text(w.in)
	list := kind == "SecretList"
	secret = kind == "Secret" || secret && kind == ""
	environment := ""
	if name := n.member("name"); name != nil {
		environment = envKind(name.text(w.in), n.member("value").text(w.in))
	}
	for _, m := range n.members {
		w.key(m)
		switch {
		case secret && (m.key == "data" || m.key == "stringData"):
			w.secretData(m.value)
		case list && m.key == "items":
			w.walk(m.value, true)
		case environment != "" && m.key == "value":
			w.replace(m.value.start, m.value.end, mark(environment))
		case m.value.kind == '"':
			w.named(m.key, m.value)
		case m.value.number():
			if keyKind(m.key, string(w.in[m.value.start:m.value.end])) == kindPassword {
				w.replace(m.value.start, m.value.end, mark(kindPassword))
			}
		default:
			w.walk(m.value, false)
		}
	}
}

// key redacts a token that is a key.
func (w *walker) key(m member) {
	if out := String(m.key); out != m.key {
		w.replace(m.start, m.end, out)
	}
}

// secretData redacts every value of a Secret, and keeps its keys.
func (w *walker) secretData(n *node) {
	if n.kind != '{' {
		if n.kind == '"' {
			w.replace(n.start, n.end, mark("secret-data"))
		}
		return
	}
	for _, m := range n.members {
		if s := m.value.text(w.in); m.value.kind == '"' && (s == "" || s == mark("secret-data")) {
			continue
		}
		w.replace(m.value.start, m.value.end, mark("secret-data"))
	}
}

// named redacts the string of a key.
func (w *walker) named(key string, n *node) {
	if kind := keyKind(key, n.text(w.in)); kind != "" {
		w.replace(n.start, n.end, mark(kind))
		return
	}
	w.text(n)
}

// text redacts what a string holds, which may be a document itself.
func (w *walker) text(n *node) {
	if n.end-n.start < 10 || plain(w.in[n.start:n.end]) {
		return
	}
	s := n.text(w.in)
	if out := redacted([]byte(s), w.depth-1); !bytes.Equal(out, []byte(s)) {
		w.replace(n.start, n.end, string(out))
	}
}

// plain is a quick test for a string without a secret: it is too short for a token,
// and has no pair of name and value.
func plain(s []byte) bool {
	return len(s) < 18 && !bytes.ContainsAny(s, " =:\\")
}

package yamlstrict

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/firstlight/firstlight/internal/diag"
)

// Limits of one document.
const (
	MaxSize  = 10 << 20
	maxDepth = 64
	maxNodes = 200_000 // with anchors expanded
)

// Doc is a parsed YAML document.
type Doc struct {
	file string
	root *yaml.Node
}

var yamlLine = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?(.*)$`)

// Parse parses data, which must have exactly one document; file is the name for messages. The
// Doc is nil if there are problems.
func Parse(file string, data []byte) (*Doc, diag.List) { return ParseAfter(file, 0, data) }

// ParseAfter is Parse for the part of a file that follows so many lines.
func ParseAfter(file string, lines int, data []byte) (*Doc, diag.List) {
	d, problems := parse(file, data)
	for i := range problems {
		if problems[i].Line > 0 {
			problems[i].Line += lines
		}
	}
	if d != nil && lines > 0 {
		shift(d.root, lines)
	}
	return d, problems
}

// shift moves nodes down in their file. An alias has its own line, and its anchor is elsewhere in the tree.
func shift(n *yaml.Node, lines int) {
	n.Line += lines
	for _, c := range n.Content {
		shift(c, lines)
	}
}

func parse(file string, data []byte) (*Doc, diag.List) {
	d, dec, problems := first(file, data)
	if d == nil {
		return nil, problems
	}
	var second yaml.Node
	if err := dec.Decode(&second); err == nil {
		return nil, diag.List{diag.Document.At(pos(file, &second), "file has more than one document")}
	} else if !errors.Is(err, io.EOF) {
		return nil, diag.List{syntax(file, err)}
	}
	return d, nil
}

// ParseFirst parses the first document in data. It reports further documents as a problem and
// still returns the Doc.
func ParseFirst(file string, data []byte) (*Doc, diag.List) {
	d, dec, problems := first(file, data)
	if d == nil {
		return nil, problems
	}
	var second yaml.Node
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		problems = diag.List{diag.Document.At(pos(file, d.root), "only the first document of the file is read")}
	}
	return d, problems
}

// first parses the first document and returns the decoder for the rest.
func first(file string, data []byte) (*Doc, *yaml.Decoder, diag.List) {
	whole := diag.Pos{File: file}
	if len(data) > MaxSize {
		return nil, nil, diag.List{diag.Unreadable.At(whole, "file exceeds %d MiB", MaxSize>>20)}
	}
	if !utf8.Valid(data) {
		return nil, nil, diag.List{diag.Unreadable.At(whole, "file is not UTF-8").With("save it as UTF-8")}
	}
	if err := directives(data); err != nil {
		return nil, nil, diag.List{diag.Unreadable.At(whole, "%v", err)}
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var node yaml.Node
	if err := dec.Decode(&node); errors.Is(err, io.EOF) {
		return nil, nil, diag.List{diag.Document.At(whole, "empty file")}
	} else if err != nil {
		return nil, nil, diag.List{syntax(file, err)}
	}
	d := &Doc{file: file, root: &node}
	if node.Kind == yaml.DocumentNode && len(node.Content) == 1 {
		d.root = node.Content[0]
	}
	left := expansion{nodes: maxNodes, bytes: maxExpanded}
	if p := left.spend(file, d.root, true, 0, maxDepth); p != nil {
		return nil, nil, diag.List{*p}
	}
	return d, dec, nil
}

func syntax(file string, err error) diag.Problem {
	g := yamlLine.FindStringSubmatch(err.Error())
	where := diag.Pos{File: file}
	if n, convErr := strconv.Atoi(g[1]); convErr == nil {
		where.Line, where.Column = n, 1
	}
	return diag.Syntax.At(where, "%s", strings.TrimPrefix(g[2], "yaml: "))
}

func pos(file string, n *yaml.Node) diag.Pos {
	return diag.Pos{File: file, Line: n.Line, Column: n.Column}
}

// resolved follows an alias to its anchor.
func resolved(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode && n.Alias != nil {
		n = n.Alias
	}
	return n
}

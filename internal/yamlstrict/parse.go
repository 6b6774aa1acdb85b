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

// Bounds of one document.
const (
	MaxSize  = 10 << 20
	maxDepth = 64
	maxNodes = 200_000 // with anchors expanded
)

// Doc is one YAML document.
type Doc struct {
	file string
	root *yaml.Node
}

var yamlLine = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?(.*)$`)

// Parse reads the one document in data; file is for messages. The Doc is nil
// when there are problems.
func Parse(file string, data []byte) (*Doc, diag.List) {
	d, dec, problems := first(file, data)
	if d == nil {
		return nil, problems
	}
	var second yaml.Node
	if err := dec.Decode(&second); err == nil {
		return nil, diag.List{diag.Document.At(pos(file, &second), "there is a second document in the file")}
	} else if !errors.Is(err, io.EOF) {
		return nil, diag.List{syntax(file, err)}
	}
	return d, nil
}

// ParseFirst reads the first document in data, whatever follows it: that there is
// more is a problem that comes with the Doc.
func ParseFirst(file string, data []byte) (*Doc, diag.List) {
	d, dec, problems := first(file, data)
	if d == nil {
		return nil, problems
	}
	var second yaml.Node
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		problems = diag.List{diag.Document.At(pos(file, d.root), "what follows the first document in the file is passed over")}
	}
	return d, problems
}

// first reads the first document; the decoder stands behind it.
func first(file string, data []byte) (*Doc, *yaml.Decoder, diag.List) {
	whole := diag.Pos{File: file}
	if len(data) > MaxSize {
		return nil, nil, diag.List{diag.Unreadable.At(whole, "the file is larger than %d MiB", MaxSize>>20)}
	}
	if !utf8.Valid(data) {
		return nil, nil, diag.List{diag.Unreadable.At(whole, "the file is not UTF-8 text").With("save it as UTF-8")}
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var node yaml.Node
	if err := dec.Decode(&node); errors.Is(err, io.EOF) {
		return nil, nil, diag.List{diag.Document.At(whole, "the file is empty")}
	} else if err != nil {
		return nil, nil, diag.List{syntax(file, err)}
	}
	d := &Doc{file: file, root: &node}
	if node.Kind == yaml.DocumentNode && len(node.Content) == 1 {
		d.root = node.Content[0]
	}
	budget := maxNodes
	if p := bounded(file, d.root, 0, &budget); p != nil {
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

// bounded refuses what is too deep, too large once anchors are expanded, or
// refers to itself.
func bounded(file string, n *yaml.Node, depth int, budget *int) *diag.Problem {
	*budget--
	if depth > maxDepth || *budget < 0 {
		p := diag.Document.At(pos(file, n), "the document is too large or too deep, or an anchor holds itself").
			With("write it without nested anchors")
		return &p
	}
	if n.Kind == yaml.AliasNode {
		if n.Alias == nil {
			p := diag.Syntax.At(pos(file, n), "the anchor %q is not there", n.Value)
			return &p
		}
		return bounded(file, n.Alias, depth+1, budget)
	}
	for _, c := range n.Content {
		if p := bounded(file, c, depth+1, budget); p != nil {
			return p
		}
	}
	return nil
}

func pos(file string, n *yaml.Node) diag.Pos {
	return diag.Pos{File: file, Line: n.Line, Column: n.Column}
}

// resolved is what n stands for: an alias stands for its anchor.
func resolved(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode && n.Alias != nil {
		n = n.Alias
	}
	return n
}

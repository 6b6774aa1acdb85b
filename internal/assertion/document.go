package assertion

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/yamlstrict"
)

// document is one document of a file: its positions, and its content as Chainsaw reads it.
type document struct {
	*yamlstrict.Doc
	content []byte // JSON
}

var separator = regexp.MustCompile(`^---(?:\s.*)?$`)

// documents splits a file into documents and skips empty ones.
func documents(file string, data []byte) ([]document, diag.List) {
	if len(data) > yamlstrict.MaxSize {
		return nil, diag.List{diag.Unreadable.At(diag.Pos{File: file}, "the file is larger than %d MiB", yamlstrict.MaxSize>>20)}
	}
	var out []document
	var problems diag.List
	for _, c := range chunks(data) {
		if blank(c.data) {
			continue
		}
		doc, wrong := yamlstrict.ParseAfter(file, c.line, c.data)
		if len(wrong) > 0 {
			problems = append(problems, wrong...)
			continue
		}
		if _, wrong = doc.Value(); len(wrong) > 0 { // duplicate keys
			problems = append(problems, wrong...)
			continue
		}
		content, err := yaml.YAMLToJSON(c.data)
		if err != nil {
			problems = append(problems, diag.Syntax.At(doc.At(), "%s", strings.TrimPrefix(err.Error(), "yaml: ")))
			continue
		}
		out = append(out, document{doc, content})
	}
	return out, problems
}

// chunk is one document of a file, behind so many lines.
type chunk struct {
	line int
	data []byte
}

// chunks splits a file into documents.
func chunks(data []byte) []chunk {
	var out []chunk
	line, begin, at := 0, 0, 0
	first := 0 // line of the document
	for text := range bytes.Lines(data) {
		if line > 0 && separator.Match(bytes.TrimRight(text, "\r\n")) {
			out = append(out, chunk{first, data[begin:at]})
			first, begin = line, at
		}
		line++
		at += len(text)
	}
	return append(out, chunk{first, data[begin:]})
}

// blank reports whether a document has only comments.
func blank(chunk []byte) bool {
	for line := range strings.Lines(string(chunk)) {
		line = strings.TrimSpace(line)
		if line != "" && line != "---" && line != "..." && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "--- #") {
			return false
		}
	}
	return true
}

// decode decodes into a Chainsaw type; unknown keys are problems.
func (d *document) decode(into any) diag.List {
	var out diag.List
	unknown, err := kjson.UnmarshalStrict(d.content, into)
	for _, u := range unknown {
		path := keysOf(u.Error())
		p := diag.UnknownKey.At(d.At(path...), "%s", u)
		if strings.HasPrefix(u.Error(), "duplicate") {
			p = diag.Syntax.At(d.At(path...), "%s", u)
		}
		out = append(out, p)
	}
	if err != nil {
		out = append(out, badValue.At(d.At(keysOf(err.Error())...), "%s", strings.TrimPrefix(err.Error(), "json: ")))
	}
	return out
}

var (
	quotedPath = regexp.MustCompile(`field "([^"]+)"`)
	goPath     = regexp.MustCompile(`Go struct field \S+?\.(\S+) of type`)
)

// keysOf returns the keys of the path in an error.
func keysOf(message string) []string {
	for _, form := range []*regexp.Regexp{quotedPath, goPath} {
		if found := form.FindStringSubmatch(message); found != nil {
			return strings.FieldsFunc(found[1], func(c rune) bool { return c == '.' || c == '[' || c == ']' })
		}
	}
	return nil
}

// head is what every document has.
type head struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

// is checks the document's apiVersion and kind.
func (d *document) is(kind string) diag.List {
	var h head
	if err := json.Unmarshal(d.content, &h); err != nil {
		return diag.List{notATest.At(d.At(), "invalid document: must be a mapping")}
	}
	if h.APIVersion != apiVersion || h.Kind != kind {
		return diag.List{notATest.At(d.At("kind"), "invalid document: %s, must be kind %s of %s", named(h), kind, apiVersion).
			With("write apiVersion: %s and kind: %s", apiVersion, kind)}
	}
	return nil
}

func named(h head) string {
	if h.Kind == "" {
		return "no kind"
	}
	return fmt.Sprintf("kind: %s of %q", h.Kind, h.APIVersion)
}

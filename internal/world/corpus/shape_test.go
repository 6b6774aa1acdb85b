package corpus

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// shapes are the forms of an output, each with its first example.
type shapes map[string]string

func (s shapes) add(shape, example string) {
	if _, ok := s[shape]; !ok && shape != "" {
		s[shape] = example
	}
}

var (
	uuid     = regexp.MustCompile(`[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`)
	hex      = regexp.MustCompile(`0x[0-9a-fA-F]+`)
	number   = regexp.MustCompile(`\d+(?:[.,]\d+)*(?:e[+-]\d+)?`)
	launcher = regexp.MustCompile(`^(?:\[\d+,\d+\]<stdout>:\s?|\d+: )`)
)

// lines are the forms of the lines: numbers are 9, hexadecimal numbers H, tabs eight columns. rewrite
// replaces what else is a value, in pairs of a pattern and its replacement.
func lines(rewrite ...string) func(text string) (shapes, error) {
	return func(text string) (shapes, error) {
		out := shapes{}
		for line := range strings.Lines(text) {
			line = strings.TrimRight(launcher.ReplaceAllString(line, ""), " \t\r\n")
			shape := expand(line)
			for i := 0; i < len(rewrite); i += 2 {
				shape = regexp.MustCompile(rewrite[i]).ReplaceAllString(shape, rewrite[i+1])
			}
			shape = hex.ReplaceAllString(uuid.ReplaceAllString(shape, "U"), "H")
			out.add(number.ReplaceAllString(shape, "9"), line)
		}
		return out, nil
	}
}

// only keeps the lines that match, from the match on.
func only(pattern string, shape func(string) (shapes, error)) func(string) (shapes, error) {
	return func(text string) (shapes, error) {
		return shape(strings.Join(regexp.MustCompile("(?m)"+pattern+".*$").FindAllString(text, -1), "\n"))
	}
}

// fields are the forms of the parts of lines between bars.
func fields(text string) (shapes, error) {
	return lines(`\d\.\d+E[+-]\d+`, `9`, ` +`, ` `)(strings.ReplaceAll(text, "|", "\n"))
}

// expand replaces tabs by blanks up to the next multiple of eight columns.
func expand(line string) string {
	var b strings.Builder
	column := 0
	for _, r := range line {
		if r != '\t' {
			b.WriteRune(r)
			column++
			continue
		}
		for {
			b.WriteByte(' ')
			if column++; column%8 == 0 {
				break
			}
		}
	}
	return b.String()
}

var (
	quantity = regexp.MustCompile(`^[-+]?\d+(?:\.\d+)?\s*([A-Za-z/%()]*)$`)
	missing  = regexp.MustCompile(`^\[?(?:N/A|Not Supported|GPU is lost|Unknown Error|Requested functionality has been deprecated)\]?$`)
)

// unit is what kind of value a text is: a number with its unit, or a text.
func unit(text string) string {
	if m := quantity.FindStringSubmatch(text); m != nil {
		return "number " + m[1]
	}
	return "text"
}

// elements are the paths of the elements of an XML document, and the units of their values.
func elements(text string) (shapes, error) {
	out := shapes{}
	var path []string
	dec := xml.NewDecoder(strings.NewReader(text))
	dec.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read XML: %w", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			path = append(path, token.Name.Local)
			out.add(strings.Join(path, "/"), "")
			for _, a := range token.Attr {
				out.add(strings.Join(path, "/")+"@"+a.Name.Local, a.Value)
			}
		case xml.EndElement:
			path = path[:len(path)-1]
		case xml.CharData:
			value := strings.TrimSpace(string(token))
			if value == "" || missing.MatchString(value) || strings.HasPrefix(path[len(path)-1], "pci_") {
				continue // hexadecimal numbers of pci look like numbers by chance
			}
			out.add(strings.Join(path, "/")+" = "+unit(value), value)
		}
	}
}

// members are the paths of the members of JSON documents below a root with a name; those that name
// something have their values in the form.
func members(root string) func(text string) (shapes, error) {
	return func(text string) (shapes, error) {
		out := shapes{}
		start := strings.IndexByte(text, '{')
		if start < 0 {
			return out, nil
		}
		var doc map[string]any
		if err := json.Unmarshal([]byte(text[start:]), &doc); err != nil {
			return nil, fmt.Errorf("read JSON: %w", err)
		}
		if _, ok := doc[root]; ok {
			walk(out, "", doc)
		}
		return out, nil
	}
}

func walk(out shapes, path string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for key, member := range v {
			walk(out, path+"/"+number.ReplaceAllString(key, "9"), member)
		}
	case []any:
		for _, item := range v {
			walk(out, path+"[]", item)
		}
	default:
		shape := fmt.Sprintf("%s: %T", path, v)
		if text, ok := v.(string); ok && regexp.MustCompile(`/(?:name|status|category|entity_group)$`).MatchString(path) {
			shape = path + ": " + text
		}
		out.add(shape, fmt.Sprint(v))
	}
}

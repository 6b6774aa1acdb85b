package query

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Path is a row of keys; numbers of list entries are keys too.
type Path []string

var plain = regexp.MustCompile(`^[A-Za-z0-9_@/:-]+$`)

// Join writes keys as text: components.gpu-operator.values.driver, and
// constraints["K8s.server.version"] where a key holds what a path gives a
// meaning to.
func Join(keys ...string) string {
	var b strings.Builder
	for i, k := range keys {
		switch {
		case !plain.MatchString(k):
			b.WriteString("[" + strconv.Quote(k) + "]")
		case i == 0:
			b.WriteString(k)
		default:
			b.WriteString("." + k)
		}
	}
	return b.String()
}

// String is the path as text.
func (p Path) String() string { return Join(p...) }

// Parse reads what Join writes; [3] is .3, and * is any key. A dot alone, or
// nothing, is the whole document.
func Parse(text string) (Path, error) {
	var p Path
	rest := strings.TrimPrefix(text, ".")
	for rest != "" {
		key, after, err := next(rest)
		if err != nil {
			return nil, fmt.Errorf("read selector %q: %w", text, err)
		}
		p = append(p, key)
		if after == "" {
			return p, nil
		}
		switch {
		case after[0] == '[':
			rest = after
		case after[0] == '.' && len(after) > 1:
			rest = after[1:]
		default:
			return nil, fmt.Errorf("read selector %q: a key is missing after %q", text, strings.TrimSuffix(text, after))
		}
	}
	return p, nil
}

// next takes the first key off text.
func next(text string) (key, after string, err error) {
	if text[0] != '[' {
		if i := strings.IndexAny(text, ".["); i >= 0 {
			text, after = text[:i], text[i:]
		}
		if text == "" {
			return "", "", fmt.Errorf("a key is empty")
		}
		return text, after, nil
	}
	if len(text) > 1 && text[1] == '"' {
		quoted, err := strconv.QuotedPrefix(text[1:])
		if err != nil {
			return "", "", fmt.Errorf("a quoted key does not end")
		}
		after, ok := strings.CutPrefix(text[1+len(quoted):], "]")
		if !ok {
			return "", "", fmt.Errorf("a ] is missing after %s", quoted)
		}
		key, err := strconv.Unquote(quoted)
		if err != nil {
			return "", "", fmt.Errorf("%s is no quoted key", quoted)
		}
		return key, after, nil
	}
	number, after, ok := strings.Cut(text[1:], "]")
	if !ok || number == "" {
		return "", "", fmt.Errorf("write [3] or [\"key\"]")
	}
	return number, after, nil
}

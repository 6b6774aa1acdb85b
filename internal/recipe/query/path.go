package query

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Path is a sequence of keys; indexes of list entries are keys too.
type Path []string

var plain = regexp.MustCompile(`^[A-Za-z0-9_@/:-]+$`)

// Join formats keys as text: components.gpu-operator.values.driver, and
// constraints["K8s.server.version"] for keys with special characters.
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

func (p Path) String() string { return Join(p...) }

// Parse parses the format of Join; [3] is .3, and * is any key. A single dot and the empty text
// are the whole document.
func Parse(text string) (Path, error) {
	var p Path
	rest := strings.TrimPrefix(text, ".")
	for rest != "" {
		key, after, err := next(rest)
		if err != nil {
			return nil, fmt.Errorf("invalid selector %q: %w", text, err)
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
			return nil, fmt.Errorf("invalid selector %q: key expected after %q", text, strings.TrimSuffix(text, after))
		}
	}
	return p, nil
}

// next splits the first key off text.
func next(text string) (key, after string, err error) {
	if text[0] != '[' {
		if i := strings.IndexAny(text, ".["); i >= 0 {
			text, after = text[:i], text[i:]
		}
		if text == "" {
			return "", "", fmt.Errorf("empty key")
		}
		return text, after, nil
	}
	if len(text) > 1 && text[1] == '"' {
		quoted, err := strconv.QuotedPrefix(text[1:])
		if err != nil {
			return "", "", fmt.Errorf("quoted key is not terminated")
		}
		after, ok := strings.CutPrefix(text[1+len(quoted):], "]")
		if !ok {
			return "", "", fmt.Errorf("] expected after %s", quoted)
		}
		key, err := strconv.Unquote(quoted)
		if err != nil {
			return "", "", fmt.Errorf("invalid quoted key %s", quoted)
		}
		return key, after, nil
	}
	number, after, ok := strings.Cut(text[1:], "]")
	if !ok || number == "" {
		return "", "", fmt.Errorf("write [3] or [\"key\"]")
	}
	return number, after, nil
}

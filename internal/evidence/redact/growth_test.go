package redact

import (
	"fmt"
	"strings"
	"testing"
)

// 64 KiB of an output that said "kind: Secret" on every line took seconds to redact, and
// 64 MiB would have taken months: each such line was compared with every other line.
func TestWorkGrowsWithTheSizeOfTheOutput(t *testing.T) {
	t.Parallel()
	stairs := func(n int) string {
		var b strings.Builder
		for i := 0; i*i < n; i++ { // n characters in all
			fmt.Fprintf(&b, "%skind: Secret\n", strings.Repeat(" ", i))
		}
		return b.String()
	}
	for name, text := range map[string]func(n int) string{
		"kind":                  func(n int) string { return strings.Repeat("kind: Secret\n", n) },
		"kind and data":         func(n int) string { return strings.Repeat("kind: Secret\ndata:\n  a: b\n", n) },
		"list items":            func(n int) string { return strings.Repeat("- kind: Secret\n  data:\n    a: b\n", n) },
		"lists of Secrets":      func(n int) string { return strings.Repeat("kind: SecretList\ndata:\n  a: b\n", n) },
		"both columns":          func(n int) string { return strings.Repeat("kind: Secret\n  kind: Secret\n", n) },
		"data below data":       func(n int) string { return "kind: SecretList\n" + strings.Repeat("data:\n data:\n", n) },
		"blank lines":           func(n int) string { return stairs(n) + strings.Repeat("\n", n) },
		"blank lines, repeated": func(n int) string { return strings.Repeat("kind: Secret\n\n\n\n", n) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			steps := func(n int) int {
				m := manifests{}
				m.cut([]byte(text(n)))
				return m.steps
			}
			small, large := steps(1000), steps(4000)
			if small == 0 || large > 5*small {
				t.Errorf("%d steps, and %d for four times the size", small, large)
			}
		})
	}
}

// 256 KiB of {"secret": took a minute: each brace was read until the limit of nesting, as if
// it were the first one.
func TestWorkOnTextThatBeginsLikeADocumentIsLimited(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]string{
		"objects": `{"secret":`, "lists in objects": `{"secret":[`, "braces": "{", "numbers": `{"secret":1,`, "strings": `{"secret":"`, "lines": "{\"secret\":\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, n := range []int{1 << 10, 1 << 18, 1 << 20} {
				in := []byte(strings.Repeat(again, n/len(again)))
				if _, wasted := documents(in); wasted == 0 || wasted > 10*len(in)+1<<17 {
					t.Errorf("%d bytes: %d were read", len(in), wasted)
				}
			}
		})
	}
	// Documents themselves are not wasted, however many the text has.
	if found, _ := documents([]byte(strings.Repeat(`{"secret":1} x `, 50_000))); len(found) != 50_000 {
		t.Errorf("%d documents of 50000 are found", len(found))
	}
}

package display

import (
	"bytes"
	"testing"
)

// Regression: text from the cluster moved the cursor, renamed the window and painted a verdict.
func TestPlainEscapesControlSequences(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		in, want string
		colour   bool
	}{
		"text":                    {"gpu-01: ok\n\tü ✓ 東京\n", "gpu-01: ok\n\tü ✓ 東京\n", false},
		"clear the screen":        {"a\x1b[2Jb", `a\x1b[2Jb`, false},
		"clear, on a terminal":    {"a\x1b[2Jb", `a\x1b[2Jb`, true},
		"title of the window":     {"\x1b]0;passed\x07", `\x1b]0;passed\a`, true},
		"C1 control":              {"\u009b2J", `\u009b2J`, true},
		"carriage return":         {"failed\rpassed", `failed\rpassed`, false},
		"backspace":               {"failed\b\b", `failed\b\b`, false},
		"delete":                  {"x\x7f", `x\x7f`, false},
		"right to left":           {"a\u202eb", `a\u202eb`, false},
		"zero width":              {"a\u200bb", `a\u200bb`, false},
		"not UTF-8":               {"a\xffb", `a\xffb`, false},
		"our colours":             {Style{Color: true}.Bold("x"), "\x1b[1mx\x1b[0m", true},
		"our colours, to no term": {"\x1b[1mx\x1b[0m", `\x1b[1mx\x1b[0m`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			n, err := Plain(&out, tt.colour).Write([]byte(tt.in))
			if err != nil || n != len(tt.in) || out.String() != tt.want {
				t.Errorf("%q, %d, %v, want %q", out.String(), n, err, tt.want)
			}
		})
	}
}

package redact_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/firstlight/firstlight/internal/evidence/redact"
)

// A document that is read again keeps its structure. Regression: a mark in a plain scalar is a list or a
// mapping, so that a run with such a site could be neither replayed, verified nor resumed.
func TestRedactedYAMLKeepsItsStructure(t *testing.T) {
	t.Parallel()
	const p = "hunter2X"
	type prepare struct {
		Gate    string   `yaml:"gate"`
		Command []string `yaml:"command"`
	}
	for name, command := range map[string]string{
		"the next item of a flow list":  "[./join.sh, --token, " + p + ", --server, rke2]",
		"an environment in a flow list": "[env, SSH_KEY=/root/.ssh/" + p + ", ./provision.sh]",
		"an option in a flow list":      "[helm, --password=" + p + ", --token, planted, next]",
		"a block list":                  "\n    - helm\n    - --set\n    - apiKey=" + p,
		"a last item":                   "[sh, TOKEN=" + p + "]",
		"behind other characters":       "[\u00fcber, \u00e4, --token, " + p + "]",
		"a backslash":                   `[a\b, --token, ` + p + "]",
		"quoted":                        `["helm", '--password', "` + p + `"]`,
	} {
		in := []byte("# a comment\nprepare:\n  - gate: node\n    command: " + command + "\n  - {gate: fabric, command: [a]}\n")
		var before, after struct {
			Prepare []prepare `yaml:"prepare"`
		}
		if err := yaml.Unmarshal(in, &before); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out, err := redact.YAML(in)
		if err != nil || bytes.Contains(out, []byte(p)) || !bytes.Contains(out, []byte("# a comment")) {
			t.Errorf("%s: %v\n%s", name, err, out)
			continue
		}
		if err := yaml.Unmarshal(out, &after); err != nil || len(after.Prepare) != 2 || len(after.Prepare[0].Command) != len(before.Prepare[0].Command) {
			t.Errorf("%s: %v\n%s", name, err, out)
			continue
		}
		for i, was := range before.Prepare[0].Command {
			if is := after.Prepare[0].Command[i]; is != was && !strings.Contains(is, "[redacted: ") {
				t.Errorf("%s: %q is now %q", name, was, is)
			}
		}
		if again, err := redact.YAML(out); err != nil || !bytes.Equal(again, out) {
			t.Errorf("%s: redacted twice it is another: %v\n%s", name, err, again)
		}
	}
}

// A text without a secret, or that is not YAML, is as with Bytes. One whose structure cannot be kept is refused.
func TestYAMLIsRefusedOrUnchanged(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"", "a: [b, 'c', d e]\n", "a: [\n", "TOKEN=hunter2X\n\t- a: [", "password: hunter2X\n"} {
		out, err := redact.YAML([]byte(in))
		if err != nil || !bytes.Equal(out, redact.Bytes([]byte(in))) {
			t.Errorf("%q: %q, %v", in, out, err)
		}
	}
	if out, err := redact.YAML([]byte("command: [a, --password=hunter2X\n  more, b]\n")); err == nil && bytes.Contains(out, []byte("hunter2X")) || err != nil && !errors.Is(err, redact.ErrStructure) {
		t.Errorf("a scalar of two lines: %q, %v", out, err)
	}
}

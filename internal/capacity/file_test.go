package capacity

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/site"
)

const twoNodes = "nodes:\n  - {name: gpu-05, address: \"10.0.0.5:22\", rack: r2}\n  - {name: gpu-06}\n"

func TestParseFile(t *testing.T) {
	t.Parallel()
	f, err := ParseFile("nodes.yaml", []byte(twoNodes+"notCordoned: the cloud provider joins nodes without a cordon\n"))
	if err != nil || len(f.Nodes) != 2 || f.NotCordoned == "" {
		t.Fatal(f, err)
	}
	if got := f.nodes()[0]; got != (site.Node{Name: "gpu-05", Address: "10.0.0.5:22", Rack: "r2"}) {
		t.Errorf("%+v", got)
	}
}

// Every problem has its place and its remedy.
func TestInvalidFiles(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"empty":            {"", []string{"nodes.yaml: error: empty file"}},
		"no nodes":         {"nodes: []\n", []string{`nodes.yaml:1:8: error: empty key "nodes"`}},
		"no key nodes":     {"notCordoned: why\n", []string{`missing key "nodes"`}},
		"no document":      {"# nothing\n", []string{"empty"}},
		"an unknown key":   {"nodes:\n  - {name: a, addr: \"a:22\"}\n", []string{"nodes.yaml:2:15: error: unknown key"}},
		"of a site":        {"inventory: {nodes: [{name: a}]}\n", []string{"unknown key", `missing key "nodes"`}},
		"several problems": {"nodes:\n  - {name: A_b}\n  - {name: c, address: \"1.2.3.4\"}\n  - {name: c}\n  - {rack: r1}\n", []string{"nodes.yaml:2:12: error: invalid node name", "nodes.yaml:3:24: error: \"1.2.3.4\" is not host:port", "nodes.yaml:4:12: error: duplicate node", `missing key "name"`}},
		"one address":      {"nodes:\n  - {name: a, address: \"h:22\"}\n  - {name: b, address: \"h:22\"}\n", []string{"nodes.yaml:3:24: error: duplicate address h:22"}},
	} {
		_, err := ParseFile("nodes.yaml", []byte(tt.text))
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		for _, want := range tt.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
		for i, line := range strings.Split(err.Error(), "\n") {
			if remedy := strings.HasPrefix(line, "    "); remedy != (i%2 == 1) {
				t.Errorf("%s: a problem has no remedy: %v", name, err)
			}
		}
	}
}

func FuzzParseFile(f *testing.F) {
	f.Add([]byte(twoNodes))
	f.Add([]byte("nodes: &a [*a]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := ParseFile("nodes.yaml", data)
		if err == nil && (len(file.Nodes) == 0 || file.Nodes[0].Name == "") {
			t.Errorf("no node in %q", data)
		}
	})
}

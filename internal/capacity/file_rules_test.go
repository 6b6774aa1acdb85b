package capacity

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/site"
)

// A file of new nodes is refused with one problem for each defect, and no other.
func TestDefectsOfFiles(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text string
		want []string // a problem each
	}{
		"two nodes without addresses": {"nodes: [{name: a}, {name: b}]\n", nil},
		"two nodes with addresses":    {"nodes: [{name: a, address: \"h:22\"}, {name: b, address: \"i:22\"}]\n", nil},
		"no name":                     {"nodes: [{rack: r1}]\n", []string{`missing key "name"`}},
		"two without a name":          {"nodes: [{rack: r1}, {rack: r1}]\n", []string{`missing key "name"`, `missing key "name"`}},
		"a name twice":                {"nodes: [{name: a}, {name: a}]\n", []string{`duplicate node "a"`}},
		"an address twice":            {"nodes: [{name: a, address: \"h:22\"}, {name: b, address: \"h:22\"}]\n", []string{"duplicate address h:22"}},
		"an invalid name":             {"nodes: [{name: A_b}]\n", []string{"invalid node name"}},
		"an invalid file":             {"nodes: [\n", []string{""}},
	} {
		f, err := ParseFile("nodes.yaml", []byte(tt.text))
		list, _ := errors.AsType[diag.List](err)
		if len(list) != len(tt.want) || (err == nil) != (len(tt.want) == 0) || (len(f.Nodes) > 0) != (err == nil) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
			continue
		}
		for i, want := range tt.want {
			if !strings.Contains(list[i].Message, want) {
				t.Errorf("%s: %q, want %q", name, list[i].Message, want)
			}
		}
	}
}

// A node of the file has the name of no accepted and no system node, and the address of no other node. It may be in the
// site already, with the same address.
func TestAFileAgainstASite(t *testing.T) {
	t.Parallel()
	s := &site.Site{Inventory: site.Inventory{
		Nodes:       []site.Node{{Name: "gpu-01", Address: "h1:22"}, {Name: "gpu-02", Address: "h2:22"}, {Name: "gpu-03"}},
		SystemNodes: []site.Node{{Name: "system-01", Address: "s1:22"}},
	}}
	for text, want := range map[string][]string{
		"nodes: [{name: new-01}]":                                               nil,
		"nodes: [{name: new-01, address: \"h9:22\"}]":                           nil,
		"nodes: [{name: gpu-02, address: \"h2:22\"}]":                           nil,
		"nodes: [{name: gpu-01, address: \"h1:22\"}]":                           {"gpu-01 is an accepted node"},
		"nodes: [{name: system-01}]":                                            {"system-01 is the system node system-01 of the site"},
		"nodes: [{name: new-01, address: \"h2:22\"}]":                           {"new-01 has the address of gpu-02"},
		"nodes: [{name: new-01, address: \"s1:22\"}]":                           {"new-01 has the address of system-01"},
		"nodes: [{name: gpu-01, address: \"h2:22\"}, {name: new-01}]":           {"gpu-01 is an accepted node", "gpu-01 has the address of gpu-02"},
		"nodes: [{name: new-01}, {name: new-02, address: \"h1:22\", rack: r1}]": {"new-02 has the address of gpu-01"},
	} {
		var got []string
		for _, d := range file(t, text).against(s, []string{"gpu-01"}) {
			got = append(got, d.Message)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	merged := file(t, "nodes: [{name: gpu-02, address: \"h8:22\"}, {name: new-01}]").MergeInto(s)
	if diff := cmp.Diff([]site.Node{{Name: "gpu-01", Address: "h1:22"}, {Name: "gpu-03"}, {Name: "gpu-02", Address: "h8:22"}, {Name: "new-01"}}, merged.Inventory.Nodes); diff != "" {
		t.Error(diff)
	}
}

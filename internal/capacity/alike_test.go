package capacity

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/probe/infiniband"
)

// Nodes are not added to accepted ones of two drivers or of an unknown one, that they could not be
// compared with.
func TestABaseWithoutOneDriver(t *testing.T) {
	t.Parallel()
	s, p := fixture(t)
	names := s.NodeNames()
	for name, tt := range map[string]struct {
		drivers map[string]string // others: that of the step
		unseen  string
		want    string
	}{
		"two":     {map[string]string{names[1]: "590"}, "", "have not one driver (580.105.08, 590)"},
		"unread":  {map[string]string{names[1]: ""}, "", "have not one driver (unknown, 580.105.08)"},
		"unseen":  {nil, names[1], "have not one driver (unknown, 580.105.08)"},
		"the one": {nil, "", ""},
	} {
		b, err := BaseOf(acceptedBy(t, step{name: node.Name, nodes: names, driver: "580.105.08", drivers: tt.drivers, unseen: tt.unseen}))
		if err != nil {
			t.Fatal(err)
		}
		if _, err = b.Add(s, p, file(t, newNode)); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// One new node is compared with the accepted nodes.
func TestANewNodeIsLikeTheAcceptedOnes(t *testing.T) {
	t.Parallel()
	s, p := fixture(t)
	b := base(t, "")
	if diff := cmp.Diff(node.Components{"driver": {"580.105.08"}, "firmware of MT4129": {"28.40"}}, b.Components); diff != "" {
		t.Error(diff)
	}
	a, err := b.Add(s, p, file(t, newNode))
	if err != nil {
		t.Fatal(err)
	}
	derived, err := Plan(s, p, a, gate.Access{})
	if err != nil {
		t.Fatal(err)
	}
	o, err := check.Observation{ID: "o", Kind: "ibstat", Target: "new-01"}.WithFigures(map[string]any{"hcas": []infiniband.HCA{{Name: "mlx5_0", Type: "MT4129", Firmware: "28.41"}}})
	if err != nil {
		t.Fatal(err)
	}
	j := derived.Steps[1].Check.Judge([]check.Observation{o})
	if !slices.ContainsFunc(j.Findings, func(f check.Finding) bool { return strings.Contains(f.Message, "is 28.41, expected 28.40") }) {
		t.Errorf("%+v", j.Findings)
	}
}

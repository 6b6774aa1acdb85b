package snapshot

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
)

// A site that declares that no DRA driver is installed is contradicted by a GPU in a ResourceSlice.
func TestDeclaredWithoutADRADriver(t *testing.T) {
	t.Parallel()
	server, nodes := cluster()
	for _, published := range []bool{false, true} {
		slices := []inventory.Slice{{Driver: "dra.net", Node: "gpu-2", Pool: "gpu-2", PoolSlices: 1, Devices: []inventory.Device{{Name: "eth0"}}}}
		if published {
			slices = append(slices, inventory.Slice{Driver: inventory.Driver, Node: "gpu-2", Pool: "gpu-2", PoolSlices: 1, Devices: []inventory.Device{{Name: "gpu-0", Type: "gpu"}}})
		}
		for _, declared := range []bool{false, true} {
			d := demand()
			d.WithoutDRA = declared
			obs := observed(t, server, nodes)
			o, err := check.Observation{ID: kindSlices, Kind: kindSlices}.WithFigures(slices)
			if err != nil {
				t.Fatal(err)
			}
			j := New(d, Deps{}).Judge(append(obs, o))
			want := check.Passed
			if published && declared {
				want = check.Failed
			}
			if j.Verdict != want || want == check.Failed && (j.Findings[0].Suspect != "gpu-2" || !strings.Contains(j.Reason, "declares that no DRA driver is installed")) {
				t.Errorf("published %v, declared %v: %s: %s", published, declared, j.Verdict, j.Reason)
			}
		}
	}
}

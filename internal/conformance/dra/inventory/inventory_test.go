package inventory

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func slice(node, pool string, generation, of int64, devices ...Device) Slice {
	return Slice{Name: pool, Driver: Driver, Pool: pool, Node: node, Generation: generation, PoolSlices: of, Devices: devices}
}

func gpu(name string) Device { return Device{Name: name, Type: "gpu", UUID: "GPU-" + name} }

func TestOfNode(t *testing.T) {
	t.Parallel()
	foreign := slice("n", "n", 1, 1, gpu("gpu-9"))
	foreign.Driver = "dra.net"
	tests := map[string]struct {
		all      []Slice
		want     []string
		found    int
		troubles int
	}{
		"nothing":                    {},
		"one slice":                  {all: []Slice{slice("n", "n", 1, 1, gpu("gpu-0"), gpu("gpu-1"))}, want: []string{"gpu-0", "gpu-1"}, found: 1},
		"two of one pool":            {all: []Slice{slice("n", "n", 1, 2, gpu("gpu-0")), slice("n", "n", 1, 2, gpu("gpu-1"))}, want: []string{"gpu-0", "gpu-1"}, found: 2},
		"one of two of a pool":       {all: []Slice{slice("n", "n", 1, 2, gpu("gpu-0"))}, found: 1, troubles: 1},
		"three of two of a pool":     {all: []Slice{slice("n", "n", 1, 2), slice("n", "n", 1, 2), slice("n", "n", 1, 2, gpu("gpu-0"))}, found: 3, troubles: 1},
		"an older generation":        {all: []Slice{slice("n", "n", 3, 1, gpu("gpu-0")), slice("n", "n", 2, 1, gpu("gpu-1"))}, want: []string{"gpu-0"}, found: 2},
		"an older generation, first": {all: []Slice{slice("n", "n", 2, 1, gpu("gpu-1")), slice("n", "n", 3, 1, gpu("gpu-0"))}, want: []string{"gpu-0"}, found: 2},
		"two pools":                  {all: []Slice{slice("n", "b", 1, 1, gpu("gpu-1")), slice("n", "a", 1, 1, gpu("gpu-0"))}, want: []string{"gpu-0", "gpu-1"}, found: 2},
		"another node's":             {all: []Slice{slice("m", "m", 1, 1, gpu("gpu-0"))}},
		"of no node":                 {all: []Slice{slice("", "n", 1, 1, gpu("gpu-0"))}},
		"another driver's":           {all: []Slice{foreign}},
		"a part of a GPU":            {all: []Slice{slice("n", "n", 1, 1, Device{Name: "gpu-0-mig-9-0-4", Type: "mig"})}, found: 1},
		"a tainted one":              {all: []Slice{slice("n", "n", 1, 1, Device{Name: "gpu-0", Type: "gpu", Tainted: true})}, found: 1, troubles: 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gpus, found, troubles := GPUsOnNode(tt.all, "n")
			var got []string
			for _, g := range gpus {
				got = append(got, g.Device)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || found != tt.found || len(troubles) != tt.troubles {
				t.Errorf("found %d, troubles %q: %s", found, troubles, diff)
			}
		})
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	all := []Slice{slice("n", "p", 1, 1, gpu("gpu-0")), slice("m", "q", 1, 1, gpu("gpu-0"))}
	if g, ok := FindGPU(all, "n", "p", "gpu-0"); !ok || g.UUID != "GPU-gpu-0" {
		t.Errorf("%+v %t", g, ok)
	}
	for _, miss := range [][3]string{{"n", "q", "gpu-0"}, {"m", "p", "gpu-0"}, {"n", "p", "gpu-1"}, {"", "p", "gpu-0"}} {
		if g, ok := FindGPU(all, miss[0], miss[1], miss[2]); ok {
			t.Errorf("%v: %+v", miss, g)
		}
	}
}

// The GPU of a claim is looked up in every slice of its pool: one that is tainted after the allocation, or
// whose pool is being published again, is still a GPU.
func TestAllocatedGPU(t *testing.T) {
	t.Parallel()
	tainted := gpu("gpu-0")
	tainted.Tainted = true
	other := slice("n", "p", 1, 1, gpu("gpu-0"))
	other.Driver = "dra.net"
	for name, tt := range map[string]struct {
		all         []Slice
		state, uuid string
		found       bool
	}{
		"offered":                    {[]Slice{slice("n", "p", 1, 1, gpu("gpu-0"))}, "", "GPU-gpu-0", true},
		"tainted":                    {[]Slice{slice("n", "p", 1, 1, tainted)}, StateTainted, "GPU-gpu-0", true},
		"its slice, and not another": {[]Slice{slice("n", "p", 2, 2, gpu("gpu-0"))}, StateUnpublished, "GPU-gpu-0", true},
		"only another slice":         {[]Slice{slice("n", "p", 2, 2, gpu("gpu-1")), slice("n", "p", 1, 1, gpu("gpu-0"))}, StateUnpublished, "", true},
		"no slice of the pool":       {[]Slice{slice("n", "q", 1, 1, gpu("gpu-0")), other}, StateUnpublished, "", true},
		"no such device":             {[]Slice{slice("n", "p", 1, 1, gpu("gpu-1"))}, "", "", false},
		"no longer such a device":    {[]Slice{slice("n", "p", 2, 1, gpu("gpu-1")), slice("n", "p", 1, 1, gpu("gpu-0"))}, "", "", false},
		"a part of a GPU":            {[]Slice{slice("n", "p", 1, 1, Device{Name: "gpu-0", Type: "mig", UUID: "MIG-0"})}, "", "MIG-0", false},
		"of another node":            {[]Slice{slice("m", "p", 1, 1, gpu("gpu-0"))}, "", "GPU-gpu-0", false},
	} {
		got, found := AllocatedGPU(tt.all, "n", "p", "gpu-0")
		if want := (GPU{Pool: "p", Device: "gpu-0", UUID: tt.uuid, State: tt.state}); got != want || found != tt.found {
			t.Errorf("%s: %+v %t", name, got, found)
		}
	}
}

func TestRoom(t *testing.T) {
	t.Parallel()
	rooms := []NodeGPUs{
		{Node: "closed", Offered: 8},
		{Node: "plugged", Open: true, Offered: 8, Plugged: 1},
		{Node: "claimed", Open: true, Offered: 2, Allocated: 2},
		{Node: "free", Open: true, Offered: 2, Allocated: 1},
		{Node: "empty", Open: true},
		{Node: "also", Open: true, Offered: 8},
	}
	if diff := cmp.Diff([]string{"free", "also"}, NodesWithFree(rooms, 9)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"free"}, NodesWithFree(rooms, 1)); diff != "" {
		t.Error(diff)
	}
}

func TestAttributesAreReadWithAndWithoutTheDriversName(t *testing.T) {
	t.Parallel()
	s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: resourcev1.ResourceSliceSpec{
		Driver: Driver, NodeName: new("n"), Pool: resourcev1.ResourcePool{Name: "p", Generation: 4, ResourceSliceCount: 1},
		Devices: []resourcev1.Device{{Name: "gpu-0", Taints: []resourcev1.DeviceTaint{{Key: "xid"}}, Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
			"type": {StringValue: new("gpu")}, "gpu.nvidia.com/uuid": {StringValue: new("GPU-1")}, "other.com/productName": {StringValue: new("no")},
		}}, {Name: "gpu-1", Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"type": {IntValue: new(int64(3))}}}},
	}}
	want := Slice{Name: "s", Driver: Driver, Pool: "p", Node: "n", Generation: 4, PoolSlices: 1, Devices: []Device{{Name: "gpu-0", Type: "gpu", UUID: "GPU-1", Tainted: true}, {Name: "gpu-1"}}}
	if diff := cmp.Diff(want, SliceOf(s)); diff != "" {
		t.Error(diff)
	}
}

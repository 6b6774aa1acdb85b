package inventory

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// published is a ResourceSlice of a node with one GPU.
func published(name, driver, node string) resourcev1.ResourceSlice {
	kind := "gpu"
	return resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourcev1.ResourceSliceSpec{
		Driver: driver, NodeName: &node, Pool: resourcev1.ResourcePool{Name: node, Generation: 1, ResourceSliceCount: 1},
		Devices: []resourcev1.Device{{Name: "gpu-0", Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"type": {StringValue: &kind}}}},
	}}
}

// The slices of every page of an answer count: a GPU on the second page would be missing.
func TestSlicesOfEveryPageAreListed(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset()
	lists := 0
	client.PrependReactor("list", "resourceslices", func(clienttesting.Action) (bool, runtime.Object, error) {
		if lists++; lists == 1 {
			return true, &resourcev1.ResourceSliceList{ListMeta: metav1.ListMeta{Continue: "more"}, Items: []resourcev1.ResourceSlice{published("one", Driver, "a")}}, nil
		}
		return true, &resourcev1.ResourceSliceList{Items: []resourcev1.ResourceSlice{published("two", Driver, "b")}}, nil
	})
	got, err := ListSlices(t.Context(), &kube.Cluster{Client: client})
	if err != nil || len(got) != 2 || got[0].Name != "one" || got[1].Name != "two" {
		t.Errorf("%+v, %v", got, err)
	}
}

// The slices of one driver are selected by the API server, those of every driver are not selected.
func TestSlicesAreSelectedByDriver(t *testing.T) {
	t.Parallel()
	for driver, want := range map[string]string{"": "", Driver: "spec.driver=gpu.nvidia.com"} {
		client := fake.NewClientset()
		selector := "not asked"
		client.PrependReactor("list", "resourceslices", func(a clienttesting.Action) (bool, runtime.Object, error) {
			if list, ok := a.(clienttesting.ListAction); ok {
				selector = list.GetListRestrictions().Fields.String()
			}
			return false, nil, nil
		})
		if _, err := ResourceSlices(t.Context(), &kube.Cluster{Client: client}, driver); err != nil || selector != want {
			t.Errorf("driver %q: %q, %v, want %q", driver, selector, err, want)
		}
	}
}

// In a cluster without the device plugin, a node offers the GPUs of its slices, less those that
// claims hold.
func TestClaimUsageIsThatOfTheSlices(t *testing.T) {
	t.Parallel()
	one, two := published("one", Driver, "a"), published("two", Driver, "b")
	cluster := &kube.Cluster{Client: fake.NewClientset(
		node("a", true, false), node("b", true, false), node("c", true, false), &one, &two,
		claim("train", resourcev1.DeviceRequestAllocationResult{Driver: Driver, Pool: "b", Device: "gpu-0"}),
	)}
	got, err := ClaimUsage(t.Context(), cluster, []string{"a", "b", "c"})
	want := map[string]kube.Usage{
		"a": {Allocatable: 1}, "b": {Allocatable: 1, Requested: 1, Holders: []kube.Holder{{Pod: "claim team/train"}}}, "c": {},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

// A list that is refused is an error, not a cluster without GPUs: also the second list of nodes.
func TestUsageThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		resource string
		answered int
	}{"slices": {"resourceslices", 0}, "claims": {"resourceclaims", 0}, "nodes": {"nodes", 0}, "nodes, later": {"nodes", 1}} {
		client := fake.NewClientset(node("a", true, false))
		refused := errors.New("forbidden")
		lists := 0
		client.PrependReactor("list", tt.resource, func(clienttesting.Action) (bool, runtime.Object, error) {
			if lists++; lists > tt.answered {
				return true, nil, refused
			}
			return false, nil, nil
		})
		if got, err := ClaimUsage(t.Context(), &kube.Cluster{Client: client}, []string{"a"}); !errors.Is(err, refused) || got != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

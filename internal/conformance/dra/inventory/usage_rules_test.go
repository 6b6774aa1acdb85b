package inventory

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

func node(name string, ready, cordoned bool) *corev1.Node {
	status := map[bool]corev1.ConditionStatus{true: corev1.ConditionTrue, false: corev1.ConditionFalse}[ready]
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.NodeSpec{Unschedulable: cordoned},
		Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status}}},
	}
}

func claim(name string, results ...resourcev1.DeviceRequestAllocationResult) *resourcev1.ResourceClaim {
	return &resourcev1.ResourceClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name},
		Status:     resourcev1.ResourceClaimStatus{Allocation: &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: results}}},
	}
}

// A GPU is held by the claim that it is allocated to, or by a pod with the device plugin; a node
// that is cordoned, not ready or missing has none to give.
func TestUsageCountsGPUsByTheirHolder(t *testing.T) {
	t.Parallel()
	device := func(driver, pool, name string) resourcev1.DeviceRequestAllocationResult {
		return resourcev1.DeviceRequestAllocationResult{Driver: driver, Pool: pool, Device: name}
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "train"},
		Spec: corev1.PodSpec{NodeName: "b", Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{kube.GPUResource: resource.MustParse("2")}, Limits: corev1.ResourceList{kube.GPUResource: resource.MustParse("2")},
		}}}},
	}
	pending := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "pending"}}
	cluster := &kube.Cluster{Client: fake.NewClientset(
		node("a", true, false), node("b", true, false), node("cordoned", true, true), node("down", false, false), pod, pending,
		claim("one", device(Driver, "a", "gpu-0"), device("dra.net", "a", "gpu-1"), device(Driver, "a", "gpu-9"), device(Driver, "z", "gpu-1")),
		claim("network", device("dra.net", "a", "gpu-1")),
	)}
	all := []Slice{slice("a", "a", 1, 1, gpu("gpu-0"), gpu("gpu-1")), slice("b", "b", 1, 1, gpu("gpu-0"), gpu("gpu-1"))}
	got, err := Usage(t.Context(), cluster, []string{"a", "b", "cordoned", "down", "gone"}, all)
	if err != nil {
		t.Fatal(err)
	}
	want := []NodeGPUs{
		{Node: "a", Open: true, Offered: 2, Allocated: 1, Holders: []string{"claim team/one"}},
		{Node: "b", Open: true, Offered: 2, Plugged: 2, Holders: []string{"pod team/train"}},
		{Node: "cordoned"}, {Node: "down"}, {Node: "gone"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if text := DescribeHolders(got); text != " (a: claim team/one; b: pod team/train; cordoned: not ready or not schedulable; down: not ready or not schedulable; gone: not ready or not schedulable)" {
		t.Error(text)
	}
	if text := DescribeHolders([]NodeGPUs{{Node: "a", Open: true}}); text != "" {
		t.Error(text)
	}
}

// An API that refuses a list is an error, not an empty list.
func TestARefusedListIsAnError(t *testing.T) {
	t.Parallel()
	for _, resource := range []string{"nodes", "pods", "resourceclaims", "resourceslices"} {
		client := fake.NewClientset()
		refused := errors.New("forbidden")
		client.PrependReactor("list", resource, func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, refused })
		cluster := &kube.Cluster{Client: client}
		_, err := Usage(t.Context(), cluster, []string{"a"}, nil)
		if resource == "resourceslices" {
			_, err = ListSlices(t.Context(), cluster)
		}
		if !errors.Is(err, refused) {
			t.Errorf("%s: %v", resource, err)
		}
	}
}

func TestSlicesOfADriverAreListed(t *testing.T) {
	t.Parallel()
	cluster := &kube.Cluster{Client: fake.NewClientset(&resourcev1.ResourceSlice{
		ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: resourcev1.ResourceSliceSpec{Driver: Driver, Pool: resourcev1.ResourcePool{Name: "p"}},
	})}
	got, err := ListSlices(t.Context(), cluster)
	if diff := cmp.Diff([]Slice{{Name: "s", Driver: Driver, Pool: "p", Devices: []Device{}}}, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

// A pod that requests the resource that a DeviceClass maps holds a GPU by a claim, and that GPU is one: it
// counted twice, and the node of such a pod offered none.
func TestARequestThatAClaimMeetsIsNotOfTheDevicePlugin(t *testing.T) {
	t.Parallel()
	amount := corev1.ResourceList{kube.GPUResource: resource.MustParse("1")}
	pod := func(name, mapped string) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name},
			Spec:       corev1.PodSpec{NodeName: "a", Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: amount, Limits: amount}}}},
			Status: corev1.PodStatus{ExtendedResourceClaimStatus: &corev1.PodExtendedResourceClaimStatus{
				ResourceClaimName: name, RequestMappings: []corev1.ContainerExtendedResourceRequest{{ContainerName: "c", ResourceName: mapped, RequestName: "container-0-request-0"}},
			}},
		}
	}
	held := claim("mapped", resourcev1.DeviceRequestAllocationResult{Driver: Driver, Pool: "a", Device: "gpu-0"})
	all := []Slice{slice("a", "a", 1, 1, gpu("gpu-0"), gpu("gpu-1"))}
	for name, tt := range map[string]struct {
		pod  *corev1.Pod
		want NodeGPUs
		free int
	}{
		"of the GPU":        {pod("mapped", kube.GPUResource), NodeGPUs{Node: "a", Open: true, Offered: 2, Allocated: 1, Holders: []string{"claim team/mapped"}}, 1},
		"of another device": {pod("other", "example.com/nic"), NodeGPUs{Node: "a", Open: true, Offered: 2, Allocated: 1, Plugged: 1, Holders: []string{"pod team/other", "claim team/mapped"}}, 0},
	} {
		got, err := Usage(t.Context(), &kube.Cluster{Client: fake.NewClientset(node("a", true, false), tt.pod, held)}, []string{"a"}, all)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]NodeGPUs{tt.want}, got); diff != "" || got[0].Free() != tt.free {
			t.Errorf("%s: %d free: %s", name, got[0].Free(), diff)
		}
	}
}

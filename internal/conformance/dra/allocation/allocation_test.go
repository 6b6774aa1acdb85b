package allocation

import (
	"errors"
	"slices"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

func slice(node string, uuids ...string) *resourcev1.ResourceSlice {
	s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: node}, Spec: resourcev1.ResourceSliceSpec{
		Driver: inventory.Driver, NodeName: &node, Pool: resourcev1.ResourcePool{Name: node, Generation: 1, ResourceSliceCount: 1},
	}}
	kind := "gpu"
	for i, uuid := range uuids {
		s.Spec.Devices = append(s.Spec.Devices, resourcev1.Device{Name: []string{"gpu-0", "gpu-1"}[i], Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
			"type": {StringValue: &kind}, "uuid": {StringValue: &uuid},
		}})
	}
	return s
}

// claim of a pod, with devices as driver/pool/device.
func claim(pod string, devices ...string) *resourcev1.ResourceClaim {
	c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "run", Name: "claim-" + pod}, Status: resourcev1.ResourceClaimStatus{
		ReservedFor: []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: pod, UID: types.UID("uid-" + pod)}}, Allocation: &resourcev1.AllocationResult{},
	}}
	for _, d := range devices {
		part := strings.Split(d, "|")
		c.Status.Allocation.Devices.Results = append(c.Status.Allocation.Devices.Results, resourcev1.DeviceRequestAllocationResult{Driver: part[0], Pool: part[1], Device: part[2]})
	}
	return c
}

// Each pod has the GPUs that its own claim allocates, by their UUIDs; anything else is named.
func TestAllocation(t *testing.T) {
	t.Parallel()
	pods := map[string]string{"p-0": "a", "p-1": "b"}
	gpu := func(node, device string) string { return inventory.Driver + "|" + node + "|" + device }
	whole := []runtime.Object{claim("p-0", gpu("a", "gpu-0"), gpu("a", "gpu-1")), claim("p-1", gpu("b", "gpu-0"), gpu("b", "gpu-1"))}
	pending := claim("p-1", gpu("b", "gpu-0"), gpu("b", "gpu-1"))
	pending.Status.Allocation = nil
	earlier := claim("p-1", gpu("b", "gpu-0"), gpu("b", "gpu-1"))
	earlier.Status.ReservedFor[0].UID = "uid-of-a-replaced-pod"
	for name, tt := range map[string]struct {
		objects []runtime.Object
		refused string
		verdict check.Verdict
		suspect string
		says    string
		sliced  string // the defect of the slice of b
	}{
		"healthy":  {append(whole, claim("other", gpu("a", "gpu-0"))), "", check.Passed, "", "", ""},
		"no claim": {whole[:1], "", check.Unobserved, "ResourceClaim of pod p-1", "on b was not observed", ""},
		"the claim of an earlier pod of the name": {append(whole[:1:1], earlier), "", check.Unobserved, "ResourceClaim of pod p-1", "was not observed", ""},
		"not allocated": {append(whole[:1:1], pending), "", check.Unobserved, "ResourceClaim of pod p-1", "was not observed", ""},
		"one GPU":       {append(whole[:1:1], claim("p-1", gpu("b", "gpu-0"))), "", check.Failed, "ResourceClaim of pod p-1", "allocates 1 GPUs of b, want 2", ""},
		"a GPU of another node": {append(whole[:1:1], claim("p-1", gpu("b", "gpu-0"), gpu("a", "gpu-1"))), "", check.Failed, "DeviceClass gpu.nvidia.com",
			"device a/gpu-1 is allocated to pod p-1", ""},
		"a device of another driver": {append(whole[:1:1], claim("p-1", gpu("b", "gpu-0"), "dra.net|b|gpu-1")), "", check.Failed, "DeviceClass gpu.nvidia.com", "device b/gpu-1", ""},
		"a GPU twice":                {append(whole[:1:1], claim("p-1", gpu("b", "gpu-0"), gpu("b", "gpu-0"))), "", check.Failed, "b", "GPU GPU-b0 (b/gpu-0) is allocated to pod p-1 and to pod p-1", ""},
		"claims cannot be listed":    {whole, "resourceclaims", check.Unobserved, "ResourceClaims", "forbidden", ""},
		"slices cannot be listed":    {whole, "resourceslices", check.Unobserved, "ResourceClaims", "forbidden", ""},
		"a tainted GPU":              {whole, "", check.Failed, "b", "GPU GPU-b0 (b/gpu-0), which is allocated to pod p-1, is tainted", "tainted"},
		"slices published again":     {whole, "", check.Unobserved, "b", "the ResourceSlices of pool b are not complete", "incomplete"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := slice("b", "GPU-b0", "GPU-b1")
			switch tt.sliced {
			case "tainted":
				b.Spec.Devices[0].Taints = []resourcev1.DeviceTaint{{Key: "gpu.nvidia.com/health", Effect: resourcev1.DeviceTaintEffectNoSchedule}}
			case "incomplete":
				b.Spec.Pool.ResourceSliceCount, b.Spec.Devices = 2, b.Spec.Devices[:1]
			}
			objects := append(slices.Clone(tt.objects), slice("a", "GPU-a0", "GPU-a1"), b)
			for i := range objects {
				objects[i] = objects[i].DeepCopyObject()
			}
			client := fake.NewClientset(objects...)
			if tt.refused != "" {
				client.PrependReactor("list", tt.refused, func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, errors.New("forbidden") })
			}
			f := Read(t.Context(), &kube.Cluster{Client: client}, inventory.Driver, "run", pods, map[string]types.UID{"p-0": "uid-p-0", "p-1": "uid-p-1"})
			var builder check.Builder
			f.Judge(&builder, "id", 2, 2)
			j := builder.Judgement("fine")
			if j.Verdict != tt.verdict || len(j.Figures) != 1 {
				t.Fatalf("%s: %+v %+v", j.Verdict, j.Findings, j.Figures)
			}
			if tt.suspect != "" && (len(j.Findings) == 0 || j.Findings[0].Suspect != tt.suspect || !strings.Contains(j.Findings[0].Message, tt.says)) {
				t.Errorf("%+v", j.Findings)
			}
			if tt.verdict == check.Passed && !slices.Equal(f.UUIDs("p-1"), []string{"GPU-b0", "GPU-b1"}) {
				t.Errorf("%v", f.UUIDs("p-1"))
			}
		})
	}
}

// Claims of fewer pods than the job has are not its claims: 24 of 24 GPUs do not pass for four pods of 8.
func TestEveryPodOfTheJobHasItsClaim(t *testing.T) {
	t.Parallel()
	one := Figures{Class: inventory.Driver, Pods: map[string]string{"p-0": "a"}, GPUs: map[string][]inventory.GPU{"p-0": {{Pool: "a", Device: "gpu-0", UUID: "GPU-a0"}}}}
	for name, tt := range map[string]struct {
		figures Figures
		says    string
	}{
		"no pod":          {Figures{Class: inventory.Driver}, "the claims of 0 pods were read, the job has 2"},
		"one pod missing": {one, "the claims of 1 pods were read, the job has 2"},
	} {
		var b check.Builder
		tt.figures.Judge(&b, "id", 2, 1)
		j := b.Judgement("fine")
		if j.Verdict != check.Unobserved || len(j.Findings) != 1 || !strings.Contains(j.Findings[0].Message, tt.says) || j.Figures[0].Limit != 2 {
			t.Errorf("%s: %s %+v %+v", name, j.Verdict, j.Findings, j.Figures)
		}
	}
	var b check.Builder
	one.Review(&b, "id", map[string]int{"p-0": 1, "p-1": 1})
	if j := b.Judgement("fine"); j.Verdict != check.Unobserved || j.Findings[0].Suspect != "ResourceClaim of pod p-1" {
		t.Errorf("of expected pods: %s %+v", j.Verdict, j.Findings)
	}
}

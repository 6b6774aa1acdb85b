package cluster

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/worldtest"
)

func newWorld(t *testing.T, faults ...world.Fault) *world.World {
	t.Helper()
	w, err := world.New(world.DefaultSpec(4), worldtest.Shared(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range faults {
		if _, err := w.AddFault(f); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func TestSliceByFault(t *testing.T) {
	t.Parallel()
	const all = "gpu-0 gpu-1 gpu-2 gpu-3 gpu-4 gpu-5 gpu-6 gpu-7"
	tests := map[string]struct {
		fault world.Fault
		none  bool
		want  string
	}{
		"healthy":                {want: all},
		"a GPU off the bus":      {fault: world.Fault{Kind: "gpu-off-bus", Target: "gpu-02/gpu3"}, want: "gpu-0 gpu-1 gpu-2 gpu-4 gpu-5 gpu-6 gpu-7"},
		"a GPU too few":          {fault: world.Fault{Kind: "gpu-count-short", Target: "gpu-02"}, want: "gpu-0 gpu-1 gpu-2 gpu-3 gpu-4 gpu-5 gpu-6"},
		"a library that misfits": {fault: world.Fault{Kind: "driver-mismatch", Target: "gpu-02", Options: map[string]string{"how": "library"}}, want: ""},
		"nothing is published":   {fault: world.Fault{Kind: "dra-slice-missing", Target: "gpu-02"}, none: true},
		"no DRA driver":          {fault: world.Fault{Kind: "plugin-only"}, none: true},
		"of another node":        {fault: world.Fault{Kind: "dra-slice-missing", Target: "gpu-01"}, want: all},
		"no node is labelled":    {fault: world.Fault{Kind: "zero-gpu-nodes"}, none: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if tt.fault.Kind != "" {
				w = newWorld(t, tt.fault)
			}
			state := w.State()
			host, _ := state.Node("gpu-02")
			s := desiredSlice(state, host, "uid")
			if (s == nil) != tt.none {
				t.Fatalf("slice %v", s)
			}
			if s == nil {
				return
			}
			var got []string
			for _, d := range s.Spec.Devices {
				got = append(got, d.Name)
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
	state := newWorld(t).State()
	if s := desiredSlice(state, state.SystemNodes()[0], "uid"); s != nil {
		t.Errorf("a system node has a slice: %v", s)
	}
}

func TestDeviceAttributes(t *testing.T) {
	t.Parallel()
	state := newWorld(t).State()
	host, _ := state.Node("gpu-02")
	s := desiredSlice(state, host, "uid")
	d := s.Spec.Devices[3]
	attribute := func(name resourcev1.QualifiedName) string {
		a := d.Attributes[name]
		switch {
		case a.StringValue != nil:
			return *a.StringValue
		case a.VersionValue != nil:
			return "v" + *a.VersionValue
		}
		return ""
	}
	for name, want := range map[resourcev1.QualifiedName]string{
		"type": "gpu", "uuid": host.GPUs[3].UUID, "productName": "NVIDIA H100 80GB HBM3", "architecture": "Hopper", "brand": "Nvidia",
		"driverVersion": "v580.105.8", "cudaDriverVersion": "v13.0.0", "cudaComputeCapability": "v9.0.0", "pcieBusID": strings.ToLower(host.GPUs[3].BusID),
	} {
		if got := attribute(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	memory := d.Capacity["memory"]
	if memory.Value.Cmp(resource.MustParse("81559Mi")) != 0 {
		t.Errorf("memory %s", memory.Value.String())
	}
	if s.Spec.Driver != "gpu.nvidia.com" || s.Spec.Pool.Name != "gpu-02" || *s.Spec.NodeName != "gpu-02" || s.OwnerReferences[0].UID != "uid" {
		t.Errorf("slice %+v", s)
	}
}

func TestDeviceNameRoundTrip(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{"gpu-0": 0, "gpu-15": 15, "gpu-": -1, "gpu-01": -1, "gpu--1": -1, "gpu-1-mig-9-0-4": -1, "3": -1, "": -1} {
		if got := deviceIndex(name); got != want {
			t.Errorf("deviceIndex(%q) = %d, want %d", name, got, want)
		}
	}
}

// lookScript has the form of scripts that list devices.
const lookScript = "set -u\necho begins\nfor d in /dev/nvidia[0-9]*; do if [ -e \"$d\" ]; then echo \"device $d\"; fi; done\nnvidia-smi -L\necho 'ends'"

// claimingPod has a container with the claim of GPU 3 and one without.
func claimingPod() (*corev1.Pod, *resourcev1.ResourceClaim) {
	look := func(name string, env ...corev1.EnvVar) corev1.Container {
		return corev1.Container{Name: name, Command: []string{"/bin/sh", "-c", lookScript}, Env: env}
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "ns", UID: "pod"},
		Spec: corev1.PodSpec{
			NodeName:       "gpu-02",
			ResourceClaims: []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: new("t")}},
			Containers:     []corev1.Container{look("with"), look("without"), look("all", corev1.EnvVar{Name: "NVIDIA_VISIBLE_DEVICES", Value: "all"}), look("plugged")},
		},
	}
	pod.Spec.Containers[0].Resources.Claims = []corev1.ResourceClaim{{Name: "gpu"}}
	pod.Spec.Containers[3].Resources.Limits = corev1.ResourceList{gpuResource: resource.MustParse("1")}
	pod.Status.ResourceClaimStatuses = []corev1.PodResourceClaimStatus{{Name: "gpu", ResourceClaimName: new("p-gpu-x7")}}
	claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: "p-gpu-x7", UID: "claim"}}
	claim.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: "p", UID: "pod"}}
	claim.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{
		{Request: "gpu", Driver: draDriver, Pool: "gpu-02", Device: "gpu-3"},
		{Request: "nic", Driver: "dra.net", Pool: "gpu-02", Device: "eth1"},
	}}}
	return pod, claim
}

func TestClaimsByContainer(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		alter   func(*corev1.Pod, *resourcev1.ResourceClaim)
		want    map[string][]int
		given   int
		refused string
	}{
		"as named": {want: map[string][]int{"with": {3}}, given: 1},
		"named by the request": {alter: func(p *corev1.Pod, _ *resourcev1.ResourceClaim) {
			p.Spec.Containers[1].Resources.Claims = []corev1.ResourceClaim{{Name: "gpu", Request: "gpu"}}
		}, want: map[string][]int{"with": {3}, "without": {3}}, given: 1},
		"another request is another's": {alter: func(p *corev1.Pod, _ *resourcev1.ResourceClaim) {
			p.Spec.Containers[1].Resources.Claims = []corev1.ResourceClaim{{Name: "gpu", Request: "nic"}}
		}, want: map[string][]int{"with": {3}}, given: 1},
		"no container uses it": {alter: func(p *corev1.Pod, _ *resourcev1.ResourceClaim) {
			p.Spec.Containers[0].Resources.Claims = nil
		}, want: map[string][]int{}, given: 1},
		"not allocated":        {alter: func(_ *corev1.Pod, c *resourcev1.ResourceClaim) { c.Status.Allocation = nil }, refused: "not allocated"},
		"reserved for another": {alter: func(_ *corev1.Pod, c *resourcev1.ResourceClaim) { c.Status.ReservedFor[0].UID = "other" }, refused: "reserved for the pod"},
		"of another node": {alter: func(_ *corev1.Pod, c *resourcev1.ResourceClaim) {
			c.Status.Allocation.Devices.Results[0].Pool = "gpu-01"
		}, refused: "gpu-01/gpu-3"},
		"no GPU": {alter: func(_ *corev1.Pod, c *resourcev1.ResourceClaim) {
			c.Status.Allocation.Devices.Results[0].Device = "gpu-x"
		}, refused: "gpu-02/gpu-x"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod, claim := claimingPod()
			if tt.alter != nil {
				tt.alter(pod, claim)
			}
			h := held{claimed: map[string][]int{}}
			err := h.add(pod, "gpu", claim)
			if tt.refused != "" {
				if err == nil || !strings.Contains(err.Error(), tt.refused) {
					t.Errorf("error %v, want %q", err, tt.refused)
				}
				return
			}
			if err != nil || len(h.given) != tt.given {
				t.Fatalf("%v, given %v", err, h.given)
			}
			if diff := cmp.Diff(tt.want, h.claimed); diff != "" {
				t.Error(diff)
			}
		})
	}
	pod, _ := claimingPod()
	if got := claimName(pod, pod.Spec.ResourceClaims[0]); got != "p-gpu-x7" {
		t.Errorf("claim made from a template: %q", got)
	}
	if got := claimName(pod, corev1.PodResourceClaim{Name: "b", ResourceClaimName: new("mine")}); got != "mine" {
		t.Errorf("named claim: %q", got)
	}
}

func TestVisibleDevices(t *testing.T) {
	t.Parallel()
	with := func(kind string) []world.Fault { return []world.Fault{{Kind: kind, Target: "gpu-02"}} }
	tests := map[string]struct {
		faults []world.Fault
		want   map[string]string
	}{
		"healthy":                         {want: map[string]string{"with": "3", "without": "", "all": "", "plugged": "5"}},
		"the variable has an effect":      {faults: with("device-leak"), want: map[string]string{"with": "3", "without": "", "all": "0 1 2 3 4 5 6 7", "plugged": "5"}},
		"a claim is the whole pod's":      {faults: with("claim-leaks-to-sibling"), want: map[string]string{"with": "3", "without": "3", "all": "3", "plugged": "5"}},
		"another node's fault is nothing": {faults: []world.Fault{{Kind: "device-leak", Target: "gpu-01"}}, want: map[string]string{"with": "3", "without": "", "all": "", "plugged": "5"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state := newWorld(t, tt.faults...).State()
			host, _ := state.Node("gpu-02")
			pod, claim := claimingPod()
			h := held{claimed: map[string][]int{}, plugged: []int{5}}
			if err := h.add(pod, "gpu", claim); err != nil {
				t.Fatal(err)
			}
			for _, c := range pod.Spec.Containers {
				got := strings.Trim(fmt.Sprint(visible(host, c, h)), "[]")
				if diff := cmp.Diff(tt.want[c.Name], got); diff != "" {
					t.Errorf("container %s: %s", c.Name, diff)
				}
			}
		})
	}
}

func TestDevicesOutput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	host, _ := w.State().Node("gpu-02")
	pod, claim := claimingPod()
	h := held{claimed: map[string][]int{}}
	if err := h.add(pod, "gpu", claim); err != nil {
		t.Fatal(err)
	}
	play := &worker{runtime: &runtime{world: w}, pod: pod, ctx: t.Context()}
	bashed := pod.Spec.Containers[1].DeepCopy()
	bashed.Command[0] = "bash"
	for name, tt := range map[string]struct {
		container corev1.Container
		want      string
	}{
		"with a device":    {pod.Spec.Containers[0], "begins\ndevice /dev/nvidia3\nGPU 0: NVIDIA H100 80GB HBM3 (UUID: " + host.GPUs[3].UUID + ")\nends\n"},
		"without":          {pod.Spec.Containers[1], "begins\n/bin/sh: 4: nvidia-smi: not found\nends\n"},
		"without, in bash": {*bashed, "begins\nbash: line 4: nvidia-smi: command not found\nends\n"},
	} {
		var out strings.Builder
		exit, err := play.devices(&out, tt.container, h)
		if err != nil || exit != 0 {
			t.Errorf("%s: exit %d, %v", name, exit, err)
		}
		if diff := cmp.Diff(tt.want, out.String()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if recognise(pod.Spec.Containers[1]) != kindDevices {
		t.Error("the script is not recognised")
	}
}

func TestLogsOfEveryContainer(t *testing.T) {
	t.Parallel()
	pod, _ := claimingPod()
	o := logsOf("secret", pod, logFile{container: "a", current: "/a/1", previous: "/a/0"}, logFile{container: "b", current: "/b/0"})
	want := []any{
		map[string]any{"containers": []any{"a"}, "logsFile": "/a/1", "follow": true, "previousLogsFile": "/a/0"},
		map[string]any{"containers": []any{"b"}, "logsFile": "/b/0", "follow": true},
	}
	if diff := cmp.Diff(want, o.Object["spec"].(map[string]any)["logs"]); diff != "" {
		t.Error(diff)
	}
}

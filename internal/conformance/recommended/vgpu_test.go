package recommended

import (
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/testpod"
	"github.com/firstlight/firstlight/internal/conformance/submission"
)

func TestJudgeVGPU(t *testing.T) {
	t.Parallel()
	const vgpu = "nvidia.com/GRID_A100-10C"
	offered := []virtualOffer{{Node: "gpu-01", Resources: map[string]int64{vgpu: 4}, What: map[string]string{vgpu: "a vGPU"}}, {Node: "gpu-02"}}
	given := allocation{
		Resource: vgpu, More: 5, One: testpod.Status{Node: "gpu-01", Phase: "Running", Containers: []testpod.ContainerStatus{{Running: true}}},
		TooMany: testpod.Status{Phase: "Pending", Scheduled: testpod.Scheduled{Status: "False", Reason: "Unschedulable", Message: "Insufficient " + vgpu}},
	}
	failed := given
	failed.One.Phase = "Failed"
	for name, tt := range map[string]struct {
		offered []virtualOffer
		tried   *allocation
		want    submission.Status
		says    string
	}{
		"offered and given out":  {offered, &given, submission.Implemented, "gpu-01: 4 nvidia.com/GRID_A100-10C (a vGPU)"},
		"offered, not given out": {offered, &failed, submission.PartiallyImplemented, "does not run"},
		"offered, and not tried": {offered, nil, "", "was not observed"},
		"through DRA alone":      {[]virtualOffer{{Node: "gpu-01", Devices: 8}}, nil, submission.PartiallyImplemented, "8 virtual devices through DRA; not virtual GPUs: they are devices of DRA only"},
		"none":                   {[]virtualOffer{{Node: "gpu-01"}, {Node: "gpu-02"}}, nil, submission.NotImplemented, "none of 2 nodes offers any"},
		"no nodes":               {nil, nil, "", "no node of the inventory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			obs := []check.Observation{observation(t, kindVirtualOffer, tt.offered)}
			if tt.tried != nil {
				obs = append(obs, observation(t, kindAllocation, tt.tried))
			}
			j := (&VGPU{nodes: []string{"gpu-01", "gpu-02"}}).Judge(obs)
			status, _ := submission.ShownBy(j.Verdict, j.Reason).Status()
			if status != tt.want || !strings.Contains(j.Reason, tt.says) {
				t.Errorf("%q: %s", status, j.Reason)
			}
		})
	}
	for _, j := range []check.Judgement{(&VGPU{nodes: []string{"gpu-01"}}).Judge(nil), (&VGPU{}).Judge([]check.Observation{observation(t, kindVirtualOffer, offered)})} {
		if j.Verdict != check.Unobserved {
			t.Errorf("%s: %s", j.Verdict, j.Reason)
		}
	}
}

func TestVirtualNames(t *testing.T) {
	t.Parallel()
	k, err := loadVirtualNames()
	if err != nil {
		t.Fatal(err)
	}
	for resource, virtual := range map[string]bool{
		"nvidia.com/GRID_T4-1Q": true, "nvidia.com/NVIDIA_A10-12Q": true, "aliyun.com/gpu-mem": true, "volcano.sh/vgpu-number": true,
		"nvidia.com/gpu": false, "nvidia.com/mig-1g.10gb": false, "example.com/aliyun.com/gpu-mem": false, "cpu": false,
	} {
		if got := k.description(resource) != ""; got != virtual {
			t.Errorf("%s is virtual: %t", resource, got)
		}
	}
	for _, r := range k.Resources {
		if r.What == "" || !strings.HasPrefix(r.Source, "https://") {
			t.Errorf("%+v", r)
		}
	}
	device := func(kind string) resourcev1.Device {
		return resourcev1.Device{Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"type": {StringValue: &kind}}}
	}
	n := k.devices([]resourcev1.ResourceSlice{{Spec: resourcev1.ResourceSliceSpec{NodeName: new("gpu-01"), Devices: []resourcev1.Device{device("gpu"), device("vgpu"), device("mig")}}}})
	if n["gpu-01"] != 1 {
		t.Errorf("%v", n)
	}
}

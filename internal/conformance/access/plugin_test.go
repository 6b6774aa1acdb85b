package access

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/site"
)

// plugged is healthy on a cluster without a DRA driver.
func plugged() *fixture {
	s := healthy()
	s.slices = []inventory.Slice{}
	s.free = freeNode{Plugin: true, Node: "gpu-01", Usage: map[string]kube.Usage{"gpu-01": {Allocatable: 2}}}
	s.pods[claimant].Claim, s.together[0].Claim = nil, nil
	return s
}

func TestJudgeDevicePlugin(t *testing.T) {
	t.Parallel()
	leak := Devices{Files: []string{"/dev/nvidia0", "/dev/nvidia1"}, UUIDs: []string{uuidA, uuidB}, Tool: toolLists}
	for name, tt := range map[string]struct {
		alter   func(*fixture)
		want    check.Verdict
		suspect string
		says    string
	}{
		"healthy":            {func(*fixture) {}, check.Passed, "", "with one nvidia.com/gpu saw its GPU and no other"},
		"two GPUs":           {func(s *fixture) { s.devices["claimant/claimed"].Devices = leak }, check.Failed, "gpu-01/device plugin", "want only one GPU"},
		"no GPU":             {func(s *fixture) { s.devices["claimant/claimed"].Devices = Devices{Tool: toolAbsent} }, check.Failed, "gpu-01/device plugin", "sees no GPU"},
		"a file alone":       {func(s *fixture) { s.devices["claimant/claimed"].UUIDs = nil }, check.Failed, "gpu-01/device plugin", "0 GPUs"},
		"the sibling too":    {func(s *fixture) { s.devices["claimant/sibling"].Devices = s.devices["claimant/claimed"].Devices }, check.Failed, "gpu-01/device plugin", "allocated to another"},
		"a bystander":        {func(s *fixture) { s.devices["bystander/looker"].Devices = leak }, check.Failed, "gpu-01/container runtime", "2 GPUs"},
		"by the environment": {func(s *fixture) { s.devices["asking/looker"].Devices = leak }, check.Failed, "gpu-01/container toolkit", "NVIDIA_VISIBLE_DEVICES"},
		"no log":             {func(s *fixture) { s.unreadable = []string{"claimant/claimed"} }, check.Unobserved, "", ""},
		"no GPU is free": {func(s *fixture) {
			s.free.Node = ""
			s.free.Usage["gpu-01"] = kube.Usage{Allocatable: 2, Requested: 2, Holders: []kube.Holder{{Namespace: "team", Pod: "train", Count: 2}}}
		}, check.Unobserved, "free GPUs", "pod team/train holds 2"},
		"it does not run": {func(s *fixture) { s.pods[claimant].Phase = "Pending" }, check.Unobserved, "pod ns/claimant", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := plugged()
			tt.alter(s)
			j := (&Check{nodes: []string{"gpu-01"}}).Judge(s.observations(t))
			lines := []string{j.Reason}
			for _, f := range j.Findings {
				lines = append(lines, f.Suspect+": "+f.Message)
			}
			text := strings.Join(lines, "\n")
			if j.Verdict != tt.want || !strings.Contains(text, tt.suspect) || !strings.Contains(text, tt.says) {
				t.Errorf("%s, want %s with %q and %q: %s", j.Verdict, tt.want, tt.suspect, tt.says, text)
			}
		})
	}
}

// The access is the DRA driver's where it offers a GPU or the site declares it, and else the device
// plugin's: then the first pod requests its resource.
func TestMediator(t *testing.T) {
	t.Parallel()
	s := healthy()
	c := &Check{nodes: []string{"gpu-01"}}
	if c.plugin(s.slices) || !c.plugin(nil) || !(&Check{nodes: []string{"gpu-02"}}).plugin(s.slices) {
		t.Error("the device plugin is chosen by the slices of the inventory's nodes")
	}
	if c.class = site.DRADeviceClass; c.plugin(nil) {
		t.Error("the site declares a DeviceClass")
	}
	for _, plugin := range []bool{true, false} {
		first := c.pods(freeNode{Node: "gpu-01", Plugin: plugin})[0]
		if got := first.Limits[kube.GPUResource]; (got == 1) != plugin || (first.Claim == nil) != plugin || first.Containers[0].Claims == plugin {
			t.Errorf("device plugin %v: limits %v, claim %v", plugin, first.Limits, first.Claim)
		}
	}
}

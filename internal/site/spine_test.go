package site

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/profile"
)

func singleNodeProfile(t *testing.T, name string) *profile.Profile {
	t.Helper()
	p, err := profile.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The file of a machine is read, whatever its host name.
func TestSingleNodeFile(t *testing.T) {
	t.Parallel()
	for host, want := range map[string][2]string{
		"gpu-01":                             {"gpu-01", "gpu-01"},
		"Lab_Box.example.com":                {"lab-box", "lab-box.example.com"},
		"--":                                 {"node", "node"},
		"":                                   {"node", "node"},
		strings.Repeat("a", 64) + ".example": {"single-node", strings.Repeat("a", 64) + ".example"},
	} {
		s, err := Parse("single-node.yaml", SingleNodeFile(host, singleNodeProfile(t, "h100-sxm")))
		if err != nil {
			t.Errorf("%q: %v", host, err)
			continue
		}
		if s.Name != want[0] || s.Inventory.Nodes[0].Name != want[1] || !s.SingleNode() || s.Reach.GPUTools != ToolsOnHost {
			t.Errorf("%q: %s, %+v, %s", host, s.Name, s.Inventory, s.Reach.GPUTools)
		}
	}
}

// A key without an effect on one machine is refused: its author would believe that it has one.
func TestSingleNodeRefuses(t *testing.T) {
	t.Parallel()
	good := string(SingleNodeFile("gpu-01", singleNodeProfile(t, "h100-sxm")))
	for name, c := range map[string]struct{ old, with, want string }{
		"facility":      {"profile:", "facility: {}\nprofile:", "facility: has no effect with spine single-node"},
		"telemetry":     {"profile:", "telemetry: {receiver: x}\nprofile:", "telemetry: has no effect"},
		"prepare":       {"profile:", "prepare: [{gate: node, command: [\"true\"]}]\nprofile:", "prepare: has no effect"},
		"an image":      {"timeout: 30m", "timeout: 30m\n    image: x", "workloads.collective.image: has no effect"},
		"a login":       {"profile:", "reach: {ssh: {user: root}}\nprofile:", "reach.ssh.user: has no effect"},
		"system nodes":  {"  nodes:", "  systemNodes: [{name: a}]\n  nodes:", "inventory.systemNodes: has no effect"},
		"two nodes":     {"{name: gpu-01}", "{name: gpu-01}\n    - {name: gpu-02}", "inventory.nodes: lists 2 nodes"},
		"no node":       {"- {name: gpu-01}", "[]", "inventory.nodes: is empty"},
		"an address":    {"{name: gpu-01}", "{name: gpu-01, address: \"h:22\"}", "address: has no effect"},
		"a fabric":      {"h100-sxm", "h100-sxm-ndr400", "has a compute fabric between nodes"},
		"pods":          {"profile:", "reach: {gpuTools: pod}\nprofile:", "spine single-node has no pods"},
		"another user":  {"profile:", "reach: {ssh: {become: doas}}\nprofile:", `"doas" is not sudo`},
		"a size":        {"timeout: 30m", "timeout: 30m\n    maxBytes: huge", "invalid size"},
		"no timeout":    {"timeout: 30m", "timeout: 0s", "must be more than zero"},
		"unknown gate":  {"profile:", "notApplicable: {storage: none}\nprofile:", `"storage" is not one of`},
		"a bad profile": {"h100-sxm", "h100-abacus", "h100-abacus"},
	} {
		_, err := Parse("single-node.yaml", []byte(strings.Replace(good, c.old, c.with, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	become := strings.Replace(good, "profile:", "reach: {ssh: {become: sudo}}\nprofile:", 1)
	if _, err := Parse("single-node.yaml", []byte(become)); err != nil {
		t.Error(err)
	}
}

func TestWhyNotApplicable(t *testing.T) {
	t.Parallel()
	all := func(names ...string) string { return strings.Join(names, " ") }
	for name, c := range map[string]struct {
		site    Site
		profile string
		want    string
	}{
		"NVLinks":          {Site{Spine: SpineSingleNode}, "h100-sxm", all("facility", "gpustack", "telemetry", "training", "inference")},
		"one GPU":          {Site{Spine: SpineSingleNode}, "a3-highgpu-1g", all("facility", "fabric", "gpustack", "telemetry", "collective", "training", "inference")},
		"no NVLinks":       {Site{Spine: SpineSingleNode}, "l40s", all("facility", "fabric", "gpustack", "telemetry", "collective", "training", "inference")},
		"a cluster":        {Site{Spine: SpineKubernetes, NotApplicable: map[string]string{"fabric": "none"}}, "h100-sxm", "fabric"},
		"the file's first": {Site{Spine: SpineSingleNode, NotApplicable: map[string]string{"facility": "none", "node": "none"}}, "h100-sxm", all("facility", "node", "gpustack", "telemetry", "training", "inference")},
	} {
		reasons := c.site.WhyNotApplicable(singleNodeProfile(t, c.profile))
		var got []string
		for _, gate := range Gates() {
			if reasons[gate] != "" {
				got = append(got, gate)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if own := c.site.NotApplicable["facility"]; own != "" && reasons["facility"] != own {
			t.Errorf("%s: %q", name, reasons["facility"])
		}
	}
}

// The example is a site of one machine.
func TestSingleNodeExample(t *testing.T) {
	t.Parallel()
	s, err := Load("../../examples/sites/single-node.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if !s.SingleNode() || s.Reach.SSH.Become != Sudo || s.Inventory.DriverVersion == "" || !s.OnMachine("GPU-01.example.com") || s.OnMachine("gpu-02") {
		t.Errorf("%+v", s)
	}
}

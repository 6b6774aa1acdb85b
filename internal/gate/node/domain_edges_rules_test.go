package node_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
	"github.com/firstlight/firstlight/internal/probe/ssh"
)

// says reports whether a finding of a suspect has a text.
func says(j check.Judgement, suspect, text string) bool {
	return slices.ContainsFunc(j.Findings, func(f check.Finding) bool { return f.Suspect == suspect && strings.Contains(f.Message, text) })
}

// absent is a machine without a fabric manager of its own.
func absent() nvidia.FabricManager {
	return nvidia.FabricManager{Unit: &nvidia.Unit{Load: "not-found", Active: "inactive", Sub: "dead"}, Processes: new(0)}
}

// A machine without a manager passes only if each of its GPUs has joined the fabric, wholly; the
// verdict then says that the manager was not judged.
func TestAMachineWithoutAManagerHasJoinedTheFabric(t *testing.T) {
	t.Parallel()
	const fails, notes = "the fabric manager does not run", "the manager runs elsewhere, and is not judged"
	joined := func(state, status string) func(*hostSeen) {
		return func(h *hostSeen) {
			h.gpu(3, func(g *nvidia.GPU) { g.FabricState, g.FabricStatus = state, status })
		}
	}
	for name, tt := range map[string]struct {
		change func(*hostSeen)
		noted  bool
	}{
		"joined":                     {func(*hostSeen) {}, true},
		"joined, without systemd":    {func(h *hostSeen) { h.Manager.Unit = nil }, true},
		"one GPU still joins":        {joined("In Progress", "Success"), false},
		"one GPU could not":          {joined("Completed", "Failure"), false},
		"no GPU":                     {func(h *hostSeen) { h.Before.Log.GPUs, h.After.Log.GPUs = nil, nil }, false},
		"one GPU alone has joined":   {func(h *hostSeen) { h.Before.Log.GPUs, h.After.Log.GPUs = h.Before.Log.GPUs[:1], h.After.Log.GPUs[:1] }, true},
		"a unit that was stopped":    {func(h *hostSeen) { h.Manager.Unit.Load = "loaded" }, false},
		"a program is on the host":   {func(h *hostSeen) { h.Manager.Version = h.Before.Log.Driver }, false},
		"no document shows its GPUs": {func(h *hostSeen) { h.Gone["nvidia-smi"], h.Gone["nvidia-smi-after"] = true, true }, false},
	} {
		hosts := healthy(t, 2)
		hosts[1].Manager = absent()
		tt.change(hosts[1])
		j := judge(t, hosts)
		if says(j, "gpu-02", notes) != tt.noted || says(j, "gpu-02", fails) == tt.noted || says(j, "gpu-01", fails) {
			t.Errorf("%s: %s: %+v", name, j.Verdict, j.Findings)
		}
	}
}

// A unit runs if it is active and its program runs; where processes are hidden, nothing else shows it.
func TestAUnitWithHiddenProcesses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		active, sub string
		want        check.Verdict
	}{{"active", "running", check.Passed}, {"active", "exited", check.Unobserved}, {"failed", "running", check.Unobserved}} {
		hosts := healthy(t, 2)
		hosts[1].Manager.Unit, hosts[1].Manager.Processes = &nvidia.Unit{Load: "loaded", Active: tt.active, Sub: tt.sub}, nil
		if j := judge(t, hosts); j.Verdict != tt.want || says(j, "gpu-02", "are hidden") != (tt.want == check.Unobserved) {
			t.Errorf("%s (%s): %s: %+v", tt.active, tt.sub, j.Verdict, j.Findings)
		}
	}
}

// The version of a manager is compared where the host's own program is what runs: not without a
// program, not of a unit that is gone, and not without the driver's version.
func TestTheVersionOfAManager(t *testing.T) {
	t.Parallel()
	const other, compared, noProgram = "570.124.06", "the fabric manager is 570.124.06", "has no program nv-fabricmanager"
	for name, tt := range map[string]struct {
		change   func(*hostSeen)
		want     check.Verdict
		compared bool
		noted    bool
	}{
		"a process without systemd and program": {func(h *hostSeen) { h.Manager.Unit, h.Manager.Version = nil, "" }, check.Passed, false, true},
		"another program without systemd":       {func(h *hostSeen) { h.Manager.Unit, h.Manager.Version = nil, other }, check.Failed, true, false},
		"another program, of a unit that is gone": {func(h *hostSeen) {
			h.Manager.Unit, h.Manager.Version = &nvidia.Unit{Load: "not-found", Active: "failed", Sub: "failed"}, other
		}, check.Passed, false, false},
		"another program, without a document": {func(h *hostSeen) {
			h.Manager.Version, h.Gone["nvidia-smi"], h.Gone["nvidia-smi-after"] = other, true, true
		}, check.Unobserved, false, false},
	} {
		hosts := healthy(t, 2)
		tt.change(hosts[1])
		if j := judge(t, hosts); j.Verdict != tt.want || says(j, "gpu-02", "nvidia-smi was not run") != hosts[1].Gone["nvidia-smi"] || says(j, "gpu-02", compared) != tt.compared || says(j, "gpu-02", noProgram) != tt.noted {
			t.Errorf("%s: %s: %+v", name, j.Verdict, j.Findings)
		}
	}
}

// Without NVSwitches of its own a host's manager is not judged, and a manager that was not
// observed is reported once.
func TestAManagerThatIsNotJudged(t *testing.T) {
	t.Parallel()
	p, hosts := testProfile(t), healthy(t, 2)
	p.Node.NVLinkDomain = nil
	hosts[1].Manager = nvidia.FabricManager{Unit: &nvidia.Unit{Load: "loaded", Active: "failed", Sub: "failed"}, Processes: new(0)}
	checktest.Judged(t, plan.Judge(node.New(testSite(2), p, node.Deps{}), observations(t, hosts)), check.Passed, "", "")
	hosts = healthy(t, 2)
	hosts[1].Gone["nvidia-fabricmanager"] = true
	if j := judge(t, hosts); says(j, "gpu-02", "whether the fabric manager runs is unknown") || !says(j, "gpu-02", "was not run") {
		t.Errorf("%+v", j.Findings)
	}
}

// Hosts that show no NVLink domain are in none: they do not fill one, nor are they one too many, and
// a GPU that cannot be read is reported by its error alone.
func TestHostsWithoutAnNVLinkDomain(t *testing.T) {
	t.Parallel()
	const one, other = "00000001-0000-0000-0000-000000000001", "00000002-0000-0000-0000-000000000001"
	in := func(h *hostSeen, cluster string) {
		for i := range gpusPerNode {
			h.gpu(i, func(g *nvidia.GPU) { g.FabricCluster, g.FabricClique = cluster, "32766" })
		}
	}
	judged := func(size float64, hosts []*hostSeen) check.Judgement {
		p := testProfile(t)
		p.Node.NVLinkDomain.Value = size
		return plan.Judge(node.New(testSite(3), p, node.Deps{}), observations(t, hosts))
	}
	hosts := healthy(t, 3)
	for _, h := range hosts {
		in(h, "")
	}
	if j := judged(2, hosts); j.Verdict != check.Unobserved || !says(j, "gpu-01/gpu0", "does not report its NVLink domain") {
		t.Errorf("no domain at all: %s: %+v", j.Verdict, j.Findings)
	}
	in(hosts[0], one)
	in(hosts[1], other)
	if j := judged(18, hosts); !says(j, "gpu-01", "in 2 domains and fill 1") || !says(j, "gpu-02", "in 2 domains") || says(j, "gpu-03", "domains") {
		t.Errorf("two domains, and a host in none: %+v", j.Findings)
	}
	in(hosts[1], one)
	in(hosts[2], one)
	hosts[2].gpu(5, func(g *nvidia.GPU) { g.Errors, g.FabricCluster = []string{"uuid: Unknown Error"}, "" })
	if j := judged(18, hosts); j.Verdict == check.Passed || says(j, "gpu-03/gpu5", "NVLink domain") {
		t.Errorf("a GPU that cannot be read: %s: %+v", j.Verdict, j.Findings)
	}
	hosts[2].Gone["nvidia-smi"], hosts[2].Gone["nvidia-smi-after"] = true, true
	if j := judged(18, hosts); !says(j, "gpu-03", "nvidia-smi was not run") {
		t.Errorf("a host without a document: %+v", j.Findings)
	}
	hosts[2].Gone["nvidia-smi"], hosts[2].Gone["nvidia-smi-after"] = false, false
	j := judged(2, hosts)
	if !says(j, "gpu-01", "has 3 nodes, expected at most 2") {
		t.Errorf("%+v", j.Findings)
	}
	for _, f := range j.Findings {
		if strings.Contains(f.Message, "expected at most 2") && (len(f.Observations) == 0 || f.Observations[0] == "") {
			t.Errorf("a finding names its document: %+v", f)
		}
	}
}

// The trial of the command refuses a host on which neither systemd nor /proc shows the manager: the
// gate would be unobserved there after its diagnostics.
func TestTheTrialOfTheManager(t *testing.T) {
	t.Parallel()
	var read func(ssh.Output) (string, error)
	for _, c := range node.New(testSite(2), testProfile(t), node.Deps{}).HostCommands() {
		if slices.Equal(c.Argv, nvidia.FabricManagerCommand()) {
			read = c.Read
		}
	}
	if read == nil {
		t.Fatal("the command of the manager has no trial")
	}
	const unit, process = "LoadState=loaded\nActiveState=active\nSubState=running\n", "pid:[4026531836]\n/proc/1/comm:systemd\n/proc/9/comm:nv-fabricmanage\n"
	const version = "Fabric Manager version is : 580.105.08\n"
	for name, tt := range map[string]struct{ unit, processes, version, want, says string }{
		"both":           {unit, process, version, "580.105.08", ""},
		"systemd alone":  {unit, "", version, "580.105.08", ""},
		"/proc alone":    {"", process, version, "580.105.08", ""},
		"neither":        {"", "", version, "580.105.08", "neither systemd nor /proc shows"},
		"no version":     {unit, process, "", "", ""},
		"another output": {"Id=nvidia\n", process, version, "", "expected LoadState"},
	} {
		got, err := read(ssh.Output{Stdout: []byte("=unit=\n" + tt.unit + "=processes=\n" + tt.processes + "=version=\n" + tt.version)})
		if got != tt.want || (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

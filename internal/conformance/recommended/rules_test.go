package recommended

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/conformance/dra/testpod"
)

// The states of a pod, as they are stored.
var (
	notPulled  = map[string]any{"pod": "ns/p", "phase": "Pending", "containers": []any{map[string]any{"waiting": "ImagePullBackOff"}}}
	notPlaced  = map[string]any{"pod": "ns/p", "phase": "Pending", "scheduled": map[string]any{"status": "False", "reason": "Unschedulable", "message": "no room"}}
	notRunning = map[string]any{"pod": "ns/p", "phase": "Pending"}
	isRunning  = map[string]any{"uid": "u", "pod": "ns/p", "phase": "Running", "node": "gpu-01", "containers": []any{map[string]any{"running": true}}}
	hasEnded   = map[string]any{"pod": "ns/p", "phase": "Succeeded"}
	hasNode    = map[string]any{"pod": "ns/p", "phase": "Pending", "node": "gpu-01"}
)

func TestRulesOfAllocation(t *testing.T) {
	t.Parallel()
	const of = kindAllocation
	judge := func(obs []check.Observation) check.Judgement {
		var a assessment
		if s, id, ok := require[allocation](&a, obs, of, ""); ok {
			if s.judge(&a, id) != (len(a.parts) == 1) {
				a.unmet(id, "allocation", "", "reported otherwise than it was assessed")
			}
		}
		return a.judgement()
	}
	checktest.Rules(t, judge, []check.Observation{observation(t, of, healthyAllocation())}, []checktest.Rule{
		checktest.When("one pod gets the resource, too many do not").Passes(),
		checktest.When("an image that cannot be pulled proves nothing", checktest.Set(of, ".one", notPulled)).Unobserved("pod ns/p", "cannot pull its image"),
		checktest.When("a resource that is in use proves nothing", checktest.Set(of, ".one", notPlaced)).Unobserved("pod ns/p", "no rdma/ib is free"),
		checktest.When("a pod that does not run has none", checktest.Set(of, ".one", notRunning)).Fails("pod ns/p", "does not run"),
		checktest.When("a pod with too many may not run", checktest.Set(of, ".tooMany", isRunning)).Fails("pod ns/p", "was placed"),
		checktest.When("a pod with too many may not have run", checktest.Set(of, ".tooMany", hasEnded)).Fails("pod ns/p", "was placed"),
		checktest.When("a pod with too many may not have a node", checktest.Set(of, ".tooMany", hasNode)).Fails("pod ns/p", "was placed"),
		checktest.When("a pod with too many must be refused", checktest.Set(of, ".tooMany", notRunning)).Unobserved("pod ns/p", "is not unschedulable because of"),
		checktest.When("a pod with too many must be refused for the resource", checktest.Set(of, ".tooMany", notPlaced)).Unobserved("pod ns/p", "is not unschedulable because of"),
	})
}

func TestRulesOfSandbox(t *testing.T) {
	t.Parallel()
	const of = kindSandboxed
	one := []check.Observation{observationOf(t, kindClasses, "cluster", []runtimeClass{classOf("gvisor")}), observationOf(t, of, "gvisor", isolated("gvisor"))}
	checktest.Rules(t, (&Sandbox{}).Judge, one, []checktest.Rule{
		checktest.When("a kernel of its own is a sandbox").Passes(),
		checktest.When("an image that cannot be pulled proves nothing", checktest.Set(of, ".sandbox", notPulled)).Unobserved("pod ns/p", "cannot pull"),
		checktest.When("a plain image that cannot be pulled proves nothing", checktest.Set(of, ".plain", notPulled)).Unobserved("pod ns/sandbox", "cannot pull"),
		checktest.When("a class without nodes is partial", checktest.Set(of, ".sandbox", notPlaced)).Unobserved("pod ns/p", "no node takes it"),
		checktest.When("a pod that does not run is partial", checktest.Set(of, ".sandbox", notRunning)).Unobserved("pod ns/p", "does not run"),
		checktest.When("the kernel inside is known", checktest.Set(of, ".inside", checktest.LeftOut)).Unobserved("pod ns/sandbox", "does not name its kernel"),
		checktest.When("the kernel outside is known", checktest.Set(of, ".outside", checktest.LeftOut)).Unobserved("pod ns/plain", "does not name its kernel"),
		checktest.When("two nodes have two kernels anyway", checktest.Set(of, ".plain.node", "gpu-02")).Unobserved("pod ns/plain", "two nodes"),
		checktest.When("one kernel is shared", checktest.Set(of, ".inside", map[string]any{"version": "Linux version 5.15.0"})).Fails("RuntimeClass gvisor", "runs on the node's own kernel"),
		checktest.When("without a class there is no sandbox", checktest.Set(kindClasses, "[0].shares", true)).Fails("RuntimeClass", "share the node's kernel: gvisor (handler handler-of-gvisor)"),
	})
	// The best class decides: a sandbox, then an unknown class, then a partial one.
	two := append(one, observationOf(t, of, "kata", isolated("kata")))
	two[0] = observationOf(t, kindClasses, "cluster", []runtimeClass{classOf("gvisor"), classOf("kata")})
	first, second := of+"@gvisor", of+"@kata"
	shared := map[string]any{"version": "Linux version 5.15.0"}
	checktest.Rules(t, (&Sandbox{}).Judge, two, []checktest.Rule{
		checktest.When("the second class is a sandbox, the first shares the kernel", checktest.Set(first, ".inside", shared)).Passes(),
		checktest.When("the first class is a sandbox, the second shares the kernel", checktest.Set(second, ".inside", shared)).Passes(),
		checktest.When("the second class is a sandbox, the first is unknown", checktest.Set(first, ".inside", checktest.LeftOut)).Passes(),
		checktest.When("the first class is a sandbox, the second is unknown", checktest.Set(second, ".inside", checktest.LeftOut)).Passes(),
		checktest.When("an unknown class after a partial one", checktest.Set(first, ".sandbox", notRunning), checktest.Set(second, ".inside", checktest.LeftOut)).Unobserved("pod ns/sandbox", "does not name its kernel"),
		checktest.When("an unknown class before a partial one", checktest.Set(first, ".inside", checktest.LeftOut), checktest.Set(second, ".sandbox", notRunning)).Unobserved("pod ns/sandbox", "does not name its kernel"),
		checktest.When("a partial class after none", checktest.Set(first, ".inside", shared), checktest.Set(second, ".sandbox", notRunning)).Unobserved("pod ns/p", "does not run"),
		checktest.When("a partial class before none", checktest.Set(first, ".sandbox", notRunning), checktest.Set(second, ".inside", shared)).Unobserved("pod ns/p", "does not run"),
		checktest.When("none of two", checktest.Set(first, ".inside", shared), checktest.Set(second, ".inside", shared)).Fails("RuntimeClass gvisor", "own kernel"),
	})
}

func TestOfEqualClassesTheFirstIsNamed(t *testing.T) {
	t.Parallel()
	j := (&Sandbox{}).Judge([]check.Observation{
		observationOf(t, kindClasses, "cluster", []runtimeClass{classOf("gvisor"), classOf("kata")}),
		observationOf(t, kindSandboxed, "gvisor", isolated("gvisor")), observationOf(t, kindSandboxed, "kata", isolated("kata")),
	})
	if j.Verdict != check.Passed || !strings.Contains(j.Reason, "RuntimeClass gvisor") {
		t.Errorf("%s: %s", j.Verdict, j.Reason)
	}
}

func TestRulesOfDrivers(t *testing.T) {
	t.Parallel()
	c := &Drivers{nodes: []string{"gpu-01", "gpu-02"}}
	checktest.Rules(t, c.Judge, healthyDrivers().observations(t), []checktest.Rule{
		checktest.When("every device has its versions").Passes(),
		checktest.When("a device has its driver", checktest.Set(kindDriverDevices, "[0].driver", "")).Unobserved("gpu-01", "has no attribute"),
		checktest.When("a device has its CUDA version", checktest.Set(kindDriverDevices, "[0].cuda", "")).Unobserved("gpu-01", "has no attribute"),
		checktest.When("a node has one driver", checktest.Set(kindDriverDevices, "[0].driver", "570.1.1")).Unobserved("gpu-01", "several versions"),
		checktest.When("a node has one CUDA version", checktest.Set(kindDriverDevices, "[0].cuda", "12.0.0")).Unobserved("gpu-01", "several versions"),
		checktest.When("a node has devices", checktest.Set(kindDriverDevices, "[0].node", "x"), checktest.Set(kindDriverDevices, "[1].node", "x")).Unobserved("gpu-01", "publishes no device"),
		checktest.When("the nodes have one CUDA version", checktest.Set(kindDriverDevices, "[2].cuda", "12.0.0"), checktest.Set(kindDriverDevices, "[3].cuda", "12.0.0")).Unobserved("nodes", "they run different drivers"),
		checktest.When("the nodes have one driver", checktest.Set(kindDriverDevices, "[2].driver", "550.1.1"), checktest.Set(kindDriverDevices, "[3].driver", "550.1.1")).Unobserved("nodes", "different drivers: driver 550.1.1 with CUDA 13.0.0; driver 580.105.8 with CUDA 13.0.0"),
		checktest.When("a node has a label", checktest.Set(kindDriverNodes, "[0].driver", "")).Unobserved("gpu-01", "it has no label"),
		checktest.When("a node exists", checktest.Set(kindDriverNodes, "[0].node", "x")).Unobserved("gpu-01", "node not found"),
		checktest.When("a label agrees", checktest.Set(kindDriverNodes, "[0].driver", "580.105.9")).Unobserved("gpu-01", "by its label"),
		checktest.When("zeros before a number are no other version", checktest.Set(kindDriverNodes, "[0].driver", "0580.105.008.0")).Passes(),
		checktest.When("a number of zeros is a number", checktest.Set(kindDriverNodes, "[0].driver", "580.00.8")).Unobserved("gpu-01", "by its label"),
		checktest.When("all pods of a DaemonSet are ready", checktest.Set(kindDriverOperands, "[0].ready", 1)).Unobserved("daemonset gpu-operator/nvidia-driver-daemonset", "1 of 2"),
		checktest.When("a DaemonSet has pods", checktest.Set(kindDriverOperands, "[0].ready", 0), checktest.Set(kindDriverOperands, "[0].desired", 0)).Unobserved("daemonset gpu-operator/nvidia-driver-daemonset", "0 of 0"),
	})
	for version, want := range map[string]string{"580.105.08": "580.105.8", "580.105.0": "580.105", "580.0.0": "580", "0": "0", "0.0": "0", "00.1": "0.1", "10.20": "10.20"} {
		if got := normalVersion(version); got != want {
			t.Errorf("version %s is normalised to %s, want %s", version, got, want)
		}
	}
}

func TestLabelsCountWithoutTheDevicesOfANode(t *testing.T) {
	t.Parallel()
	c := &Drivers{nodes: []string{"gpu-01", "gpu-02"}}
	const labels = "the labels of GPU feature discovery give the driver of all 2 nodes"
	judge := func(change func(*driversFixture)) []string {
		s := healthyDrivers()
		change(&s)
		var a assessment
		c.judgeLabels(&a, "1", s.devices, s.nodes)
		return a.parts
	}
	if parts := judge(func(s *driversFixture) { s.devices = nil }); len(parts) != 1 || parts[0] != labels {
		t.Errorf("without devices: %q", parts)
	}
	if parts := judge(func(s *driversFixture) { s.devices[0].Driver, s.devices[1].Driver = "", "" }); len(parts) != 1 || parts[0] != labels {
		t.Errorf("without the driver of one node's devices: %q", parts)
	}
	if parts := judge(func(s *driversFixture) { s.devices = s.devices[:2]; s.nodes[0].Driver = "1" }); len(parts) != 0 {
		t.Errorf("with a label that differs: %q", parts)
	}
	if parts := judge(func(s *driversFixture) { s.devices = nil; s.nodes[1].Driver = "" }); len(parts) != 0 {
		t.Errorf("with one label: %q", parts)
	}
}

func TestRulesOfSharing(t *testing.T) {
	t.Parallel()
	c := &Sharing{nodes: []string{"gpu-01"}}
	checktest.Rules(t, c.Judge, healthySharing().observations(t), []checktest.Rule{
		checktest.When("shared by a claim and in parts").Passes(),
		checktest.When("a node is offered", checktest.Set(kindSharedOffer, "", []any{})).Unobserved("nodes", "no node of the inventory"),
		checktest.When("a GPU is free", checktest.Set(kindFree, "[0].offered", 0)).Unobserved("free GPUs", "no node of the inventory"),
		checktest.When("both pods are observed", checktest.Set(kindShared, ".pods", []any{isRunning})).Unobserved("pods that share a claim", "1 of 2"),
		checktest.When("the pods have their image", checktest.Set(kindShared, ".pods[last]", notPulled)).Unobserved("pod ns/p", "cannot pull"),
		checktest.When("both pods run", checktest.Set(kindShared, ".pods[last]", notRunning)).Unobserved("pod ns/p", "does not run"),
		checktest.When("the claim has one device", checktest.Set(kindShared, ".claim.devices[0]", checktest.Twice)).Unobserved("ResourceClaim "+claimName, "it has 2 devices"),
		checktest.When("the claim has a device", checktest.Set(kindShared, ".claim.devices", []any{})).Unobserved("ResourceClaim "+claimName, "it has 0 devices"),
		checktest.When("the claim is reserved for both", checktest.Set(kindShared, ".claim.reservedFor", []any{"first"})).Unobserved("ResourceClaim "+claimName, "not reserved for both"),
		checktest.When("a separate claim gets another GPU", checktest.Set(kindShared, ".alone.claim.devices", []testpod.Device{gpuDevice("gpu-0")})).Unobserved("pod ns/alone", "it got the shared GPU"),
		checktest.When("a separate claim may wait", checktest.Set(kindShared, ".alone", notPlaced)).Passes(),
		checktest.When("a separate claim must be decided", checktest.Set(kindShared, ".alone", notRunning)).Unobserved("pod ns/p", "neither placed nor unschedulable"),
		checktest.When("a separate claim must be allocated", checktest.Set(kindShared, ".alone.claim.allocated", false)).Unobserved("pod ns/alone", "neither placed nor unschedulable"),
		checktest.When("both pods with a part run", checktest.Set(kindParts, ".pods[last]", notRunning)).Unobserved("pod ns/p", "does not run"),
		checktest.When("both pods with a part are observed", checktest.Set(kindParts, ".pods", []any{isRunning})).Unobserved("pods with a nvidia.com/mig-1g.10gb", "1 of 2"),
		checktest.When("pods with a part are observed", checktest.Set(kindParts, ".pods", []any{})).Unobserved("pods with a nvidia.com/mig-1g.10gb", "0 of 2"),
		checktest.When("pods with a part have their image", checktest.Set(kindParts, ".pods[0]", notPulled)).Unobserved("pod ns/p", "cannot pull"),
		checktest.When("a part is free", checktest.Set(kindParts, ".pods[0]", notPlaced)).Unobserved("pod ns/p", "is free on gpu-01"),
		checktest.When("two parts of one resource are needed", checktest.Set(kindSharedOffer, `[0].parts`, map[string]any{"a": 1, "b": 1})).Unobserved("partitions", "not two of one extended resource"),
		checktest.When("two parts of one resource are enough", checktest.Set(kindSharedOffer, `[0].parts`, map[string]any{"a": 1, "b": 2})).Passes(),
		checktest.When("a GPU that can be partitioned is", checktest.Set(kindSharedOffer, `[0].parts`, map[string]any{})).Unobserved("partitions", "GPUs of 1 nodes can be partitioned"),
		checktest.When("a GPU that cannot be partitioned need not be", checktest.Set(kindSharedOffer, `[0].parts`, map[string]any{}), checktest.Set(kindSharedOffer, `[0].capable`, false)).Passes(),
	})
}

func TestRulesOfNetwork(t *testing.T) {
	t.Parallel()
	c := &Network{nodes: []string{"gpu-01", "gpu-02"}}
	const of = kindNetworkClaim
	byDRA := []check.Observation{observation(t, kindNetworkOffer, withClass(offersOf(withDRA(), withDRA()))), observation(t, of, claimedDevice(dranet))}
	checktest.Rules(t, c.Judge, byDRA, []checktest.Rule{
		checktest.When("devices of every node can be claimed").Passes(),
		checktest.When("a node is found", checktest.Set(kindNetworkOffer, ".nodes", []any{})).Unobserved("nodes", "no node of the inventory"),
		checktest.When("every node publishes devices", checktest.Set(kindNetworkOffer, ".nodes[last].devices", map[string]any{}), checktest.Set(kindNetworkOffer, ".nodes[last].attributes", map[string]any{})).Unobserved("DRA", "1 of 2 nodes"),
		checktest.When("a class selects the devices", checktest.Set(kindNetworkOffer, ".classes", map[string]any{})).Unobserved("DeviceClass", "none selects devices"),
		checktest.When("the image is pulled", checktest.Set(of, "", notPulled)).Unobserved("pod ns/p", "cannot pull"),
		checktest.When("a device is free", checktest.Set(of, "", notPlaced)).Unobserved("pod ns/p", "was not allocated"),
		checktest.When("the pod runs", checktest.Set(of, ".phase", "Pending"), checktest.Set(of, ".containers", []any{})).Unobserved("pod ns/claimant", "does not run with one"),
		checktest.When("the pod has a claim", checktest.Set(of, ".claim", checktest.LeftOut)).Unobserved("pod ns/claimant", "does not run with one"),
		checktest.When("the claim is allocated", checktest.Set(of, ".claim.allocated", false)).Unobserved("pod ns/claimant", "does not run with one"),
		checktest.When("the claim has one device", checktest.Set(of, ".claim.devices[0]", checktest.Twice)).Unobserved("pod ns/claimant", "does not run with one"),
		checktest.When("the claim has a device", checktest.Set(of, ".claim.devices", []any{})).Unobserved("pod ns/claimant", "does not run with one"),
		checktest.When("the device is the driver's", checktest.Set(of, ".claim.devices[0].driver", "other")).Unobserved("pod ns/claimant", "does not run with one"),
	})
	byResource := []check.Observation{observation(t, kindNetworkOffer, offersOf(withResource(), withResource())), observation(t, kindAllocation, allocatedRDMA())}
	checktest.Rules(t, c.Judge, byResource, []checktest.Rule{
		checktest.When("a resource alone is partial").Unobserved("DRA", "no driver publishes network devices"),
		checktest.When("every node has the resource", checktest.Set(kindNetworkOffer, ".nodes[last].resources", map[string]any{})).Unobserved("nodes", "1 of 2 have rdma/ib: gpu-01"),
		checktest.When("the resource is allocated", checktest.Set(kindAllocation, ".one", notRunning)).Fails("pod ns/p", "does not run"),
		checktest.When("neither devices nor a resource", checktest.Set(kindNetworkOffer, ".nodes[*].resources", map[string]any{})).Fails("network devices", "none of 2 nodes"),
	})
}

func TestRulesOfVGPU(t *testing.T) {
	t.Parallel()
	c := &VGPU{nodes: []string{"gpu-01"}}
	offer := virtualOffer{Node: "gpu-01", Resources: map[string]int64{"rdma/ib": 1}, What: map[string]string{"rdma/ib": "a vGPU"}}
	checktest.Rules(t, c.Judge, []check.Observation{observation(t, kindVirtualOffer, []virtualOffer{offer}), observation(t, kindAllocation, healthyAllocation())}, []checktest.Rule{
		checktest.When("a vGPU is allocated").Passes(),
		checktest.When("a node is found", checktest.Set(kindVirtualOffer, "", []any{})).Unobserved("nodes", "no node of the inventory"),
		checktest.When("a vGPU is offered", checktest.Set(kindVirtualOffer, "[0].resources", map[string]any{})).Fails("virtual GPUs", "none of 1 nodes offers any"),
		checktest.When("devices alone were not allocated", checktest.Set(kindVirtualOffer, "[0].resources", map[string]any{}), checktest.Set(kindVirtualOffer, "[0].devices", 1)).Unobserved("virtual GPUs", "none was allocated"),
		checktest.When("the vGPU is allocated", checktest.Set(kindAllocation, ".one", notRunning)).Unobserved("pod ns/p", "does not run"),
	})
	for want, o := range map[string]virtualOffer{
		"1 rdma/ib (a vGPU)":                                offer,
		"2 virtual devices through DRA":                     {Devices: 2},
		"1 rdma/ib (a vGPU), 1 virtual devices through DRA": {Resources: offer.Resources, What: offer.What, Devices: 1},
		"": {},
	} {
		if got := o.describe(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestRulesOfPools(t *testing.T) {
	t.Parallel()
	obs := []check.Observation{
		observation(t, kindPoolAPI, poolAPI{Version: "v1"}), observation(t, kindPools, []pool{healthyPool()}),
		observation(t, kindRequest, ModelAnswer{Service: "llm/gw:80", Models: []string{"m"}, Done: true, Tokens: 1}),
	}
	checktest.Rules(t, (&Pools{}).Judge, obs, []checktest.Rule{
		checktest.When("a model answers").Passes(),
		checktest.When("an answer is of a model", checktest.Set(kindRequest, ".models", []any{})).Unobserved("Service llm/gw:80", "a request through it failed"),
		checktest.When("a model server is ready", checktest.Set(kindPools, "[0].ready", 0)).Unobserved("InferencePool", "llm/qwen: "),
		checktest.When("the picker is ready", checktest.Set(kindPools, "[0].pickerReady", 0)).Unobserved("InferencePool", "llm/qwen: "),
		checktest.When("the Gateway has a Service", checktest.Set(kindPools, "[0].parents[0].service", "")).Unobserved("InferencePool", "no Service has the label of Gateway llm/gw"),
	})
}

func TestRulesOfDisaggregated(t *testing.T) {
	t.Parallel()
	obs := []check.Observation{
		observation(t, kindOperators, operatorsOf("v1alpha1", inferenceObject{Name: "llm/a", Ready: true}, inferenceObject{Name: "llm/b", Ready: true})),
		observation(t, kindPhases, phasePods(prefill, decode)),
		observation(t, kindRequest, []ModelAnswer{{Service: "llm/a:80", Models: []string{"m"}, Done: true}}),
	}
	checktest.Rules(t, (&Disaggregated{}).Judge, obs, []checktest.Rule{
		checktest.When("both phases run, and a model answers").Passes(),
		checktest.When("one object that is ready is enough", checktest.Set(kindOperators, "[0].objects[0].ready", false)).Passes(),
		checktest.When("one object is ready", checktest.Set(kindOperators, "[0].objects[*].ready", false)).Unobserved("operators", "none of their objects is ready: dynamographdeployments.nvidia.com llm/a, dynamographdeployments.nvidia.com llm/b"),
		checktest.When("an answer is of a model", checktest.Set(kindRequest, "[0].models", []any{})).Unobserved("requests", "all failed: llm/a:80"),
		checktest.When("an answer was given", checktest.Set(kindRequest, "[0].done", false)).Unobserved("requests", "all failed: llm/a:80"),
		checktest.When("a request was sent", checktest.Set(kindRequest, "", []any{})).Unobserved("requests", "no Service that selects no pod"),
		checktest.When("a decode instance is ready", checktest.Set(kindPhases, "[1].ready", false)).Unobserved("phases", "prefill 1 of 1 ready, decode 0 of 1 ready"),
		checktest.When("a prefill instance is ready", checktest.Set(kindPhases, "[0].ready", false)).Unobserved("phases", "prefill 0 of 1 ready, decode 1 of 1 ready"),
	})
}

func TestChecksWithoutAnInventoryProveNothing(t *testing.T) {
	t.Parallel()
	for name, judge := range map[string]func([]check.Observation) check.Judgement{
		"drivers": (&Drivers{}).Judge, "network": (&Network{}).Judge, "sharing": (&Sharing{}).Judge, "vGPU": (&VGPU{}).Judge,
	} {
		if j := judge(nil); j.Verdict != check.Unobserved || j.Reason != noInventory().Reason {
			t.Errorf("%s: %s: %s", name, j.Verdict, j.Reason)
		}
	}
}

func TestAReasonNamesAtMostThreeFindings(t *testing.T) {
	t.Parallel()
	all := []check.Finding{{Suspect: "a", Message: "1"}, {Suspect: "b", Message: "2"}, {Suspect: "c", Message: "3"}, {Suspect: "d", Message: "4"}, {Suspect: "e", Message: "5"}}
	for n, want := range map[int]string{0: "", 1: "a: 1", 3: "a: 1; b: 2; c: 3", 4: "a: 1; b: 2; c: 3; and 1 more", 5: "a: 1; b: 2; c: 3; and 2 more"} {
		if got := summary(all[:n]); got != want {
			t.Errorf("%d findings: %q", n, got)
		}
	}
}

func TestAPartThatWasNotObservedIsNotJudged(t *testing.T) {
	t.Parallel()
	count := func(j check.Judgement, says string) (n int) {
		for _, f := range j.Findings {
			if strings.Contains(f.Message, says) {
				n++
			}
		}
		return n
	}
	drivers := healthyDrivers()
	drivers.unreadable, drivers.nodes[0].Driver = kindDriverDevices, ""
	if j := (&Drivers{nodes: []string{"gpu-01", "gpu-02"}}).Judge(drivers.observations(t)); count(j, "it has no label") != 0 || len(j.Findings) != 1 {
		t.Errorf("labels without devices: %+v", j.Findings)
	}
	offers := observation(t, kindNetworkOffer, offersOf(withResource(), withResource()))
	if j := (&Network{nodes: []string{"gpu-01", "gpu-02"}}).Judge([]check.Observation{offers}); count(j, "does not run") != 0 || len(j.Findings) != 2 {
		t.Errorf("a resource without its allocation: %+v", j.Findings)
	}
}

func TestADaemonSetThatIsNotReadyIsNotShown(t *testing.T) {
	t.Parallel()
	s := healthyDrivers()
	s.sets[0].Ready = 1
	if j := (&Drivers{nodes: []string{"gpu-01", "gpu-02"}}).Judge(s.observations(t)); strings.Contains(j.Reason, "(1 of 2 ready)") {
		t.Error(j.Reason)
	}
}

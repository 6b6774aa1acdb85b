package gpustack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/distribution"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/workload"
)

func gate(t *testing.T) *Gate {
	t.Helper()
	p, err := profile.Load("h100-sxm-ndr400")
	if err != nil {
		t.Fatal(err)
	}
	s := &site.Site{
		Fabric:   site.Fabric{NetworkResource: "rdma/ib", NetworkResourceCount: 8},
		GPUStack: site.GPUStack{Namespace: "gpu-operator", ClusterPolicy: "cluster-policy", GangScheduler: "auto", Operands: []string{"nvidia-driver-daemonset", "nvidia-device-plugin-daemonset"}},
	}
	for i := range 4 {
		s.Inventory.Nodes = append(s.Inventory.Nodes, site.Node{Name: fmt.Sprintf("gpu-%02d", i+1)})
	}
	return New(s, p, Deps{})
}

// digest returns a digest made of one letter.
func digest(letter rune) string { return "sha256:" + strings.Repeat(string(letter), 64) }

// facts are what a gate's observations say; nil parts were not observed.
type facts struct {
	operator []operatorFigures
	policy   *policyFigures
	nodes    []nodeFigures
	operands []operandFigures
	drivers  *driverFigures
	plugins  []nodePod
	versions *distributionFigures
	packaged []component
	gang     *gangFigures
	usage    *usageFigures
	tooLarge *proofFigures
	fits     *proofFigures
	dns      *dnsFigures
	class    *classFigures
	errs     map[string]string // by kind
}

func healthy(g *Gate) facts {
	f := facts{
		operator: []operatorFigures{{Name: "gpu-operator", Version: "v25.10.0", Desired: 1, Ready: 1}},
		policy: &policyFigures{Found: true, State: "ready", Generation: 2, Conditions: []policyCondition{
			{Type: "Ready", Status: "True", Reason: "Reconciled", Message: "ClusterPolicy is ready as all resources have been successfully reconciled"},
			{Type: "Error", Status: "False", Reason: "Ready"},
		}, Toolkit: &toolkitFigures{Enabled: true}},
		versions: &distributionFigures{Server: "v1.33.5"},
		gang:     &gangFigures{Detected: []workload.Detected{{Name: "native", API: "scheduling.k8s.io/v1alpha2"}}, Used: "native", Kind: "job"},
		usage:    &usageFigures{Nodes: map[string]kube.Usage{}},
		tooLarge: &proofFigures{Scheduler: "native", Kind: "job", GPUsPerPod: 8, Fits: 4, FitsAfter: 4, Placement: workload.Placement{Wanted: 5, Exist: 5, Refused: 5}},
		fits:     &proofFigures{Scheduler: "native", Kind: "job", GPUsPerPod: 8, Fits: 4, FitsAfter: 4, Placement: workload.Placement{Wanted: 4, Exist: 4, Bound: 4}},
		errs:     map[string]string{},
	}
	f.dns = &dnsFigures{Addresses: []string{"10.96.0.1"}}
	f.fits.Placement.Nodes = map[string]string{}
	for _, n := range g.nodes {
		f.fits.Placement.Nodes["gang-"+n] = n
		f.dns.Pods = append(f.dns.Pods, resolution{Pod: "gang-" + n, Node: n, Addresses: []string{"10.96.0.1"}})
		f.nodes = append(f.nodes, nodeFigures{Name: n, Ready: true, Schedulable: true, Resources: map[string]resourceFigures{
			kube.GPUResource: {8, 8}, "rdma/ib": {8, 8},
		}})
		f.usage.Nodes[n] = kube.Usage{Allocatable: 8}
		f.versions.Nodes = append(f.versions.Nodes, distribution.Node{Name: n, Kubelet: "v1.33.5", Runtime: "containerd://1.7.27"})
		f.plugins = append(f.plugins, nodePod{Node: n, Namespace: "gpu-operator", Pod: "nvidia-device-plugin-" + n, DaemonSet: "nvidia-device-plugin-daemonset", Images: []string{"nvcr.io/nvidia/k8s-device-plugin:v0.18.0"}})
	}
	for _, name := range g.stack.Operands {
		o := operandFigures{Name: name, Found: true, Current: true, Desired: 4, Ready: 4, Updated: 4}
		for _, n := range g.nodes {
			o.Pods = append(o.Pods, operandPod{Pod: name + "-" + n, Node: n, Ready: true, Images: []operandImage{
				{Container: "main", Image: name + ":v1", ID: "nvcr.io/nvidia/" + name + "@" + digest('a')},
			}})
		}
		f.operands = append(f.operands, o)
	}
	return f
}

func (f facts) observations(t *testing.T) []check.Observation {
	t.Helper()
	var out []check.Observation
	add := func(kind, target string, there bool, figures any) {
		if !there {
			return
		}
		o, err := check.Observation{ID: "id-" + kind, Kind: kind, Target: target}.WithFigures(figures)
		if err != nil {
			t.Fatal(err)
		}
		if why := f.errs[kind]; why != "" {
			o.Err, o.Figures = why, nil
		}
		out = append(out, o)
	}
	add(kindOperator, "gpu-operator", f.operator != nil, f.operator)
	add(kindPolicy, "cluster-policy", f.policy != nil, f.policy)
	add(KindNodes, "cluster", f.nodes != nil, f.nodes)
	add(kindOperands, "gpu-operator", f.operands != nil, f.operands)
	add(kindDrivers, "cluster", f.drivers != nil, f.drivers)
	add(kindPlugins, "cluster", f.plugins != nil, f.plugins)
	add(kindDistribution, "cluster", f.versions != nil, f.versions)
	add(kindPackaged, "kube-system", f.packaged != nil, f.packaged)
	add(kindGang, "cluster", f.gang != nil, f.gang)
	add(kindUsage, "cluster", f.usage != nil, f.usage)
	add(kindProof, targetTooLarge, f.tooLarge != nil, f.tooLarge)
	add(kindProof, targetFits, f.fits != nil, f.fits)
	add(kindDNS, apiServer, f.dns != nil, f.dns)
	add(kindClass, site.DRADeviceClass, f.class != nil, f.class)
	return out
}

func TestJudge(t *testing.T) {
	t.Parallel()
	const pass, fail, unseen = check.Passed, check.Failed, check.Unobserved
	for name, tt := range map[string]struct {
		change  func(*facts)
		verdict check.Verdict
		suspect string
		message string
	}{
		"healthy": {func(*facts) {}, pass, "", ""},
		"the operator is down, its status remains": {func(f *facts) { f.operator[0].Ready = 0 }, fail, "Deployment gpu-operator/gpu-operator", "no ready pod of 1 desired"},
		"no operator is installed":                 {func(f *facts) { f.operator = []operatorFigures{} }, fail, "gpu-operator in gpu-operator", "no Deployment"},
		"the operator was not looked for":          {func(f *facts) { f.operator = nil }, unseen, "the operator's Deployment", ""},
		"a MIG configuration in effect":            {func(f *facts) { f.nodes[1].MIGConfig, f.nodes[1].MIGState = "all-disabled", "success" }, pass, "", ""},
		"a MIG configuration that failed":          {func(f *facts) { f.nodes[1].MIGConfig, f.nodes[1].MIGState = "all-1g.10gb", "failed" }, fail, "gpu-02", "all-1g.10gb is failed"},
		"a MIG configuration that is pending":      {func(f *facts) { f.nodes[1].MIGConfig, f.nodes[1].MIGState = "all-1g.10gb", "pending" }, fail, "gpu-02", "is pending"},
		"ready without GPU nodes": {func(f *facts) {
			f.policy.Conditions[0].Reason, f.policy.Conditions[0].Message = "NoGPUNodes", "No GPU node found"
		}, fail, "ClusterPolicy cluster-policy", "NoGPUNodes"},
		"ready without labels": {func(f *facts) { f.policy.Conditions[0].Reason = "NFDLabelsMissing" }, fail, "ClusterPolicy cluster-policy", "detects none of the inventory's 4"},
		"operand not ready says which": {func(f *facts) {
			f.policy.State = "notReady"
			f.policy.Conditions[0] = policyCondition{Type: "Ready", Status: "False", Reason: "Error"}
			f.policy.Conditions[1] = policyCondition{Type: "Error", Status: "True", Reason: "OperandNotReady", Message: "states not ready: [state-device-plugin]"}
		}, fail, "ClusterPolicy cluster-policy", "OperandNotReady: states not ready: [state-device-plugin]"},
		"reconciled but not ready":       {func(f *facts) { f.policy.State = "notReady" }, fail, "ClusterPolicy cluster-policy", ""},
		"condition of an old generation": {func(f *facts) { f.policy.Conditions[0].ObservedGeneration = 1 }, fail, "ClusterPolicy cluster-policy", "generation 1"},
		"condition of this generation":   {func(f *facts) { f.policy.Conditions[0].ObservedGeneration = 2 }, pass, "", ""},
		"state ready, no condition":      {func(f *facts) { f.policy.Conditions = nil }, fail, "ClusterPolicy cluster-policy", "without a Ready condition"},
		"no policy":                      {func(f *facts) { f.policy = &policyFigures{} }, fail, "ClusterPolicy cluster-policy", "does not exist"},
		"policy not observed":            {func(f *facts) { f.policy = nil }, unseen, "", "was not observed"},
		"policy unreadable":              {func(f *facts) { f.errs[kindPolicy] = "clusterpolicies is forbidden" }, unseen, "", "forbidden"},

		"MIG devices that are not declared": {func(f *facts) {
			f.nodes[1].Resources["nvidia.com/mig-1g.10gb"] = resourceFigures{56, 56}
			f.nodes[1].Resources[kube.GPUResource] = resourceFigures{}
		}, fail, "gpu-02/nvidia.com/mig-1g.10gb", "56 of nvidia.com/mig-1g.10gb, which the site does not declare"},
		"a node is missing":     {func(f *facts) { f.nodes = f.nodes[1:] }, fail, "gpu-01", "not in the cluster"},
		"no node at all":        {func(f *facts) { f.nodes = []nodeFigures{} }, fail, "gpu-01", "not in the cluster"},
		"nodes not observed":    {func(f *facts) { f.nodes = nil }, unseen, "", "was not observed"},
		"a node too many":       {func(f *facts) { f.nodes = append(f.nodes, nodeFigures{Name: "gpu-09"}) }, fail, "gpu-09", "not in the inventory"},
		"a node is not ready":   {func(f *facts) { f.nodes[1].Ready = false }, fail, "gpu-02", "not Ready"},
		"versions not observed": {func(f *facts) { f.versions = nil }, unseen, "the distribution of the nodes", "was not observed"},
		"versions unreadable":   {func(f *facts) { f.errs[kindDistribution] = "nodes is forbidden" }, unseen, "the distribution of the nodes", "forbidden"},
		"a node is cordoned":    {func(f *facts) { f.nodes[2].Schedulable = false }, fail, "gpu-03", "cordoned"},
		"a node is short of disk": {func(f *facts) {
			f.nodes[3].Pressures = map[string]string{"DiskPressure": "True, KubeletHasDiskPressure: kubelet has disk pressure"}
		}, fail, "gpu-04", "DiskPressure (True, KubeletHasDiskPressure"},
		"seven GPUs":            {func(f *facts) { f.nodes[0].Resources[kube.GPUResource] = resourceFigures{7, 7} }, fail, "gpu-01/nvidia.com/gpu", "7 of nvidia.com/gpu"},
		"capacity not offered":  {func(f *facts) { f.nodes[0].Resources[kube.GPUResource] = resourceFigures{8, 6} }, fail, "gpu-01/nvidia.com/gpu", "6 of nvidia.com/gpu"},
		"more than is expected": {func(f *facts) { f.nodes[0].Resources[kube.GPUResource] = resourceFigures{16, 16} }, fail, "gpu-01/nvidia.com/gpu", "16 of nvidia.com/gpu"},
		"no RDMA":               {func(f *facts) { delete(f.nodes[2].Resources, "rdma/ib") }, fail, "gpu-03/rdma/ib", "0 of rdma/ib"},

		"an operand's pod is not ready": {func(f *facts) {
			f.operands[1].Pods[1].Ready, f.operands[1].Pods[1].Why, f.operands[1].Ready = false, "phase Running, ContainersNotReady", 3
		}, fail, "gpu-02/nvidia-device-plugin-daemonset", "ContainersNotReady"},
		"an operand has no pod on a node": {func(f *facts) { f.operands[0].Pods = f.operands[0].Pods[:3] }, fail, "gpu-04/nvidia-driver-daemonset", "has no pod"},
		"an operand selects no node": {func(f *facts) {
			f.operands[0] = operandFigures{Name: "nvidia-driver-daemonset", Found: true, Current: true}
		}, fail, "DaemonSet gpu-operator/nvidia-driver-daemonset", "no pod on any"},
		"an operand is missing": {func(f *facts) { f.operands[0] = operandFigures{Name: "nvidia-driver-daemonset"} }, fail, "DaemonSet gpu-operator/nvidia-driver-daemonset", "does not exist"},
		"another image under the same tag": {func(f *facts) {
			f.operands[1].Pods[1].Images[0].ID = "nvcr.io/nvidia/k8s-device-plugin@" + digest('b')
		}, fail, "gpu-02/nvidia-device-plugin-daemonset", "as 1 of 4 nodes do"},
		"the same image through a mirror": {func(f *facts) {
			f.operands[1].Pods[1].Images[0].ID = "mirror.local:5000/k8s-device-plugin@" + digest('a')
		}, pass, "", ""},
		"two images on two nodes each": {func(f *facts) {
			f.operands[1].Pods[0].Images[0].ID = "nvcr.io/x@" + digest('b')
			f.operands[1].Pods[1].Images[0].ID = "nvcr.io/x@" + digest('b')
		}, fail, "gpu-04/nvidia-device-plugin-daemonset", "as 2 of 4 nodes do"},
		"another init container's image": {func(f *facts) {
			for i := range f.operands[0].Pods {
				f.operands[0].Pods[i].Images = append(f.operands[0].Pods[i].Images, operandImage{Container: "init", ID: "nvcr.io/x@" + digest('c')})
			}
			f.operands[0].Pods[2].Images[1].ID = "nvcr.io/x@" + digest('d')
		}, fail, "gpu-03/nvidia-driver-daemonset", "container init"},
		"images that were loaded, not pulled": {func(f *facts) {
			for i := range f.operands[0].Pods {
				f.operands[0].Pods[i].Images[0].ID = digest('e')
			}
		}, pass, "", ""},
		"CRI-O's bare image IDs": {func(f *facts) {
			for i := range f.operands[0].Pods {
				f.operands[0].Pods[i].Images[0].ID = strings.Repeat("e", 64)
			}
		}, pass, "", ""},
		"CRI-O's bare image ID of another image": {func(f *facts) {
			for i := range f.operands[0].Pods {
				f.operands[0].Pods[i].Images[0].ID = strings.Repeat("e", 64)
			}
			f.operands[0].Pods[2].Images[0].ID = strings.Repeat("d", 64)
		}, fail, "gpu-03/nvidia-driver-daemonset", "as 1 of 4 nodes do"},
		"CRI-O was restarted on one node": {func(f *facts) { f.operands[0].Pods[2].Images[0].ID = strings.Repeat("e", 64) }, unseen, "DaemonSet gpu-operator/nvidia-driver-daemonset", "cannot be compared"},
		"image IDs with a scheme": {func(f *facts) {
			for i := range f.operands[0].Pods {
				f.operands[0].Pods[i].Images[0].ID = "docker://" + digest('e')
			}
			f.operands[0].Pods[0].Images[0].ID = digest('e')
		}, pass, "", ""},
		"one image was loaded, not pulled": {func(f *facts) { f.operands[0].Pods[2].Images[0].ID = digest('e') }, unseen, "DaemonSet gpu-operator/nvidia-driver-daemonset", "cannot be compared"},
		"an image without a digest":        {func(f *facts) { f.operands[0].Pods[2].Images[0].ID = "nvcr.io/nvidia/driver:580" }, unseen, "gpu-03/nvidia-driver-daemonset", "has no digest"},
		"an image ID is missing":           {func(f *facts) { f.operands[0].Pods[2].Images[0].ID = "" }, unseen, "gpu-03/nvidia-driver-daemonset", "has no digest"},
		"a pod says no images":             {func(f *facts) { f.operands[0].Pods[2].Images = nil }, unseen, "gpu-03/nvidia-driver-daemonset", "does not report its images"},
		"an operand is rolled out":         {func(f *facts) { f.operands[0].Updated = 1 }, fail, "DaemonSet gpu-operator/nvidia-driver-daemonset", "1 up to date"},
		"an operand's status is old":       {func(f *facts) { f.operands[0].Current = false }, fail, "DaemonSet gpu-operator/nvidia-driver-daemonset", "status current: false"},
		"an operand not observed":          {func(f *facts) { f.operands = f.operands[:1] }, unseen, "DaemonSet nvidia-device-plugin-daemonset", "was not observed"},

		"no gang scheduler":       {func(f *facts) { f.gang = &gangFigures{}; f.usage = nil; f.tooLarge = nil; f.fits = nil }, fail, "gang scheduler", "not found"},
		"gang scheduler unproven": {func(f *facts) { f.tooLarge = nil; f.fits = nil }, unseen, targetTooLarge, "was not observed"},
		"half of the proof":       {func(f *facts) { f.fits = nil }, unseen, targetFits, "was not observed"},
		"part of a gang is placed": {func(f *facts) {
			f.tooLarge.Placement.Bound, f.tooLarge.Placement.Refused = 4, 1
			f.tooLarge.Placement.Nodes = map[string]string{"gang-too-large-0": "gpu-01"}
			f.fits = nil
		}, fail, "gang scheduler native", "placed 4 of 5 pods"},
		"all of it is placed: room came free": {func(f *facts) { f.tooLarge.Placement.Bound, f.fits = 5, nil }, unseen, "gang scheduler native", "released meanwhile"},
		"no scheduler has decided":            {func(f *facts) { f.tooLarge.Placement.Refused, f.tooLarge.Undecided = 0, "deadline exceeded" }, unseen, "gang scheduler native", "no decision"},
		"the gang was not too large":          {func(f *facts) { f.tooLarge.Placement.Wanted = 4 }, unseen, "gang scheduler native", "proves nothing"},
		"a gang that fits is not placed": {func(f *facts) {
			f.fits.Placement = workload.Placement{Wanted: 4, Exist: 4, Refused: 4, Messages: []string{"quota"}}
		}, fail, "gang scheduler native", "quota"},
		// On a starved machine the scheduler had not come to the gang when the wait ended.
		"no scheduler has decided about a gang that fits": {func(f *facts) {
			f.fits.Placement, f.fits.Undecided = workload.Placement{Wanted: 4, Exist: 4}, "deadline exceeded"
		}, unseen, "gang scheduler native", "no decision"},
		"others took the room": {func(f *facts) { f.fits.Placement.Bound, f.fits.FitsAfter = 0, 3 }, unseen, "gang scheduler native", "other pods took"},
		"a node's pod resolves nothing": {func(f *facts) {
			f.dns.Pods[2].Addresses, f.dns.Pods[2].Exit = nil, 2
		}, fail, "gpu-03", "cannot resolve kubernetes.default"},
		"another DNS answers":        {func(f *facts) { f.dns.Pods[1].Addresses = []string{"192.0.2.7"} }, fail, "gpu-02", "resolves kubernetes.default to 192.0.2.7"},
		"a resolver said nothing":    {func(f *facts) { f.dns.Pods[1] = resolution{Pod: "gang-gpu-02", Node: "gpu-02", Unread: "image pull"} }, unseen, "gpu-02", "image pull"},
		"a resolver is missing":      {func(f *facts) { f.dns.Pods[1].Exit, f.dns.Pods[1].Addresses = 127, nil }, unseen, "gpu-02", "getent exit 127"},
		"a resolver was killed":      {func(f *facts) { f.dns.Pods[1].Exit, f.dns.Pods[1].Addresses = 137, nil }, unseen, "gpu-02", "getent exit 137"},
		"no answer and no complaint": {func(f *facts) { f.dns.Pods[1].Addresses = nil }, unseen, "gpu-02", "getent exit 0"},
		"a pod's answer is missing":  {func(f *facts) { f.dns.Pods = f.dns.Pods[1:] }, unseen, "gpu-01", "was not observed"},
		"answers without a Service":  {func(f *facts) { f.dns.Addresses = nil }, unseen, "Service default/kubernetes", "no address"},
		"names not observed":         {func(f *facts) { f.dns = nil }, unseen, "the cluster's DNS", "was not observed"},
		"an empty gang":              {func(f *facts) { f.fits.Placement = workload.Placement{} }, unseen, "gang scheduler native", "want a gang of 4"},
		"no kind of job":             {func(f *facts) { f.gang.NoKind = "the cluster does not serve kind mpijob" }, unseen, "gang scheduler native", "mpijob"},
		"another kind of job":        {func(f *facts) { f.gang.Kind = "mpijob" }, unseen, "gang scheduler native", `kind "job"`},
		"the operator does not run": {func(f *facts) {
			f.gang.Kind, f.tooLarge.Kind = "mpijob", "mpijob"
			f.tooLarge.Placement, f.tooLarge.Undecided = workload.Placement{Wanted: 5, Unstarted: true}, "deadline exceeded"
		}, fail, "controller of mpijobs.kubeflow.org", "created none of the 5 pods"},
		"a webhook does not answer": {func(f *facts) {
			f.tooLarge.Placement, f.tooLarge.Webhook, f.tooLarge.Undecided = workload.Placement{}, "webhook mjob.kb.io of service kueue-system/kueue-webhook-service", "connection refused"
		}, fail, "webhook mjob.kb.io of service kueue-system/kueue-webhook-service", "connection refused"},
		"no queue for the gang": {func(f *facts) { f.gang.NoQueue = "set gpustack.queue in the site file" }, unseen, "gang scheduler native", "gpustack.queue"},
		"the GPUs are held": {func(f *facts) {
			for n := range f.usage.Nodes {
				f.usage.Nodes[n] = kube.Usage{Allocatable: 8, Requested: 1, Holders: []kube.Holder{{Namespace: "team", Pod: "job-" + n, Count: 1}}}
			}
			f.tooLarge, f.fits = nil, nil
		}, unseen, "free GPUs", "gpu-01: team/job-gpu-01 holds 1"},
		"a failure outweighs a missing observation": {func(f *facts) { f.fits, f.nodes = nil, f.nodes[1:] }, fail, "gpu-01", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gate(t)
			f := healthy(g)
			tt.change(&f)
			checktest.Judged(t, plan.Judge(g, f.observations(t)), tt.verdict, tt.suspect, tt.message)
		})
	}
}

func TestNothingObservedIsNoPass(t *testing.T) {
	t.Parallel()
	g := gate(t)
	if j := g.Judge(nil); j.Verdict != check.Unobserved {
		t.Errorf("%+v", j)
	}
	g.nodes = nil
	if j := g.Judge(healthy(gate(t)).observations(t)); j.Verdict == check.Passed {
		t.Errorf("an empty inventory passed: %+v", j)
	}
}

// A gang scheduler that has queues is named with the gang's queue: its quota is the usual cause.
func TestQueueOfTheGangIsNamed(t *testing.T) {
	t.Parallel()
	g := gate(t)
	g.stack.Queue = "research"
	for scheduler, want := range map[string]string{"kai": "gang scheduler kai, queue research", "native": "gang scheduler native"} {
		f := healthy(g)
		f.gang.Used, f.tooLarge.Scheduler, f.fits.Scheduler = scheduler, scheduler, scheduler
		f.fits.Placement = workload.Placement{Wanted: 4, Exist: 4, Refused: 4, Messages: []string{"quota"}}
		j := g.Judge(f.observations(t))
		if j.Verdict != check.Failed || !slices.ContainsFunc(j.Findings, func(f check.Finding) bool { return f.Suspect == want }) {
			t.Errorf("%s: %s, %+v, want the suspect %q", scheduler, j.Verdict, j.Findings, want)
		}
	}
}

func TestReadAnswer(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		log  string
		want resolution
		ok   bool
	}{
		"an address":        {"10.96.0.1       STREAM kubernetes.default.svc.cluster.local\n10.96.0.1       DGRAM  \n10.96.0.1       RAW    \n", resolution{Addresses: []string{"10.96.0.1"}}, true},
		"of both families":  {"fd00::1         STREAM kubernetes.default.svc.cluster.local\nfd00::1         DGRAM  \n10.96.0.1       STREAM \n", resolution{Addresses: []string{"fd00::1", "10.96.0.1"}}, true},
		"after a greeting":  {"Welcome to the image\n10.96.0.1  kubernetes.default.svc.example.org\n", resolution{Addresses: []string{"10.96.0.1"}}, true},
		"none":              {"not resolved, exit 2\n", resolution{Exit: 2}, true},
		"no getent":         {"bash: line 1: getent: command not found\nnot resolved, exit 127\n", resolution{Exit: 127}, true},
		"nothing yet":       {"", resolution{}, false},
		"half a line":       {"10.96.0", resolution{}, false},
		"something else":    {"hello\n", resolution{}, false},
		"an address alone":  {"10.96.0.1\n", resolution{}, false},
		"a code of success": {"not resolved, exit 0\n", resolution{}, false},
		"a code of letters": {"not resolved, exit x\n", resolution{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got resolution
			if ok := got.read(tt.log); ok != tt.ok || ok && !reflect.DeepEqual(got, tt.want) {
				t.Errorf("%v, %+v", ok, got)
			}
		})
	}
}

// Conditions are those for which the control plane taints a node; Unknown
// from a kubelet is not False.
func TestReadPressures(t *testing.T) {
	t.Parallel()
	g := gate(t)
	n := &corev1.Node{Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{
		{Type: corev1.NodeReady, Status: corev1.ConditionTrue},
		{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionFalse},
		{Type: corev1.NodeDiskPressure, Status: corev1.ConditionTrue, Reason: "KubeletHasDiskPressure", Message: "kubelet has disk pressure"},
		{Type: corev1.NodePIDPressure, Status: corev1.ConditionUnknown, Reason: "NodeStatusUnknown"},
		{Type: "GPUHealthy", Status: corev1.ConditionTrue},
	}}}
	want := map[string]string{"DiskPressure": "True, KubeletHasDiskPressure: kubelet has disk pressure", "PIDPressure": "Unknown, NodeStatusUnknown: "}
	if got := g.readNode(n).Pressures; !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
}

// The script runs in a shell with a getent that fails a few times first. A single attempt failed
// the gate when the network of the pod was ready a moment after the pod.
func TestProbeScriptTriesAgain(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		failures int
		want     resolution
	}{
		"at once":        {0, resolution{Addresses: []string{"10.96.0.1"}}},
		"the third time": {2, resolution{Addresses: []string{"10.96.0.1"}}},
		"never":          {9, resolution{Exit: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bin := t.TempDir()
			for program, text := range map[string]string{
				"sleep":  "exit 0\n",
				"getent": fmt.Sprintf("echo >> %[1]s/calls\n[ $(wc -l < %[1]s/calls) -gt %[2]d ] || exit 2\necho '10.96.0.1       STREAM kubernetes.default.svc.cluster.local'\n", bin, tt.failures),
			} {
				if err := os.WriteFile(filepath.Join(bin, program), []byte("#!/bin/sh\n"+text), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			shell := exec.CommandContext(t.Context(), "bash", "-ec", probeScript)
			shell.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH")}
			out, err := shell.Output()
			if err != nil {
				t.Fatal(err)
			}
			var got resolution
			if !got.read(string(out)) || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("%+v of %q, want %+v", got, out, tt.want)
			}
		})
	}
}

// The log of one pod that could not be read took the time of all the pods after it: every one
// of their nodes was named.
func TestAnUnreadableLogTakesNoOthersTime(t *testing.T) {
	t.Parallel()
	within, cancel := context.WithCancel(t.Context())
	cancel() // the first pod's log has taken all of it
	pods := []resolution{{Pod: "a", Node: "gpu-01"}, {Pod: "b", Node: "gpu-02"}, {Pod: "c", Node: "gpu-03"}}
	readAnswers(t.Context(), within, pods, func(_ context.Context, pod string) (string, error) {
		return map[string]string{"b": "10.96.0.1       STREAM kubernetes.default.svc.cluster.local\n", "c": "not resolved, exit 2\n"}[pod],
			map[string]error{"a": errors.New("dial tcp 10.0.0.1:10250: i/o timeout")}[pod]
	})
	want := []resolution{
		{Pod: "a", Node: "gpu-01", Unread: "dial tcp 10.0.0.1:10250: i/o timeout"},
		{Pod: "b", Node: "gpu-02", Addresses: []string{"10.96.0.1"}}, {Pod: "c", Node: "gpu-03", Exit: 2},
	}
	if !reflect.DeepEqual(pods, want) {
		t.Errorf("%+v", pods)
	}
}

// The logs of 1,000 pods are not read one after the other.
func TestLogsAreReadAtTheSameTime(t *testing.T) {
	t.Parallel()
	const answer = "10.96.0.1       STREAM x\n"
	both := make(chan struct{})
	var reads atomic.Int32
	pods := []resolution{{Pod: "a"}, {Pod: "b"}}
	readAnswers(t.Context(), t.Context(), pods, func(ctx context.Context, _ string) (string, error) {
		if reads.Add(1) == 2 {
			close(both)
		}
		select {
		case <-both:
			return answer, nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	})
	if n := reads.Load(); n != 2 {
		t.Errorf("%d reads of 2 logs", n)
	}
}

// A log without an answer is read again.
func TestAnAnswerIsWaitedFor(t *testing.T) {
	t.Parallel()
	looks := 0
	pods := []resolution{{Pod: "a", Node: "gpu-01"}}
	readAnswers(t.Context(), t.Context(), pods, func(context.Context, string) (string, error) {
		looks++
		return []string{"", "10.96.0.1       STREAM x\n10.96", "10.96.0.1       STREAM x\n"}[looks-1], nil
	})
	if want := []resolution{{Pod: "a", Node: "gpu-01", Addresses: []string{"10.96.0.1"}}}; looks != 3 || !reflect.DeepEqual(pods, want) {
		t.Errorf("%d looks: %+v", looks, pods)
	}
}

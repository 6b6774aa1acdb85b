package runner

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/rest"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/lab/pki"
	"github.com/firstlight/firstlight/internal/recipe"
	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/nodeprofile"
	"github.com/firstlight/firstlight/internal/recipe/tree"
	"github.com/firstlight/firstlight/internal/schedule"
	"github.com/firstlight/firstlight/internal/schedule/judge"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

var (
	loadScenarios = flag.Int("load.scenarios", 0, "TestLoad: how many scenarios; 0: none")
	loadJobs      = flag.Int("load.jobs", 8, "TestLoad: how many scenarios at one time")
	loadGPUs      = flag.Int("load.gpunodes", 4, "TestLoad: GPU nodes a scenario")
	loadTree      = flag.Bool("load.tree", false, "TestLoad: the recipes that ship with firstlight in place of one that is made up")
	profileAt     = flag.Duration("load.profileat", 0, "TestLoad: when to begin with it")
	profiles      = flag.String("load.profiles", "", "TestLoad: where to keep CPU profiles of all processes")
)

// realistic is a scenario as recipes have them: 3 system nodes, GPU nodes, 22 Deployments
// and StatefulSets with 28 pods, 3 DaemonSets on all nodes, 11 on the GPU nodes, a
// probe that fills them, 5 controls with 3 nodes of their own.
func realistic(gpuNodes int) scenario.Scenario {
	gpuTaint := corev1.Toleration{Key: nodeprofile.GPUTaint, Operator: corev1.TolerationOpExists}
	system := map[string]string{"node-type": "system"}
	deployments := func(space string, names ...string) []footprint.Workload {
		var out []footprint.Workload
		for i, n := range names {
			w := footprint.Workload{Kind: deployment, Name: n, Namespace: space, Class: footprint.System, Replicas: 1, Pod: footprint.Pod{
				NodeSelector: system, Requests: list("cpu", "100m", "memory", "128Mi"),
			}}
			if i%4 == 3 {
				w.Replicas = 2
			}
			out = append(out, w)
		}
		return out
	}
	daemon := func(space, name string, class footprint.Class, selector map[string]string) footprint.Workload {
		return footprint.Workload{Kind: daemonSet, Name: name, Namespace: space, Class: class, Pod: footprint.Pod{
			NodeSelector: selector, Tolerations: []corev1.Toleration{gpuTaint}, Requests: list("cpu", "10m"),
		}}
	}
	operand := func(name string) footprint.Workload {
		return daemon("gpu-operator", name, footprint.Accelerated, map[string]string{"nvidia.com/gpu.deploy." + name: "true"})
	}
	nfd := daemon("nfd", "nfd-worker", footprint.Any, nil)
	nfd.Discovers = true
	gfd := operand("gpu-feature-discovery")
	gfd.Discovers = true
	operands := []footprint.Workload{gfd}
	deploy := map[string]string{"nvidia.com/gpu.deploy.gpu-feature-discovery": "true"}
	plugin := operand("device-plugin")
	plugin.Brings = []string{"nvidia.com/gpu"}
	operands = append(operands, plugin)
	deploy["nvidia.com/gpu.deploy.device-plugin"] = "true"
	efa := daemon("kube-system", "efa-device-plugin", footprint.Accelerated, map[string]string{"node-type": "gpu"})
	efa.Brings = []string{"vpc.amazonaws.com/efa"}
	for _, n := range []string{"driver", "container-toolkit", "dcgm", "dcgm-exporter", "mig-manager", "operator-validator"} {
		operands = append(operands, operand(n))
		deploy["nvidia.com/gpu.deploy."+n] = "true"
	}
	prometheus := footprint.Workload{Kind: statefulSet, Name: "prometheus", Namespace: "monitoring", Class: footprint.System, Replicas: 2, Pod: footprint.Pod{
		NodeSelector: system, Requests: list("cpu", "500m", "memory", "2Gi"),
	}}
	alertmanager := prometheus
	alertmanager.Name, alertmanager.Replicas = "alertmanager", 1
	c := scenario.Scenario{Recipe: "realistic", Components: []footprint.Component{
		{Name: "nfd", Workloads: append(deployments("nfd", "nfd-master", "nfd-gc"), nfd)},
		{Name: "gpu-operator", Workloads: append(deployments("gpu-operator", "gpu-operator"), operands...), Publishes: []footprint.Publication{
			{OnNodesWith: map[string]string{"pci-10de.present": "true"}, Labels: deploy},
		}},
		{Name: "efa", Workloads: []footprint.Workload{efa}},
		{Name: "monitoring", Workloads: append(deployments("monitoring", "grafana", "kube-state-metrics", "operator", "adapter"),
			prometheus, alertmanager, daemon("monitoring", "node-exporter", footprint.Any, nil))},
		{Name: "cert-manager", Workloads: deployments("cert-manager", "cert-manager", "webhook", "cainjector")},
		{Name: "kubeflow", Workloads: deployments("kubeflow", "trainer", "jobset", "scheduler", "admission")},
		{Name: "csi", Workloads: append(deployments("kube-system", "csi-controller", "snapshot", "resizer", "attacher"), daemon("kube-system", "csi-node", footprint.Any, nil))},
		{Name: "nvsentinel", Workloads: append(deployments("nvsentinel", "platform-connector", "janitor"),
			daemon("nvsentinel", "gpu-health", footprint.Accelerated, map[string]string{"node-type": "gpu"}),
			daemon("nvsentinel", "syslog-health", footprint.Accelerated, map[string]string{"node-type": "gpu"}))},
	}}
	for i := range 3 {
		c.Nodes = append(c.Nodes, scenario.Node{
			Name: fmt.Sprintf("system-%d", i), Class: footprint.System, Labels: map[string]string{"node-type": "system", "kubernetes.io/arch": "amd64"},
			Allocatable: list("cpu", "16", "memory", "64Gi", "pods", "110"),
		})
	}
	gpu := func(name string) scenario.Node {
		return scenario.Node{
			Name: name, Class: footprint.Accelerated, Labels: map[string]string{"node-type": "gpu", "kubernetes.io/arch": "amd64"},
			Taints:      []corev1.Taint{{Key: nodeprofile.GPUTaint, Value: "present", Effect: corev1.TaintEffectNoSchedule}},
			Allocatable: list("cpu", "192", "memory", "2048Gi", "pods", "110"),
		}
	}
	for i := range gpuNodes {
		n := gpu(fmt.Sprintf("gpu-%d", i))
		n.Grants = []scenario.Grant{{Component: "gpu-operator", Resource: "nvidia.com/gpu", Quantity: 8}, {Component: "efa", Resource: "vpc.amazonaws.com/efa", Quantity: 32}}
		n.Discovered = map[string]map[string]string{"nfd": {"pci-10de.present": "true"}, "gpu-operator": {scenario.ProductLabel: "H100"}}
		c.Nodes = append(c.Nodes, n)
	}
	c.Probe = scenario.Probe{Kind: scenario.Gang, Size: int32(gpuNodes), Pod: footprint.Pod{
		Tolerations: []corev1.Toleration{gpuTaint}, Requests: list("nvidia.com/gpu", "8", "vpc.amazonaws.com/efa", "32"),
		Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
				{Key: "kubernetes.io/arch", Operator: corev1.NodeSelectorOpIn, Values: []string{"amd64"}},
				{Key: scenario.ProductLabel, Operator: corev1.NodeSelectorOpIn, Values: []string{"H100"}},
			}}},
		}}},
	}}
	c.Controls, c.Nodes = controls(c, gpu)
	return c
}

func controls(c scenario.Scenario, gpu func(string) scenario.Node) ([]scenario.Control, []scenario.Node) {
	like := footprint.Workload{Kind: deployment, Class: footprint.Accelerated, Replicas: 1, Pod: c.Probe.Pod}
	twin := func(name, gpus string) scenario.Node {
		n := gpu(name + "-0")
		n.Control = name
		n.Labels[scenario.ProductLabel] = "H100"
		maps.Copy(n.Allocatable, list("nvidia.com/gpu", gpus, "vpc.amazonaws.com/efa", "32"))
		return n
	}
	half, arch, gang := twin(scenario.HalfGPUs, "4"), twin(scenario.WrongArch, "8"), twin(scenario.HalfGang, "4")
	arch.Labels["kubernetes.io/arch"] = "arm64"
	var own, gpus []string
	for _, n := range c.Nodes {
		own = append(own, n.Name)
		if n.Class == footprint.Accelerated {
			gpus = append(gpus, n.Name)
		}
	}
	untolerating, two := like, like
	untolerating.Pod.Tolerations = nil
	two.Replicas, two.Pod.Requests = 2, list("nvidia.com/gpu", "4")
	return []scenario.Control{
		{Name: scenario.DropToleration, Workload: untolerating, Nodes: gpus, Reason: "untolerated taint"},
		{Name: scenario.DropSelector, Workload: footprint.Workload{Kind: daemonSet, Class: footprint.Accelerated, Pod: footprint.Pod{Tolerations: like.Pod.Tolerations}}, Nodes: own},
		{Name: scenario.HalfGPUs, Workload: like, Nodes: []string{half.Name}, Reason: "Insufficient nvidia.com/gpu"},
		{Name: scenario.WrongArch, Workload: like, Nodes: []string{arch.Name}, Reason: "didn't match Pod's node affinity/selector"},
		{Name: scenario.HalfGang, Workload: two, Gang: true, Nodes: []string{gang.Name}, Reason: "Insufficient nvidia.com/gpu"},
	}, append(c.Nodes, half, arch, gang)
}

func list(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

// TestLoad puts many scenarios on the control plane and says what each process used.
func TestLoad(t *testing.T) {
	if *loadScenarios == 0 {
		t.Skip("measures; run it with -load.scenarios")
	}
	config := plane(t)
	scenarios := []scenario.Scenario{realistic(*loadGPUs)}
	if *loadTree {
		scenarios = shipped(t)
	}
	a, err := Start(t.Context(), config, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if *profiles != "" {
		defer profile(t, config)()
	}
	requests := requestsOf(t, config)
	calibrating, calibrated := context.WithCancel(t.Context())
	speed := calibrate(calibrating, t)
	before, begin := processes(t), time.Now()
	var next, pods, unquiet atomic.Int64
	var wg sync.WaitGroup
	var mu sync.Mutex
	var took []time.Duration
	for range *loadJobs {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(*loadScenarios); i = next.Add(1) {
				start := time.Now()
				state, err := a.Run(t.Context(), scenarios[int(i)%len(scenarios)], nil)
				if err != nil {
					t.Error(err)
					return
				}
				if j := judge.Judge(scenarios[int(i)%len(scenarios)], state); j.Verdict != check.Passed {
					t.Logf("%s: %s: %s", state.Recipe, j.Verdict, j.Reason)
				}
				if !state.Converged {
					unquiet.Add(1)
					t.Logf("not quiet: %s", state.NotConverged)
				}
				pods.Add(bound(state))
				mu.Lock()
				took = append(took, time.Since(start))
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	wall := time.Since(begin)
	calibrated()
	after := processes(t)
	slices.Sort(took)
	n := float64(*loadScenarios)
	t.Logf("%d scenarios, %d jobs: %.1f s, %.2f recipes/s, %.0f bound pods/s; a scenario took %s in the middle, %s at most; %d not quiet; calibration %s",
		*loadScenarios, *loadJobs, wall.Seconds(), n/wall.Seconds(), float64(pods.Load())/wall.Seconds(), took[len(took)/2].Round(time.Millisecond), took[len(took)-1].Round(time.Millisecond), unquiet.Load(), speed())
	var sum float64
	for _, name := range slices.Sorted(maps.Keys(after)) {
		used := after[name].cpu - before[name].cpu
		sum += used
		t.Logf("%-26s %7.2f CPU s  %6.3f a recipe  %5d MiB", name, used, used/n, after[name].rss>>20)
	}
	made := requestsOf(t, config)
	var total float64
	for k := range made {
		made[k] -= requests[k]
		total += made[k]
	}
	for _, k := range slices.SortedFunc(maps.Keys(made), func(a, b string) int { return int(made[b] - made[a]) }) {
		if made[k]/n >= 1 {
			t.Logf("%7.1f requests a recipe: %s", made[k]/n, k)
		}
	}
	t.Logf("%7.1f requests a recipe", total/n)
	t.Logf("%-26s %7.2f CPU s  %6.3f a recipe; %d pods a scenario", "all", sum, sum/n, pods.Load()/int64(*loadScenarios))
}

// shipped are the scenarios of the recipes that ship with firstlight.
func shipped(t *testing.T) []scenario.Scenario {
	t.Helper()
	loaded, problems, err := recipe.Open("", tree.Options{})
	if err != nil || problems.Err() != nil {
		t.Fatal(err, problems)
	}
	source, problems := schedule.Open(loaded)
	if problems.Err() != nil {
		t.Fatal(problems)
	}
	var out []scenario.Scenario
	for _, name := range source.Names() {
		c, err := source.Case(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Problems) == 0 {
			out = append(out, c.Scenario)
		}
	}
	return out
}

func bound(s snapshot.State) int64 {
	var n int64
	for _, p := range s.Pods {
		if p.Node != "" {
			n++
		}
	}
	return n
}

// requestsOf counts the API server's answers so far, by verb, resource and code.
func requestsOf(t *testing.T, config *rest.Config) map[string]float64 {
	t.Helper()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(must(http.NewRequestWithContext(t.Context(), http.MethodGet, config.Host+"/metrics", nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	out := map[string]float64{}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		labels, ok := strings.CutPrefix(lines.Text(), "apiserver_request_total{")
		if !ok {
			continue
		}
		labels, value, _ := strings.Cut(labels, "} ")
		var key []string
		for _, want := range []string{"verb", "resource", "subresource", "code"} {
			_, rest, _ := strings.Cut(","+labels, ","+want+"=\"")
			v, _, _ := strings.Cut(rest, "\"")
			key = append(key, v)
		}
		n, _ := strconv.ParseFloat(value, 64)
		out[strings.Join(key, " ")] += n
	}
	return out
}

type usage struct {
	cpu float64
	rss int64
}

// processes is the CPU time that each process used so far, in seconds.
func processes(t *testing.T) map[string]usage {
	t.Helper()
	out := map[string]usage{"this test": usageOf(t, os.Getpid())}
	for _, c := range shared.lab.Components() {
		out[c.Name] = usageOf(t, c.Identity.PID)
	}
	return out
}

// ticks a second of /proc's times: USER_HZ, which is 100 on Linux.
const ticks = 100

func usageOf(t *testing.T, pid int) usage {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	pages, _ := strconv.ParseInt(fields[21], 10, 64)
	return usage{cpu: (user + system) / ticks, rss: pages * int64(os.Getpagesize())}
}

// profile takes CPU profiles of all processes that serve them; the returned function ends it.
func profile(t *testing.T, config *rest.Config) func() {
	t.Helper()
	f, err := os.Create(filepath.Join(*profiles, "arena.pprof"))
	if err != nil {
		t.Fatal(err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		t.Fatal(err)
	}
	runtime.SetBlockProfileRate(0)
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for _, c := range shared.lab.Status().Components {
		client := client
		if c.Name == component.Etcd {
			client = etcdClient(t)
		}
		wg.Go(func() {
			<-time.After(*profileAt)
			resp, err := client.Do(must(http.NewRequest(http.MethodGet, "https://"+c.Address+"/debug/pprof/profile?seconds=25", nil)))
			if err != nil {
				t.Log(err)
				return
			}
			defer resp.Body.Close()
			out := must(os.Create(filepath.Join(*profiles, c.Name+".pprof")))
			defer out.Close()
			_, _ = out.ReadFrom(resp.Body)
		})
	}
	return func() {
		pprof.StopCPUProfile()
		_ = f.Close()
		wg.Wait()
	}
}

// etcdClient has certificates of its own authority.
func etcdClient(t *testing.T) *http.Client {
	t.Helper()
	dir := pki.Dir(filepath.Join(shared.dir, "pki"))
	config := &rest.Config{TLSClientConfig: rest.TLSClientConfig{
		CAFile: dir.Cert(pki.EtcdCA), CertFile: dir.Cert(pki.EtcdClient), KeyFile: dir.Key(pki.EtcdClient),
	}}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

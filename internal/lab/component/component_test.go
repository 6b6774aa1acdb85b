package component

import (
	"maps"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/golden"
)

func config() Config {
	return Config{
		Dir: "/lab", Address: "127.20.30.1", AlertWebhook: "http://127.20.30.1:9094/", PodNetwork: "http://127.20.30.1:9095",
		Ports: Ports{
			Etcd: 2379, EtcdPeer: 2380, APIServer: 6443, ControllerManager: 10257, Scheduler: 10259,
			Kwok: 10250, Prometheus: 9090, Alertmanager: 9093, Adapter: 6444, AlertWebhook: 9094, PodNetwork: 9095, Discovery: 9096,
			KarpenterHealth: 21001, KarpenterMetrics: 21002, KAIScheduler: 8080, KAIBinder: 8081, KAIPodGrouper: 8082,
			VolcanoScheduler: 8087, VolcanoControllers: 8088, KueueHealth: 8089, KueueWebhook: 9445,
			JobSetHealth: 8083, JobSetWebhook: 9443, TrainerHealth: 8084, TrainerWebhook: 9444, MPIOperator: 8080, KubeRay: 8090,
		},
		With: Extras(), InstanceTypes: "[]\n",
	}
}

// text renders a component for goldens.
func text(c Component) string {
	var b strings.Builder
	for _, a := range c.Argv {
		b.WriteString(a + "\n")
	}
	for _, e := range c.Env {
		b.WriteString("env " + e + "\n")
	}
	b.WriteString("\nprobe: " + c.Probe.URL + "\nneeds: " + strings.Join(c.Needs, " ") + "\ngrace: " + c.StopGrace.String() + "\n")
	var paths []string
	for p := range c.Files {
		paths = append(paths, p)
	}
	sort.Strings(paths)
	for _, to := range slices.Sorted(maps.Keys(c.Copies)) {
		b.WriteString("\n--- " + to + " is a copy of " + c.Copies[to] + "\n")
	}
	for _, p := range paths {
		if filepath.Base(p) == "kwok.yaml" {
			continue // the stages have their own test
		}
		b.WriteString("\n--- " + p + "\n" + c.Files[p])
	}
	return b.String()
}

func TestGoldens(t *testing.T) {
	t.Parallel()
	lab := config()
	lab.Hosts = 6
	for _, c := range All(lab) {
		golden.Compare(t, "testdata/"+c.Name+".golden", text(c))
	}
}

func TestGoldensOfFaults(t *testing.T) {
	t.Parallel()
	c := config()
	c.Faults = Faults{NoGangScheduler: true}
	golden.Compare(t, "testdata/no-gang-scheduler.golden", text(c.APIServer())+text(c.Scheduler()))
	c.Faults = Faults{HalfGang: true}
	golden.Compare(t, "testdata/half-gang.golden", text(c.APIServer())+text(c.Scheduler())+text(c.VolcanoScheduler()))
	c.Faults = Faults{AlertRouteMissing: true}
	golden.Compare(t, "testdata/alert-route-missing.golden", text(c.Alertmanager()))
	c.Faults = Faults{AlertLabelDropped: true}
	golden.Compare(t, "testdata/alert-label-dropped.golden", text(c.Prometheus()))
	c.Faults = Faults{OnCallSilent: true}
	golden.Compare(t, "testdata/oncall-silent.golden", text(c.Alertmanager())+text(c.Prometheus()))
	c.Faults = Faults{PrometheusReplicaStale: true}
	c.Ports.PrometheusReplica = 9096
	golden.Compare(t, "testdata/prometheus-replica.golden", text(c.PrometheusReplica()))
	c.Faults = Faults{NodeLabelOff: true}
	golden.Compare(t, "testdata/node-label-off.golden", text(c.Prometheus()))
	c.Faults = Faults{PrometheusShared: true}
	golden.Compare(t, "testdata/prometheus-shared.golden", text(c.Prometheus()))
	c.Faults = Faults{AdapterRuleWrong: true}
	golden.Compare(t, "testdata/adapter-rule-wrong.golden", text(c.Adapter()))
	c.Faults = Faults{ServiceRuleWrong: true}
	golden.Compare(t, "testdata/service-rule-wrong.golden", text(c.Adapter()))
	c.Faults = Faults{HonorLabelsOff: true}
	golden.Compare(t, "testdata/honor-labels-off.golden", text(c.Prometheus()))
}

// Components listen on the lab's address or a socket of its directory, and the base components
// require certificates.
func TestListenAddresses(t *testing.T) {
	t.Parallel()
	listen := []string{
		"--bind-address", "--listen-client-urls", "--listen-client-http-urls", "--listen-peer-urls", "--server-address", "--web.listen-address",
		"--listen-address", "--metrics-bind-address", "--health-probe-bind-address", "--healthz-address",
	}
	extra := map[string]bool{Karpenter: true, KAIScheduler: true, KAIBinder: true, KAIPodGrouper: true, JobSet: true, KubeflowTrainer: true, MPIOperator: true,
		VolcanoScheduler: true, VolcanoControllers: true, Kueue: true, KubeRay: true}
	for _, c := range All(config()) {
		found := c.Name == Karpenter || c.Name == MPIOperator // no such setting
		for _, a := range c.Argv {
			name, value, _ := strings.Cut(a, "=")
			if slices.Contains(listen, name) && value != "0" {
				found = true
				if !strings.Contains(value, "127.20.30.1") && value != etcdSocket {
					t.Errorf("%s: %s is not the lab's address", c.Name, a)
				}
			}
		}
		for _, content := range c.Files { // for programs without flags
			for line := range strings.Lines(content) {
				name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
				if name != "host" && name != "healthProbeBindAddress" {
					continue
				}
				found = true
				if !strings.Contains(value, "127.20.30.1") {
					t.Errorf("%s: %s is not the lab's address", c.Name, line)
				}
			}
		}
		if !found {
			t.Errorf("%s: no listen address", c.Name)
		}
		scheme := "https"
		if extra[c.Name] {
			scheme = "http"
		}
		if !strings.HasPrefix(c.Probe.URL, scheme+"://127.20.30.1:") {
			t.Errorf("%s: probed at %s", c.Name, c.Probe.URL)
		}
	}
}

// A lab has the base components and its extras.
func TestExtras(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		with []string
		want string
	}{
		"none":      {nil, ""},
		"karpenter": {[]string{ExtraKarpenter}, "karpenter"},
		"all":       {Extras(), "prometheus-adapter karpenter kai-scheduler kai-binder kai-podgrouper volcano-scheduler volcano-controllers kueue jobset kubeflow-trainer mpi-operator kuberay-operator"},
	} {
		conf := config()
		conf.With = c.with
		var names []string
		for _, component := range All(conf)[7:] {
			names = append(names, component.Name)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s: the lab has extra components %q, want %q", name, got, c.want)
		}
		if err := CheckExtras(c.with); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	err := CheckExtras([]string{"kai", "carpenter"})
	if err == nil || !strings.Contains(err.Error(), `"carpenter"`) || !strings.Contains(err.Error(), "karpenter, kai") {
		t.Errorf("unknown extra: %v, want the valid names", err)
	}
}

func TestNeedsAreComponents(t *testing.T) {
	t.Parallel()
	known := map[string]bool{Serving: true, Roles: true, Objects: true}
	for _, e := range Extras() {
		known[ObjectsOf(e)] = true
	}
	for _, c := range All(config()) {
		for _, n := range c.Needs {
			if !known[n] {
				t.Errorf("%s needs %s, which does not come before it", c.Name, n)
			}
		}
		known[c.Name] = true
	}
}

// Every YAML file parses, and no stage completes pods without the annotation: the world decides
// whether a workload's pod succeeds.
func TestFilesParse(t *testing.T) {
	t.Parallel()
	conf := config()
	for _, c := range All(conf) {
		for path, content := range c.Files {
			for doc := range strings.SplitSeq("\n"+content, "\n---\n") {
				if path == conf.Conf("instance-types.json") {
					continue // a list; its package has a test
				}
				var v map[string]any
				if err := yaml.UnmarshalStrict([]byte(doc), &v); err != nil {
					t.Errorf("%s: %s: %v", c.Name, path, err)
				}
				if meta, ok := v["metadata"].(map[string]any); ok && meta["name"] == "pod-complete" &&
					!strings.Contains(doc, `'.metadata.annotations["firstlight.dev/world-completes"]'`+"\n      operator: In\n      values: [\"true\"]") {
					t.Errorf("%s: a stage completes pods without the annotation", c.Name)
				}
			}
			if strings.Contains(content, "${") || strings.Contains(content, "KUBELET_ADDRESS") {
				t.Errorf("%s: %s has an unexpanded placeholder", c.Name, path)
			}
		}
	}
}

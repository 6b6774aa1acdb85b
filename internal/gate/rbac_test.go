package gate_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/autoscale"
	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/site"
)

// printed is what RBAC printed: rules by namespace ("" cluster-wide).
type printed struct {
	rules    map[string][]rbacv1.PolicyRule
	level    string // of pod security, of the namespace
	bindings int
}

func rbac(t *testing.T, s *site.Site, a gate.Allowed) printed {
	t.Helper()
	data, err := gate.RBAC(s, a)
	if err != nil {
		t.Fatal(err)
	}
	p := printed{rules: map[string][]rbacv1.PolicyRule{}}
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for {
		doc, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return p
		}
		if err != nil {
			t.Fatal(err)
		}
		var kind metav1.TypeMeta
		if err := yaml.Unmarshal(doc, &kind); err != nil {
			t.Fatal(err)
		}
		var role rbacv1.Role // a ClusterRole without a namespace
		var ns corev1.Namespace
		switch kind.Kind {
		case "Role", "ClusterRole":
			if err := yaml.Unmarshal(doc, &role); err != nil || (kind.Kind == "Role") != (role.Namespace != "") {
				t.Fatalf("%v: %s", err, doc)
			}
			p.rules[role.Namespace] = role.Rules
		case "RoleBinding", "ClusterRoleBinding":
			var b rbacv1.RoleBinding
			if err := yaml.UnmarshalStrict(doc, &b); err != nil || len(b.Subjects) != 1 || b.Subjects[0].Name != a.User {
				t.Fatalf("%v: %s", err, doc)
			}
			p.bindings++
		case "Namespace":
			if err := yaml.UnmarshalStrict(doc, &ns); err != nil {
				t.Fatal(err)
			}
			p.level = ns.Labels["pod-security.kubernetes.io/enforce"]
		default:
			t.Fatalf("%s", doc)
		}
	}
}

// allows says that "verb group/resource" is allowed in a namespace, on an object of that name.
func (p printed) allows(namespace, request, name string) bool {
	verb, rest, _ := strings.Cut(request, " ")
	group, resource, _ := strings.Cut(rest, "/")
	has := func(rules []rbacv1.PolicyRule) bool {
		return slices.ContainsFunc(rules, func(r rbacv1.PolicyRule) bool {
			return slices.Contains(r.Verbs, verb) && slices.Contains(r.APIGroups, group) && slices.Contains(r.Resources, resource) &&
				(len(r.ResourceNames) == 0 || slices.Contains(r.ResourceNames, name))
		})
	}
	return has(p.rules[""]) || namespace != "" && has(p.rules[namespace])
}

// Requests of each gate to the API server, by namespace: in its namespace (run), in that of the
// operator, cluster-wide ("").
var requests = map[string]map[string][]string{
	"run": {
		"":    {"list /nodes", "list scheduling.k8s.io/priorityclasses", "delete scheduling.k8s.io/priorityclasses"},
		"run": {"get coordination.k8s.io/leases", "create coordination.k8s.io/leases", "update coordination.k8s.io/leases", "delete coordination.k8s.io/leases", "deletecollection batch/jobs", "list /pods", "delete /pods", "list /services", "delete /services", "list resource.k8s.io/resourceclaimtemplates", "list monitoring.coreos.com/podmonitors", "delete monitoring.coreos.com/podmonitors", "list monitoring.coreos.com/prometheusrules", "delete monitoring.coreos.com/prometheusrules"},
	},
	"pods": {
		"": {"list /pods", "list /nodes", "create scheduling.k8s.io/priorityclasses"},
		"run": {
			"get /namespaces", "list /serviceaccounts", "watch /serviceaccounts", "create batch/jobs", "list batch/jobs", "watch batch/jobs", "delete batch/jobs",
			"create /services", "delete /services", "list /pods", "watch /pods", "deletecollection /pods", "get /pods/log", "list /events",
			"create scheduling.k8s.io/podgroups", "get scheduling.k8s.io/podgroups", "patch scheduling.k8s.io/podgroups", "create scheduling.run.ai/podgroups",
			"create scheduling.volcano.sh/podgroups", "watch scheduling.volcano.sh/podgroups", "create kueue.x-k8s.io/localqueues", "list kueue.x-k8s.io/workloads",
		},
	},
	"node":      {"": {"list /pods", "list /nodes"}, "operator": {"get /pods/exec", "create /pods/exec"}},
	"gpustack":  {"": {"list /pods", "get nvidia.com/clusterpolicies", "list nvidia.com/clusterpolicies", "list nvidia.com/nvidiadrivers"}, "operator": {"list apps/daemonsets", "list /pods"}},
	"telemetry": {"run": {"create monitoring.coreos.com/prometheusrules", "patch monitoring.coreos.com/prometheusrules", "list monitoring.coreos.com/prometheusrules", "delete monitoring.coreos.com/prometheusrules"}},
	"inference": {"run": {"get /pods/portforward", "create /pods/portforward"}},
	"autoscale": {
		"":         {"list karpenter.sh/nodepools", "create karpenter.sh/nodepools", "watch /nodes", "watch /pods", "list events.k8s.io/events", "watch autoscaling/horizontalpodautoscalers"},
		"run":      {"create apps/deployments", "create /pods", "patch /pods", "create autoscaling/horizontalpodautoscalers", "get external.metrics.k8s.io/dcgm_gpu_power_usage"},
		"operator": {"list apps/daemonsets", "create /pods/portforward"},
		"adapter":  {"get apps/deployments", "get /configmaps"},
	},
}

func served(t *testing.T) *site.Site {
	t.Helper()
	s, _ := example(t)
	s.Reach.Prometheus = site.Endpoint{Service: "monitoring/prometheus:9090"}
	s.Reach.Alertmanager = site.Endpoint{Service: "https:alerting/am-main:web"}
	s.Autoscale.Adapter, s.Autoscale.Controller = "monitoring/adapter", "karpenter/karpenter"
	return s
}

// Each gate is allowed what it asks for, and nothing that would give it the cluster.
func TestRBACIsWhatTheGatesDo(t *testing.T) {
	t.Parallel()
	s := served(t)
	for _, name := range append(site.Gates(), autoscale.Name) {
		for _, namespace := range []string{"", "acceptance"} {
			t.Run(name+"/in "+namespace, func(t *testing.T) {
				t.Parallel()
				p := rbac(t, s, gate.Allowed{Gates: []string{name}, Namespace: namespace, User: "ada"})
				at := map[string]string{"": "", "run": "firstlight-x", "operator": s.GPUStack.Namespace, "adapter": "monitoring"}
				if namespace != "" {
					at["run"] = namespace
				}
				wanted := []string{"run", name}
				if !slices.Contains([]string{"facility", "fabric", "node"}, name) {
					wanted = append(wanted, "pods")
				}
				for _, of := range wanted {
					for where, all := range requests[of] {
						for _, request := range all {
							if !p.allows(at[where], request, "x") {
								t.Errorf("%s in %q is not allowed", request, at[where])
							}
						}
					}
				}
				if !p.allows("", "get /namespaces", "kube-system") {
					t.Error("which cluster it is may not be asked")
				}
				proxies := slices.Contains([]string{"telemetry", "autoscale"}, name)
				if p.allows("monitoring", "get /services/proxy", "prometheus:9090") != proxies || p.allows("alerting", "create /services/proxy", "https:am-main:web") != proxies {
					t.Errorf("Prometheus and Alertmanager may be asked: %t", !proxies)
				}
				if p.bindings != len(p.rules) {
					t.Errorf("%d bindings of %d roles", p.bindings, len(p.rules))
				}
				nothingWide(t, p, name, namespace)
			})
		}
	}
}

// A GPUCluster is read only where the GPUs are offered by DRA.
func TestGPUClusterMayBeRead(t *testing.T) {
	t.Parallel()
	s := served(t)
	for class, want := range map[string]bool{"": false, site.DRADeviceClass: true} {
		s.GPUStack.DeviceClass = class
		if got := rbac(t, s, gate.Allowed{Gates: site.Gates()}).allows("", "get nvidia.com/gpuclusters", "x"); got != want {
			t.Errorf("DeviceClass %q: %t", class, got)
		}
	}
}

// A site whose hosts have their tools needs no permission in the cluster for them.
func TestExecIsAllowedOnlyWhereItIsUsed(t *testing.T) {
	t.Parallel()
	s := served(t)
	for tools, want := range map[string]bool{site.ToolsAuto: true, site.ToolsInPods: true, site.ToolsOnHost: false} {
		s.Reach.GPUTools = tools
		for _, namespace := range []string{"", "acceptance"} {
			p := rbac(t, s, gate.Allowed{Gates: site.Gates(), Namespace: namespace})
			if got := p.allows("gpu-operator", "create /pods/exec", "x"); got != want {
				t.Errorf("gpuTools %s: exec is allowed %t, want %t", tools, got, want)
			}
			if p.allows("", "create /pods/exec", "x") || p.allows("default", "get /pods/exec", "x") {
				t.Errorf("gpuTools %s: exec is allowed beyond the operator's namespace", tools)
			}
			if p := rbac(t, s, gate.Allowed{Gates: []string{"gpustack", "telemetry", "training"}, Namespace: namespace}); p.allows("gpu-operator", "create /pods/exec", "x") {
				t.Errorf("gpuTools %s: exec is allowed without gate node", tools)
			}
		}
	}
}

// A site whose alert is posted needs no rule, and one by a rule need not read those of others.
func TestRulesAreAllowedOnlyWhereTheyAreUsed(t *testing.T) {
	t.Parallel()
	for through, want := range map[string]bool{site.ThroughRule: true, site.ThroughAlertmanager: false} {
		s := served(t)
		s.Telemetry.Alert.Through = through
		p := rbac(t, s, gate.Allowed{Gates: site.Gates(), Namespace: "acceptance"})
		if got := p.allows("acceptance", "create monitoring.coreos.com/prometheusrules", "x"); got != want {
			t.Errorf("through %s: a rule may be created: %t", through, got)
		}
		if p.allows("acceptance", "get monitoring.coreos.com/prometheusrules", "x") {
			t.Errorf("through %s: get is allowed", through)
		}
	}
}

// nothingWide refuses what would give away the cluster.
func nothingWide(t *testing.T, p printed, name, namespace string) {
	t.Helper()
	for where, rules := range p.rules {
		for _, r := range rules {
			for _, word := range slices.Concat(r.Verbs, r.Resources, r.APIGroups) {
				if word == "pods/exec" && name == "node" && where == "gpu-operator" {
					continue // nvidia-smi and dcgmi, where hosts do not have them
				}
				if slices.Contains([]string{"*", "secrets", "bind", "escalate", "impersonate", "serviceaccounts/token", "pods/exec", "pods/ephemeralcontainers"}, word) {
					t.Errorf("%+v allows %q", r, word)
				}
			}
		}
	}
	if namespace == "" {
		return // the run's namespace is new: requests in it must be allowed cluster-wide
	}
	for _, request := range []string{
		"create /pods", "delete /pods", "deletecollection /pods", "create batch/jobs", "delete batch/jobs", "create apps/deployments", "create /services",
		"get /pods/log", "create /pods/portforward", "get /services/proxy", "create /services/proxy", "get /configmaps", "delete /namespaces", "create /namespaces",
	} {
		if p.allows("", request, "x") {
			t.Errorf("%s is allowed in every namespace", request)
		}
	}
	for _, request := range []string{"create /pods", "create batch/jobs", "get /services/proxy"} {
		if p.allows("monitoring", request, "grafana:3000") || p.allows("gpu-operator", request, "x") {
			t.Errorf("%s is allowed in a namespace of others", request)
		}
	}
	if name != autoscale.Name && (p.allows("", "delete /nodes", "x") || p.allows("", "create karpenter.sh/nodepools", "x")) {
		t.Error("nodes may be made or deleted without the autoscaling chain")
	}
	if !slices.Contains([]string{"facility", "fabric", "node"}, name) {
		return
	}
	for _, request := range []string{"create batch/jobs", "create /services", "get /pods/log"} {
		if p.allows(namespace, request, "x") {
			t.Errorf("%s is allowed, and gate %s starts nothing", request, name)
		}
	}
}

// The level privileged is for the gates alone whose pods lock memory or mount a directory of the host.
func TestLevelOfPodSecurity(t *testing.T) {
	t.Parallel()
	s := served(t)
	without := *s
	without.Fabric.NetworkResource, without.Fabric.NetworkResourceCount = "", 0
	without.Workloads.Training.Checkpoint = nil
	mounts := without
	mounts.Workloads.Training.Checkpoint = &site.Checkpoint{Directory: "/mnt/checkpoints", SizeGiB: 16}
	for name, tt := range map[string]struct {
		site  *site.Site
		gates []string
		want  string
	}{
		"training, no RDMA":     {&without, []string{"training"}, "baseline"},
		"training, checkpoints": {&mounts, []string{"training"}, "privileged"},
		"collective alone":      {&mounts, []string{"collective"}, "baseline"},
		"all":                   {s, site.Gates(), "privileged"},
		"collective":            {s, []string{"collective"}, "privileged"},
		"inference":             {s, []string{"inference"}, "baseline"},
		"collective, no RDMA":   {&without, []string{"collective"}, "baseline"},
		"everything below pods": {s, []string{"facility", "fabric", "node"}, "baseline"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if p := rbac(t, tt.site, gate.Allowed{Gates: tt.gates, Namespace: "acceptance"}); p.level != tt.want {
				t.Errorf("level %q, want %q", p.level, tt.want)
			}
		})
	}
}

func TestRBACOfAnUnknownGate(t *testing.T) {
	t.Parallel()
	if _, err := gate.RBAC(served(t), gate.Allowed{Gates: []string{"everything"}}); err == nil {
		t.Error("printed")
	}
}

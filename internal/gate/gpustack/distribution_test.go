package gpustack

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/distribution"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/site"
)

const (
	k3sSocket = "/run/k3s/containerd/containerd.sock"
	k3sConfig = "/var/lib/rancher/k3s/agent/etc/containerd/config.toml.tmpl"
)

// onK3s is a gate of spine k3s with what it observes on a healthy cluster: four agents and a server. The versions
// are of docs.k3s.io/release-notes/v1.33.X, the components those of kubectl get -n kube-system on such a server.
func onK3s(t *testing.T) (*Gate, facts) {
	t.Helper()
	g := gate(t)
	g.site.Spine = site.SpineK3s
	f := healthy(g)
	for i := range f.versions.Nodes {
		f.versions.Nodes[i].Kubelet, f.versions.Nodes[i].Runtime = "v1.33.4+k3s1", "containerd://2.0.5-k3s2"
	}
	f.versions.Server = "v1.33.4+k3s1"
	f.versions.Nodes = append(f.versions.Nodes, distribution.Node{Name: "server-01", Kubelet: "v1.33.4+k3s1", Runtime: "containerd://2.0.5-k3s2", ControlPlane: true})
	f.policy.Toolkit = &toolkitFigures{Enabled: true, Socket: k3sSocket, Config: k3sConfig}
	f.packaged = []component{
		{Kind: "Deployment", Name: "coredns", Current: true, Desired: 1, Ready: 1, Updated: 1}, {Kind: "Deployment", Name: "metrics-server", Current: true, Desired: 1, Ready: 1, Updated: 1},
		{Kind: "DaemonSet", Name: "svclb-traefik-374894d1", Current: true, Desired: 1, Ready: 1, Updated: 1}, {Kind: "Job", Name: "helm-install-traefik", Current: true, Desired: 1, Ready: 1, Updated: 1},
	}
	return g, f
}

// TestK3sRules covers spine, skew, toolkit and packaged components, one field at a time.
func TestK3sRules(t *testing.T) {
	t.Parallel()
	g, f := onK3s(t)
	kubelet := func(node, version string) checktest.Change {
		return checktest.Set(kindDistribution, `.nodes[`+node+`].kubelet`, version)
	}
	runtime := func(version string) checktest.Change {
		return checktest.Set(kindDistribution, `.nodes[1].runtime`, version)
	}
	toolkit := func(key string, to any) checktest.Change { return checktest.Set(kindPolicy, `.toolkit.`+key, to) }
	version := func(to any) checktest.Change { return checktest.Set(kindOperator, `[0].version`, to) }
	dropIn := toolkit("dropIn", "/var/lib/rancher/k3s/agent/etc/containerd/config-v3.toml.d/99-nvidia.toml")
	runtimeConfig := toolkit("runtimeConfig", k3sConfig)
	const policy = "ClusterPolicy cluster-policy/toolkit"
	checktest.Rules(t, func(obs []check.Observation) check.Judgement { return plan.Judge(g, obs) }, f.observations(t), []checktest.Rule{
		checktest.When("a healthy cluster").Passes(),
		checktest.When("a node of RKE2", kubelet("1", "v1.33.4+rke2r1")).Fails("gpu-02", "is a node of RKE2 (kubelet v1.33.4+rke2r1), and the site declares spine k3s"),
		checktest.When("a node of plain Kubernetes", kubelet("1", "v1.33.4")).Fails("gpu-02", `kubelet "v1.33.4" of gpu-02 is not of k3s`),
		checktest.When("a node outside of the inventory is not judged", checktest.Set(kindDistribution, `.nodes[1].name`, "pool-2"), kubelet("1", "v1.33.4")).Unobserved("gpu-02", "its distribution was not observed"),
		checktest.When("an agent of the next minor version", kubelet("0", "v1.34.1+k3s1")).Fails("gpu-01", "is newer than API server (v1.33.4+k3s1)"),
		checktest.When("an agent of the next patch", kubelet("0", "v1.33.9+k3s1")).Passes(),
		checktest.When("an agent three minor versions behind", kubelet("0", "v1.30.14+k3s2")).Passes(),
		checktest.When("an agent four minor versions behind", kubelet("0", "v1.29.15+k3s1")).Fails("gpu-01", "is 4 minor versions older than API server (v1.33.4+k3s1), the limit is 3"),
		checktest.When("an agent before 1.25", kubelet("0", "v1.24.17+k3s1"), kubelet("last", "v1.26.15+k3s1"), checktest.Set(kindDistribution, `.server`, "v1.26.15+k3s1")).Fails("gpu-02", "is newer than"),
		checktest.When("a server behind: agents must not be newer than any server", kubelet("last", "v1.32.8+k3s1")).Fails("gpu-01", "is newer than server-01 (v1.32.8+k3s1)"),
		checktest.When("servers two minor versions apart", kubelet("last", "v1.31.9+k3s1")).Fails("server-01", "server-01 is v1.31.9+k3s1 and API server is v1.33.4+k3s1"),
		checktest.When("a server ahead", kubelet("last", "v1.34.1+k3s1")).Passes(),
		checktest.When("agents count from the newest server", kubelet("last", "v1.34.1+k3s1"), kubelet("0", "v1.30.14+k3s2")).Fails("gpu-01", "is 4 minor versions older than server-01 (v1.34.1+k3s1)"),
		checktest.When("a node that is not a server", kubelet("last", "v1.30.14+k3s1"), checktest.Set(kindDistribution, `.nodes[last].controlPlane`, false)).Passes(),
		checktest.When("a server without version", kubelet("last", "")).Unobserved("server-01", "the version of this server is unknown"),
		checktest.When("a kubelet without version", kubelet("0", "")).Fails("gpu-01", `kubelet "" of gpu-01 is not of k3s`),
		checktest.When("an API server without version", checktest.Set(kindDistribution, `.server`, "")).Unobserved("API server", "cannot be compared"),

		checktest.When("the default socket", toolkit("socket", checktest.LeftOut)).Fails(policy, "CONTAINERD_SOCKET is not set (/run/containerd/containerd.sock): the container toolkit restarts another containerd, that of k3s on gpu-01, gpu-02, gpu-03, gpu-04 is at "+k3sSocket),
		checktest.When("the socket of the host's containerd", toolkit("socket", "/run/containerd/containerd.sock")).Fails(policy, "CONTAINERD_SOCKET is /run/containerd/containerd.sock"),
		checktest.When("the socket through the link", toolkit("socket", "/var/run/k3s/containerd/containerd.sock")).Passes(),
		checktest.When("the host's configuration", toolkit("config", "/etc/containerd/config.toml")).Fails(policy, "CONTAINERD_CONFIG is /etc/containerd/config.toml: the container toolkit configures another containerd, that of k3s on gpu-01"),
		checktest.When("the configuration of RKE2", toolkit("config", "/var/lib/rancher/rke2/agent/etc/containerd/config.toml")).Fails(policy, "reads files in /var/lib/rancher/k3s/agent/etc/containerd"),
		checktest.When("no configuration: k3s finds the runtimes", toolkit("config", checktest.LeftOut)).Passes(),
		checktest.When("a drop-in of k3s", toolkit("config", checktest.LeftOut), toolkit("dropIn", "/var/lib/rancher/k3s/agent/etc/containerd/config-v3.toml.d/99-nvidia.toml")).Passes(),
		checktest.When("a drop-in elsewhere", toolkit("config", checktest.LeftOut), toolkit("dropIn", "/etc/containerd/conf.d/99-nvidia.toml")).Fails(policy, "RUNTIME_DROP_IN_CONFIG is /etc/containerd/conf.d/99-nvidia.toml"),
		checktest.When("a drop-in of k3s, and an operator that does not read it", dropIn, version("v25.3.2"), toolkit("config", checktest.LeftOut)).Fails(policy, "GPU Operator v25.3.2 does not read RUNTIME_CONFIG and RUNTIME_DROP_IN_CONFIG (v25.10.0 and later do), and CONTAINERD_CONFIG is not set"),
		checktest.When("a drop-in that is not read, and a configuration that is", dropIn, version("v25.3.2")).Passes(),
		checktest.When("RUNTIME_CONFIG", runtimeConfig, toolkit("config", checktest.LeftOut)).Passes(),
		checktest.When("RUNTIME_CONFIG, and an operator that does not read it", runtimeConfig, version("v25.3.4"), toolkit("config", checktest.LeftOut)).Fails(policy, "GPU Operator v25.3.4 does not read RUNTIME_CONFIG"),
		checktest.When("CONTAINERD_CONFIG counts before RUNTIME_CONFIG", runtimeConfig, toolkit("config", "/etc/containerd/config.toml")).Fails(policy, "CONTAINERD_CONFIG is /etc/containerd/config.toml"),
		checktest.When("a drop-in, and an operator of unknown version", dropIn, version("main"), toolkit("config", checktest.LeftOut)).Unobserved(policy, `the version "main" of Deployment gpu-operator is unknown`),
		checktest.When("a drop-in, and no version of the operator", dropIn, version(checktest.LeftOut), toolkit("config", checktest.LeftOut)).Unobserved(policy, "is unknown"),
		checktest.When("a drop-in, a configuration that is read, and an unknown version", dropIn, version("main")).Passes(),
		checktest.When("an unknown version hides no wrong socket", dropIn, version("main"), toolkit("config", checktest.LeftOut), toolkit("socket", checktest.LeftOut)).Fails(policy, "CONTAINERD_SOCKET is not set"),
		checktest.When("no such variable: every version reads the others", version(checktest.LeftOut)).Passes(),
		checktest.When("another data directory", toolkit("config", "/data/k3s/agent/etc/containerd/config.toml")).Passes(),
		checktest.When("the toolkit is the host's", toolkit("enabled", false), toolkit("socket", checktest.LeftOut)).Passes(),
		checktest.When("an NRI plugin", toolkit("nri", true), toolkit("socket", checktest.LeftOut)).Passes(),
		checktest.When("the toolkit was not observed", checktest.Set(kindPolicy, `.toolkit`, checktest.LeftOut)).Unobserved(policy, "was not observed"),
		checktest.When("a node with the host's containerd", runtime("containerd://1.7.27")).Fails("gpu-02", "gpu-02 runs containerd://1.7.27, not the containerd of k3s"),
		checktest.When("a node with Docker", runtime("docker://28.0.4")).Fails("gpu-02", "gpu-02 runs docker://28.0.4"),
		checktest.When("a node whose runtime is unknown", runtime("")).Unobserved("gpu-02", "its container runtime is unknown"),

		checktest.When("a Deployment is not ready", checktest.Set(kindPackaged, `[1].ready`, 0)).Fails("Deployment kube-system/metrics-server", "0 of 1 pods are ready"),
		checktest.When("it says why", checktest.Set(kindPackaged, `[1].ready`, 0), checktest.Set(kindPackaged, `[1].why`, "Deployment does not have minimum availability.")).Fails("Deployment kube-system/metrics-server", "minimum availability"),
		checktest.When("a DaemonSet of servicelb is not ready", checktest.Set(kindPackaged, `[2].desired`, 5)).Fails("DaemonSet kube-system/svclb-traefik-374894d1", "1 of 5 pods"),
		checktest.When("a chart is not installed", checktest.Set(kindPackaged, `[3].ready`, 0)).Fails("Job kube-system/helm-install-traefik", "0 of 1 pods"),
		checktest.When("a chart is being installed", checktest.Set(kindPackaged, `[3].ready`, 0), checktest.Set(kindPackaged, `[3].running`, true)).Unobserved("Job kube-system/helm-install-traefik", "has not ended: 0 of 1 pods"),
		checktest.When("a load balancer of a user's Service is Pending", checktest.Set(kindPackaged, `[2].ready`, 0), checktest.Set(kindPackaged, `[2].of`, "Service default/web")).Passes(),
		checktest.When("a chart of a user has failed", checktest.Set(kindPackaged, `[3].ready`, 0), checktest.Set(kindPackaged, `[3].of`, "HelmChart kube-system/gpu-operator")).Passes(),
		checktest.When("a Deployment is rolled out", checktest.Set(kindPackaged, `[1].updated`, 0)).Fails("Deployment kube-system/metrics-server", "1 of 1 pods are ready, 0 up to date"),
		checktest.When("a DaemonSet's status is old", checktest.Set(kindPackaged, `[2].current`, false)).Fails("DaemonSet kube-system/svclb-traefik-374894d1", "status current: false"),
		checktest.When("a status without pods is old", checktest.Set(kindPackaged, `[2].current`, false), checktest.Set(kindPackaged, `[2].desired`, 0)).Fails("DaemonSet kube-system/svclb-traefik-374894d1", "status current: false"),
		checktest.When("a Deployment scaled to none", checktest.Set(kindPackaged, `[1].desired`, 0), checktest.Set(kindPackaged, `[1].ready`, 0)).Passes(),
		checktest.When("everything is disabled", checktest.Set(kindPackaged, ``, []any{})).Passes(),
	})
}

// Every field of a healthy cluster of k3s is demanded, or this list states why not.
func TestEveryFieldOfK3s(t *testing.T) {
	t.Parallel()
	g, f := onK3s(t)
	obs := slices.DeleteFunc(f.observations(t), func(o check.Observation) bool { // the others are in TestEveryField
		return o.Kind != kindDistribution && o.Kind != kindPackaged
	})
	judge := func(obs []check.Observation) check.Judgement {
		var b check.Builder
		nodes, remark := g.judgeDistribution(&b, obs)
		remark += g.judgeToolkit(&b, check.Observation{}, f.policy.Toolkit, f.operator, nodes) + g.judgePackaged(&b, obs)
		return b.Judgement(remark)
	}
	checktest.EveryField(t, "k3s", judge, obs, checktest.Harmless{
		"a server need not be a node":              {`distribution.* .nodes: without the last`, `distribution.* .nodes.(runtime|controlPlane|name): .*`},
		"the end of a version is not compared":     {`distribution.* .(server|nodes.kubelet|nodes.runtime): another text`},
		"said twice is not more":                   {`distribution.* .nodes: the first twice`, `packaged-components.* : the first twice`},
		"an absent component is disabled":          {`packaged-components.* : (emptied|without the last)`, `packaged-components.* .desired: (0|-1|x0.5|left out)`},
		"it names the observed object, for people": {`packaged-components.* .(kind|name): .*`},
		"more pods than desired are of an update":  {`packaged-components.* .(ready|updated): (1 more|x1000)`},
	})
}

// Other distributions are judged by their data, on a site of spine kubernetes.
func TestToolkitOfDistributions(t *testing.T) {
	t.Parallel()
	const pass, fail = check.Passed, check.Failed
	for name, c := range map[string]struct {
		kubelet, runtime string
		marks            []string
		toolkit          toolkitFigures
		verdict          check.Verdict
		says             string
	}{
		"RKE2 as its documents say":     {"v1.33.1+rke2r1", "containerd://2.0.5-k3s1", nil, toolkitFigures{Socket: k3sSocket}, pass, ""},
		"RKE2 without it":               {"v1.33.1+rke2r1", "containerd://2.0.5-k3s1", nil, toolkitFigures{}, fail, "that of RKE2 on gpu-01"},
		"RKE2 with the files of k3s":    {"v1.33.1+rke2r1", "containerd://2.0.5-k3s1", nil, toolkitFigures{Socket: k3sSocket, Config: k3sConfig}, fail, "reads files in /var/lib/rancher/rke2/agent/etc/containerd"},
		"k0s as its documents say":      {"v1.33.2+k0s", "containerd://1.7.27", nil, toolkitFigures{Socket: "/run/k0s/containerd.sock", RuntimeConfig: "/tmp/nvidia-operator-dummy-import.toml", DropIn: "/etc/k0s/containerd.d/nvidia.toml"}, pass, ""},
		"k0s before drop-ins":           {"v1.33.2+k0s", "containerd://1.7.27", nil, toolkitFigures{Socket: "/run/k0s/containerd.sock", Config: "/etc/k0s/containerd.d/nvidia.toml"}, pass, ""},
		"k0s finds no runtimes":         {"v1.33.2+k0s", "containerd://1.7.27", nil, toolkitFigures{Socket: "/run/k0s/containerd.sock"}, fail, "CONTAINERD_CONFIG is not set (/etc/containerd/config.toml)"},
		"MicroK8s as NVIDIA says":       {"v1.33.4", "containerd://1.7.27", []string{"microk8s.io/cluster"}, toolkitFigures{Socket: "/var/snap/microk8s/common/run/containerd.sock", Config: "/var/snap/microk8s/current/args/containerd-template.toml"}, pass, ""},
		"MicroK8s by default":           {"v1.33.4", "containerd://1.7.27", []string{"microk8s.io/cluster"}, toolkitFigures{}, fail, "that of MicroK8s"},
		"EKS by default":                {"v1.33.5-eks-113cf36", "containerd://1.7.27", nil, toolkitFigures{}, pass, ""},
		"an unknown one is not guessed": {"v1.33.5", "containerd://1.7.27", nil, toolkitFigures{}, pass, ""},
		"k3s with another containerd":   {"v1.33.4+k3s1", "containerd://1.7.27", nil, toolkitFigures{}, pass, ""},
	} {
		g := gate(t)
		f := healthy(g)
		f.versions.Server = "v1.33.5"
		for i := range f.versions.Nodes {
			f.versions.Nodes[i].Kubelet, f.versions.Nodes[i].Runtime, f.versions.Nodes[i].Marks = c.kubelet, c.runtime, c.marks
		}
		c.toolkit.Enabled = true
		f.policy.Toolkit = &c.toolkit
		suspect := ""
		if c.verdict == fail {
			suspect = "ClusterPolicy cluster-policy/toolkit"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checktest.Judged(t, plan.Judge(g, f.observations(t)), c.verdict, suspect, c.says)
		})
	}
}

// Findings about nodes rested on parsed figures alone: the raw output had the version of the API server and no node.
func TestRawDistribution(t *testing.T) {
	t.Parallel()
	const mark = "kubeadm.alpha.kubernetes.io/cri-socket"
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: "gpu-01", Labels: map[string]string{"node-role.kubernetes.io/control-plane": ""},
		Annotations: map[string]string{mark: "unix:///run/containerd/containerd.sock", "of.a.user/notes": "left out"},
	}}
	node.Status.NodeInfo = corev1.NodeSystemInfo{KubeletVersion: "v1.33.5", ContainerRuntimeVersion: "containerd://1.7.27", OSImage: "Ubuntu 24.04.3 LTS"}
	m := &memory{}
	if err := gate(t).observeDistribution(t.Context(), &kube.Cluster{Client: fake.NewClientset(node)}, m); err != nil {
		t.Fatal(err)
	}
	if len(m.obs) != 1 {
		t.Fatalf("%d observations", len(m.obs))
	}
	raw := string(m.obs[0].Raw)
	for _, part := range []string{"gitVersion", `"gpu-01"`, "node-role.kubernetes.io/control-plane", mark, `"kubeletVersion": "v1.33.5"`, "containerd://1.7.27", "Ubuntu 24.04.3 LTS"} {
		if !strings.Contains(raw, part) {
			t.Errorf("the raw output has no %s: %s", part, raw)
		}
	}
	if strings.Contains(raw, "of.a.user") {
		t.Errorf("the raw output has an annotation without a mark: %s", raw)
	}
}

// The version is that of the image, which the chart's values can set; the chart's label is for an image without a tag.
// A tag without a version, such as that of a build of one's own, leaves it unknown.
func TestOperatorVersion(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ image, label, want string }{
		"a release":              {"nvcr.io/nvidia/gpu-operator:v25.10.0", "v25.10.0", "v25.10.0"},
		"another image":          {"registry.local:5000/gpu-operator:v25.3.2", "v25.10.0", "v25.3.2"},
		"a tag and a digest":     {"nvcr.io/nvidia/gpu-operator:v25.3.2@" + digest('a'), "v25.10.0", "v25.3.2"},
		"a digest":               {"nvcr.io/nvidia/gpu-operator@" + digest('a'), "v25.10.0", "v25.10.0"},
		"a digest without label": {"nvcr.io/nvidia/gpu-operator@" + digest('a'), "", ""},
		"a build":                {"nvcr.io/nvidia/gpu-operator:main", "v25.10.0", "main"},
		"no tag":                 {"registry.local:5000/gpu-operator", "", ""},
		"not an image":           {"::", "v25.10.0", ""},
	} {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app.kubernetes.io/version": c.label}}}
		d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "proxy", Image: "proxy:v1.0.0"}, {Name: "gpu-operator", Image: c.image}}
		if got := operatorVersion(d); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := operatorVersion(&appsv1.Deployment{}); got != "" {
		t.Errorf("without containers: %q", got)
	}
}

// k0s supports one minor version, not the three of Kubernetes.
func TestSkewOfDistribution(t *testing.T) {
	t.Parallel()
	g := gate(t)
	f := healthy(g)
	f.versions.Server = "v1.33.2+k0s"
	for i := range f.versions.Nodes {
		f.versions.Nodes[i].Kubelet, f.versions.Nodes[i].Runtime = "v1.32.8+k0s", "containerd://1.7.27"
	}
	f.policy.Toolkit = &toolkitFigures{Enabled: true, Socket: "/run/k0s/containerd.sock", DropIn: "/etc/k0s/containerd.d/nvidia.toml"}
	checktest.Judged(t, plan.Judge(g, f.observations(t)), check.Passed, "", "")
	f.versions.Nodes[2].Kubelet = "v1.31.9+k0s"
	checktest.Judged(t, plan.Judge(g, f.observations(t)), check.Failed, "gpu-03", "is 2 minor versions older than API server (v1.33.2+k0s), the limit is 1")
}

// A virtual cluster has an API server of its own, of any version, and the nodes of the cluster around it: the versions
// of both were compared, and a healthy one failed.
func TestSkewOfVirtualCluster(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		server  string
		nodes   string
		one     string // of the last node; empty: as the others
		verdict check.Verdict
		suspect string
		says    string
	}{
		"vcluster over EKS":                {"v1.32.1+k3s1", "v1.33.5-eks-113cf36", "", check.Passed, "API server", "v1.32.1+k3s1 is that of k3s, and no node is"},
		"vcluster over nodes without mark": {"v1.32.1+k3s1", "v1.33.5", "", check.Passed, "API server", "the version skew of the nodes is not judged"},
		"one node is the server's":         {"v1.32.1+k0s", "v1.33.5", "v1.32.1+k0s", check.Failed, "gpu-01", "is newer than API server (v1.32.1+k0s)"},
		"the nodes are the server's":       {"v1.32.1-eks-113cf36", "v1.33.5-eks-113cf36", "", check.Failed, "gpu-01", "is newer than API server"},
		"an API server without mark":       {"v1.32.1", "v1.33.5-eks-113cf36", "", check.Failed, "gpu-01", "is newer than API server"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gate(t)
			f := healthy(g)
			f.versions.Server = c.server
			for i := range f.versions.Nodes {
				f.versions.Nodes[i].Kubelet = c.nodes
			}
			if c.one != "" {
				f.versions.Nodes[3].Kubelet = c.one
				f.policy.Toolkit = &toolkitFigures{Enabled: true, Socket: "/run/k0s/containerd.sock", Config: "/etc/k0s/containerd.d/nvidia.toml"}
			}
			j := plan.Judge(g, f.observations(t))
			if j.Verdict != c.verdict || !slices.ContainsFunc(j.Findings, func(f check.Finding) bool { return f.Suspect == c.suspect && strings.Contains(f.Message, c.says) }) {
				t.Errorf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
			}
		})
	}
}

// A pass states the distribution; where it has none of the marks, that.
func TestPassStatesDistribution(t *testing.T) {
	t.Parallel()
	g, f := onK3s(t)
	if j := plan.Judge(g, f.observations(t)); !strings.HasSuffix(j.Reason, "; 4 nodes of k3s (kubelet v1.33.4+k3s1); packaged components ready: coredns, helm-install-traefik, metrics-server, svclb-traefik-374894d1") {
		t.Error(j.Reason)
	}
	g = gate(t)
	if j := plan.Judge(g, healthy(g).observations(t)); !strings.HasSuffix(j.Reason, "; 4 nodes without a mark of a known distribution (kubelet v1.33.5)") {
		t.Error(j.Reason)
	}
}

// The remedy for a node that is not ready has the service of its distribution.
func TestServiceOfNode(t *testing.T) {
	t.Parallel()
	g, f := onK3s(t)
	f.nodes[1].Ready = false
	j := plan.Judge(g, f.observations(t))
	if i := slices.IndexFunc(j.Findings, func(f check.Finding) bool { return f.Suspect == "gpu-02" }); i < 0 || !strings.HasSuffix(j.Findings[i].Remedy, "journalctl -u k3s-agent") {
		t.Errorf("%+v", j.Findings)
	}
}

// The policy as the documents of k3s, RKE2 and the GPU Operator have it.
func TestReadToolkit(t *testing.T) {
	t.Parallel()
	env := func(pairs ...string) (out []any) {
		for i := 0; i+1 < len(pairs); i += 2 {
			out = append(out, map[string]any{"name": pairs[i], "value": pairs[i+1]})
		}
		return out
	}
	for name, c := range map[string]struct {
		spec map[string]any
		want toolkitFigures
	}{
		"nothing":              {map[string]any{}, toolkitFigures{Enabled: true}},
		"disabled":             {map[string]any{"toolkit": map[string]any{"enabled": false}}, toolkitFigures{}},
		"k3s":                  {map[string]any{"toolkit": map[string]any{"enabled": true, "env": env("CONTAINERD_CONFIG", k3sConfig, "CONTAINERD_SOCKET", k3sSocket, "CONTAINERD_SET_AS_DEFAULT", "true")}}, toolkitFigures{Enabled: true, Socket: k3sSocket, Config: k3sConfig}},
		"k0s":                  {map[string]any{"toolkit": map[string]any{"env": env("RUNTIME_CONFIG", "/tmp/a", "RUNTIME_DROP_IN_CONFIG", "/etc/k0s/containerd.d/nvidia.toml")}}, toolkitFigures{Enabled: true, RuntimeConfig: "/tmp/a", DropIn: "/etc/k0s/containerd.d/nvidia.toml"}},
		"the last one counts":  {map[string]any{"toolkit": map[string]any{"env": env("CONTAINERD_SOCKET", "/a", "CONTAINERD_SOCKET", k3sSocket)}}, toolkitFigures{Enabled: true, Socket: k3sSocket}},
		"CONTAINERD_CONFIG":    {map[string]any{"toolkit": map[string]any{"env": env("RUNTIME_CONFIG", "/a", "CONTAINERD_CONFIG", "/b")}}, toolkitFigures{Enabled: true, Config: "/b", RuntimeConfig: "/a"}},
		"an NRI plugin":        {map[string]any{"cdi": map[string]any{"nriPluginEnabled": true}}, toolkitFigures{Enabled: true, NRI: true}},
		"a plugin without CDI": {map[string]any{"cdi": map[string]any{"enabled": false, "nriPluginEnabled": true}}, toolkitFigures{Enabled: true}},
	} {
		p, err := readPolicy(&unstructured.Unstructured{Object: map[string]any{"spec": c.spec}})
		if err != nil || p.Toolkit == nil || *p.Toolkit != c.want {
			t.Errorf("%s: %+v, %v, want %+v", name, p.Toolkit, err, c.want)
		}
	}
}

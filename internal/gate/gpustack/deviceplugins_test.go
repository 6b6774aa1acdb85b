package gpustack

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/site"
)

// TestPluginRules covers the device plugins of a node.
func TestPluginRules(t *testing.T) {
	t.Parallel()
	g := gate(t)
	g.stack.OtherDevicePlugins = []string{"smarter-device-manager"}
	f := healthy(g)
	f.plugins = append(f.plugins, nodePod{Node: "gpu-02", Namespace: "kube-system", Pod: "second", DaemonSet: "nvidia-device-plugin-daemonset", Images: []string{"ghcr.io/mellanox/k8s-rdma-shared-dev-plugin:v1.5.4"}})
	second := func(image string) checktest.Change {
		return checktest.Set(kindPlugins, `[4].images`, []any{image})
	}
	const twice, suspect = "gpu-operator/nvidia-device-plugin-gpu-02 (nvcr.io/nvidia/k8s-device-plugin:v0.18.0), kube-system/second (", "gpu-02/device plugins"
	checktest.Rules(t, func(obs []check.Observation) check.Judgement { return plan.Judge(g, obs) }, f.observations(t), []checktest.Rule{
		checktest.When("NVIDIA's plugin, installed by hand", second("nvcr.io/nvidia/k8s-device-plugin:v0.17.1")).Fails(suspect, twice+"nvcr.io/nvidia/k8s-device-plugin:v0.17.1)"),
		checktest.When("NVIDIA's plugin of a mirror", second("registry.example.com:5000/mirror/k8s-device-plugin@"+digest('a'))).Fails(suspect, twice),
		checktest.When("Azure's build", second("mcr.microsoft.com/oss/v2/nvidia/k8s-device-plugin:v0.18.2")).Fails(suspect, twice),
		checktest.When("GKE's plugin", second("gke.gcr.io/nvidia-gpu-device-plugin@"+digest('a'))).Fails(suspect, twice),
		checktest.When("HAMi's plugin", second("projecthami/hami:v2.6.1")).Fails(suspect, twice),
		checktest.When("a second container decides too", checktest.Set(kindPlugins, `[4].images`, []any{"rdma/k8s-rdma-shared-dev-plugin", "nvidia/k8s-device-plugin"})).Fails(suspect, "2 device plugins"),
		checktest.When("a pod that terminates is replaced", second("nvidia/k8s-device-plugin"), checktest.Set(kindPlugins, `[4].terminating`, true)).Passes(),
		checktest.When("a node of others", second("nvidia/k8s-device-plugin"), checktest.Set(kindPlugins, `[4].node`, "pool-2")).Passes(),
		checktest.When("AMD's plugin has NVIDIA's name", second("docker.io/rocm/k8s-device-plugin:latest")).Passes(),
		checktest.When("EFA's plugin", second("602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/aws-efa-k8s-device-plugin:v0.5.6")).Passes(),
		checktest.When("SR-IOV's plugin", second("ghcr.io/k8snetworkplumbingwg/sriov-network-device-plugin:v3.7.0")).Passes(),
		checktest.When("OpenShift's build of it", second("registry.redhat.io/openshift4/ose-sriov-network-device-plugin-rhel9:v4.16")).Passes(),
		checktest.When("a plugin that the site knows", second("ghcr.io/smarter-project/smarter-device-manager:v1.20.11")).Passes(),
		checktest.When("an unknown plugin", second("registry.example.com/fpga-plugin:v1")).Unobserved(suspect, "may offer nvidia.com/gpu too: kube-system/second (registry.example.com/fpga-plugin:v1)"),
		checktest.When("an image that cannot be read", second("UPPER CASE")).Unobserved(suspect, "kube-system/second"),
		checktest.When("a DaemonSet of the site's operands offers GPUs under any image", checktest.Set(kindPlugins, `[1].images`, []any{"registry.example.com/dp:v1"})).Passes(),
		checktest.When("it and another one are two", checktest.Set(kindPlugins, `[1].images`, []any{"registry.example.com/dp:v1"}), second("nvidia/k8s-device-plugin")).Fails(suspect, "2 device plugins"),
		checktest.When("the same name in another namespace is not an operand", second("registry.example.com/dp:v1")).Unobserved(suspect, "may offer"),
		checktest.When("a first container decides too", checktest.Set(kindPlugins, `[4].images`, []any{"nvidia/k8s-device-plugin", "rdma/k8s-rdma-shared-dev-plugin"})).Fails(suspect, "2 device plugins"),
		checktest.When("an unknown container and a known one", checktest.Set(kindPlugins, `[4].images`, []any{"registry.example.com/fpga-plugin:v1", "rdma/k8s-rdma-shared-dev-plugin"})).Unobserved(suspect, "may offer"),
		checktest.When("a plugin without an image", checktest.Set(kindPlugins, `[4].images`, []any{})).Unobserved(suspect, "may offer nvidia.com/gpu too: kube-system/second ()"),
		checktest.When("another DaemonSet of the namespace is not an operand", second("registry.example.com/dp:v1"), checktest.Set(kindPlugins, `[4].namespace`, "gpu-operator"), checktest.Set(kindPlugins, `[4].daemonSet`, "fpga")).
			Unobserved(suspect, "may offer nvidia.com/gpu too: gpu-operator/second"),
		checktest.When("a known plugin for other devices offers no GPUs, although it is an operand", checktest.Set(kindPlugins, `[1].images`, []any{"rdma/k8s-rdma-shared-dev-plugin"})).Unobserved(suspect, "no known device plugin"),
		checktest.When("a plugin that was not seen hides no second one", checktest.Set(kindPlugins, `[0].node`, "pool-2")).Unobserved("gpu-01/device plugins", "no known device plugin"),
	})
}

// TestPluginsOfTheNodesImage: with a plugin in the node's image, one pod is the second.
func TestPluginsOfTheNodesImage(t *testing.T) {
	t.Parallel()
	g, _ := provided(t)
	f := healthy(g)
	f.operator, f.policy, f.operands, f.plugins = nil, nil, nil, f.plugins[:1]
	o, err := check.Observation{ID: "policies", Kind: kindPolicies}.WithFigures([]policyRole{})
	if err != nil {
		t.Fatal(err)
	}
	checktest.Judged(t, plan.Judge(g, append(f.observations(t), o)), check.Failed, "gpu-01/device plugins", "2 device plugins for GPUs")
	f.plugins = []nodePod{}
	checktest.Judged(t, plan.Judge(g, append(f.observations(t), o)), check.Passed, "", "")
}

// TestPluginsOfDRA: where claims offer the GPUs, a node needs no device plugin, but two of them are two.
func TestPluginsOfDRA(t *testing.T) {
	t.Parallel()
	g := gate(t)
	g.stack.DeviceClass = site.DRADeviceClass
	f := healthy(g)
	judged := func() check.Judgement {
		var b check.Builder
		g.judgePlugins(&b, f.observations(t))
		return b.Judgement("fine")
	}
	plugin := f.plugins[0]
	f.plugins = []nodePod{}
	checktest.Judged(t, judged(), check.Passed, "", "")
	second := plugin
	second.Namespace, second.Pod = "kube-system", "second"
	f.plugins = []nodePod{plugin, second}
	checktest.Judged(t, judged(), check.Failed, "gpu-01/device plugins", "2 device plugins for GPUs")
	g.stack.DeviceClass = ""
	f.plugins = []nodePod{}
	checktest.Judged(t, judged(), check.Unobserved, "gpu-01/device plugins", "no known device plugin")
}

// TestPluginsUnlisted: pods that cannot be listed never pass.
func TestPluginsUnlisted(t *testing.T) {
	t.Parallel()
	g := gate(t)
	f := healthy(g)
	f.errs[kindPlugins] = "list pods of all namespaces: forbidden"
	checktest.Judged(t, plan.Judge(g, f.observations(t)), check.Unobserved, "the device plugins' pods", "forbidden")
}

func TestPluginImagesHaveSources(t *testing.T) {
	t.Parallel()
	images, err := pluginImages()
	if err != nil || len(images) == 0 {
		t.Fatal(err, len(images))
	}
	for _, p := range images {
		if p.Image == "" || p.Source == "" {
			t.Errorf("image %q, source %q", p.Image, p.Source)
		}
	}
}

// The host's directory decides, not the path in the container; GPU feature discovery runs the same
// image without it.
func TestImagesThatMountTheDirectory(t *testing.T) {
	t.Parallel()
	for at, want := range map[string][]string{
		"/var/lib/kubelet/device-plugins": {"a"}, "/var/lib/kubelet/device-plugins/": {"a"}, "/var/lib/k0s/kubelet/device-plugins": {"a"},
		"/var/lib/kubelet/pod-resources": nil, "/device-plugins": nil, "": nil,
	} {
		spec := corev1.PodSpec{
			Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: at}}}, {Name: "w"}},
			Containers: []corev1.Container{
				{Image: "a", VolumeMounts: []corev1.VolumeMount{{Name: "w", MountPath: "/x"}, {Name: "v", MountPath: "/device-plugin"}}},
				{Image: "b", VolumeMounts: []corev1.VolumeMount{{Name: "w", MountPath: "/var/lib/kubelet/device-plugins"}}},
			},
		}
		if got := pluginImagesOf(&spec); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", at, got, want)
		}
	}
}

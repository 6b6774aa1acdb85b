package gpustack

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

// judgePlugins requires one plugin for GPUs on each node: the kubelet keeps the devices of the last one
// that registered a resource (NVIDIA/k8s-device-plugin, issue 255). A provider's plugin that is a part
// of the node's image is that one already.
func (g *Gate) judgePlugins(b *check.Builder, obs []check.Observation) {
	pods, o, ok := check.Require[[]nodePod](b, obs, kindPlugins, "", "the device plugins' pods", readRemedy(obs, kindPlugins))
	if !ok {
		return
	}
	listed, err := pluginImages()
	if err != nil {
		b.Unobserved(o.ID, "the device plugins' pods", "report it as a bug", "%v", err)
		return
	}
	images := slices.Clone(listed) // other gates share the list
	for _, p := range g.stack.OtherDevicePlugins {
		images = append(images, pluginImage{Image: p})
	}
	complete := 0
	for _, node := range g.nodes {
		gpu, unknown := g.pluginsOn(pods, images, node)
		suspect, remedy := node+"/device plugins", "keep one: remove the DaemonSet of the other, or set devicePlugin.enabled: false in the ClusterPolicy; on GKE, create the nodes with the label gke-no-default-nvidia-gpu-device-plugin=true"
		if g.builtIn() {
			gpu = append([]string{"that of the node's image"}, gpu...)
			remedy = "remove its DaemonSet, or name it in gpustack.operands if the node's image has no device plugin"
		}
		undeclared := []string(nil)
		if g.stack.Provided() && !g.builtIn() {
			undeclared = g.undeclaredPlugins(pods, images, node)
		}
		switch {
		case len(undeclared) > 0 && len(gpu) == 1:
			b.Fail(o.ID, suspect, "remove that plugin, or declare it: gpustack.namespace and gpustack.operands, or managedBy: gpu-operator",
				"%s runs the device plugin %s, and the site declares that of DaemonSet %s in %s", node, strings.Join(undeclared, ", "), strings.Join(g.stack.Operands, ", "), g.stack.Namespace)
		case len(gpu) > 1:
			b.Fail(o.ID, suspect, remedy, "%s runs %d device plugins for GPUs, which replace each other's devices: %s", node, len(gpu), strings.Join(gpu, ", "))
		case len(unknown) > 0:
			b.Unobserved(o.ID, suspect, "name the image in gpustack.otherDevicePlugins if the plugin does not offer nvidia.com/gpu, else remove it",
				"%s runs device plugins that may offer nvidia.com/gpu too: %s", node, strings.Join(unknown, ", "))
		case len(gpu) == 1, g.dra():
			complete++
		case !b.HasFailed(): // else another finding says why it is missing
			b.Unobserved(o.ID, suspect,
				"name the device plugin's DaemonSet in gpustack.operands, or, if it is a part of the node's image, set gpustack.managedBy: provider without operands",
				"%s runs no known device plugin for GPUs, so a second one was not looked for",
				node)
		}
	}
	b.Figure(check.Figure{
		Name: "nodes without a second device plugin for GPUs", Value: float64(complete), Unit: "nodes", Limit: float64(len(g.nodes)), Relation: "==",
		Source: "kubelet: one device plugin for each resource",
	})
}

// operand reports whether a pod is of a DaemonSet of the site's operands.
func (g *Gate) operand(p nodePod) bool {
	return p.Namespace == g.stack.Namespace && slices.ContainsFunc(g.stack.Operands, func(name string) bool { return g.stack.Names(name, p.DaemonSet) })
}

// pluginsOn returns the running plugins of a node that offer GPUs, and those that may, as text. A DaemonSet
// of the site's operands does, whatever the name of its image.
func (g *Gate) pluginsOn(pods []nodePod, images []pluginImage, node string) (gpu, unknown []string) {
	for _, p := range pods {
		if p.Node != node || p.Terminating {
			continue
		}
		operand := g.operand(p)
		offers, listed := false, len(p.Images) > 0
		for _, image := range p.Images {
			is, known := gpuPlugin(images, image)
			offers, listed = offers || is || !known && operand, listed && known
		}
		text := fmt.Sprintf("%s/%s (%s)", p.Namespace, p.Pod, strings.Join(p.Images, ", "))
		switch {
		case offers:
			gpu = append(gpu, text)
		case !listed:
			unknown = append(unknown, text)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(gpu))), slices.Compact(slices.Sorted(slices.Values(unknown)))
}

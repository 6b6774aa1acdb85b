package gpustack

import (
	"context"
	_ "embed" // the images
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/site"
)

// kindDriverPods are the pods of all namespaces that install a GPU driver on the nodes.
const kindDriverPods = "driver-pods"

//go:embed driverimages.yaml
var driverImagesFile []byte

// driverImages are the images of drivers, by the same patterns as those of device plugins.
var driverImages = sync.OnceValues(func() ([]pluginImage, error) {
	var out []pluginImage
	if err := yaml.UnmarshalStrict(driverImagesFile, &out); err != nil {
		return nil, fmt.Errorf("read the images of drivers: %w", err)
	}
	return out, nil
})

// provider is the site's; false without one.
func (g *Gate) provider() (site.Provider, bool) { return site.ProviderNamed(g.stack.Provider) }

// driverInImage reports whether a pod that installs a driver is a second one.
func (g *Gate) driverInImage() bool {
	p, ok := g.provider()
	return ok && p.DriverInImage
}

// readProvider is what the criteria of the site's provider read of a node.
func (g *Gate) readProvider(n *corev1.Node) *providerFigures {
	p, ok := g.provider()
	if !ok {
		return nil
	}
	f := &providerFigures{ID: n.Spec.ProviderID, Labels: map[string]string{}, Conditions: map[string]conditionFigures{}}
	for _, l := range slices.Concat(p.Labels, p.Without) {
		if value, there := n.Labels[l.Key]; there {
			f.Labels[l.Key] = value
		}
	}
	for _, c := range n.Status.Conditions {
		if slices.Contains(p.Conditions, string(c.Type)) {
			f.Conditions[string(c.Type)] = conditionFigures{Status: string(c.Status), Reason: c.Reason, Message: c.Message}
		}
	}
	return f
}

// observeDriverPods lists the pods on the nodes that install a driver.
func (g *Gate) observeDriverPods(ctx context.Context, cluster *kube.Cluster, rec check.Recorder) error {
	if !g.driverInImage() {
		return nil
	}
	attempt := g.begin(rec, kindDriverPods, "cluster", "GET pods: those with an image of a GPU driver")
	images, err := driverImages()
	if err != nil {
		return attempt.Record(nil, err)
	}
	return g.recordPods(ctx, cluster, attempt, func(spec *corev1.PodSpec) []string { return driverImagesOf(images, spec) })
}

// driverImagesOf are the images of a pod that are those of drivers, of init containers too: an installer
// may be one.
func driverImagesOf(images []pluginImage, spec *corev1.PodSpec) []string {
	var out []string
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		if slices.ContainsFunc(images, func(p pluginImage) bool { return p.matches(c.Image) }) {
			out = append(out, c.Image)
		}
	}
	return out
}

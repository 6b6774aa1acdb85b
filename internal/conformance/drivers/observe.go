package drivers

import (
	"context"
	"fmt"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/conformance/dra/offer"
	"github.com/firstlight/firstlight/internal/conformance/dra/record"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// Kinds of observations, and what their figures are.
const (
	kindDevices  = "driver-attributes" // []device
	kindNodes    = "driver-labels"     // []node
	kindOperands = "driver-daemonsets" // []daemonSet
)

// Labels of GPU feature discovery.
const (
	labelDriver = "nvidia.com/cuda.driver-version.full"
	labelCUDA   = "nvidia.com/cuda.runtime-version.full"
)

// device is one that the GPU driver publishes; versions that it lacks are empty.
type device struct {
	Node   string `json:"node"`
	Device string `json:"device"`
	Driver string `json:"driver,omitempty"`
	CUDA   string `json:"cuda,omitempty"`
}

// node is one of the inventory, as its object says; what it does not say is empty.
type node struct {
	Node    string `json:"node"`
	Driver  string `json:"driver,omitempty"`
	CUDA    string `json:"cuda,omitempty"`
	Runtime string `json:"containerRuntime,omitempty"`
}

// daemonSet is a known one.
type daemonSet struct {
	Name    string `json:"name"`
	App     string `json:"app"`
	Does    string `json:"does"`
	Desired int    `json:"desired"`
	Ready   int    `json:"ready"`
}

// page bounds how much one answer of the API server holds.
const page = 200

func (c *Check) look(ctx context.Context, cluster *kube.Cluster, rec record.Notes) error {
	rec.Progress("reading versions of drivers")
	n := rec.Begin(kindDevices, "cluster", "GET resourceslices of driver "+offer.Driver)
	devices, err := c.devices(ctx, cluster)
	if kept := n.Keep(devices, err); kept != nil {
		return kept //nolint:wrapcheck // the store's
	}
	n = rec.Begin(kindNodes, "cluster", "GET nodes")
	nodes, err := c.labels(ctx, cluster)
	if kept := n.Keep(nodes, err); kept != nil {
		return kept //nolint:wrapcheck // the store's
	}
	n = rec.Begin(kindOperands, "cluster", "GET daemonsets")
	sets, err := daemonSets(ctx, cluster)
	return n.Keep(sets, err) //nolint:wrapcheck // the store's
}

func (c *Check) devices(ctx context.Context, cluster *kube.Cluster) ([]device, error) {
	out := []device{}
	opts := metav1.ListOptions{Limit: page, FieldSelector: resourcev1.ResourceSliceSelectorDriver + "=" + offer.Driver}
	for {
		list, err := cluster.Client.ResourceV1().ResourceSlices().List(ctx, opts)
		if err != nil {
			return nil, fmt.Errorf("list resource slices: %w", err)
		}
		for _, s := range list.Items {
			if s.Spec.NodeName == nil || !slices.Contains(c.nodes, *s.Spec.NodeName) {
				continue
			}
			for _, d := range s.Spec.Devices {
				out = append(out, device{
					Node: *s.Spec.NodeName, Device: s.Spec.Pool.Name + "/" + d.Name, Driver: version(d, "driverVersion"), CUDA: version(d, "cudaDriverVersion"),
				})
			}
		}
		if opts.Continue = list.Continue; opts.Continue == "" {
			return out, nil
		}
	}
}

// version reads an attribute of the driver's, written with its name or without.
func version(d resourcev1.Device, name string) string {
	for _, key := range []string{name, offer.Driver + "/" + name} {
		switch a := d.Attributes[resourcev1.QualifiedName(key)]; {
		case a.VersionValue != nil:
			return *a.VersionValue
		case a.StringValue != nil:
			return *a.StringValue
		}
	}
	return ""
}

func (c *Check) labels(ctx context.Context, cluster *kube.Cluster) ([]node, error) {
	out := []node{}
	opts := metav1.ListOptions{Limit: page}
	for {
		list, err := cluster.Client.CoreV1().Nodes().List(ctx, opts)
		if err != nil {
			return nil, fmt.Errorf("list nodes: %w", err)
		}
		for _, n := range list.Items {
			if slices.Contains(c.nodes, n.Name) {
				out = append(out, node{Node: n.Name, Driver: n.Labels[labelDriver], CUDA: n.Labels[labelCUDA], Runtime: n.Status.NodeInfo.ContainerRuntimeVersion})
			}
		}
		if opts.Continue = list.Continue; opts.Continue == "" {
			return out, nil
		}
	}
}

func daemonSets(ctx context.Context, cluster *kube.Cluster) ([]daemonSet, error) {
	known, err := operands()
	if err != nil {
		return nil, err
	}
	list, err := cluster.Client.AppsV1().DaemonSets(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list daemon sets: %w", err)
	}
	out := []daemonSet{}
	for _, s := range list.Items {
		app := s.Spec.Template.Labels["app"]
		if i := slices.IndexFunc(known, func(o operand) bool { return o.App == app }); i >= 0 {
			out = append(out, daemonSet{
				Name: s.Namespace + "/" + s.Name, App: app, Does: known[i].Does,
				Desired: int(s.Status.DesiredNumberScheduled), Ready: int(s.Status.NumberReady),
			})
		}
	}
	return out, nil
}

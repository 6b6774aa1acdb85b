package recommended

import (
	"context"
	_ "embed"
	"fmt"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Kinds of observations, and what their figures are.
const (
	kindDriverDevices  = "driver-attributes" // []driverDevice
	kindDriverNodes    = "driver-labels"     // []driverNode
	kindDriverOperands = "driver-daemonsets" // []daemonSet
)

// Labels of GPU feature discovery.
const (
	labelDriver = "nvidia.com/cuda.driver-version.full"
	labelCUDA   = "nvidia.com/cuda.runtime-version.full"
)

//go:embed drivers.yaml
var operandsFile []byte

// operand is a DaemonSet that installs or verifies a part of the driver stack.
type operand struct {
	// App is the label app of its pods.
	App    string `json:"app"`
	Does   string `json:"does"`
	Source string `json:"source"`
}

func operands() ([]operand, error) { return loadNames[[]operand]("drivers.yaml", operandsFile) }

// driverDevice is a device that the GPU driver publishes; a missing version is empty.
type driverDevice struct {
	Node   string `json:"node"`
	Device string `json:"device"`
	Driver string `json:"driver,omitempty"`
	CUDA   string `json:"cuda,omitempty"`
}

// driverNode is what the labels and status of an inventory node say; a missing one is empty.
type driverNode struct {
	Node    string `json:"node"`
	Driver  string `json:"driver,omitempty"`
	CUDA    string `json:"cuda,omitempty"`
	Runtime string `json:"containerRuntime,omitempty"`
}

type daemonSet struct {
	Name    string `json:"name"`
	App     string `json:"app"`
	Does    string `json:"does"`
	Desired int    `json:"desired"`
	Ready   int    `json:"ready"`
}

// Drivers checks driver_runtime_management: the DRA driver publishes one driver and CUDA
// version for every device of every node, GPU feature discovery's labels agree, and a known
// DaemonSet maintains the drivers.
type Drivers struct {
	deps  conformance.Deps
	nodes []string
}

// NewDrivers returns the check for a site.
func NewDrivers(s *site.Site, _ *profile.Profile, deps conformance.Deps) *Drivers {
	return &Drivers{deps: deps.WithDefaults(timeout), nodes: conformance.NodeNames(s)}
}

// Name implements check.Check.
func (*Drivers) Name() string { return "driver_runtime_management" }

// Describe lists what the check does.
func (c *Drivers) Describe() []string {
	return []string{
		fmt.Sprintf("read driverVersion and cudaDriverVersion of every device in the ResourceSlices of %d nodes: all must be equal", len(c.nodes)),
		"compare them with the labels of GPU feature discovery on each node",
		"find the DaemonSets that install, maintain and verify drivers and container toolkit: all of their pods must be ready",
	}
}

// Observe implements check.Check. It creates nothing.
func (c *Drivers) Observe(ctx context.Context, rec check.Recorder) error {
	return c.deps.Observe(ctx, rec, c.Name(), c.observe)
}

func (c *Drivers) observe(ctx context.Context, cluster *kube.Cluster, rec check.Observer) error {
	rec.Progress("reading driver versions")
	attempt := rec.Begin(kindDriverDevices, "cluster", "GET resourceslices of driver "+inventory.Driver)
	devices, err := c.devices(ctx, cluster)
	if err := attempt.Record(devices, err); err != nil {
		return err
	}
	attempt = rec.Begin(kindDriverNodes, "cluster", "GET nodes")
	nodes, err := inventoryNodes(ctx, cluster, c.nodes)
	labels := []driverNode{}
	for _, n := range nodes {
		labels = append(labels, driverNode{Node: n.Name, Driver: n.Labels[labelDriver], CUDA: n.Labels[labelCUDA], Runtime: n.Status.NodeInfo.ContainerRuntimeVersion})
	}
	if err := attempt.Record(labels, err); err != nil {
		return err
	}
	attempt = rec.Begin(kindDriverOperands, "cluster", "GET daemonsets")
	sets, err := daemonSets(ctx, cluster)
	return attempt.Record(sets, err)
}

func (c *Drivers) devices(ctx context.Context, cluster *kube.Cluster) ([]driverDevice, error) {
	published, err := inventory.ResourceSlices(ctx, cluster, inventory.Driver)
	if err != nil {
		return nil, err
	}
	out := []driverDevice{}
	for _, s := range published {
		if s.Spec.NodeName == nil || !slices.Contains(c.nodes, *s.Spec.NodeName) {
			continue
		}
		for _, d := range s.Spec.Devices {
			out = append(out, driverDevice{
				Node: *s.Spec.NodeName, Device: s.Spec.Pool.Name + "/" + d.Name, Driver: version(d, "driverVersion"), CUDA: version(d, "cudaDriverVersion"),
			})
		}
	}
	return out, nil
}

// version reads an attribute of the driver; its key may be qualified with the driver's name.
func version(d resourcev1.Device, name string) string {
	for _, key := range []string{name, inventory.Driver + "/" + name} {
		switch a := d.Attributes[resourcev1.QualifiedName(key)]; {
		case a.VersionValue != nil:
			return *a.VersionValue
		case a.StringValue != nil:
			return *a.StringValue
		}
	}
	return ""
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

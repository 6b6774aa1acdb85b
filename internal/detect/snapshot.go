package detect

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/probe/prom"
	"github.com/firstlight/firstlight/internal/workload"
)

// Snapshot is what was read from a cluster.
type Snapshot struct {
	// Kubeconfig is the file that was asked for; empty for the default. Context and ClusterName are
	// the names that it has for what was read; empty in a pod.
	Kubeconfig, Context, ClusterName string
	// Version is the API server's gitVersion.
	Version    string
	Nodes      []corev1.Node
	Slices     []inventory.Slice
	RDMA       []RDMADevice
	Policies   []Policy
	Clusters   []Policy // GPUCluster objects
	Drivers    []string // NVIDIADriver objects
	DaemonSets []appsv1.DaemonSet
	Services   []corev1.Service
	Schedulers []workload.Detected
	// Rules are the selectors of Prometheus objects; RulesServed: the cluster serves PrometheusRules.
	Rules       []Rules
	RulesServed bool
	// Targets are the scrape targets of the one Prometheus, and Receivers those of the one Alertmanager.
	Targets   []prom.Target
	Receivers []prom.Receiver
	// Unread has why a list could not be read, by its name. A list that is neither here nor filled
	// is empty in the cluster.
	Unread map[string]string
}

// Names of lists in Unread.
const (
	unreadVersion    = "version"
	unreadSlices     = "resourceslices"
	unreadPolicies   = "clusterpolicies"
	unreadClusters   = "gpuclusters"
	unreadDrivers    = "nvidiadrivers"
	unreadDaemonSets = "daemonsets"
	unreadServices   = "services"
	unreadSchedulers = "gang schedulers"
	unreadRules      = "prometheuses"
	unreadTargets    = "scrape targets"
	unreadReceivers  = "receivers"
)

// Policy is a ClusterPolicy or a GPUCluster.
type Policy struct {
	Name string
	// Namespace of the operator, from the status.
	Namespace string
	UID       string
}

// RDMADevice is a device of the compute network that DRANET offers on a node.
type RDMADevice struct {
	Node string
	// HCA is the name of the RDMA device ("mlx5_0").
	HCA string
}

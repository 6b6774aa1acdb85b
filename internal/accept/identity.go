package accept

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// identity is the UID of a cluster's namespace kube-system, and whether the cluster's hardware
// is simulated. Without a cluster it is that of the machine.
type identity struct {
	uid       string
	simulated evidence.Hardware
	why       string // evidence that the cluster is simulated or real
	unknown   error  // why the cluster cannot be identified
}

// differences compares two clusters. An unknown cluster differs from every other.
func (before identity) differences(after identity) []string {
	switch {
	case before.uid == "":
		return []string{"unknown cluster: the run ended before the cluster answered"}
	case after.unknown != nil:
		return []string{fmt.Sprintf("cannot identify the cluster: %v", after.unknown)}
	case before.uid != after.uid && evidence.IsMachine(before.uid) && evidence.IsMachine(after.uid):
		return []string{fmt.Sprintf("machine: %s then, %s now (hash of /etc/machine-id)", before.uid, after.uid)}
	case before.uid != after.uid && evidence.IsSlurm(before.uid) && evidence.IsSlurm(after.uid):
		return []string{fmt.Sprintf("cluster: %s then, %s now (ClusterName and host of slurmctld)", before.uid, after.uid)}
	case before.uid != after.uid:
		return []string{fmt.Sprintf("cluster: %s then, %s now (UID of namespace %s)", before.uid, after.uid, metav1.NamespaceSystem)}
	case before.simulated != after.simulated:
		return []string{fmt.Sprintf("%s then, %s now", hardware(before.simulated), hardware(after.simulated))}
	default:
		return nil
	}
}

func hardware(h evidence.Hardware) string {
	switch h {
	case evidence.HardwareSimulated:
		return "simulated hardware"
	case evidence.HardwareReal:
		return "real hardware"
	default:
		return "unknown hardware"
	}
}

// differentHosts returns the hosts with another SSH host key, and those whose key is no longer
// known. A host that never had a known key is identified by name alone.
func differentHosts(then, now map[string]string) []string {
	var out []string
	all := maps.Clone(now)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, then)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if before, after := orNothing(then, name), orNothing(now, name); before != after {
			out = append(out, fmt.Sprintf("SSH host key of %s: %s then, %s now", name, before, after))
		}
	}
	return out
}

// thisCluster identifies the cluster without removing the objects of killed runs: the
// identity decides whether a run is resumed.
func (x *execution) thisCluster(ctx context.Context) identity {
	if x.opts.Cluster == nil && x.opts.Slurm != nil {
		id, _, err := x.thisSlurm(ctx)
		id.unknown = err
		return id
	}
	if x.opts.Cluster == nil {
		return x.thisMachine()
	}
	c, err := x.opts.Cluster(ctx)
	if err != nil {
		return identity{unknown: err}
	}
	return identityOf(ctx, c)
}

func identityOf(ctx context.Context, c *kube.Cluster) identity {
	observed, err := observeIdentity(ctx, c)
	if err != nil {
		return identity{unknown: err}
	}
	return observed.identity()
}

// Identify identifies a cluster: the UID of its namespace kube-system, and whether its hardware is
// simulated.
func Identify(ctx context.Context, c *kube.Cluster) (uid string, simulated evidence.Hardware, err error) {
	id := identityOf(ctx, c)
	return id.uid, id.simulated, id.unknown
}

// Identity is the raw output of the observation that identifies a cluster.
type Identity struct {
	// Namespace is kube-system, whose UID is the cluster's.
	Namespace corev1.Namespace `json:"namespace"`
	// Nodes are all nodes, with name and annotations.
	Nodes []corev1.Node `json:"nodes"`
}

// The observation of an Identity belongs to no check.
const (
	IdentityCheck = "identity"
	identityKind  = "cluster"
)

func (i Identity) identity() identity {
	id := identity{uid: string(i.Namespace.UID), simulated: evidence.HardwareReal}
	simulated, why := kube.SimulatedIn(i.Nodes)
	switch id.why = why; {
	case len(i.Nodes) == 0:
		id.simulated = evidence.HardwareUnknown
	case simulated:
		id.simulated = evidence.HardwareSimulated
	}
	return id
}

// Observation is the observation of an identity.
func (i Identity) Observation(at time.Time) (check.Observation, error) {
	raw, err := json.MarshalIndent(i, "", " ")
	if err != nil {
		return check.Observation{}, fmt.Errorf("encode the identity of the cluster: %w", err)
	}
	return check.Observation{
		Check: IdentityCheck, Kind: identityKind, Target: string(i.Namespace.UID), Command: "GET namespaces/" + metav1.NamespaceSystem + ", nodes", At: at, Raw: raw,
	}, nil
}

func identityIn(o check.Observation) (identity, error) {
	switch o.Kind {
	case machineKind:
		return machineIn(o)
	case slurmKind:
		return ofSlurm(o.Raw)
	}
	var i Identity
	if err := json.Unmarshal(o.Raw, &i); err != nil {
		return identity{}, fmt.Errorf("cannot read observation %s: %w", o.ID, err)
	}
	return i.identity(), nil
}

func observeIdentity(ctx context.Context, c *kube.Cluster) (Identity, error) {
	ns, err := c.Client.CoreV1().Namespaces().Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
	if err != nil {
		return Identity{}, fmt.Errorf("get namespace %s: %w", metav1.NamespaceSystem, err)
	}
	if ns.UID == "" {
		return Identity{}, fmt.Errorf("namespace %s has no UID", metav1.NamespaceSystem)
	}
	nodes, err := c.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return Identity{}, fmt.Errorf("list nodes: %w", err)
	}
	out := Identity{Namespace: corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns.Name, UID: ns.UID, CreationTimestamp: ns.CreationTimestamp}}, Nodes: []corev1.Node{}}
	for _, n := range nodes.Items {
		out.Nodes = append(out.Nodes, corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name, UID: n.UID, Annotations: n.Annotations}})
	}
	return out, nil
}

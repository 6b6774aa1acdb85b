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
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// identity is which cluster it is: the UID of its namespace kube-system, and whether its
// hardware is simulated.
type identity struct {
	uid       string
	simulated bool
	why       string // from what it is seen that it is simulated, or not
	unknown   error  // why it cannot be asked
}

// differences names what keeps verdicts of one cluster from holding for another. A cluster
// that is not known is not the same one.
func (was identity) differences(is identity) []string {
	switch {
	case was.uid == "":
		return []string{"it is not known which cluster it was of: the run ended before the cluster answered"}
	case is.unknown != nil:
		return []string{fmt.Sprintf("which cluster this is cannot be asked: %v", is.unknown)}
	case was.uid != is.uid:
		return []string{fmt.Sprintf("cluster: %s was then, %s is now (UID of namespace %s)", was.uid, is.uid, metav1.NamespaceSystem)}
	case was.simulated != is.simulated:
		return []string{fmt.Sprintf("%s then, %s now", hardware(was.simulated), hardware(is.simulated))}
	default:
		return nil
	}
}

func hardware(simulated bool) string {
	if simulated {
		return "simulated hardware"
	}
	return "real hardware"
}

// differentHosts names the hosts behind which there is another machine now. A host whose key
// is not known is known by its name alone.
func differentHosts(was, is map[string]string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(is)) {
		if before := orNothing(was, name); before != is[name] {
			out = append(out, fmt.Sprintf("SSH host key of %s: %s then, %s now", name, before, is[name]))
		}
	}
	return out
}

// thisCluster asks the cluster which one it is. It removes nothing: whether a run is gone on
// with is decided by the answer.
func (w *walk) thisCluster(ctx context.Context) identity {
	c, err := w.opts.Cluster(ctx)
	if err != nil {
		return identity{unknown: err}
	}
	return identityOf(ctx, c)
}

func identityOf(ctx context.Context, c *kube.Cluster) identity {
	seen, err := lookAt(ctx, c)
	if err != nil {
		return identity{unknown: err}
	}
	return seen.identity()
}

// Identity is what a run keeps of what a cluster is: the raw output of its observation.
type Identity struct {
	// Namespace is kube-system, whose UID is the cluster's.
	Namespace corev1.Namespace `json:"namespace"`
	// Nodes are all, by name and annotations.
	Nodes []corev1.Node `json:"nodes"`
}

// The observation of an Identity belongs to no check.
const (
	IdentityCheck = "identity"
	identityKind  = "cluster"
)

func (i Identity) identity() identity {
	simulated, why := kube.SimulatedIn(i.Nodes)
	return identity{uid: string(i.Namespace.UID), simulated: simulated, why: why}
}

// Observation is what is kept of an identity that was seen at that time.
func (i Identity) Observation(at time.Time) (check.Observation, error) {
	raw, err := json.MarshalIndent(i, "", " ")
	if err != nil {
		return check.Observation{}, fmt.Errorf("keep which cluster it is: %w", err)
	}
	return check.Observation{
		Check: IdentityCheck, Kind: identityKind, Target: string(i.Namespace.UID), Command: "GET namespaces/" + metav1.NamespaceSystem + ", nodes", At: at, Raw: raw,
	}, nil
}

// identityIn reads one back.
func identityIn(o check.Observation) (Identity, error) {
	var i Identity
	if err := json.Unmarshal(o.Raw, &i); err != nil {
		return i, fmt.Errorf("read observation %s: %w", o.ID, err)
	}
	return i, nil
}

func lookAt(ctx context.Context, c *kube.Cluster) (Identity, error) {
	ns, err := c.Client.CoreV1().Namespaces().Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
	if err != nil {
		return Identity{}, fmt.Errorf("get namespace %s: %w", metav1.NamespaceSystem, err)
	}
	if ns.UID == "" {
		return Identity{}, fmt.Errorf("namespace %s has no UID", metav1.NamespaceSystem)
	}
	nodes, err := c.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return Identity{}, fmt.Errorf("look whether the nodes are simulated: list nodes: %w", err)
	}
	out := Identity{Namespace: corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns.Name, UID: ns.UID, CreationTimestamp: ns.CreationTimestamp}}, Nodes: []corev1.Node{}}
	for _, n := range nodes.Items {
		out.Nodes = append(out.Nodes, corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name, UID: n.UID, Annotations: n.Annotations}})
	}
	return out, nil
}

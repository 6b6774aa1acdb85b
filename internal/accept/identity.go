package accept

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	ns, err := c.Client.CoreV1().Namespaces().Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
	if err != nil {
		return identity{unknown: fmt.Errorf("get namespace %s: %w", metav1.NamespaceSystem, err)}
	}
	if ns.UID == "" {
		return identity{unknown: fmt.Errorf("namespace %s has no UID", metav1.NamespaceSystem)}
	}
	simulated, why, err := c.Simulated(ctx)
	if err != nil {
		return identity{unknown: fmt.Errorf("look whether the nodes are simulated: %w", err)}
	}
	return identity{uid: string(ns.UID), simulated: simulated, why: why}
}

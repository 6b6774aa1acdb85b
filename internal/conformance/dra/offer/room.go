package offer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// Room is what of a node's GPUs a claim can have.
type Room struct {
	Node string `json:"node"`
	// Open: the node is there, ready and takes pods.
	Open bool `json:"open"`
	// Offered are the GPUs of its slices, Allocated those of them that claims hold.
	Offered   int `json:"offered"`
	Allocated int `json:"allocated"`
	// Plugged are GPUs that pods hold through the device plugin: which ones, the
	// scheduler of claims can't tell, so that it may allocate one of them.
	Plugged int `json:"plugged"`
	// Holders are the pods and claims that hold them.
	Holders []string `json:"holders,omitempty"`
}

// Free is how many a claim can have without meeting the device plugin's.
func (r Room) Free() int {
	if !r.Open || r.Plugged > 0 {
		return 0
	}
	return max(0, r.Offered-r.Allocated)
}

// Rooms reads who holds GPUs of nodes, one Room a node in their order.
func Rooms(ctx context.Context, cluster *kube.Cluster, nodes []string, all []Slice) ([]Room, error) {
	usage, err := cluster.Usage(ctx, nodes, kube.GPUResource)
	if err != nil {
		return nil, err //nolint:wrapcheck // says what it lists
	}
	open, err := openNodes(ctx, cluster)
	if err != nil {
		return nil, err
	}
	claims, err := cluster.Client.ResourceV1().ResourceClaims(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list resource claims: %w", err)
	}
	rooms := make([]Room, 0, len(nodes))
	for _, node := range nodes {
		gpus, _, _ := OfNode(all, node)
		r := Room{Node: node, Open: slices.Contains(open, node), Offered: len(gpus), Plugged: usage[node].Requested}
		for _, h := range usage[node].Holders {
			r.Holders = append(r.Holders, fmt.Sprintf("pod %s/%s", h.Namespace, h.Pod))
		}
		for _, c := range claims.Items {
			if c.Status.Allocation == nil {
				continue
			}
			n := 0
			for _, d := range c.Status.Allocation.Devices.Results {
				if d.Driver == Driver && slices.ContainsFunc(gpus, func(g GPU) bool { return g.Pool == d.Pool && g.Device == d.Device }) {
					n++
				}
			}
			if n > 0 {
				r.Allocated += n
				r.Holders = append(r.Holders, fmt.Sprintf("claim %s/%s", c.Namespace, c.Name))
			}
		}
		rooms = append(rooms, r)
	}
	return rooms, nil
}

func openNodes(ctx context.Context, cluster *kube.Cluster) ([]string, error) {
	list, err := cluster.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	var out []string
	for i := range list.Items {
		if n := &list.Items[i]; !n.Spec.Unschedulable && kube.Ready(n) {
			out = append(out, n.Name)
		}
	}
	return out, nil
}

// WithRoom are the nodes that have a GPU for a claim, at most limit of them.
func WithRoom(rooms []Room, limit int) []string {
	var out []string
	for _, r := range rooms {
		if r.Free() > 0 && len(out) < limit {
			out = append(out, r.Node)
		}
	}
	return out
}

// Holders says for a person, in brackets, what keeps nodes from having room; empty
// when nothing is known of it.
func Holders(rooms []Room) string {
	var out []string
	for _, r := range rooms {
		switch {
		case !r.Open:
			out = append(out, r.Node+": takes no pods")
		case len(r.Holders) > 0:
			out = append(out, r.Node+": "+strings.Join(r.Holders, ", "))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return " (" + strings.Join(out, "; ") + ")"
}

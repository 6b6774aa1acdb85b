package allocation

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// Figures are the GPUs that claims allocate to pods.
type Figures struct {
	// Class is the DeviceClass of the claims.
	Class string `json:"deviceClass"`
	// Pods are the nodes of the pods, GPUs what their claims allocate. A GPU without UUID and
	// state is not one that the driver offers on the pod's node.
	Pods map[string]string          `json:"pods"`
	GPUs map[string][]inventory.GPU `json:"gpus"`
	// Unread is why the GPUs are unknown.
	Unread string `json:"unread,omitempty"`
}

// Read reads the status of the claims of placed pods of a namespace, given by name with their nodes and
// UIDs. A claim is released when its pod ends; a claim of an earlier pod with the same name is left out.
func Read(ctx context.Context, cluster *kube.Cluster, class, namespace string, pods map[string]string, uids map[string]types.UID) Figures {
	f := Figures{Class: class, Pods: pods, GPUs: map[string][]inventory.GPU{}}
	claims, err := cluster.DRA().ResourceClaims(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		f.Unread = fmt.Sprintf("list resource claims of %s: %v", namespace, err)
		return f
	}
	all, err := inventory.ListSlices(ctx, cluster)
	if err != nil {
		f.Unread = err.Error()
		return f
	}
	for _, c := range claims.Items {
		for _, user := range c.Status.ReservedFor {
			node, ours := pods[user.Name]
			if c.Status.Allocation == nil || user.APIGroup != "" || user.Resource != "pods" || !ours || user.UID != uids[user.Name] {
				continue
			}
			for _, d := range c.Status.Allocation.Devices.Results {
				gpu, offered := inventory.GPU{}, false
				if d.Driver == inventory.Driver {
					gpu, offered = inventory.AllocatedGPU(all, node, d.Pool, d.Device)
				}
				if !offered {
					gpu = inventory.GPU{Pool: d.Pool, Device: d.Device}
				}
				f.GPUs[user.Name] = append(f.GPUs[user.Name], gpu)
			}
		}
	}
	return f
}

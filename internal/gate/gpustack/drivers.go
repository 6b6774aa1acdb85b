package gpustack

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/guard"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

const kindNVIDIADriver = "NVIDIADriver"

// The label of a node has this value if its host has a driver of its own: the GPU Operator starts no
// driver pod there.
const (
	labelDriver        = "nvidia.com/gpu.deploy.driver"
	driverPreInstalled = "pre-installed"
)

// nvidiaDrivers is the resource of the GPU Operator's drivers.
func nvidiaDrivers() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "nvidia.com", Version: "v1alpha1", Resource: "nvidiadrivers"}
}

// driverComponents are the labels app.kubernetes.io/component of driver DaemonSets: an NVIDIADriver's
// (manifests/state-driver) and the ClusterPolicy's (assets/state-driver) of the GPU Operator v25.3.
var driverComponents = []string{"nvidia-driver", "nvidia-vgpu-host-manager"}

// observeDrivers reads the NVIDIADrivers, which nodes they select, and the driver pods by owner.
func (g *Gate) observeDrivers(ctx context.Context, cluster *kube.Cluster, rec check.Recorder) error {
	attempt := g.begin(rec, kindDrivers, "cluster", "GET nvidiadrivers.nvidia.com, nodes; GET daemonsets, pods -n "+g.stack.Namespace)
	list, err := cluster.Dynamic.Resource(nvidiaDrivers()).List(ctx, metav1.ListOptions{})
	if apierrors.IsNotFound(err) {
		return attempt.Record(driverFigures{}, nil)
	}
	if err != nil {
		return attempt.Record(nil, fmt.Errorf("list NVIDIADrivers: %w", err))
	}
	raw, err := list.MarshalJSON()
	if err != nil {
		return attempt.Record(nil, fmt.Errorf("encode NVIDIADrivers: %w", err))
	}
	out, err := readDrivers(raw)
	if err != nil {
		return attempt.Raw(raw).Record(nil, err)
	}
	nodes, err := cluster.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return attempt.Raw(raw).Record(nil, fmt.Errorf("list nodes: %w", err))
	}
	for _, n := range nodes.Items {
		if slices.Contains(g.nodes, n.Name) {
			out.Selected[n.Name] = out.selecting(n.Labels)
			if n.Labels[labelDriver] == driverPreInstalled {
				out.PreInstalled = append(out.PreInstalled, n.Name)
			}
		}
	}
	out.Pods, err = driverPods(ctx, cluster, g.stack.Namespace)
	return attempt.Raw(raw).Record(out, err)
}

// readDrivers reads a list of NVIDIADrivers.
func readDrivers(list []byte) (driverFigures, error) {
	return guard.Parse("list of NVIDIADrivers", func() (driverFigures, error) {
		var doc struct {
			Items []struct {
				Metadata struct {
					Name              string       `json:"name"`
					DeletionTimestamp *metav1.Time `json:"deletionTimestamp"`
				} `json:"metadata"`
				Spec struct {
					NodeSelector map[string]string `json:"nodeSelector"`
					Default      bool              `json:"default"`
				} `json:"spec"`
				Status struct {
					State      string            `json:"state"`
					Conditions []policyCondition `json:"conditions"`
				} `json:"status"`
			} `json:"items"`
		}
		if err := json.Unmarshal(list, &doc); err != nil {
			return driverFigures{}, fmt.Errorf("read NVIDIADrivers: %w", err)
		}
		out := driverFigures{Served: true, Drivers: []nvidiaDriver{}, Selected: map[string][]string{}, Pods: []driverPod{}}
		for _, item := range doc.Items {
			d := nvidiaDriver{
				Name: item.Metadata.Name, Selector: item.Spec.NodeSelector, Default: item.Spec.Default, State: item.Status.State,
				Deleting: item.Metadata.DeletionTimestamp != nil, Conditions: item.Status.Conditions,
			}
			if d.Selector == nil { // the operator's default (GetNodeSelector of its API)
				d.Selector = map[string]string{"nvidia.com/gpu.present": "true"}
			}
			out.Drivers = append(out.Drivers, d)
		}
		return out, nil
	})
}

// selecting lists the NVIDIADrivers that select a node with these labels. A default one selects what no other does.
func (f driverFigures) selecting(node map[string]string) []string {
	out, defaults := []string{}, []string{}
	for _, d := range f.Drivers {
		switch {
		case !labels.SelectorFromSet(d.Selector).Matches(labels.Set(node)):
		case d.Default:
			defaults = append(defaults, d.Name)
		default:
			out = append(out, d.Name)
		}
	}
	if len(out) == 0 {
		return defaults
	}
	return out
}

// driverPods lists the pods of the DaemonSets that install drivers.
func driverPods(ctx context.Context, cluster *kube.Cluster, namespace string) ([]driverPod, error) {
	selector := metav1.ListOptions{LabelSelector: "app.kubernetes.io/component in (" + strings.Join(driverComponents, ", ") + ")"}
	sets, err := cluster.Client.AppsV1().DaemonSets(namespace).List(ctx, selector)
	if err != nil {
		return nil, fmt.Errorf("list DaemonSets of drivers in %s: %w", namespace, err)
	}
	pods, err := cluster.Client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list pods of %s: %w", namespace, err)
	}
	history, err := revisions(ctx, cluster, namespace, sets.Items)
	if err != nil {
		return nil, err
	}
	out := []driverPod{}
	for i := range sets.Items {
		set := &sets.Items[i]
		old := outdated(set, history)
		for j := range pods.Items {
			if pod := &pods.Items[j]; metav1.IsControlledBy(pod, set) && pod.DeletionTimestamp == nil {
				p := driverPodOf(set, pod)
				p.Outdated = old(pod)
				out = append(out, p)
			}
		}
	}
	return out, nil
}

func driverPodOf(set *appsv1.DaemonSet, pod *corev1.Pod) driverPod {
	out := driverPod{Pod: pod.Name, Node: pod.Spec.NodeName, DaemonSet: set.Name}
	if owner := metav1.GetControllerOf(set); owner != nil {
		out.Owner = owner.Kind + "/" + owner.Name
	}
	out.Ready, out.Why = podReady(pod)
	return out
}

package detect

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/prom"
	"github.com/firstlight/firstlight/internal/workload"
)

// Read reads what a site file says about a cluster, with requests that change nothing. Only the
// nodes are required: other lists may be forbidden or their kinds not served. progress is
// called before each request, with what is read.
func Read(ctx context.Context, cluster *kube.Cluster, progress func(what string)) (*Snapshot, error) {
	progress("nodes")
	nodes, err := cluster.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	s := &Snapshot{Nodes: nodes.Items, Unread: map[string]string{}}
	for _, list := range []struct {
		name string
		read func(context.Context, *kube.Cluster) error
	}{
		{unreadVersion, s.readVersion},
		{unreadSlices, s.readSlices},
		{unreadPolicies, s.readPolicies},
		{unreadClusters, s.readClusters},
		{unreadDrivers, s.readDrivers},
		{unreadDaemonSets, s.readDaemonSets},
		{unreadServices, s.readServices},
		{unreadSchedulers, s.readSchedulers},
		{unreadRules, s.readRules},
		{unreadTargets, s.readTargets},
		{unreadReceivers, s.readReceivers},
	} {
		progress(list.name)
		err := list.read(ctx, cluster)
		if ctx.Err() != nil {
			return nil, fmt.Errorf("read %s: %w", list.name, ctx.Err())
		}
		if err != nil {
			s.Unread[list.name] = err.Error()
		}
	}
	return s, nil
}

func (s *Snapshot) readVersion(_ context.Context, cluster *kube.Cluster) error {
	v, err := cluster.Client.Discovery().ServerVersion()
	if err != nil {
		return fmt.Errorf("read the version: %w", err)
	}
	s.Version = v.GitVersion
	return nil
}

// readSlices reads the devices of every DRA driver. A cluster that does not serve the API has none.
func (s *Snapshot) readSlices(ctx context.Context, cluster *kube.Cluster) error {
	list, err := inventory.ResourceSlices(ctx, cluster, "")
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for i := range list {
		slice := &list[i]
		s.Slices = append(s.Slices, inventory.SliceOf(slice))
		if slice.Spec.NodeName == nil {
			continue
		}
		for _, d := range slice.Spec.Devices {
			if hca := inventory.Attribute(dranet, d, "rdmaDevice"); slice.Spec.Driver == dranet && hca != "" {
				s.RDMA = append(s.RDMA, RDMADevice{Node: *slice.Spec.NodeName, HCA: hca})
			}
		}
	}
	return nil
}

// dranet is the DRA driver of DRANET.
const dranet = "dra.net"

func (s *Snapshot) readPolicies(ctx context.Context, cluster *kube.Cluster) error {
	items, err := listCustom(ctx, cluster, schema.GroupVersionResource{Group: "nvidia.com", Version: "v1", Resource: "clusterpolicies"})
	s.Policies = policiesOf(items)
	return err
}

func (s *Snapshot) readClusters(ctx context.Context, cluster *kube.Cluster) error {
	items, err := listCustom(ctx, cluster, schema.GroupVersionResource{Group: "nvidia.com", Version: "v1alpha1", Resource: "gpuclusters"})
	s.Clusters = policiesOf(items)
	return err
}

func policiesOf(items []unstructured.Unstructured) (out []Policy) {
	for _, o := range items {
		namespace, _, _ := unstructured.NestedString(o.Object, "status", "namespace") // absent or no string: not known
		out = append(out, Policy{Name: o.GetName(), Namespace: namespace, UID: string(o.GetUID())})
	}
	return out
}

func (s *Snapshot) readDrivers(ctx context.Context, cluster *kube.Cluster) error {
	items, err := listCustom(ctx, cluster, schema.GroupVersionResource{Group: "nvidia.com", Version: "v1alpha1", Resource: "nvidiadrivers"})
	for _, o := range items {
		s.Drivers = append(s.Drivers, o.GetName())
	}
	return err
}

// listCustom lists objects of a kind that need not be served.
func listCustom(ctx context.Context, cluster *kube.Cluster, of schema.GroupVersionResource) ([]unstructured.Unstructured, error) {
	list, err := cluster.Dynamic.Resource(of).List(ctx, metav1.ListOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", of.Resource, err)
	}
	return list.Items, nil
}

func (s *Snapshot) readDaemonSets(ctx context.Context, cluster *kube.Cluster) error {
	list, err := cluster.Client.AppsV1().DaemonSets(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list DaemonSets: %w", err)
	}
	s.DaemonSets = list.Items
	return nil
}

func (s *Snapshot) readServices(ctx context.Context, cluster *kube.Cluster) error {
	list, err := cluster.Client.CoreV1().Services(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list Services: %w", err)
	}
	s.Services = list.Items
	return nil
}

func (s *Snapshot) readSchedulers(ctx context.Context, cluster *kube.Cluster) (err error) {
	s.Schedulers, err = workload.DetectGang(ctx, cluster, workload.Auto)
	return err
}

// readTargets asks the one Prometheus that the Services show.
func (s *Snapshot) readTargets(ctx context.Context, cluster *kube.Cluster) error {
	return s.ask(cluster, prometheus, func(client *prom.Client) (err error) {
		s.Targets, _, err = prom.Prometheus{Client: client}.Targets(ctx)
		return err
	})
}

// readReceivers asks the one Alertmanager.
func (s *Snapshot) readReceivers(ctx context.Context, cluster *kube.Cluster) error {
	return s.ask(cluster, alertmanager, func(client *prom.Client) (err error) {
		s.Receivers, err = prom.Alertmanager{Client: client}.Receivers(ctx)
		return err
	})
}

// ask calls read with a client of the one Service of a program, through the API server's proxy. Without
// one, or with several, it does nothing.
func (s *Snapshot) ask(cluster *kube.Cluster, of monitor, read func(*prom.Client) error) error {
	found := s.monitors(of)
	if len(found) != 1 {
		return nil
	}
	client, err := prom.Connect(prom.Endpoint{Service: found[0].ref}, cluster)
	if err != nil {
		return err
	}
	defer client.Close()
	return read(client)
}

package workload

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// Launcher starts gangs of one run.
type Launcher struct {
	Cluster *kube.Cluster
	RunID   string
	// Gang is how pods are kept together; nil leaves them to the default scheduler.
	Gang Scheduler
	// DeviceClass claims the GPUs of every gang through dynamic resource allocation;
	// empty: as each gang's Spec says.
	DeviceClass string
	// Clock is the real one when nil.
	Clock clock.Clock
}

// Gang is a workload that was started.
type Gang struct {
	Spec      Spec
	Namespace string

	cluster   *kube.Cluster
	scheduler Scheduler
	clock     clock.Clock
	groups    []groupRef
}

// groupRef is a group object that Delete removes.
type groupRef struct {
	resource schema.GroupVersionResource
	name     string
}

// Start creates the namespace where it is not there yet, the gang's group
// objects, Service and Job. When it fails, what it created is removed again.
func (l *Launcher) Start(ctx context.Context, spec Spec) (*Gang, error) {
	if spec.DeviceClass == "" {
		spec.DeviceClass = l.DeviceClass
	}
	if err := spec.validate(); err != nil {
		return nil, err
	}
	namespace, err := l.namespace(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Name, err)
	}
	gang := &Gang{Spec: spec, Namespace: namespace, cluster: l.Cluster, scheduler: l.Gang, clock: l.Clock}
	if gang.clock == nil {
		gang.clock = clock.RealClock{}
	}
	if err := gang.create(ctx, Render(namespace, l.RunID, l.Gang, spec)); err != nil {
		return nil, gang.undo(ctx, fmt.Errorf("start %s: %w", spec.Name, err))
	}
	return gang, nil
}

// namespace makes the one that the gang's pods may run in.
func (l *Launcher) namespace(ctx context.Context, spec Spec) (string, error) {
	guest := kube.Guest{Cluster: l.Cluster}
	if !spec.LocksMemory() {
		return guest.EnsureNamespace(ctx, l.RunID) //nolint:wrapcheck // wrapped by Start
	}
	reason := "pods of gate " + spec.Gate + " lock memory for RDMA (IPC_LOCK), which the level baseline refuses"
	return guest.EnsurePrivileged(ctx, l.RunID, spec.Gate, reason) //nolint:wrapcheck // wrapped by Start
}

func (g *Gang) create(ctx context.Context, m Manifests) error {
	for _, obj := range m.Groups {
		resource := resourceOf(obj)
		_, err := g.cluster.Dynamic.Resource(resource).Namespace(g.Namespace).Create(ctx, obj, metav1.CreateOptions{})
		if err != nil {
			return fmt.Errorf("create %s %s: %w", obj.GetKind(), obj.GetName(), err)
		}
		g.groups = append(g.groups, groupRef{resource: resource, name: obj.GetName()})
	}
	if m.Claim != nil {
		if _, err := g.cluster.Client.ResourceV1().ResourceClaimTemplates(g.Namespace).Create(ctx, m.Claim, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create resource claim template %s: %w", m.Claim.Name, err)
		}
	}
	if _, err := g.cluster.Client.CoreV1().Services(g.Namespace).Create(ctx, m.Service, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create service %s: %w", m.Service.Name, err)
	}
	if _, err := g.cluster.Client.BatchV1().Jobs(g.Namespace).Create(ctx, m.Job, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create job %s: %w", m.Job.Name, err)
	}
	return nil
}

// undo removes what a failed start left, unless another gang has the name.
func (g *Gang) undo(ctx context.Context, cause error) error {
	if apierrors.IsAlreadyExists(cause) {
		return cause
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoDeadline)
	defer cancel()
	if err := g.Delete(ctx); err != nil {
		return fmt.Errorf("%w (and what was created of it is still there: %w)", cause, err)
	}
	return cause
}

// resourceOf names the resource of a group object: the API's own lower-case plural.
func resourceOf(obj *unstructured.Unstructured) schema.GroupVersionResource {
	gvk := obj.GroupVersionKind()
	plural := map[string]string{"PodGroup": "podgroups", "LocalQueue": "localqueues"}[gvk.Kind]
	return gvk.GroupVersion().WithResource(plural)
}

package workload

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// cacheDeadline limits the wait for a webhook whose cache lacks an object that the gang has just
// created, with a request every cachePoll.
const (
	cacheDeadline = 30 * time.Second
	cachePoll     = 200 * time.Millisecond
)

// Launcher starts gangs of one run.
type Launcher struct {
	Cluster *kube.Cluster
	RunID   string
	// Gang is the gang scheduler; nil is the default scheduler.
	Gang Scheduler
	// Kind is the kind of job of gangs with more than one pod; nil is Kubernetes' own.
	Kind Kind
	// DeviceClass requests the GPUs of every gang through dynamic resource allocation;
	// empty: as in each gang's Spec.
	DeviceClass string
	// Cordoned: the pods of every gang also run on cordoned nodes.
	Cordoned bool
	// Clock defaults to the real clock.
	Clock clock.Clock
}

// Gang is a started workload.
type Gang struct {
	Spec      Spec
	Namespace string

	cluster   *kube.Cluster
	scheduler Scheduler
	kind      Kind
	clock     clock.Clock
	// objects are the group objects and those of its kind.
	objects []objectRef
	// job is the UID of its job, created the time of its creation; empty until it is created.
	job     types.UID
	created metav1.Time
	// everBound are the pods of its Job that were observed on a node.
	mu        sync.Mutex
	everBound map[types.UID]bool
}

// Cluster is where the gang runs.
func (g *Gang) Cluster() *kube.Cluster { return g.cluster }

// objectRef is an object that Delete removes.
type objectRef struct {
	resource schema.GroupVersionResource
	name     string
}

// Start creates the namespace if it does not exist, the gang's group objects, Service and
// Job. On error it deletes the objects that it created.
func (l *Launcher) Start(ctx context.Context, spec Spec) (*Gang, error) {
	spec.DefaultClass(l.DeviceClass)
	spec.Cordoned = spec.Cordoned || l.Cordoned
	if err := spec.validate(); err != nil {
		return nil, err
	}
	namespace, err := l.namespace(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Name, err)
	}
	if spec.hosts, err = hostLabels(ctx, l.Cluster, spec.Nodes); err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Name, err)
	}
	kind := l.Kind
	if spec.Pods == 1 {
		kind = nil // not a gang, and less than the smallest MPIJob
	}
	manifests, err := RenderKind(namespace, l.RunID, l.Gang, kind, spec)
	if err != nil {
		return nil, err
	}
	gang := &Gang{Spec: spec, Namespace: namespace, cluster: l.Cluster, scheduler: l.Gang, kind: kind, clock: l.Clock}
	gang.clock = cmp.Or[clock.Clock](gang.clock, clock.RealClock{})
	if err := gang.create(ctx, manifests); err != nil {
		return nil, gang.undo(ctx, fmt.Errorf("start %s: %w", spec.Name, err))
	}
	return gang, nil
}

// namespace creates the namespace with the Pod Security level that the gang's pods require.
func (l *Launcher) namespace(ctx context.Context, spec Spec) (string, error) {
	guest := kube.Guest{Cluster: l.Cluster}
	manifests, err := Render("", l.RunID, l.Gang, spec)
	if err != nil {
		return "", err
	}
	why, err := Privileged(&manifests.Job.Spec.Template)
	if err != nil {
		return "", err
	}
	if why == "" {
		return guest.EnsureNamespace(ctx, l.RunID)
	}
	return guest.EnsurePrivileged(ctx, l.RunID, spec.Gate, "pods of gate "+spec.Gate+" violate the level baseline: "+why)
}

func (g *Gang) create(ctx context.Context, m Manifests) error {
	for _, obj := range m.Groups {
		if _, err := g.createObject(ctx, obj); err != nil {
			return err
		}
	}
	if m.Claim != nil {
		if _, err := g.cluster.DRA().ResourceClaimTemplates(g.Namespace).Create(ctx, m.Claim, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create resource claim template %s: %w", m.Claim.Name, err)
		}
	}
	if m.Service != nil {
		if _, err := g.cluster.Client.CoreV1().Services(g.Namespace).Create(ctx, m.Service, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create service %s: %w", m.Service.Name, err)
		}
	}
	for _, obj := range m.Jobs {
		job, err := g.createObject(ctx, obj)
		if err != nil {
			return err
		}
		g.job, g.created = job.GetUID(), job.GetCreationTimestamp()
	}
	if g.kind != nil {
		return nil
	}
	job, err := g.cluster.Client.BatchV1().Jobs(g.Namespace).Create(ctx, m.Job, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("create job %s: %w", m.Job.Name, err)
	}
	g.job, g.created = job.UID, job.CreationTimestamp
	return nil
}

func (g *Gang) createObject(ctx context.Context, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	resource := resourceOf(obj)
	wait, cancel := context.WithTimeout(ctx, cacheDeadline)
	defer cancel()
	var created *unstructured.Unstructured
	var err error
	if late := poll.Until(wait, cachePoll, "a webhook to know the objects created before", func(ctx context.Context) error {
		if created, err = g.cluster.Dynamic.Resource(resource).Namespace(g.Namespace).Create(ctx, obj, metav1.CreateOptions{}); tooEarly(err, g.objects) {
			return err
		}
		return nil
	}); late != nil {
		err = late
	}
	if err != nil {
		return nil, fmt.Errorf("create %s %s: %w", obj.GetKind(), obj.GetName(), err)
	}
	g.objects = append(g.objects, objectRef{resource: resource, name: obj.GetName()})
	return created, nil
}

// undo deletes the objects of a failed start, unless another gang has the same name.
func (g *Gang) undo(ctx context.Context, cause error) error {
	if apierrors.IsAlreadyExists(cause) {
		return cause
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoDeadline)
	defer cancel()
	if err := g.Delete(ctx); err != nil {
		return fmt.Errorf("%w (and its objects could not be deleted: %w)", cause, err)
	}
	return cause
}

// resourceOf is the resource of an object: the API's lower-case plural.
func resourceOf(obj *unstructured.Unstructured) schema.GroupVersionResource {
	gvk := obj.GroupVersionKind()
	return gvk.GroupVersion().WithResource(strings.ToLower(gvk.Kind) + "s")
}

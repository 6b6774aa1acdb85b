package ray

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// suspended is the state of a RayCluster that KubeRay has reconciled to have no pods.
const suspended = "suspended"

// probeImage is not pulled: the probe has no pods.
const probeImage = "rayproject/ray"

// errNoSuspend: the API server removes fields that a definition does not have.
var errNoSuspend = errors.New("the definition of RayCluster has no spec.suspend: KubeRay 1.1 or newer is needed")

// noNode is a label that no node has: pods of the probe, should another controller resume it, are not placed.
const noNode = kube.LabelRun + "-no-node"

func (g *Gate) probeName() string { return "firstlight-" + g.deps.RunID }

// suspendedCluster is the RayCluster that shows that the operator works. It is in the namespace of the site's, as
// an operator may watch no other.
func (g *Gate) suspendedCluster() *unstructured.Unstructured {
	labels := map[string]any{}
	for k, v := range kube.Labels(g.deps.RunID, g.Name()) {
		labels[k] = v
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": kube.RayClusters().GroupVersion().String(), "kind": "RayCluster",
		"metadata": map[string]any{"name": g.probeName(), "namespace": g.site.Ray.Namespace, "labels": labels},
		"spec": map[string]any{
			"suspend": true,
			"headGroupSpec": map[string]any{
				"rayStartParams": map[string]any{},
				"template": map[string]any{"spec": map[string]any{
					"nodeSelector": map[string]any{noNode: g.deps.RunID},
					"containers":   []any{map[string]any{"name": "ray-head", "image": probeImage}},
				}},
			},
		},
	}}
}

// observeOperator has the operator reconcile a RayCluster without pods, and deletes it: at once if it is resumed.
func (g *Gate) observeOperator(ctx context.Context, cluster *kube.Cluster, rec check.Recorder) (err error) {
	api := cluster.Dynamic.Resource(kube.RayClusters()).Namespace(g.site.Ray.Namespace)
	attempt := g.begin(rec, kindOperator, g.site.Ray.Namespace, fmt.Sprintf("create RayCluster %s with spec.suspend; wait until its state is %s; delete it", g.probeName(), suspended))
	if err := (kube.Guest{Cluster: cluster}).Hold(ctx, g.deps.RunID); err != nil {
		return fmt.Errorf("observe the operator: %w", err)
	}
	remove := func() error {
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), removeWithin)
		defer stop()
		err := api.Delete(ctx, g.probeName(), metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("delete RayCluster %s/%s: %w", g.site.Ray.Namespace, g.probeName(), err)
		}
		return nil
	}
	if err := remove(); err != nil { // of a run that was killed
		return attempt.Record(nil, err)
	}
	defer func() { err = errors.Join(err, remove()) }()
	err = poll.Until(ctx, interval, "the name of the probe to be free", func(ctx context.Context) error {
		made, err := api.Create(ctx, g.suspendedCluster(), metav1.CreateOptions{})
		switch {
		case err == nil:
			if still, _, _ := unstructured.NestedBool(made.Object, "spec", "suspend"); !still {
				return poll.Stop(errNoSuspend)
			}
		case !apierrors.IsAlreadyExists(err):
			return poll.Stop(err)
		}
		return err
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return attempt.Record(nil, err)
	}
	f := operatorFigures{WithinSeconds: g.deadline.Seconds()}
	for {
		err := g.readProbe(ctx, cluster, &f)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return attempt.Record(nil, err)
		}
		if f.State == suspended || f.Resumed || f.Pods > 0 || attempt.Elapsed() >= g.deadline {
			return attempt.Record(f, nil)
		}
		if err := g.deps.Wait(ctx, min(interval, time.Second/4+attempt.Elapsed()/4)); err != nil {
			return err
		}
	}
}

// readProbe reads the state of the probe, and counts its pods.
func (g *Gate) readProbe(ctx context.Context, cluster *kube.Cluster, f *operatorFigures) error {
	found, err := cluster.Dynamic.Resource(kube.RayClusters()).Namespace(g.site.Ray.Namespace).Get(ctx, g.probeName(), metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("get RayCluster %s/%s: %w", g.site.Ray.Namespace, g.probeName(), err)
	}
	pods, err := cluster.Client.CoreV1().Pods(g.site.Ray.Namespace).List(ctx, metav1.ListOptions{LabelSelector: labelCluster + "=" + g.probeName()})
	if err != nil {
		return fmt.Errorf("list the pods of RayCluster %s/%s: %w", g.site.Ray.Namespace, g.probeName(), err)
	}
	f.State, _, _ = unstructured.NestedString(found.Object, "status", "state")
	still, _, _ := unstructured.NestedBool(found.Object, "spec", "suspend")
	f.Resumed, f.Pods = !still, len(pods.Items)
	return nil
}

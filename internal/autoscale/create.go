package autoscale

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firstlight/firstlight/internal/autoscale/judge"
	"github.com/firstlight/firstlight/internal/autoscale/render"
	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// create creates an object with the dynamic client. Its resource is the kind's regular
// plural.
func (d *drive) create(ctx context.Context, o *unstructured.Unstructured) error {
	gvk := o.GroupVersionKind()
	resource := gvk.GroupVersion().WithResource(strings.ToLower(gvk.Kind) + "s")
	_, err := d.cluster.Dynamic.Resource(resource).Namespace(o.GetNamespace()).Create(ctx, o, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("create %s %s: %w", gvk.Kind, o.GetName(), err)
	}
	return nil
}

func (d *drive) createJob(ctx context.Context, job *batchv1.Job) error {
	if _, err := d.cluster.Client.BatchV1().Jobs(job.Namespace).Create(ctx, job, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create job %s: %w", job.Name, err)
	}
	return nil
}

func (d *drive) deleteJob(ctx context.Context, name string) error {
	background := metav1.DeletePropagationBackground
	err := d.cluster.Client.BatchV1().Jobs(d.setup.Namespace).Delete(ctx, name, metav1.DeleteOptions{PropagationPolicy: &background})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete job %s: %w", name, err)
	}
	return nil
}

// place creates the namespace, the queues, the workload with its HPA, and the
// holder.
func (d *drive) place(ctx context.Context) error {
	if _, err := (kube.Guest{Cluster: d.cluster}).EnsureNamespace(ctx, d.setup.Run); err != nil {
		return fmt.Errorf("place the workload: %w", err)
	}
	for _, q := range render.Queues(d.values) {
		if err := d.create(ctx, q); err != nil {
			return err
		}
	}
	d.mark(snapshot.MarkPlaced)
	client, ns := d.cluster.Client, d.setup.Namespace
	for _, template := range render.ClaimTemplates(d.values) {
		if _, err := d.cluster.DRA().ResourceClaimTemplates(ns).Create(ctx, template, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create resource claim template %s: %w", template.Name, err)
		}
	}
	if _, err := client.AppsV1().Deployments(ns).Create(ctx, render.Deployment(d.values), metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create deployment %s: %w", render.Worker, err)
	}
	if _, err := client.AutoscalingV2().HorizontalPodAutoscalers(ns).Create(ctx, render.HPA(d.values), metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create HPA %s: %w", render.Worker, err)
	}
	return d.createJob(ctx, render.HolderJob(d.values))
}

// keepFirst annotates the first replicas to survive scale-down with their nodes.
func (d *drive) keepFirst(ctx context.Context) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": render.Kept()}})
	if err != nil {
		return fmt.Errorf("encode annotations: %w", err)
	}
	for _, p := range d.tracker.State().Pods {
		if p.Role != snapshot.RoleWorker || p.Gone() {
			continue
		}
		_, err := d.cluster.Client.CoreV1().Pods(p.Namespace).Patch(ctx, p.Name, types.MergePatchType, patch, metav1.PatchOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("annotate pod %s: %w", p.Name, err)
		}
	}
	return nil
}

// removeZero deletes the pod of the limited NodePool.
func (d *drive) removeZero(ctx context.Context) error {
	if d.values.Zero == "" {
		return nil
	}
	err := d.cluster.Client.CoreV1().Pods(d.setup.Namespace).Delete(ctx, render.ZeroPod, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete pod %s: %w", render.ZeroPod, err)
	}
	return nil
}

// refused records a hop whose object could not be created or deleted.
func (d *drive) refused(ctx context.Context, hop string, cause error) (bool, error) {
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	for _, h := range hopNames()[slices.Index(hopNames(), hop):] {
		if _, excused := judge.NotApplicable(h, d.setup); !excused { // the first hop whose verdict can have the cause
			hop = h
			break
		}
	}
	st := d.state()
	st.ActionError = cause.Error()
	return false, d.record(hop, d.now(), st, judge.Hop(hop, d.setup, st))
}

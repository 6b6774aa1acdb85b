package gpustack

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// The operator's pods have this label, by its Helm chart and by its OLM bundle. Its Deployment has the label by the chart alone:
// OLM labels Deployments itself (github.com/operator-framework/operator-lifecycle-manager, pkg/controller/install/deployment.go).
const (
	operatorLabel     = "app.kubernetes.io/component"
	operatorComponent = "gpu-operator"
)

func (g *Gate) observeOperator(ctx context.Context, cluster *kube.Cluster, rec check.Recorder) error {
	if g.stack.Provided() {
		return nil
	}
	attempt := g.begin(rec, kindOperator, g.stack.Namespace, "GET deployments -n "+g.stack.Namespace)
	list, err := cluster.Client.AppsV1().Deployments(g.stack.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return attempt.Record(nil, fmt.Errorf("list Deployments of %s: %w", g.stack.Namespace, err))
	}
	list.Items = slices.DeleteFunc(list.Items, func(d appsv1.Deployment) bool { return d.Spec.Template.Labels[operatorLabel] != operatorComponent })
	figures := []operatorFigures{}
	for i := range list.Items {
		list.Items[i].ManagedFields = nil
		figures = append(figures, readOperator(&list.Items[i]))
	}
	return attempt.Raw(rawJSON(list)).Record(figures, nil)
}

func readOperator(d *appsv1.Deployment) operatorFigures {
	f := operatorFigures{Name: d.Name, Version: operatorVersion(d), Desired: 1, Ready: int(d.Status.ReadyReplicas), Rollout: &rolloutFigures{
		Current: d.Status.ObservedGeneration >= d.Generation, Pods: int(d.Status.Replicas), Updated: int(d.Status.UpdatedReplicas),
	}}
	if d.Spec.Replicas != nil {
		f.Desired = int(*d.Spec.Replicas)
	}
	for _, c := range d.Status.Conditions {
		if c.Type == appsv1.DeploymentProgressing && c.Status == corev1.ConditionFalse {
			f.Rollout.Why = c.Reason + ": " + c.Message
		}
	}
	return f
}

// labelVersion has the version of the chart's release.
const labelVersion = "app.kubernetes.io/version"

// operatorVersion is that of the program: values of the chart can set another image than the chart's.
func operatorVersion(d *appsv1.Deployment) string {
	containers := d.Spec.Template.Spec.Containers
	i := max(0, slices.IndexFunc(containers, func(c corev1.Container) bool { return c.Name == "gpu-operator" }))
	if i >= len(containers) {
		return ""
	}
	image, _, _ := strings.Cut(containers[i].Image, "@")
	tag, err := name.NewTag(image, name.WeakValidation, name.WithDefaultTag(""))
	if err != nil {
		return ""
	}
	return cmp.Or(tag.TagStr(), d.Labels[labelVersion])
}

// judgeOperator requires that the operator runs: otherwise the policy's status is the last one that
// it wrote. The pod that is ready must be of the current template: an operator of the version before ignores fields of the
// policy that are new, and reports it as reconciled.
func (g *Gate) judgeOperator(b *check.Builder, o check.Observation, deployments []operatorFigures) {
	if len(deployments) == 0 {
		b.Fail(o.ID, "gpu-operator in "+g.stack.Namespace, "install the GPU Operator, or name its namespace in gpustack.namespace",
			"has no Deployment whose pods have the label %s=%s: nothing keeps the ClusterPolicy's status up to date", operatorLabel, operatorComponent)
	}
	for _, d := range deployments {
		suspect, remedy := "Deployment "+g.stack.Namespace+"/"+d.Name, fmt.Sprintf("kubectl -n %s describe deployment %s; read the logs of its pods", g.stack.Namespace, d.Name)
		switch r := d.Rollout; {
		case d.Ready < 1:
			b.Fail(o.ID, suspect, remedy, "has no ready pod of %d desired: the ClusterPolicy's status is the last one that the operator wrote", d.Desired)
		case r != nil && (!r.Current || r.Updated < d.Desired || r.Pods > r.Updated):
			why := ""
			if r.Why != "" {
				why = "; " + r.Why
			}
			b.Fail(o.ID, suspect, remedy,
				"its rollout is not complete: %d of %d pods are of the current template, status current: %t%s; the ready pod may be of the operator's version before",
				r.Updated, r.Pods, r.Current, why)
		}
	}
}

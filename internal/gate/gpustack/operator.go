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

// operatorLabel selects the operator's Deployment, of its Helm chart and of its OLM bundle.
const operatorLabel = "app.kubernetes.io/component=gpu-operator"

func (g *Gate) observeOperator(ctx context.Context, cluster *kube.Cluster, rec check.Recorder) error {
	if g.stack.Provided() {
		return nil
	}
	attempt := g.begin(rec, kindOperator, g.stack.Namespace, "GET deployments -n "+g.stack.Namespace+" -l "+operatorLabel)
	list, err := cluster.Client.AppsV1().Deployments(g.stack.Namespace).List(ctx, metav1.ListOptions{LabelSelector: operatorLabel})
	if err != nil {
		return attempt.Record(nil, fmt.Errorf("list Deployments of %s: %w", g.stack.Namespace, err))
	}
	figures := []operatorFigures{}
	for i := range list.Items {
		d := &list.Items[i]
		d.ManagedFields = nil
		f := operatorFigures{Name: d.Name, Version: operatorVersion(d), Desired: 1, Ready: int(d.Status.ReadyReplicas)}
		if d.Spec.Replicas != nil {
			f.Desired = int(*d.Spec.Replicas)
		}
		figures = append(figures, f)
	}
	return attempt.Raw(rawJSON(list)).Record(figures, nil)
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
// it wrote.
func (g *Gate) judgeOperator(b *check.Builder, o check.Observation, deployments []operatorFigures) {
	if len(deployments) == 0 {
		b.Fail(o.ID, "gpu-operator in "+g.stack.Namespace, "install the GPU Operator, or name its namespace in gpustack.namespace", "has no Deployment with the label %s: nothing keeps the ClusterPolicy's status up to date", operatorLabel)
	}
	for _, d := range deployments {
		if d.Ready < 1 {
			b.Fail(o.ID, "Deployment "+g.stack.Namespace+"/"+d.Name,
				fmt.Sprintf("kubectl -n %s describe deployment %s; read the logs of its pods", g.stack.Namespace, d.Name),
				"has no ready pod of %d desired: the ClusterPolicy's status is the last one that the operator wrote",
				d.Desired)
		}
	}
}

package gpustack

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/distribution"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/site"
)

// kindPackaged are the components that k3s installs, on a site of spine k3s.
const kindPackaged = "packaged-components"

// component is a Deployment, DaemonSet or Job of kube-system.
type component struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Of is the Service or HelmChart of a user to which it belongs; empty: it is a component of k3s.
	Of string `json:"of,omitempty"`
	// Current: its status is of the current generation. A Job's has none.
	Current bool `json:"current"`
	// Desired, Ready and Updated are pods; of a Job, completions and successful ones.
	Desired int `json:"desired"`
	Ready   int `json:"ready"`
	Updated int `json:"updated"`
	// Running: a Job that has neither completed nor failed.
	Running bool `json:"running,omitempty"`
	// Why it is not ready, if its conditions have the reason.
	Why string `json:"why,omitempty"`
}

// packaged is what the site's distribution installs; zero unless the site declares one.
func (g *Gate) packaged() (distribution.Packaged, error) {
	if g.site.Spine != site.SpineK3s {
		return distribution.Packaged{}, nil
	}
	d, err := distribution.Named(site.SpineK3s)
	return d.Packaged, err
}

func (g *Gate) observePackaged(ctx context.Context, cluster *kube.Cluster, rec check.Recorder) error {
	of, err := g.packaged()
	if err != nil || of.Source == "" {
		return err
	}
	attempt := g.begin(rec, kindPackaged, metav1.NamespaceSystem, fmt.Sprintf("GET deployments %s, daemonsets -l %s, jobs -l %s -n %s", strings.Join(of.Deployments, ", "), of.ServiceLabel, of.ChartLabel, metav1.NamespaceSystem))
	deployments, err := cluster.Client.AppsV1().Deployments(metav1.NamespaceSystem).List(ctx, metav1.ListOptions{})
	if err != nil {
		return attempt.Record(nil, fmt.Errorf("list Deployments of %s: %w", metav1.NamespaceSystem, err))
	}
	sets, err := cluster.Client.AppsV1().DaemonSets(metav1.NamespaceSystem).List(ctx, metav1.ListOptions{LabelSelector: of.ServiceLabel})
	if err != nil {
		return attempt.Record(nil, fmt.Errorf("list DaemonSets of %s: %w", metav1.NamespaceSystem, err))
	}
	jobs, err := cluster.Client.BatchV1().Jobs(metav1.NamespaceSystem).List(ctx, metav1.ListOptions{LabelSelector: of.ChartLabel})
	if err != nil {
		return attempt.Record(nil, fmt.Errorf("list Jobs of %s: %w", metav1.NamespaceSystem, err))
	}
	deployments.Items = slices.DeleteFunc(deployments.Items, func(d appsv1.Deployment) bool { return !slices.Contains(of.Deployments, d.Name) })
	figures := []component{}
	for i := range deployments.Items {
		figures = append(figures, deploymentOf(&deployments.Items[i]))
	}
	for i := range sets.Items {
		figures = append(figures, loadBalancerOf(&sets.Items[i], of))
	}
	for i := range jobs.Items {
		figures = append(figures, jobOf(&jobs.Items[i], of))
	}
	return attempt.Raw(rawJSON([]any{deployments.Items, sets.Items, jobs.Items})).Record(figures, nil)
}

func deploymentOf(d *appsv1.Deployment) component {
	c := component{Kind: "Deployment", Name: d.Name, Desired: 1, Ready: int(d.Status.ReadyReplicas), Updated: int(d.Status.UpdatedReplicas), Current: d.Status.ObservedGeneration >= d.Generation}
	if d.Spec.Replicas != nil {
		c.Desired = int(*d.Spec.Replicas)
	}
	for _, condition := range d.Status.Conditions {
		if condition.Type == appsv1.DeploymentAvailable && condition.Status != corev1.ConditionTrue {
			c.Why = condition.Message
		}
	}
	return c
}

// loadBalancerOf is the DaemonSet of ServiceLB for a Service of type LoadBalancer. ServiceLB writes them all to kube-system.
func loadBalancerOf(d *appsv1.DaemonSet, of distribution.Packaged) component {
	c := component{
		Kind: "DaemonSet", Name: d.Name, Current: d.Status.ObservedGeneration >= d.Generation,
		Desired: int(d.Status.DesiredNumberScheduled), Ready: int(d.Status.NumberReady), Updated: int(d.Status.UpdatedNumberScheduled),
	}
	name, namespace := d.Labels[of.ServiceLabel], cmp.Or(d.Labels[of.ServiceNamespaceLabel], d.Namespace)
	if namespace != metav1.NamespaceSystem || !slices.Contains(of.Services, name) {
		c.Of = "Service " + namespace + "/" + name
	}
	return c
}

// jobOf is the Job of the Helm controller for a HelmChart of kube-system.
func jobOf(j *batchv1.Job, of distribution.Packaged) component {
	c := component{Kind: "Job", Name: j.Name, Desired: 1, Ready: int(j.Status.Succeeded), Updated: int(j.Status.Succeeded), Current: true, Running: true}
	if chart := j.Labels[of.ChartLabel]; !slices.Contains(of.Charts, chart) {
		c.Of = "HelmChart " + j.Namespace + "/" + chart
	}
	if j.Spec.Completions != nil {
		c.Desired = int(*j.Spec.Completions)
	}
	for _, condition := range j.Status.Conditions {
		if condition.Status != corev1.ConditionTrue {
			continue
		}
		switch condition.Type {
		case batchv1.JobFailed:
			c.Running, c.Why = false, condition.Reason+": "+condition.Message
		case batchv1.JobComplete:
			c.Running = false
		default: // it has not ended
		}
	}
	return c
}

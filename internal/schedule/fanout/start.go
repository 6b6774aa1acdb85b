package fanout

import (
	"context"
	"errors"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// start creates what a run needs and sets the Job going. What it created before an
// error is the caller's to remove.
func start(ctx context.Context, cluster *kube.Cluster, s *Spec) (*batchv1.Job, error) {
	if err := place(ctx, cluster, s); err != nil {
		return nil, err
	}
	o := Render(s)
	job, err := cluster.Client.BatchV1().Jobs(s.namespace()).Create(ctx, o.Job, metav1.CreateOptions{})
	if err != nil {
		return nil, refusedBy(err, "create Job "+s.namespace()+"/"+s.job(), remedyOf(err, s))
	}
	if err := understood(job); err != nil {
		return nil, err
	}
	o.ownedBy(job.UID)
	if err := createDependents(ctx, cluster, o); err != nil {
		return nil, err
	}
	resume := []byte(`{"spec":{"suspend":false}}`)
	job, err = cluster.Client.BatchV1().Jobs(job.Namespace).Patch(ctx, job.Name, types.MergePatchType, resume, metav1.PatchOptions{})
	return job, refusedBy(err, "set Job "+s.job()+" going", "the role of whoever runs this needs patch on jobs")
}

// place finds or makes the namespace, and the PriorityClass.
func place(ctx context.Context, cluster *kube.Cluster, s *Spec) error {
	namespaces := cluster.Client.CoreV1().Namespaces()
	if s.Namespace == "" {
		_, err := namespaces.Create(ctx, namespaceOf(s), metav1.CreateOptions{})
		if err != nil {
			return refusedBy(err, "create namespace "+s.namespace(), "give one that exists: --namespace NAME")
		}
	} else if _, err := namespaces.Get(ctx, s.Namespace, metav1.GetOptions{}); err != nil && !apierrors.IsForbidden(err) {
		// Whoever may not look at namespaces may still work in one.
		return refusedBy(err, "find namespace "+s.Namespace, "--namespace is one that exists; without it, the run makes one of its own")
	}
	if s.PriorityClass != "" {
		return nil
	}
	err := kube.Guest{Cluster: cluster}.EnsureIn(ctx, s.RunID, s.namespace())
	return refusedBy(err, "make the run's own priority", "give a PriorityClass that exists and preempts nothing: --priority-class NAME")
}

// understood says whether the API server knows the fields that the run relies on:
// an old one drops them without a word.
func understood(job *batchv1.Job) error {
	if job.Spec.BackoffLimitPerIndex == nil || job.Spec.PodFailurePolicy == nil || job.Spec.PodReplacementPolicy == nil || job.Spec.Suspend == nil || !*job.Spec.Suspend {
		return &Refused{
			What:   "create Job " + job.Namespace + "/" + job.Name,
			Err:    errors.New("the API server, or an admission webhook, dropped one of backoffLimitPerIndex, podFailurePolicy, podReplacementPolicy and suspend"),
			Remedy: "Kubernetes has all of them since 1.29: use a cluster of that version or newer",
		}
	}
	return nil
}

func createDependents(ctx context.Context, cluster *kube.Cluster, o Objects) error {
	client, namespace := cluster.Client, o.Job.Namespace
	if _, err := client.CoreV1().ServiceAccounts(namespace).Create(ctx, o.Account, metav1.CreateOptions{}); err != nil {
		return refusedBy(err, "create the shards' ServiceAccount", "")
	}
	const may = "nobody can grant what they may not do: whoever runs this needs create, get and update on configmaps there"
	if _, err := client.RbacV1().Roles(namespace).Create(ctx, o.Role, metav1.CreateOptions{}); err != nil {
		return refusedBy(err, "create the shards' Role", may)
	}
	if _, err := client.RbacV1().RoleBindings(namespace).Create(ctx, o.RoleBinding, metav1.CreateOptions{}); err != nil {
		return refusedBy(err, "bind the shards' Role", may)
	}
	for _, m := range o.Maps {
		if _, err := client.CoreV1().ConfigMaps(namespace).Create(ctx, m, metav1.CreateOptions{}); err != nil {
			return refusedBy(err, fmt.Sprintf("create ConfigMap %s", m.Name), "")
		}
	}
	return nil
}

// remedyOf is what to do about a Job that was refused.
func remedyOf(err error, s *Spec) string {
	switch {
	case apierrors.IsNotFound(err):
		return "namespace " + s.namespace() + " is not there, or is going: --namespace"
	case apierrors.IsInvalid(err):
		return "the words in it are the API's: see --image, --parallel, --shard-cpu, --shard-memory, --priority-class"
	case apierrors.IsForbidden(err):
		return "the words in it are the API's, or an admission webhook's: a right to create jobs, a quota, a policy"
	}
	return ""
}

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

// start creates the run's objects and resumes the Job. After an error the caller deletes
// the objects created so far.
func start(ctx context.Context, cluster *kube.Cluster, s *Spec) (*batchv1.Job, error) {
	if err := ensureNamespace(ctx, cluster, s); err != nil {
		return nil, err
	}
	o := Render(s)
	job, err := cluster.Client.BatchV1().Jobs(s.namespace()).Create(ctx, o.Job, metav1.CreateOptions{})
	if err != nil {
		return nil, refusedBy(err, "create Job "+s.namespace()+"/"+s.job(), jobRemedy(err, s))
	}
	if err := checkJobFields(job); err != nil {
		return nil, err
	}
	o.ownedBy(job.UID)
	if err := createDependents(ctx, cluster, o); err != nil {
		return nil, err
	}
	resume := []byte(`{"spec":{"suspend":false}}`)
	job, err = cluster.Client.BatchV1().Jobs(job.Namespace).Patch(ctx, job.Name, types.MergePatchType, resume, metav1.PatchOptions{})
	return job, refusedBy(err, "resume Job "+s.job(), "the caller's role needs patch on jobs")
}

// ensureNamespace finds or creates the namespace and the PriorityClass.
func ensureNamespace(ctx context.Context, cluster *kube.Cluster, s *Spec) error {
	namespaces := cluster.Client.CoreV1().Namespaces()
	if s.Namespace == "" {
		_, err := namespaces.Create(ctx, namespaceOf(s), metav1.CreateOptions{})
		if err != nil {
			return refusedBy(err, "create namespace "+s.namespace(), "use an existing one: --namespace NAME")
		}
	} else if _, err := namespaces.Get(ctx, s.Namespace, metav1.GetOptions{}); err != nil && !apierrors.IsForbidden(err) {
		// Reading namespaces may be forbidden where using one is not.
		return refusedBy(err, "find namespace "+s.Namespace, "--namespace must exist; without it, the run creates its own")
	}
	if s.PriorityClass != "" {
		return nil
	}
	err := kube.Guest{Cluster: cluster}.EnsureIn(ctx, s.RunID, s.namespace())
	return refusedBy(err, "create the run's PriorityClass", "use an existing PriorityClass that does not preempt: --priority-class NAME")
}

// checkJobFields rejects an API server that dropped required fields of the Job.
func checkJobFields(job *batchv1.Job) error {
	if job.Spec.BackoffLimitPerIndex == nil || job.Spec.PodFailurePolicy == nil || job.Spec.PodReplacementPolicy == nil || job.Spec.Suspend == nil || !*job.Spec.Suspend {
		return &Refused{
			What:   "create Job " + job.Namespace + "/" + job.Name,
			Err:    errors.New("the API server, or an admission webhook, dropped one of backoffLimitPerIndex, podFailurePolicy, podReplacementPolicy and suspend"),
			Remedy: "all of them exist since Kubernetes 1.29: use a cluster of that version or newer",
		}
	}
	return nil
}

func createDependents(ctx context.Context, cluster *kube.Cluster, o Objects) error {
	client, namespace := cluster.Client, o.Job.Namespace
	if _, err := client.CoreV1().ServiceAccounts(namespace).Create(ctx, o.Account, metav1.CreateOptions{}); err != nil {
		return refusedBy(err, "create the shards' ServiceAccount", "")
	}
	const grantRemedy = "RBAC prevents privilege escalation: the caller needs create, get and update on configmaps in the namespace"
	if _, err := client.RbacV1().Roles(namespace).Create(ctx, o.Role, metav1.CreateOptions{}); err != nil {
		return refusedBy(err, "create the shards' Role", grantRemedy)
	}
	if _, err := client.RbacV1().RoleBindings(namespace).Create(ctx, o.RoleBinding, metav1.CreateOptions{}); err != nil {
		return refusedBy(err, "bind the shards' Role", grantRemedy)
	}
	for _, m := range o.Maps {
		if _, err := client.CoreV1().ConfigMaps(namespace).Create(ctx, m, metav1.CreateOptions{}); err != nil {
			return refusedBy(err, fmt.Sprintf("create ConfigMap %s", m.Name), "")
		}
	}
	return nil
}

// jobRemedy is the remedy for a rejected Job.
func jobRemedy(err error, s *Spec) string {
	switch {
	case apierrors.IsNotFound(err):
		return "namespace " + s.namespace() + " does not exist or is terminating: --namespace"
	case apierrors.IsInvalid(err):
		return "check --image, --parallel, --shard-cpu, --shard-memory, --priority-class"
	case apierrors.IsForbidden(err):
		return "check the permission to create jobs, quotas and admission policies"
	}
	return ""
}

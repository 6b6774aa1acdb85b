package workload

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// MPIJob runs a gang as an MPIJob of the MPI Operator whose launcher is a worker too: index 0 is
// the launcher, index i the worker i-1. The number of a worker is that of its name: the label
// replica-index counts the launcher since MPI Operator 0.7.0 and did not before. The gang's script has its own SSH keys, so that it
// does not use the operator's.
type MPIJob struct{}

const (
	mpiRoleLabel = "training.kubeflow.org/job-role"
	mpiLauncher  = "launcher"
	mpiWorker    = "worker"
	// mpiSSHPath is where the operator mounts its keys: not the home directory, which the script uses.
	mpiSSHPath = "/etc/mpi/ssh"
)

// Name implements Kind.
func (MPIJob) Name() string { return "mpijob" }

// Resource implements Kind.
func (MPIJob) Resource() schema.GroupVersionResource { return kube.MPIJobs() }

// Chain implements Kind.
func (MPIJob) Chain() []schema.GroupVersionResource {
	return []schema.GroupVersionResource{kube.MPIJobs()}
}

// Hosts implements Kind.
func (MPIJob) Hosts(name string, pods int) []string {
	return append([]string{name + "-" + mpiLauncher + "." + name}, hosts(name, name+"-"+mpiWorker+"-", pods-1)...)
}

// Convert implements Kind. The operator creates the Service.
func (k MPIJob) Convert(m *Manifests, spec Spec) error {
	if spec.Pods < 2 { // launcher and one worker
		return fmt.Errorf("an MPIJob cannot have %d pods: it has a launcher and at least one worker", spec.Pods)
	}
	launcher := m.Job.Spec.Template.DeepCopy()
	number(launcher, "JOB_COMPLETION_INDEX=0")
	worker := m.Job.Spec.Template.DeepCopy()
	worker.Spec.Containers[0].Env = append(worker.Spec.Containers[0].Env, fromField("MPI_WORKER", "metadata.name"))
	number(worker, "JOB_COMPLETION_INDEX=$((${MPI_WORKER##*-} + 1))")
	replicas := map[string]any{}
	for _, r := range []struct {
		name     string
		count    int
		template *corev1.PodTemplateSpec
	}{{"Launcher", 1, launcher}, {"Worker", spec.Pods - 1, worker}} {
		policy := string(r.template.Spec.RestartPolicy)
		r.template.Spec.RestartPolicy, r.template.Spec.Subdomain = "", "" // the operator's
		template, err := fields(r.template)
		if err != nil {
			return err
		}
		replicas[r.name] = map[string]any{"replicas": int64(r.count), "restartPolicy": policy, "template": template}
	}
	policy := map[string]any{"cleanPodPolicy": "None", "backoffLimit": int64(spec.Restarts)}
	if suspended(m.Job) {
		policy["suspend"] = true
	}
	m.Service = nil
	m.Jobs = []*unstructured.Unstructured{object(m.Job, k.Resource().GroupVersion().String(), "MPIJob", map[string]any{
		"slotsPerWorker":      int64(max(spec.GPUs, 1)),
		"runLauncherAsWorker": true,
		"sshAuthMountPath":    mpiSSHPath,
		"runPolicy":           policy,
		"mpiReplicaSpecs":     replicas,
	})}
	return nil
}

// number sets the pod's index, as the Job controller does, before the script.
func number(template *corev1.PodTemplateSpec, assignment string) {
	c := &template.Spec.Containers[0]
	c.Command = slices.Clone(c.Command)
	last := len(c.Command) - 1
	c.Command[last] = "export " + assignment + "\n" + c.Command[last]
}

// Failed implements Kind.
func (MPIJob) Failed(job *unstructured.Unstructured) (string, bool) { return failedCondition(job) }

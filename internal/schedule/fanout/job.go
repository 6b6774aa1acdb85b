package fanout

import (
	"cmp"
	"fmt"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// Paths within a shard's container. The rest is read-only.
const (
	workDir     = "/var/firstlight"
	tempDir     = "/tmp"
	namesDir    = "/etc/firstlight/names"
	recipesDir  = "/etc/firstlight/recipes"
	namesFile   = "names"
	recipesFile = "recipes.tgz"
)

const (
	containerName = "shard"
	// graceSeconds is the time for a control plane to stop after SIGTERM.
	graceSeconds = 30
	// ttlSeconds is the lifetime of the finished Job and its objects if the caller could not
	// delete them.
	ttlSeconds = 3600
)

// Exit codes for which a retry is useless.
const (
	exitUsage         = 2   // the flags, the names or the tree are wrong
	exitNotExecutable = 126 // as reported by shells and runtimes
	exitNotFound      = 127
	exitNotStarted    = 128 // as reported by kubelets for a container that cannot start
)

// renderJob builds the Job, suspended until the objects that its pods need exist.
func renderJob(s *Spec) *batchv1.Job {
	job := &batchv1.Job{
		TypeMeta:   metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{Name: s.job(), Namespace: s.namespace(), Labels: labels(s.RunID, roleMatrix)},
		Spec: batchv1.JobSpec{
			Suspend:               new(true),
			Completions:           new(int32(s.Shards)),   //nolint:gosec // at most the number of recipes
			Parallelism:           new(int32(s.Parallel)), //nolint:gosec // the API bounds it
			CompletionMode:        new(batchv1.IndexedCompletion),
			BackoffLimitPerIndex:  new(int32(1)),
			PodReplacementPolicy:  new(batchv1.Failed), // two attempts of a shard never write concurrently
			PodFailurePolicy:      &batchv1.PodFailurePolicy{Rules: failureRules()},
			ActiveDeadlineSeconds: new(int64(s.Within.Seconds())),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels(s.RunID, roleShard)},
				Spec:       podSpec(s),
			},
		},
	}
	if !s.Keep {
		job.Spec.TTLSecondsAfterFinished = new(int32(ttlSeconds))
	}
	return job
}

// failureRules exempts disruptions from the backoff limit and fails at once where a retry
// is useless.
func failureRules() []batchv1.PodFailurePolicyRule {
	codes := func(action batchv1.PodFailurePolicyAction, values ...int32) batchv1.PodFailurePolicyRule {
		return batchv1.PodFailurePolicyRule{Action: action, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
			ContainerName: new(containerName), Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: values,
		}}
	}
	return []batchv1.PodFailurePolicyRule{
		{ // evicted, preempted or on a deleted node
			Action: batchv1.PodFailurePolicyActionIgnore,
			OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{
				{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue},
			},
		},
		codes(batchv1.PodFailurePolicyActionFailIndex, exitUsage),
		codes(batchv1.PodFailurePolicyActionFailJob, exitNotExecutable, exitNotFound, exitNotStarted),
	}
}

func podSpec(s *Spec) corev1.PodSpec {
	return corev1.PodSpec{
		RestartPolicy:                 corev1.RestartPolicyNever,
		ServiceAccountName:            s.job(),
		EnableServiceLinks:            new(false),
		PriorityClassName:             priorityClassOf(s),
		PreemptionPolicy:              new(corev1.PreemptNever), // rejects a class that preempts
		ActiveDeadlineSeconds:         new(int64(s.ShardWithin.Seconds())),
		TerminationGracePeriodSeconds: new(int64(graceSeconds)),
		NodeSelector:                  map[string]string{corev1.LabelOSStable: string(corev1.Linux)},
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot:   new(true),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: []corev1.Container{container(s)},
		Volumes:    volumes(s),
	}
}

func priorityClassOf(s *Spec) string {
	return cmp.Or(s.PriorityClass, kube.PriorityClassOf(s.RunID))
}

func container(s *Spec) corev1.Container {
	c := corev1.Container{
		Name:       containerName,
		Image:      s.Image,
		Command:    []string{"firstlight"},
		Args:       arguments(s),
		WorkingDir: workDir,
		Env: []corev1.EnvVar{
			{Name: "HOME", Value: workDir},
			{Name: "FIRSTLIGHT_HOME", Value: workDir + "/state"},
			{Name: "TMPDIR", Value: tempDir},
			{Name: "FIRSTLIGHT_JOB_UID", ValueFrom: &corev1.EnvVarSource{
				FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels['" + batchv1.ControllerUidLabel + "']"},
			}},
		},
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: s.CPU, corev1.ResourceMemory: s.Memory},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: s.Memory},
		},
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false),
			ReadOnlyRootFilesystem:   new(true),
			Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		VolumeMounts: []corev1.VolumeMount{
			{Name: "work", MountPath: workDir},
			{Name: "temp", MountPath: tempDir},
			{Name: "names", MountPath: namesDir, ReadOnly: true},
		},
	}
	if s.Recipes != nil {
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: "recipes", MountPath: recipesDir, ReadOnly: true})
	}
	return c
}

// arguments is a shard's command line. Kubernetes expands the index and the Job's UID.
func arguments(s *Spec) []string {
	const index = "$(JOB_COMPLETION_INDEX)"
	args := []string{
		"recipe", "test",
		"--names-file", namesDir + "/" + namesFile,
		"--shards", strconv.Itoa(s.Shards), "--shard-index", index,
		"--jobs", strconv.Itoa(s.Jobs), "--per-plane", strconv.Itoa(s.PerPlane),
		"--publish", s.namespace() + "/" + s.reportName(index),
		"--publish-run", s.RunID,
		"--publish-owner", s.job() + "/$(FIRSTLIGHT_JOB_UID)",
	}
	if s.Recipes != nil {
		args = append(args, "--recipes", recipesDir+"/"+recipesFile)
	}
	return args
}

func volumes(s *Spec) []corev1.Volume {
	empty := corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
	out := []corev1.Volume{
		{Name: "work", VolumeSource: empty},
		{Name: "temp", VolumeSource: empty},
		{Name: "names", VolumeSource: fromMap(namesMap(s))},
	}
	if s.Recipes != nil {
		out = append(out, corev1.Volume{Name: "recipes", VolumeSource: fromMap(recipesMap(s))})
	}
	return out
}

func fromMap(name string) corev1.VolumeSource {
	return corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}}
}

func namesMap(s *Spec) string   { return fmt.Sprintf("%s-names", s.job()) }
func recipesMap(s *Spec) string { return fmt.Sprintf("%s-recipes", s.job()) }

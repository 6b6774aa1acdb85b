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

// Places within a shard's container. What is not one of these can't be written.
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
	// graceSeconds is for the end of a control plane after SIGTERM.
	graceSeconds = 30
	// ttlSeconds is how long the Job, and all that it owns, outlives a caller who
	// could not remove it.
	ttlSeconds = 3600
)

// Exit codes that mean the same each time: a try again is wasted.
const (
	exitUsage         = 2   // the flags, the names or the tree are wrong
	exitNotExecutable = 126 // as shells and runtimes say it
	exitNotFound      = 127
	exitNotStarted    = 128 // as kubelets say it of a container that can't be started
)

// renderJob makes the Job: it is suspended until all that its pods need is there.
func renderJob(s *Spec) *batchv1.Job {
	job := &batchv1.Job{
		TypeMeta:   metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{Name: s.job(), Namespace: s.namespace(), Labels: labels(s.RunID, roleMatrix)},
		Spec: batchv1.JobSpec{
			Suspend:               new(true),
			Completions:           new(int32(s.Shards)),   //nolint:gosec // at most the number of recipes
			Parallelism:           new(int32(s.Parallel)), //nolint:gosec // the API has an opinion on too many
			CompletionMode:        new(batchv1.IndexedCompletion),
			BackoffLimitPerIndex:  new(int32(1)),
			PodReplacementPolicy:  new(batchv1.Failed), // two tries of a shard never write at one time
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

// failureRules say which failures are worth another try, other than by the limit.
func failureRules() []batchv1.PodFailurePolicyRule {
	codes := func(action batchv1.PodFailurePolicyAction, values ...int32) batchv1.PodFailurePolicyRule {
		return batchv1.PodFailurePolicyRule{Action: action, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
			ContainerName: new(containerName), Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: values,
		}}
	}
	return []batchv1.PodFailurePolicyRule{
		{ // evicted, preempted, on a node that went: it is not the shard's fault
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
		PreemptionPolicy:              new(corev1.PreemptNever), // a class that preempts is refused with this
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

// arguments are a shard's command line. Kubernetes fills in the index and the Job's UID.
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

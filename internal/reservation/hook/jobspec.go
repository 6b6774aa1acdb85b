package hook

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// Labels of what is created for a call of a hook.
const (
	LabelHook        = "firstlight.dev/hook"             // the cloud
	LabelReservation = "firstlight.dev/hook-reservation" // none with discover of a cloud
	LabelVerb        = "firstlight.dev/hook-verb"
	LabelToken       = "firstlight.dev/hook-token"
	LabelCall        = "firstlight.dev/hook-call"
	// LabelChanges is on the calls that have side effects.
	LabelChanges = "firstlight.dev/hook-changes"
)

// Where a Job's container finds its request.
const (
	requestDir  = "/var/run/firstlight/hook"
	requestFile = "request.json"
	requestEnv  = "FIRSTLIGHT_HOOK_REQUEST"
	volume      = "firstlight-hook-request"
)

// parseJob reads a template strictly.
func parseJob(data []byte, namespace string) (*Job, error) {
	j := &batchv1.Job{}
	if err := yaml.UnmarshalStrict(data, j); err != nil {
		return nil, fmt.Errorf("read the Job: %w", err)
	}
	var p problems
	p.add(j.APIVersion != "batch/v1" || j.Kind != "Job", "it is a %s of %s, want a Job of batch/v1", j.Kind, j.APIVersion)
	p.add(j.Namespace != "" && j.Namespace != namespace, "it is of the namespace %s, the hooks file says %s", j.Namespace, namespace)
	p.add(len(j.Spec.Template.Spec.Containers) == 0, "it has no container")
	p.add(valueOrOne(j.Spec.Parallelism) != 1 || valueOrOne(j.Spec.Completions) != 1, "it has more than one pod")
	p.add(j.Spec.BackoffLimit != nil && *j.Spec.BackoffLimit != 0, "it has a backoffLimit: attempts are the hooks file's, for the lease is checked before each")
	p.add(j.Spec.Template.Spec.RestartPolicy != "" && j.Spec.Template.Spec.RestartPolicy != corev1.RestartPolicyNever, "its restartPolicy is not Never: attempts are the hooks file's")
	p.add(j.Spec.Suspend != nil && *j.Spec.Suspend, "it is suspended")
	if err := errors.Join(p...); err != nil {
		return nil, err
	}
	return &Job{Namespace: namespace, Template: j}, nil
}

func valueOrOne(n *int32) int32 {
	if n == nil {
		return 1
	}
	return *n
}

// labelsOf a call.
func labelsOf(r Request, call string) map[string]string {
	l := map[string]string{
		LabelHook: string(r.Cloud), LabelVerb: string(r.Verb), LabelToken: strconv.FormatInt(r.Lease.Token, 10), LabelCall: call,
		LabelChanges: strconv.FormatBool(r.Verb.hasSideEffects()),
	}
	if r.Reservation != nil {
		l[LabelReservation] = r.Reservation.Name
	}
	return l
}

// keptFor is how long the Job of a caller that died is kept after its end.
const jobTTL = int32(3600)

// object makes a call's Job of the template. It has one pod that is tried once, and ends by
// itself when the attempt has to.
func (j *Job) object(r Request, call string, left time.Duration) *batchv1.Job {
	out := j.Template.DeepCopy()
	out.ObjectMeta = metav1.ObjectMeta{
		Name: "firstlight-" + string(r.Verb) + "-" + call, Namespace: j.Namespace,
		Labels: mergeLabels(j.Template.Labels, labelsOf(r, call)), Annotations: j.Template.Annotations,
	}
	never, seconds, kept := int32(0), int64(max(left, time.Second).Seconds()), jobTTL
	out.Spec.BackoffLimit, out.Spec.ActiveDeadlineSeconds, out.Spec.TTLSecondsAfterFinished = &never, &seconds, &kept
	pod := &out.Spec.Template
	pod.Labels = mergeLabels(pod.Labels, labelsOf(r, call))
	pod.Spec.RestartPolicy = corev1.RestartPolicyNever
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: volume, VolumeSource: corev1.VolumeSource{
		ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: out.Name}},
	}})
	c := &pod.Spec.Containers[0]
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: volume, MountPath: requestDir, ReadOnly: true})
	c.Env = append(c.Env, corev1.EnvVar{Name: requestEnv, Value: path.Join(requestDir, requestFile)})
	return out
}

// request is the ConfigMap that the Job's pod mounts; it goes with the Job.
func (j *Job) request(owner *batchv1.Job, body []byte) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Name: owner.Name, Namespace: owner.Namespace, Labels: owner.Labels,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: owner.Name, UID: owner.UID}},
		},
		Data: map[string]string{requestFile: string(body)},
	}
}

func mergeLabels(a, b map[string]string) map[string]string {
	out := make(map[string]string, len(a)+len(b))
	maps.Copy(out, a)
	maps.Copy(out, b)
	return out
}

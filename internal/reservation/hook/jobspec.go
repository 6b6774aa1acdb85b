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

	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/yamlstrict"
)

// Labels of the objects of a call.
const (
	LabelHook        = "firstlight.dev/hook"             // the cloud
	LabelReservation = "firstlight.dev/hook-reservation" // absent for discover of a cloud
	LabelVerb        = "firstlight.dev/hook-verb"
	LabelToken       = "firstlight.dev/hook-token" //nolint:gosec // the name of a label
	LabelCall        = "firstlight.dev/hook-call"
	// LabelChanges marks calls with side effects.
	LabelChanges = "firstlight.dev/hook-changes"
)

// Path of the request in the container of a Job.
const (
	requestDir  = "/var/run/firstlight/hook"
	requestFile = "request.json"
	requestEnv  = "FIRSTLIGHT_HOOK_REQUEST"
	volume      = "firstlight-hook-request"
)

// parseJob decodes a template strictly.
func parseJob(data []byte, namespace string) (*Job, error) {
	if err := yamlstrict.Bounded(data); err != nil {
		return nil, fmt.Errorf("invalid Job: %w", err)
	}
	j := &batchv1.Job{}
	if err := yaml.UnmarshalStrict(data, j); err != nil {
		return nil, fmt.Errorf("invalid Job: %w", err)
	}
	var p problems
	p.add(j.APIVersion != "batch/v1" || j.Kind != "Job", "invalid kind %s of %s: must be a Job of batch/v1", j.Kind, j.APIVersion)
	p.add(j.Namespace != "" && j.Namespace != namespace, "invalid namespace %s: the hooks file has %s", j.Namespace, namespace)
	p.add(len(j.Spec.Template.Spec.Containers) == 0, "invalid Job: it has no container")
	p.add(valueOrOne(j.Spec.Parallelism) != 1 || valueOrOne(j.Spec.Completions) != 1, "invalid Job: it has more than one pod")
	p.add(j.Spec.BackoffLimit != nil && *j.Spec.BackoffLimit != 0, "invalid backoffLimit: must be unset, the hooks file has the attempts, because the lease is checked before each")
	p.add(j.Spec.Template.Spec.RestartPolicy != "" && j.Spec.Template.Spec.RestartPolicy != corev1.RestartPolicyNever, "invalid restartPolicy: must be Never, the hooks file has the attempts")
	p.add(j.Spec.Suspend != nil && *j.Spec.Suspend, "invalid Job: it is suspended")
	grace := j.Spec.Template.Spec.TerminationGracePeriodSeconds
	p.add(grace != nil && time.Duration(*grace)*time.Second > lease.MaxStopTime, "invalid terminationGracePeriodSeconds: must be at most %d, because the lease may be given to another holder afterwards", int(lease.MaxStopTime.Seconds()))
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

// jobTTL is the TTL of a Job whose caller died.
const jobTTL = int32(3600)

// object renders the Job of a call. It has one pod without retries, a deadline, and at most a grace
// period.
func (j *Job) object(r Request, call string, left, grace time.Duration) *batchv1.Job {
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
	most := max(1, int64(grace/time.Second)) // 0 deletes a pod without waiting for its end
	if own := pod.Spec.TerminationGracePeriodSeconds; own != nil {
		most = min(most, max(1, *own))
	}
	pod.Spec.TerminationGracePeriodSeconds = &most
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: volume, VolumeSource: corev1.VolumeSource{
		ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: out.Name}},
	}})
	c := &pod.Spec.Containers[0]
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: volume, MountPath: requestDir, ReadOnly: true})
	c.Env = append(c.Env, corev1.EnvVar{Name: requestEnv, Value: path.Join(requestDir, requestFile)})
	return out
}

// request returns the ConfigMap that the pod mounts; the Job owns it.
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

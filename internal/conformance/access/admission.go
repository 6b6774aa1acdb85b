package access

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/conformance/dra/record"
	"github.com/firstlight/firstlight/internal/conformance/dra/trial"
)

// observeAdmission asks the API server for a pod, and for nothing to be stored. The
// pods are equal but for what is to be refused.
func (c *Check) observeAdmission(ctx context.Context, r trial.Runner, rec record.Notes, name string) error {
	pod := trial.Spec{Name: name, Check: Name, Image: c.image, Containers: []trial.Container{{Name: looker, Script: script}}}.Pod(r.RunID, r.Namespace)
	around(name, &pod.Spec)
	n := rec.Begin(kindAdmission, name, fmt.Sprintf("POST namespaces/%s/pods?dryRun=All: %s", r.Namespace, name))
	_, err := r.Cluster.Client.CoreV1().Pods(r.Namespace).Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	answer, unseen := answerOf(err)
	return errors.Join(n.Keep(answer, unseen), ctx.Err())
}

// around changes a pod so that it sees devices without a claim.
func around(name string, pod *corev1.PodSpec) {
	container := &pod.Containers[0]
	switch name {
	case hostPath:
		pod.Volumes = append(pod.Volumes, corev1.Volume{Name: "dev", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/dev"}}})
		container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: "dev", MountPath: "/dev"})
	case privileged:
		container.SecurityContext = &corev1.SecurityContext{Privileged: new(true)}
	}
}

// answerOf tells the API server's no from not being able to ask it.
func answerOf(err error) (admission, error) {
	if err == nil {
		return admission{Taken: true}, nil
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) || apierrors.IsTooManyRequests(err) || apierrors.IsInternalError(err) || apierrors.IsUnauthorized(err) {
		return admission{}, fmt.Errorf("ask for a pod in a dry run: %w", err)
	}
	s := status.Status()
	return admission{Code: int(s.Code), Reason: string(s.Reason), Message: s.Message}, nil
}

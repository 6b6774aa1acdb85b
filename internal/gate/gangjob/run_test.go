package gangjob

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

type gangOf struct {
	phases []corev1.PodPhase
	err    error
}

func (g gangOf) Pods(context.Context) ([]corev1.Pod, error) {
	var out []corev1.Pod
	for _, phase := range g.phases {
		out = append(out, corev1.Pod{Status: corev1.PodStatus{Phase: phase}})
	}
	return out, g.err
}

// A gang hangs if its pods are seen to run at the timeout, and not if nothing was seen of it or the kubelet did not start a pod.
func TestATimeoutIsThatOfAGangThatStillRuns(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		gang  gangOf
		hangs bool
	}{
		"one pod runs":          {gangOf{phases: []corev1.PodPhase{corev1.PodSucceeded, corev1.PodRunning}}, true},
		"one pod is pending":    {gangOf{phases: []corev1.PodPhase{corev1.PodRunning, corev1.PodPending}}, false},
		"all are pending":       {gangOf{phases: []corev1.PodPhase{corev1.PodPending}}, false},
		"all have terminated":   {gangOf{phases: []corev1.PodPhase{corev1.PodSucceeded, corev1.PodFailed}}, false},
		"its pods were deleted": {gangOf{}, false},
		"nothing is seen":       {gangOf{err: errors.New("connection refused")}, false},
	} {
		if err := stillRuns(t.Context(), tt.gang); (err == nil) != tt.hangs {
			t.Errorf("%s: %v", name, err)
		}
	}
}
